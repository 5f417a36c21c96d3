package dev.tutti.cli.kills;

import dev.tutti.health.ProcessId;
import dev.tutti.health.Signals;
import dev.tutti.posix.Pidfd;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** One kill: starts ranks by {@code tutti run}, kills, and watches what the others say and what is left. */
final class Trial {
    private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long START_SECONDS = 60;
    private static final Pattern LINE = Pattern.compile("\\[(\\d+)\\] (UP|READY|FAILED)(?: (.*))?");

    private static final Pattern NAMED = Pattern.compile("\\b(?:rank|process) (\\d+)\\b");

    /**
     * What came of it.
     *
     * @param kill what was done
     * @param nanos how long the last survivor took to notice
     * @param problems what was not as it must be; none if all is well
     */
    record Outcome(Kill kill, long nanos, List<String> problems) {}

    private final Kill kill;
    private final Path runtime;
    private final Map<Integer, ProcessId> processes = new ConcurrentHashMap<>();
    private final Map<Integer, String> failures = new ConcurrentHashMap<>();
    private final List<String> lines = new ArrayList<>();
    private final List<String> problems = new ArrayList<>();
    private final CountDownLatch begun;

    Trial(Kill kill, Path runtime) {
        this.kill = kill;
        this.runtime = runtime;
        this.begun = new CountDownLatch(kill.ranks());
    }

    Outcome run() throws IOException, InterruptedException {
        Process launcher = start();
        ProcessId launcherId = ProcessId.of(launcher.pid()).orElseThrow();
        Thread reader = Thread.ofPlatform().start(() -> read(launcher));
        long killedAt = 0;
        try {
            if (begun.await(START_SECONDS, TimeUnit.SECONDS)) {
                Thread.sleep(kill.delayMillis());
                killedAt = kill(launcherId);
            } else {
                problems.add("the ranks did not start");
                launcher.destroy();
            }
            if (!launcher.waitFor(START_SECONDS, TimeUnit.SECONDS)) {
                problems.add("did not end");
            }
        } finally {
            launcher.destroyForcibly();
        }
        long endedAt = awaitEnd();
        reader.join(TimeUnit.SECONDS.toMillis(10));
        long nanos = kill.isOfLauncher() ? endedAt - killedAt : slowest(killedAt);
        if (problems.isEmpty() && nanos > MOST_NANOS) {
            problems.add("took " + nanos / 1_000_000 + " ms");
        }
        requireNothingLeft();
        if (!problems.isEmpty()) {
            synchronized (lines) {
                problems.addAll(lines);
            }
        }
        return new Outcome(kill, nanos, problems);
    }

    private Process start() throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        List<String> jvm = List.of(
                java,
                "--add-modules=jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"));
        List<String> command = new ArrayList<>(jvm);
        command.addAll(List.of("dev.tutti.cli.Main", "run", "-n", "" + kill.ranks(), "--tag", "--keep-going", "--"));
        command.addAll(jvm);
        command.addAll(List.of(Mortal.class.getName(), kill.phase().name(), "" + kill.seed()));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("XDG_RUNTIME_DIR", runtime.toString());
        return builder.start();
    }

    private void read(Process launcher) {
        String awaited = kill.phase() == Kill.Phase.BOOTSTRAP ? "UP" : "READY";
        try (BufferedReader in = launcher.inputReader(StandardCharsets.UTF_8)) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                synchronized (lines) {
                    lines.add(line);
                }
                Matcher matcher = LINE.matcher(line);
                if (!matcher.matches()) {
                    continue;
                }
                int rank = Integer.parseInt(matcher.group(1));
                switch (matcher.group(2)) {
                    case "UP" ->
                        ProcessId.of(Long.parseLong(matcher.group(3)))
                                .ifPresent(process -> processes.put(rank, process));
                    case "FAILED" -> failures.put(rank, matcher.group(3));
                    default -> {}
                }
                if (matcher.group(2).equals(awaited)) {
                    begun.countDown();
                }
            }
        } catch (IOException killed) {
            // Its pipe has ended with it.
        }
    }

    private long kill(ProcessId launcher) {
        List<ProcessId> all = kill.isOfLauncher()
                ? List.of(launcher)
                : kill.victims().stream().map(processes::get).toList();
        long now = System.nanoTime();
        all.forEach(process -> Pidfd.kill(process.pid(), Signals.KILL));
        return now;
    }

    /** The time at which the last rank has ended. */
    private long awaitEnd() {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (processes.values().stream().anyMatch(ProcessId::isAlive)) {
            if (System.nanoTime() > end) {
                problems.add("ranks that did not end: " + processes);
                processes.values().stream()
                        .filter(ProcessId::isAlive)
                        .forEach(each -> Pidfd.kill(each.pid(), Signals.KILL));
                break;
            }
            Thread.yield();
        }
        return System.nanoTime();
    }

    /** How long the last survivor took, all of which must have been told of a victim. */
    private long slowest(long killedAt) {
        long slowest = 0;
        for (int rank = 0; rank < kill.ranks(); rank++) {
            if (kill.victims().contains(rank)) {
                continue;
            }
            String failure = failures.get(rank);
            if (failure == null) {
                problems.add("rank " + rank + " said nothing");
                continue;
            }
            String[] words = failure.split(" ", 4);
            slowest = Math.max(slowest, Long.parseLong(words[0]) - killedAt);
            // Whom it names first: not one that gave up because of a victim.
            Matcher named = NAMED.matcher(words[3]);
            boolean namesVictim = named.find() && kill.victims().contains(Integer.valueOf(named.group(1)));
            if (!words[1].equals("PEER_FAILED") || !namesVictim || !isOfVictims(words[2])) {
                problems.add("rank " + rank + " was told: " + failure);
            }
        }
        return slowest;
    }

    /** While ranks join, who fails is a process without ranks. */
    private boolean isOfVictims(String list) {
        List<Integer> ranks = Stream.of(list.replaceAll("[\\[\\]]", "").split(","))
                .filter(each -> !each.isEmpty())
                .map(Integer::valueOf)
                .toList();
        boolean joining = kill.phase() == Kill.Phase.BOOTSTRAP || kill.phase() == Kill.Phase.CLOSE;
        return kill.victims().containsAll(ranks) && (joining || !ranks.isEmpty());
    }

    private void requireNothingLeft() throws IOException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
        while (!left().isEmpty() && System.nanoTime() < end) {
            Thread.yield();
        }
        left().forEach(path -> problems.add("left behind: " + path));
    }

    private List<Path> left() throws IOException {
        try (Stream<Path> files = Files.list(runtime)) {
            return files.toList();
        }
    }
}
