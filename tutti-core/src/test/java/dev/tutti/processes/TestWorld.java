package dev.tutti.processes;

import dev.tutti.Config;
import dev.tutti.RankBody;
import dev.tutti.World;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Assumptions;

/**
 * The ranks of a test: threads of this JVM, or, where this JVM is one of several that run the same test ({@link TestProcesses}),
 * processes. There every process goes through the whole test, is one rank of each world, and learns what the others' ranks
 * returned or threw; so what a test asserts after a world holds in all of them.
 */
public final class TestWorld {
    private static final String FOLDER = System.getProperty("tutti.test.folder");
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

    /** How long to leave the core to those that are waited for, between two looks. */
    private static final long LOOK_NANOS = 100_000;

    /** Worlds and latches are numbered alike in all processes, which make them in the same order. */
    private static int made;

    private final int ranks;
    private final Config config;

    private TestWorld(int ranks, Config config) {
        this.ranks = ranks;
        this.config = config;
    }

    /** A world of so many ranks; ends the test where there are other processes than it needs. */
    public static TestWorld of(int ranks) {
        Assumptions.assumeTrue(isPossible(ranks), "needs " + ranks + " processes");
        return new TestWorld(ranks, Config.fromEnvironment());
    }

    public TestWorld config(Config settings) {
        return new TestWorld(ranks, settings);
    }

    public static boolean isOfProcesses() {
        return FOLDER != null;
    }

    /** Whether there are as many processes as the world has ranks; always, if they are threads. */
    public static boolean isPossible(int ranks) {
        return !isOfProcesses() || World.fromEnvironment().processes() == ranks;
    }

    public void run(RankBody body) {
        call(comm -> {
            body.run(comm);
            return Boolean.TRUE;
        });
    }

    /** As {@link World.Local#call}: the results of all ranks, or what the first one threw. */
    public <T extends Serializable> List<T> call(RankBody.Returning<T> body) {
        if (!isOfProcesses()) {
            return World.local(ranks).config(config).call(body);
        }
        int number = made++;
        Throwable thrown = null;
        T own = null;
        try {
            own = World.fromEnvironment()
                    .config(config)
                    .named("world")
                    .call(body)
                    .getFirst();
        } catch (RuntimeException | Error failure) {
            thrown = failure;
        }
        publish(number, new Ending<>(own, thrown, System.nanoTime()));
        List<Ending<T>> endings = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            endings.add(read(number, rank));
        }
        endings.stream()
                .filter(ending -> ending.thrown != null)
                .min(Comparator.comparingLong(Ending::nanos))
                .ifPresent(TestWorld::rethrow);
        return endings.stream().map(Ending::result).toList();
    }

    private record Ending<T>(T result, Throwable thrown, long nanos) implements Serializable {}

    private static void rethrow(Ending<?> ending) {
        if (ending.thrown instanceof Error error) {
            throw error;
        }
        throw (RuntimeException) ending.thrown;
    }

    private static void publish(int number, Serializable what) {
        Path name = path(number, World.fromEnvironment().process());
        Path unfinished = name.resolveSibling(name.getFileName() + ".new");
        try {
            try (ObjectOutputStream out = new ObjectOutputStream(Files.newOutputStream(unfinished))) {
                out.writeObject(what);
            }
            Files.move(unfinished, name, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @SuppressWarnings("unchecked") // what this class has written
    private static <T> Ending<T> read(int number, int rank) {
        Path name = path(number, rank);
        try {
            awaitThat(() -> Files.exists(name), "rank " + rank);
            try (ObjectInputStream in = new ObjectInputStream(Files.newInputStream(name))) {
                return (Ending<T>) in.readObject();
            }
        } catch (IOException | ClassNotFoundException | TimeoutException failed) {
            throw new IllegalStateException("what rank " + rank + " did in world " + number + " is not known", failed);
        }
    }

    private static Path path(int number, int rank) {
        return Path.of(FOLDER, number + "-" + rank);
    }

    private static void awaitThat(BooleanSupplier condition, String who) throws TimeoutException {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > PATIENCE_NANOS) {
                throw new TimeoutException(who + " did not come");
            }
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }

    /** Something that ranks wait for: it has happened when they have counted so often. */
    public interface Latch {
        void countDown();

        void await() throws Exception;
    }

    /** A latch that all ranks of a test can reach, wherever they are. */
    public static Latch latch(int count) {
        if (isOfProcesses()) {
            return new FileLatch(made++, count);
        }
        CountDownLatch latch = new CountDownLatch(count);
        return new Latch() {
            @Override
            public void countDown() {
                latch.countDown();
            }

            @Override
            public void await() throws InterruptedException {
                latch.await();
            }
        };
    }

    /** Each count is a file. */
    private record FileLatch(int number, int count) implements Latch {
        @Override
        public void countDown() {
            try {
                Files.createTempFile(Path.of(FOLDER), prefix(), "");
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        }

        @Override
        public void await() throws TimeoutException {
            awaitThat(() -> counted() >= count, "a latch of " + count);
        }

        private String prefix() {
            return "latch-" + number + "-";
        }

        private int counted() {
            String[] names = Path.of(FOLDER).toFile().list((_, name) -> name.startsWith(prefix()));
            return names == null ? 0 : names.length;
        }
    }
}
