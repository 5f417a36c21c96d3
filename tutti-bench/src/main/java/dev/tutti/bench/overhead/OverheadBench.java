package dev.tutti.bench.overhead;

import dev.tutti.bench.FreshJvm;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What the whole API costs beside a hand-written loop with the same protocol: {@link OverheadProcess} in several JVMs, one after the
 * other, as what the compiler makes of either, and where its memory lies, is another thing in each. Usage: {@code OverheadBench [rounds [processes]]}.
 */
public final class OverheadBench {
    private OverheadBench() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        String rounds = arguments.length > 0 ? arguments[0] : "41";
        int processes = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 7;
        Map<String, List<double[]>> rows = new LinkedHashMap<>();
        for (int i = 0; i < processes; i++) {
            run(rounds, rows);
        }
        System.out.println(
                "bytes     hand (us)   API (us)   ratio    from     to   [float32 sum, native memory, in place, 2 ranks; medians of "
                        + processes + " processes]");
        rows.forEach((name, row) -> System.out.println(String.format(
                Locale.ROOT,
                "%-8s %10.3f %10.3f %7.2f %7.2f %6.2f",
                name,
                at(row, 0, 0.5) / 1e3,
                at(row, 1, 0.5) / 1e3,
                at(row, 2, 0.5),
                at(row, 2, 0),
                at(row, 2, 1))));
    }

    /** Adds what one process has measured. */
    private static void run(String rounds, Map<String, List<double[]>> rows) throws IOException, InterruptedException {
        for (String line : FreshJvm.run(OverheadProcess.class, rounds)) {
            String[] words = line.split(" ");
            double[] row = Arrays.stream(words, 1, words.length)
                    .mapToDouble(Double::parseDouble)
                    .toArray();
            rows.computeIfAbsent(words[0], name -> new ArrayList<>()).add(row);
        }
    }

    private static double at(List<double[]> row, int column, double quantile) {
        double[] sorted =
                row.stream().mapToDouble(each -> each[column]).sorted().toArray();
        return sorted[(int) (quantile * (sorted.length - 1))];
    }
}
