package dev.tutti.bench.compare;

import dev.tutti.Collective;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * The race: Tutti beside Open MPI and MPICH on this machine. All contestants are started once and sleep; then row by row, round by
 * round, each takes its turn, in an order that rotates. See docs/race.md.
 */
public final class Compare {
    private static final int SECONDS = 60;
    /** What everybody races with. */
    private static final String WIDE = "float32";

    /** A native library so much slower than the best is not run again at that row: it cannot be the best. */
    private static final double HOPELESS = 5;
    /** The cores have moved if a cache line takes so many times as long, or as short, after a round as before it. */
    private static final double MOVED = 1.5;

    private final CompareOptions options;
    private final Calibration calibration = new Calibration();

    /** Something that takes turns: a contestant with one kind of memory, and of floats. */
    private record Entry(String name, Contestant contestant, String memory, String type) {}

    private Compare(CompareOptions options) {
        this.options = options;
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        try {
            new Compare(CompareOptions.parse(arguments)).run();
        } catch (IllegalArgumentException wrong) {
            System.err.println(wrong.getMessage());
            System.exit(2);
        }
    }

    private void run() throws IOException, InterruptedException {
        Path directory = Files.createTempDirectory("tutti-race-");
        try {
            NativeLibraries libraries = new NativeLibraries(directory);
            boolean wantsOpenMpi = options.natives.stream().anyMatch(name -> name.startsWith("openmpi"));
            NativeLibraries.Found openMpi = wantsOpenMpi ? libraries.openMpi() : null;
            Path byHand = options.byHand.isEmpty() ? null : libraries.byHand();
            NativeLibraries.Found mpich = options.natives.contains("mpich") ? libraries.mpich() : null;
            System.out.println(Instant.now() + ", " + Runtime.getRuntime().availableProcessors() + " cores, JDK "
                    + Runtime.version() + ", " + (openMpi == null ? "no Open MPI" : openMpi.version()) + ", "
                    + (mpich == null ? "no MPICH" : mpich.version()) + ", " + options.rounds + " rounds of "
                    + options.batches + " batches of " + options.batchMicros + " us");
            for (int i = 0; i < 20; i++) {
                calibration.roundTripNanos();
            }
            for (int ranks : options.ranks) {
                Results results = race(ranks, openMpi, mpich, byHand);
                new Report(results, System.out).print();
                if (!options.out.toString().isEmpty()) {
                    Files.createDirectories(options.out);
                    RawJson.write(results, options.out.resolve("race-" + ranks + ".json"));
                    draw(results);
                }
            }
        } finally {
            try (var files = Files.list(directory)) {
                for (Path file : files.toList()) {
                    Files.delete(file);
                }
            }
            Files.delete(directory);
        }
    }

    private void draw(Results results) {
        try {
            Charts.draw(results, options.out);
        } catch (NoClassDefFoundError noDesktop) {
            System.out.println("no charts: this Java has no java.desktop");
        }
    }

    private Results race(
            int ranks,
            NativeLibraries.@Nullable Found openMpi,
            NativeLibraries.@Nullable Found mpich,
            @Nullable Path byHand)
            throws IOException, InterruptedException {
        Map<String, Contestant> contestants = new LinkedHashMap<>();
        List<String> ours = new ArrayList<>();
        try {
            if (openMpi != null) {
                for (String name : List.of("openmpi", "openmpi-sm")) {
                    if (options.natives.contains(name)) {
                        Contestant contestant = add(contestants, name, ranks);
                        NativeLibraries.startOpenMpi(contestant, openMpi, ranks, name.equals("openmpi-sm"));
                    }
                }
            }
            if (mpich != null) {
                NativeLibraries.startMpich(add(contestants, "mpich", ranks), mpich, ranks);
            }
            List<String> natives = List.copyOf(contestants.keySet());
            List<Entry> entries = new ArrayList<>();
            contestants.forEach((name, contestant) -> entries.add(new Entry(name, contestant, "native", WIDE)));
            Contestant tutti = add(contestants, "tutti", ranks);
            startTutti(tutti, ranks);
            List<String> narrow = new ArrayList<>();
            for (String memory : options.memories) {
                entries.add(new Entry("tutti-" + memory, tutti, memory, WIDE));
                ours.add("tutti-" + memory);
                for (String type : memory.equals("array") ? List.<String>of() : options.types) {
                    entries.add(new Entry("tutti-" + memory + " " + type, tutti, memory, type));
                    narrow.add("tutti-" + memory + " " + type);
                }
            }
            List<String> hands = new ArrayList<>();
            if (byHand != null && ranks == 2) {
                for (String way : options.byHand) {
                    Contestant contestant = add(contestants, "by-hand-" + way, ranks);
                    NativeLibraries.startByHand(contestant, byHand, way);
                    entries.add(new Entry(contestant.name(), contestant, "native", WIDE));
                    hands.add(contestant.name());
                }
            }
            Results results = new Results(ranks, natives, ours, hands, narrow);
            rehearse(entries);
            takeTurns(results, entries);
            contestants.values().stream()
                    .filter(contestant -> contestant.failure() != null)
                    .forEach(contestant -> System.out.println(contestant.name() + " failed: " + contestant.failure()));
            return results;
        } finally {
            for (Contestant contestant : contestants.values()) {
                contestant.close();
            }
        }
    }

    private static Contestant add(Map<String, Contestant> contestants, String name, int ranks)
            throws IOException, InterruptedException {
        Contestant contestant = new Contestant(name, ranks);
        contestants.put(name, contestant);
        return contestant;
    }

    private void startTutti(Contestant tutti, int ranks) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElse("java"),
                "--add-modules=jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                // As the README recommends for arrays.
                "-XX:+UseTransparentHugePages"));
        String more = System.getenv("TUTTI_JVM_OPTS");
        if (more != null && !more.isBlank()) {
            command.addAll(List.of(more.strip().split(" +")));
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), TuttiRank.class.getName()));
        command.add(tutti.directory().toString());
        if (options.threads) {
            command.add("" + ranks);
            tutti.start(command, Map.of());
        } else {
            String job = "race-" + ProcessHandle.current().pid() + "-" + ranks;
            for (int rank = 0; rank < ranks; rank++) {
                tutti.start(command, Map.of("TUTTI_RANK", "" + rank, "TUTTI_SIZE", "" + ranks, "TUTTI_JOB", job));
            }
        }
        // More ranks than cores compile at the same time.
        int crowd = Math.max(1, ranks / Runtime.getRuntime().availableProcessors());
        List<String> types = new ArrayList<>(List.of(WIDE));
        types.addAll(options.types);
        tutti.measure(
                "warm " + 4 * crowd + " " + String.join(",", types) + " " + String.join(",", options.memories),
                SECONDS + 10 * crowd);
    }

    /** Short turns that do not count: whatever happens in a first turn, such as compiling, is not to fall into anybody's first row. */
    private void rehearse(List<Entry> entries) throws IOException, InterruptedException {
        for (int round = 0; round < 2; round++) {
            for (Row row : rows()) {
                for (Entry entry : entries) {
                    if (row.bytes() <= 1 << 20 && canRun(row, entry)) {
                        entry.contestant.measure(command(row, entry, 1, 300), SECONDS);
                    }
                }
            }
        }
    }

    /** 16-bit floats are a matter between Tutti and itself. */
    private static boolean canRun(Row row, Entry entry) {
        return entry.type.equals(WIDE) || (row.isReducing() && row.rewriting());
    }

    private void takeTurns(Results results, List<Entry> entries) throws IOException, InterruptedException {
        for (Row row : rows()) {
            Results.Entries measured = results.of(row);
            List<Entry> order = new ArrayList<>(entries);
            order.removeIf(entry -> !canRun(row, entry));
            double before = calibration.roundTripNanos();
            while (measured.rounds.size() < options.rounds) {
                Map<String, Double> micros = turns(row, order);
                double after = calibration.roundTripNanos();
                if (Math.max(before / after, after / before) > MOVED && measured.moved < options.rounds) {
                    measured.moved++;
                } else {
                    measured.rounds.add(new Results.Round(before, micros));
                    OptionalDouble best = results.bestNative(row);
                    order.removeIf(entry -> results.natives.contains(entry.name)
                            && measured.micros(entry.name).orElse(0) > HOPELESS * best.orElse(0));
                }
                before = after;
                Collections.rotate(order, 1);
            }
            progress(results.ranks + " ranks: " + Row.name(row.collective()) + " " + row.size());
        }
        progress("");
    }

    /** One turn of everybody, in order. */
    private Map<String, Double> turns(Row row, List<Entry> order) throws IOException, InterruptedException {
        Map<String, Double> micros = new LinkedHashMap<>();
        for (Entry entry : order) {
            Contestant.Turn turn =
                    entry.contestant.measure(command(row, entry, batches(row), options.batchMicros), SECONDS);
            if (turn != null) {
                micros.put(entry.name, Results.median(turn.micros()));
            }
        }
        return micros;
    }

    /** One line on a terminal that the next one overwrites. */
    private static void progress(String text) {
        if (System.console() != null && System.console().isTerminal()) {
            System.err.print("\r" + text + " ".repeat(Math.max(0, 40 - text.length())) + "\r");
        }
    }

    private static String command(Row row, Entry entry, int batches, int batchMicros) {
        return "run " + Row.name(row.collective()) + " " + row.bytes() + " " + (row.rewriting() ? 1 : 0) + " "
                + entry.type + " " + entry.memory + " " + batches + " " + batchMicros;
    }

    /** Operations of many milliseconds need no batches to be seen. */
    private int batches(Row row) {
        return row.bytes() >= 16 << 20 ? Math.min(3, options.batches) : options.batches;
    }

    private List<Row> rows() {
        List<Row> rows = new ArrayList<>();
        for (Collective collective : options.collectives) {
            if (collective == Collective.BARRIER) {
                rows.add(new Row(collective, 0, true));
                continue;
            }
            for (String variant : options.variants) {
                for (long bytes : options.sizes) {
                    rows.add(new Row(collective, bytes, variant.equals("rewritten")));
                }
            }
        }
        return rows;
    }
}
