package dev.tutti.cli.plan;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * Runs a folder of plan files whose verdicts are known and compares. The command sees copies with random names in random order, and no
 * manifest. {@code .ci/plans} runs all of them on threads and on processes and prints the table.
 */
final class PlanCorpus {
    /**
     * A file and what is known of it.
     *
     * @param file its name in the folder
     * @param ranks how many it is for
     * @param verdict what a careful interpreter found
     */
    record Entry(String file, int ranks, String verdict) {
        /** What Tutti may say of it. */
        List<PlanStatus> expected() {
            // The original refuses glre; here it runs.
            if (file.endsWith("switch_reduce_test.json") || verdict.startsWith("runs")) {
                return List.of(PlanStatus.RUNS);
            }
            if (verdict.startsWith("PASS")) {
                return List.of(PlanStatus.PASS);
            }
            if (verdict.startsWith("NOT EXECUTABLE")) {
                return List.of(PlanStatus.NOT_EXECUTABLE);
            }
            // A deadlock is seen by running; a race by some schedules only, and then by proof.
            return verdict.startsWith("FAIL deadlock")
                    ? List.of(PlanStatus.FAIL)
                    : List.of(PlanStatus.FAIL, PlanStatus.REFUSED);
        }
    }

    private final Path folder;
    private final Path copies;
    private final long seed;

    /** Files are in {@code folder}, beside MANIFEST.tsv; copies go to an empty folder. */
    PlanCorpus(Path folder, Path copies, long seed) {
        this.folder = folder;
        this.copies = copies;
        this.seed = seed;
    }

    List<Entry> entries() throws IOException {
        List<String> lines = Files.readAllLines(folder.resolve("MANIFEST.tsv"));
        List<String> columns = List.of(lines.getFirst().split("\t"));
        int ranks = columns.indexOf("ranks");
        int verdict = columns.indexOf("verdict");
        return lines.stream()
                .skip(1)
                .map(line -> line.split("\t"))
                .map(fields -> new Entry(fields[0], Integer.parseInt(fields[ranks]), fields[verdict]))
                .toList();
    }

    /** Runs some files in one call of the command; results are in the order of the entries. */
    List<PlanResult> run(List<Entry> entries, String transport, double timeoutSeconds, int schedules)
            throws IOException {
        Random random = new Random(seed);
        List<Integer> order = new ArrayList<>();
        Path[] copy = new Path[entries.size()];
        for (int i = 0; i < copy.length; i++) {
            order.add(i);
            Path to = copies.resolve(Long.toHexString(random.nextLong()) + ".json");
            copy[i] = Files.copy(folder.resolve(entries.get(i).file()), to);
        }
        Collections.shuffle(order, random);
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
        PlanRunCommand command = new PlanRunCommand(nowhere, System.err);
        command.transport = transport;
        command.schedules = schedules;
        command.options.timeoutSeconds = timeoutSeconds;
        order.forEach(i -> command.files.add(copy[i]));
        List<PlanResult> results = command.runAll();
        PlanResult[] sorted = new PlanResult[copy.length];
        for (int i = 0; i < sorted.length; i++) {
            sorted[order.get(i)] = results.get(i);
        }
        return List.of(sorted);
    }

    /** How often each status came out. */
    static Map<PlanStatus, Integer> counts(List<PlanResult> results) {
        Map<PlanStatus, Integer> counts = new EnumMap<>(PlanStatus.class);
        results.forEach(result -> counts.merge(result.status(), 1, Integer::sum));
        return counts;
    }

    /** Arguments: the folder of plan files, then a seed if it shall be a certain one. Exit status 0 if all verdicts are as known. */
    public static void main(String[] args) throws IOException {
        long seed = args.length > 1 ? Long.parseLong(args[1]) : System.nanoTime();
        Path copies = Files.createTempDirectory("plans");
        try {
            PlanCorpus corpus = new PlanCorpus(Path.of(args[0]), copies, seed);
            List<Entry> entries = corpus.entries();
            List<PlanResult> threads = corpus.run(entries, "threads", 10, 12);
            List<PlanResult> processes = new PlanCorpus(Path.of(args[0]), copies, seed + 1).run(entries, "shm", 10, 0);
            System.out.printf("plan files: seed %d%n%n", seed);
            System.out.println("| file | ranks | known | threads | s | processes | s |");
            System.out.println("|---|---:|---|---|---:|---|---:|");
            Set<String> unexpected = new HashSet<>();
            for (int i = 0; i < entries.size(); i++) {
                Entry entry = entries.get(i);
                System.out.printf(
                        Locale.ROOT,
                        "| %s | %d | %s | %s | %.2f | %s | %.2f |%n",
                        entry.file(),
                        entry.ranks(),
                        entry.verdict().replace("|", "/"),
                        threads.get(i).status(),
                        threads.get(i).seconds(),
                        processes.get(i).status(),
                        processes.get(i).seconds());
                for (PlanResult result : List.of(threads.get(i), processes.get(i))) {
                    if (!entry.expected().contains(result.status())) {
                        unexpected.add(entry.file() + ": " + result.line());
                    }
                }
            }
            System.out.printf("%nthreads %s, processes %s%n", counts(threads), counts(processes));
            for (int i = 0; i < entries.size(); i++) {
                if (!processes.get(i).status().isGood()) {
                    System.out.printf(
                            "%s%n  threads: %s%n  processes: %s%n",
                            entries.get(i).file(),
                            threads.get(i).reason(),
                            processes.get(i).reason());
                }
            }
            unexpected.forEach(each -> System.out.println("UNEXPECTED " + each));
            System.out.println(unexpected.isEmpty() ? "all as known" : unexpected.size() + " not as known");
            System.exit(unexpected.isEmpty() ? 0 : 1);
        } finally {
            deleteAll(copies);
        }
    }

    private static void deleteAll(Path folder) throws IOException {
        try (var files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }
}
