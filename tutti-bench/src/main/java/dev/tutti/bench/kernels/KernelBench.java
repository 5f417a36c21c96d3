package dev.tutti.bench.kernels;

import dev.tutti.bench.FreshJvm;
import dev.tutti.reduce.Kernels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Kernels against the same loops in C, the slowest first: {@link KernelProcess} in several JVMs, one after the other, and medians of them.
 *
 * <pre>KernelBench [-n rounds] [-p processes] [--only regex-on-"type fold form bytes"] [-J results.json]</pre>
 */
public final class KernelBench {
    private KernelBench() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        String rounds = "30";
        int processes = 3;
        String only = ".*";
        Path json = null;
        for (int i = 0; i < args.length; i += 2) {
            if (i + 1 == args.length) {
                throw new IllegalArgumentException("no value for " + args[i]);
            }
            switch (args[i]) {
                case "-n" -> rounds = args[i + 1];
                case "-p" -> processes = Integer.parseInt(args[i + 1]);
                case "--only" -> only = args[i + 1];
                case "-J", "--json" -> json = Path.of(args[i + 1]);
                default -> throw new IllegalArgumentException("unknown option " + args[i]);
            }
        }
        if (!Kernels.vectorised()) {
            System.err.println("Scalar kernels only: " + Kernels.unavailabilityCause());
        }
        Map<String, List<KernelCell>> cells = new LinkedHashMap<>();
        for (int process = 1; process <= processes; process++) {
            System.err.println("JVM " + process + " of " + processes + " ...");
            for (String line : FreshJvm.run(KernelProcess.class, rounds, only)) {
                KernelCell cell = KernelCell.parse(line);
                cells.computeIfAbsent(cell.name(), name -> new ArrayList<>()).add(cell);
            }
        }
        List<KernelRow> slowestFirst = cells.values().stream()
                .map(KernelRow::of)
                .sorted(Comparator.comparingDouble(KernelRow::ratio))
                .toList();
        System.out.println(KernelRow.head());
        slowestFirst.forEach(row -> System.out.println(row.line()));
        if (json != null) {
            List<String> lines = slowestFirst.stream().map(KernelRow::json).toList();
            Files.writeString(json, "{\"cells\":[\n" + String.join(",\n", lines) + "\n]}\n");
        }
    }
}
