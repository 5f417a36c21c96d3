package dev.tutti.bench.memory;

import dev.tutti.bench.FreshJvm;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What small calls of two ranks cost on each kind of memory that a program may have, and on memory that is another each time: {@link MemoryProcess}
 * in JVMs of their own, as programs mostly have one kind. Rows whose barriers differ were measured while cores were at other distances. Usage: {@code MemoryBench [rounds [processes]]}.
 */
public final class MemoryBench {
    private MemoryBench() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        String rounds = arguments.length > 0 ? arguments[0] : "15";
        int processes = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 3;
        System.out.println("ns a call, 2 ranks in a JVM, float32; medians of " + rounds + " rounds and " + processes
                + " processes");
        for (Way way : Way.values()) {
            Map<String, List<Double>> cells = new LinkedHashMap<>();
            for (int i = 0; i < processes; i++) {
                for (String line : FreshJvm.run(MemoryProcess.class, way.name(), rounds)) {
                    String[] words = line.split("=");
                    cells.computeIfAbsent(words[0], _ -> new ArrayList<>()).add(Double.parseDouble(words[1]));
                }
            }
            StringBuilder row = new StringBuilder(String.format(Locale.ROOT, "%-24s", way.title));
            cells.forEach(
                    (name, values) -> row.append(String.format(Locale.ROOT, "   %s %6.1f", name, median(values))));
            System.out.println(row);
        }
    }

    static double median(List<Double> values) {
        double[] sorted = values.stream().mapToDouble(Double::doubleValue).toArray();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
