package dev.tutti.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tutti.PeerFailedException;
import dev.tutti.TuttiException;
import dev.tutti.health.ProcessId;
import dev.tutti.spi.Rendezvous;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Both kinds of rendezvous; the processes are threads here. A thread of its own, as nothing interrupts a read from a socket. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RendezvousTest {
    private static final Secret SECRET = Secret.random();

    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    @TempDir
    Path folder;

    @AfterEach
    void end() {
        threads.shutdownNow();
    }

    private static long in(Duration duration) {
        return System.nanoTime() + duration.toNanos();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private IntFunction<Rendezvous> joining(String kind, int processes, Duration timeout) throws IOException {
        if (kind.equals("tcp")) {
            Venue.Server venue = new Venue.Server("127.0.0.1", freePort(), SECRET);
            return process -> TcpRendezvous.join(venue, "job", 0, process, processes, in(timeout));
        }
        return process -> FileRendezvous.forJob(PrivateFolder.ofUser(folder), "job " + kind, process, ProcessId.self());
    }

    private <T> List<T> all(int processes, IntFunction<T> body) throws Exception {
        List<Future<T>> futures = IntStream.range(0, processes)
                .mapToObj(process -> threads.submit(() -> body.apply(process)))
                .toList();
        List<T> results = new ArrayList<>();
        for (Future<T> future : futures) {
            results.add(future.get());
        }
        return results;
    }

    @ParameterizedTest
    @ValueSource(strings = {"file", "tcp"})
    void shouldGiveEverybodyEverybodysNotes(String kind) throws Exception {
        int processes = 9;
        IntFunction<Rendezvous> join = joining(kind, processes, Duration.ofSeconds(30));
        List<String> read = all(processes, process -> {
            try (Rendezvous rendezvous = join.apply(process)) {
                rendezvous.put("shm/" + process, bytes("note of " + process));
                rendezvous.put("shm/" + process, bytes("note of " + process));
                StringBuilder text = new StringBuilder();
                for (int peer = 0; peer < processes; peer++) {
                    text.append(new String(
                            rendezvous.await("shm/" + peer, in(Duration.ofSeconds(20))), StandardCharsets.UTF_8));
                }
                return text.toString();
            }
        });
        assertThat(read).containsOnly(read.getFirst());
        assertThat(read.getFirst()).startsWith("note of 0note of 1").endsWith("note of 8");
        try (Stream<Path> left = Files.list(folder)) {
            assertThat(left).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"file", "tcp"})
    void shouldRefuseWhenAKeyIsTakenOrMalformedOrTooLong(String kind) throws Exception {
        try (Rendezvous rendezvous = joining(kind, 1, Duration.ofSeconds(10)).apply(0)) {
            rendezvous.put("a", bytes("one"));
            assertThatThrownBy(() -> rendezvous.put("a", bytes("two")))
                    .isInstanceOf(TuttiException.class)
                    .hasMessageContaining("a is there already");
            assertThat(rendezvous.await("a", System.nanoTime())).isEqualTo(bytes("one"));
            byte[] longest = new byte[Rendezvous.MAX_VALUE_BYTES];
            new Random(7).nextBytes(longest);
            rendezvous.put("longest", longest);
            assertThat(rendezvous.await("longest", in(Duration.ofSeconds(10)))).isEqualTo(longest);
            assertThatThrownBy(() -> rendezvous.put("b", new byte[Rendezvous.MAX_VALUE_BYTES + 1]))
                    .isInstanceOf(IllegalArgumentException.class);
            for (String key : List.of("", "a b", "ä", "a\n", "x".repeat(201))) {
                assertThatThrownBy(() -> rendezvous.put(key, bytes("x"))).isInstanceOf(IllegalArgumentException.class);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"file", "tcp"})
    void shouldEndWhenTheDeadlinePasses(String kind) throws Exception {
        try (Rendezvous rendezvous = joining(kind, 1, Duration.ofSeconds(10)).apply(0)) {
            assertThatThrownBy(() -> rendezvous.await("shm/7", in(Duration.ofMillis(100))))
                    .isInstanceOfSatisfying(
                            TuttiException.class,
                            late -> assertThat(late.category()).isEqualTo(TuttiException.Category.TIMEOUT))
                    .hasMessageContaining("shm/7");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"file", "tcp"})
    void shouldTellThoseWhoWaitWhenSomebodyGivesUp(String kind) throws Exception {
        IntFunction<Rendezvous> join = joining(kind, 2, Duration.ofSeconds(20));
        List<String> texts = all(2, process -> {
            try (Rendezvous rendezvous = join.apply(process)) {
                if (process == 1) {
                    rendezvous.await("here/0", in(Duration.ofSeconds(20)));
                    rendezvous.put("gave-up/1", bytes("no memory"));
                    return "gave up";
                }
                rendezvous.put("here/0", bytes("yes"));
                rendezvous.await("shm/1", in(Duration.ofSeconds(20)));
                return "got it";
            } catch (PeerFailedException told) {
                return String.valueOf(told.getMessage());
            }
        });
        assertThat(texts).containsExactly("process 1 could not join: no memory", "gave up");
    }

    @ParameterizedTest
    @ValueSource(strings = {"file", "tcp"})
    void shouldSayWhoGaveUpFirstWhenAsked(String kind) throws Exception {
        IntFunction<Rendezvous> join = joining(kind, 3, Duration.ofSeconds(20));
        List<Rendezvous> joined = all(3, join);
        joined.getFirst().requireEverybody();
        joined.get(2).put("gave-up/2", bytes("no memory"));
        if (kind.equals("file")) {
            setAge(".*gave-up.2", Duration.ofSeconds(1));
        }
        joined.get(1).put("gave-up/1", bytes("process 2 could not join: no memory"));
        assertThatThrownBy(joined.getFirst()::requireEverybody)
                .isInstanceOf(PeerFailedException.class)
                .hasMessage("process 2 could not join: no memory");
        all(3, process -> {
            joined.get(process).close();
            return process;
        });
    }

    /** Clocks of files tick slowly. */
    private void setAge(String name, Duration age) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            Path file = files.filter(each -> each.getFileName().toString().matches(name))
                    .findFirst()
                    .orElseThrow();
            Files.setLastModifiedTime(file, FileTime.from(Instant.now().minus(age)));
        }
    }

    @Test
    void shouldNameWhoEndedRatherThanWhoGaveUpBecauseOfIt() throws Exception {
        Process mortal = new ProcessBuilder("sleep", "1000").start();
        try (FileRendezvous living = FileRendezvous.forJob(PrivateFolder.ofUser(folder), "job", 0, ProcessId.self());
                FileRendezvous other =
                        FileRendezvous.forJob(PrivateFolder.ofUser(folder), "job", 1, ProcessId.self())) {
            FileRendezvous.forJob(
                    PrivateFolder.ofUser(folder),
                    "job",
                    2,
                    ProcessId.of(mortal.pid()).orElseThrow());
            living.requireEverybody();
            mortal.destroyForcibly().waitFor();
            other.put("gave-up/1", bytes("process 2 ended while the ranks were joining"));
            assertThatThrownBy(living::requireEverybody)
                    .isInstanceOf(PeerFailedException.class)
                    .hasMessage("process 2 ended while the ranks were joining");
        } finally {
            mortal.destroyForcibly();
        }
    }

    @Test
    void shouldSayWhyWhenAProcessHasGivenUpAndEnded() throws Exception {
        Process mortal = new ProcessBuilder("sleep", "1000").start();
        try (FileRendezvous living = FileRendezvous.forJob(PrivateFolder.ofUser(folder), "job", 0, ProcessId.self())) {
            FileRendezvous failing = FileRendezvous.forJob(
                    PrivateFolder.ofUser(folder),
                    "job",
                    1,
                    ProcessId.of(mortal.pid()).orElseThrow());
            failing.put("gave-up/1", bytes("no memory"));
            mortal.destroyForcibly().waitFor();
            assertThatThrownBy(living::requireEverybody).hasMessage("process 1 could not join: no memory");
        } finally {
            mortal.destroyForcibly();
        }
    }

    @Test
    void shouldNameAProcessThatEndsWhileOthersWait() throws Exception {
        Process mortal = new ProcessBuilder("sleep", "1000").start();
        try (FileRendezvous living = FileRendezvous.forJob(PrivateFolder.ofUser(folder), "job", 0, ProcessId.self())) {
            FileRendezvous.forJob(
                    PrivateFolder.ofUser(folder),
                    "job",
                    1,
                    ProcessId.of(mortal.pid()).orElseThrow());
            CompletableFuture<Long> ended = mortal.onExit().thenApply(process -> System.nanoTime());
            Future<byte[]> waiting = threads.submit(() -> living.await("card/1", in(Duration.ofSeconds(20))));
            mortal.destroyForcibly();
            assertThatThrownBy(waiting::get)
                    .cause()
                    .isInstanceOf(PeerFailedException.class)
                    .hasMessageContaining("process 1 ended");
            assertThat(System.nanoTime() - ended.get())
                    .isLessThan(Duration.ofSeconds(1).toNanos());
        } finally {
            mortal.destroyForcibly();
        }
        try (Stream<Path> left = Files.list(folder)) {
            assertThat(left).isEmpty();
        }
    }

    @Test
    void shouldTellEverybodyWhenAConnectionEndsBeforeItsProcessHasLeft() throws Exception {
        int port = freePort();
        Venue.Server venue = new Venue.Server("127.0.0.1", port, SECRET);
        try (Rendezvous zero = TcpRendezvous.join(venue, "job", 0, 0, 2, in(Duration.ofSeconds(20)))) {
            Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
            Session.greet(socket, SECRET, "job", 0, 1, 2).orElseThrow();
            Future<byte[]> waiting = threads.submit(() -> zero.await("card/1", in(Duration.ofSeconds(20))));
            socket.close();
            assertThatThrownBy(waiting::get)
                    .cause()
                    .isInstanceOf(PeerFailedException.class)
                    .hasMessageContaining("process 1 ended");
        }
    }

    @Test
    void shouldNameProcessZeroWhenItIsKilledWhileOthersWaitAtIt() throws Exception {
        int port = freePort();
        Process zero = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Zero.class.getName(),
                        "" + port)
                .start();
        Venue.Server venue = new Venue.Server("127.0.0.1", port, Zero.SECRET);
        try (Rendezvous one = TcpRendezvous.join(venue, "job", 0, 1, 3, in(Duration.ofSeconds(40)));
                Rendezvous two = TcpRendezvous.join(venue, "job", 0, 2, 3, in(Duration.ofSeconds(40)))) {
            one.await("here/0", in(Duration.ofSeconds(40)));
            List<Future<byte[]>> waiting = Stream.of(one, two)
                    .map(each -> threads.submit(() -> each.await("card/0", in(Duration.ofSeconds(40)))))
                    .toList();
            zero.destroyForcibly();
            assertThat(waiting)
                    .allSatisfy(each -> assertThatThrownBy(each::get)
                            .cause()
                            .isInstanceOf(PeerFailedException.class)
                            .hasMessageStartingWith("process 0, which keeps the rendezvous at 127.0.0.1:" + port));
            assertThatThrownBy(() -> two.put("card/2", bytes("late")))
                    .isInstanceOf(PeerFailedException.class)
                    .hasMessageContaining("process 0");
        } finally {
            zero.destroyForcibly();
        }
    }

    /** Process 0 of three: says that it is here, and waits for ever. */
    static final class Zero {
        static final Secret SECRET = Secret.of(new byte[Secret.BYTES]);

        private Zero() {}

        public static void main(String[] arguments) {
            Venue.Server venue = new Venue.Server("127.0.0.1", Integer.parseInt(arguments[0]), SECRET);
            Rendezvous rendezvous = TcpRendezvous.join(venue, "job", 0, 0, 3, in(Duration.ofSeconds(40)));
            rendezvous.put("here/0", bytes("yes"));
            rendezvous.await("never", in(Duration.ofSeconds(40)));
        }
    }

    @Test
    void shouldRefuseBothSidesWhenTheSecretOrTheJobDiffers() throws Exception {
        int port = freePort();
        try (RendezvousServer server = server(port, "job", 2)) {
            Venue.Server wrong = new Venue.Server("127.0.0.1", server.port(), Secret.random());
            assertThatThrownBy(() -> TcpRendezvous.join(wrong, "job", 0, 1, 2, in(Duration.ofSeconds(5))))
                    .isInstanceOf(TuttiException.class)
                    .hasMessageContaining("does not know this job's secret");
            Venue.Server right = new Venue.Server("127.0.0.1", server.port(), SECRET);
            assertThatThrownBy(() -> TcpRendezvous.join(right, "other", 0, 1, 2, in(Duration.ofSeconds(5))))
                    .hasMessageContaining("TUTTI_JOB");
            // A client that answers with a wrong proof is let down without a word.
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                Wire.write(
                        socket.getOutputStream(),
                        new Wire.Greeting(Wire.VERSION, 0, new byte[32], new byte[0]).encode());
                Wire.read(socket.getInputStream(), Wire.GREETING_BYTES);
                Wire.write(socket.getOutputStream(), new byte[Wire.PROOF_BYTES + 8]);
                assertThat(socket.getInputStream().read()).isEqualTo(-1);
            }
        }
    }

    private static RendezvousServer server(int port, String job, int processes) throws IOException {
        return new RendezvousServer(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), port), SECRET, job, 0, processes);
    }

    @Test
    void shouldSayTheVersionsWhenTheyDiffer() throws Exception {
        try (ServerSocket old = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Future<?> serving = threads.submit(() -> {
                try (Socket socket = old.accept()) {
                    Wire.read(socket.getInputStream(), 128);
                    Wire.write(socket.getOutputStream(), new Wire.Greeting(77, 0, new byte[32], new byte[0]).encode());
                }
                return null;
            });
            Venue.Server venue = new Venue.Server("127.0.0.1", old.getLocalPort(), SECRET);
            assertThatThrownBy(() -> TcpRendezvous.join(venue, "job", 0, 1, 2, in(Duration.ofSeconds(5))))
                    .hasMessageContaining("speaks version 77");
            serving.get();
        }
    }

    @Test
    void shouldRefuseWhenAProcessIsThereTwiceOrCountsDifferently() throws Exception {
        Venue.Server venue = new Venue.Server("127.0.0.1", freePort(), SECRET);
        try (Rendezvous zero = TcpRendezvous.join(venue, "job", 0, 0, 1, in(Duration.ofSeconds(5)))) {
            try (Socket again = new Socket(InetAddress.getLoopbackAddress(), venue.port())) {
                assertThatThrownBy(() -> Session.greet(again, SECRET, "job", 0, 0, 1))
                        .isInstanceOf(Session.RefusedException.class)
                        .hasMessageContaining("process 0 is there twice");
            }
            try (Socket more = new Socket(InetAddress.getLoopbackAddress(), venue.port())) {
                assertThatThrownBy(() -> Session.greet(more, SECRET, "job", 0, 0, 5))
                        .isInstanceOf(Session.RefusedException.class)
                        .hasMessageContaining("says that there are 5 processes");
            }
        }
        try (FileRendezvous one = FileRendezvous.forJob(PrivateFolder.ofUser(folder), "job", 0, ProcessId.self())) {
            assertThatThrownBy(() -> FileRendezvous.forJob(PrivateFolder.ofUser(folder), "job", 0, ProcessId.self()))
                    .hasMessageContaining("process 0 is there twice");
        }
    }

    @Test
    void shouldWaitForItsOwnWorldWhenTheServerStillServesTheLast() throws Exception {
        Venue.Server venue = new Venue.Server("127.0.0.1", freePort(), SECRET);
        Rendezvous firstOfZero = TcpRendezvous.join(venue, "job", 0, 0, 2, in(Duration.ofSeconds(20)));
        Rendezvous firstOfOne = TcpRendezvous.join(venue, "job", 0, 1, 2, in(Duration.ofSeconds(20)));
        Future<Rendezvous> early =
                threads.submit(() -> TcpRendezvous.join(venue, "job", 1, 1, 2, in(Duration.ofSeconds(20))));
        firstOfOne.close();
        firstOfZero.close();
        try (Rendezvous secondOfZero = TcpRendezvous.join(venue, "job", 1, 0, 2, in(Duration.ofSeconds(20)))) {
            early.get().put("x", bytes("1"));
            assertThat(secondOfZero.await("x", in(Duration.ofSeconds(5)))).isEqualTo(bytes("1"));
            early.get().close();
        }
    }

    /** Whatever strangers send, before or after a greeting, the server goes on and allocates nothing for what never comes. */
    @Test
    void shouldGoOnWhenStrangersSendAnything() throws Exception {
        long seed = System.nanoTime();
        System.out.println("RendezvousTest seed " + seed);
        Random random = new Random(seed);
        Venue.Server venue = new Venue.Server("127.0.0.1", freePort(), SECRET);
        try (Rendezvous zero = TcpRendezvous.join(venue, "job", 0, 0, 2, in(Duration.ofSeconds(50)))) {
            for (int i = 0; i < 400; i++) {
                try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), venue.port())) {
                    socket.setSoTimeout(5_000);
                    byte[] noise = noise(random);
                    socket.getOutputStream().write(noise);
                    socket.shutdownOutput();
                    InputStream in = socket.getInputStream();
                    in.readNBytes(1 << 16);
                } catch (IOException closed) {
                    // Being thrown out is fine.
                }
            }
            try (Rendezvous one = TcpRendezvous.join(venue, "job", 0, 1, 2, in(Duration.ofSeconds(20)))) {
                one.put("x", bytes("still here"));
                assertThat(zero.await("x", in(Duration.ofSeconds(5)))).isEqualTo(bytes("still here"));
            }
        }
    }

    private static byte[] noise(Random random) {
        byte[] greeting = new Wire.Greeting(Wire.VERSION, 0, new byte[32], new byte[0]).encode();
        byte[] framed = new byte[4 + greeting.length];
        framed[3] = (byte) greeting.length;
        System.arraycopy(greeting, 0, framed, 4, greeting.length);
        byte[] bytes = random.nextBoolean() ? framed : new byte[random.nextInt(300)];
        if (bytes != framed) {
            random.nextBytes(bytes);
        }
        for (int flips = random.nextInt(4); flips > 0 && bytes.length > 0; flips--) {
            bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
        }
        return random.nextInt(4) == 0 ? java.util.Arrays.copyOf(bytes, random.nextInt(bytes.length + 1)) : bytes;
    }

    @Test
    void shouldNotTakeAFrameThatWasChangedLeftOutRepeatedOrSentBack() throws Exception {
        try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Future<List<byte[]>> recorded = threads.submit(() -> {
                try (Socket socket = listening.accept()) {
                    Session session =
                            Session.receive(socket, SECRET, "job", 0, 1).orElseThrow();
                    session.welcome();
                    assertThat(session.receive().key()).isEqualTo("a");
                    List<byte[]> frames = new ArrayList<>();
                    assertThatThrownBy(session::receive).hasMessageContaining("nobody of this job has sent");
                    return frames;
                }
            });
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), listening.getLocalPort())) {
                Session session = Session.greet(socket, SECRET, "job", 0, 0, 1).orElseThrow();
                Wire.Message message = new Wire.Message(1, Wire.Kind.PUT, "a", bytes("value"));
                session.send(message);
                byte[] forged = new byte[message.encode().length + Wire.PROOF_BYTES];
                System.arraycopy(message.encode(), 0, forged, 0, message.encode().length);
                Wire.write(socket.getOutputStream(), forged);
                recorded.get();
            }
        }
    }

    @Test
    void shouldDecodeOrRefuseWhateverBytesComeAsAMessage() {
        long seed = System.nanoTime();
        System.out.println("RendezvousTest seed " + seed);
        Random random = new Random(seed);
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = new byte[random.nextInt(64)];
            random.nextBytes(bytes);
            if (bytes.length > 10 && random.nextBoolean()) {
                bytes[8] = (byte) random.nextInt(9);
                bytes[9] = 0;
            }
            try {
                Wire.Message message = Wire.Message.decode(bytes);
                assertThat(message.key().length() + message.value().length).isEqualTo(bytes.length - 11);
            } catch (IOException refused) {
                assertThat(refused).isInstanceOf(java.net.ProtocolException.class);
            }
        }
    }

    @Test
    void shouldRefuseAFolderThatIsOpenToOthersOrALink() throws Exception {
        Path open = Files.createDirectory(folder.resolve("tutti"));
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxr-xr-x"));
        assertThatThrownBy(() -> JobFolder.existing(open)).hasMessageContaining("is open to others (rwxr-xr-x)");
        Path link = Files.createSymbolicLink(folder.resolve("link"), open);
        assertThatThrownBy(() -> JobFolder.existing(link)).hasMessageContaining("symbolic link");
    }

    @Test
    void shouldRemoveWhatDeadJobsHaveLeft() throws Exception {
        Process mortal = new ProcessBuilder("sleep", "1000").start();
        ProcessId id = ProcessId.of(mortal.pid()).orElseThrow();
        FileRendezvous left = FileRendezvous.forJob(PrivateFolder.ofUser(folder), "same", 0, id);
        left.put("card/0", bytes("of the dead"));
        mortal.destroyForcibly().waitFor();
        try (FileRendezvous next = FileRendezvous.forJob(PrivateFolder.ofUser(folder), "same", 0, ProcessId.self())) {
            assertThatThrownBy(() -> next.await("card/0", System.nanoTime())).hasMessageContaining("nobody has put");
        }
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).isEmpty();
        }
    }

    @Test
    void shouldNameWhoIsMissingAndWhatDiffers() throws Exception {
        Map<String, String> environment = Map.of(
                "TUTTI_RANK", "0", "TUTTI_SIZE", "3", "TUTTI_JOB", "missing", "XDG_RUNTIME_DIR", folder.toString());
        Job zero = Job.from(environment, ProcessId::self);
        assertThatThrownBy(() -> Bootstrap.join(zero, 0, 1, Map.of(), Map.of(), Duration.ofMillis(300)))
                .hasMessageContaining("missing: rank 1, 2");
        List<String> texts = all(2, process -> {
            Job job = Job.from(
                    Map.of(
                            "TUTTI_RANK",
                            "" + process,
                            "TUTTI_SIZE",
                            "2",
                            "TUTTI_JOB",
                            "differ",
                            "XDG_RUNTIME_DIR",
                            folder.toString()),
                    ProcessId::self);
            try (Bootstrap joined =
                    Bootstrap.join(job, 0, 1, Map.of("TUTTI_LANES", "" + process), Map.of(), Duration.ofSeconds(20))) {
                return "joined " + joined.size();
            } catch (TuttiException refused) {
                return String.valueOf(refused.getMessage());
            }
        });
        assertThat(texts).allMatch(text -> text.contains("differ in TUTTI_LANES"));
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).isEmpty();
        }
    }

    /** In a folder that outlives those who meet in it. */
    @Test
    void shouldTellWhoComesLateThatTheOthersHaveGivenUp() throws Exception {
        try (HostedJob hosted = HostedJob.create(Map.of("XDG_RUNTIME_DIR", folder.toString()))) {
            assertThatThrownBy(() -> joinHosted(hosted, 0, Duration.ofMillis(300)))
                    .isInstanceOfSatisfying(
                            TuttiException.class,
                            late -> assertThat(late.category()).isEqualTo(TuttiException.Category.TIMEOUT))
                    .hasMessageContaining("missing: rank 1, 2");
            assertThatThrownBy(() -> joinHosted(hosted, 1, Duration.ofMinutes(5)))
                    .isInstanceOf(PeerFailedException.class)
                    .hasMessageContaining("process 0 could not join: rank 0 of 3")
                    .hasMessageContaining("missing: rank 1, 2");
        }
    }

    private static void joinHosted(HostedJob hosted, int rank, Duration timeout) {
        Map<String, String> environment = new HashMap<>();
        hosted.describe(environment, rank, 3);
        Bootstrap.join(Job.from(environment, ProcessId::self), 0, 1, Map.of(), Map.of(), timeout)
                .close();
    }

    @Test
    void shouldCountRanksOverProcessesWhenTheyHaveDifferentlyMany() throws Exception {
        List<String> texts = all(3, process -> {
            Job job = Job.from(
                    Map.of(
                            "TUTTI_RANK",
                            "" + process,
                            "TUTTI_SIZE",
                            "3",
                            "TUTTI_JOB",
                            "count",
                            "XDG_RUNTIME_DIR",
                            folder.toString()),
                    ProcessId::self);
            try (Bootstrap joined = Bootstrap.join(
                    job, 0, process + 1, Map.of(), Map.of("cores", "" + process), Duration.ofSeconds(20))) {
                return joined.size() + " " + joined.firstRank(process) + " "
                        + joined.cards().getFirst().facts().get("cores");
            }
        });
        assertThat(texts).containsExactly("6 0 0", "6 1 0", "6 3 0");
    }
}
