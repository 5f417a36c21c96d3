package dev.tutti.bench.kernels;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * What was measured of one kernel on one kind of memory. The ratio is the median of those of all rounds, not the ratio of the two medians; NaN
 * where there is no exact loop.
 */
record KernelCell(
        String type,
        String fold,
        String form,
        int bytes,
        double javaGbps,
        double cGbps,
        double ownLinesGbps,
        double exactGbps,
        double ratio,
        boolean same) {
    /** How a process tells the one that has started it. */
    String raw() {
        return String.join(
                " ",
                type,
                fold,
                form,
                "" + bytes,
                "" + javaGbps,
                "" + cGbps,
                "" + ownLinesGbps,
                "" + exactGbps,
                "" + ratio,
                "" + same);
    }

    static KernelCell parse(String raw) {
        String[] words = raw.split(" ");
        double[] numbers =
                Arrays.stream(words, 4, 9).mapToDouble(Double::parseDouble).toArray();
        return new KernelCell(
                words[0],
                words[1],
                words[2],
                Integer.parseInt(words[3]),
                numbers[0],
                numbers[1],
                numbers[2],
                numbers[3],
                numbers[4],
                Boolean.parseBoolean(words[9]));
    }

    String name() {
        return type + " " + fold + " " + form + " " + bytes;
    }

    /** The same kernel in several processes. */
    static KernelCell median(List<KernelCell> cells) {
        KernelCell first = cells.getFirst();
        return new KernelCell(
                first.type,
                first.fold,
                first.form,
                first.bytes,
                quantile(cells, KernelCell::javaGbps, 0.5),
                quantile(cells, KernelCell::cGbps, 0.5),
                quantile(cells, KernelCell::ownLinesGbps, 0.5),
                quantile(cells, KernelCell::exactGbps, 0.5),
                quantile(cells, KernelCell::ratio, 0.5),
                cells.stream().allMatch(KernelCell::same));
    }

    static double quantile(List<KernelCell> cells, ToDoubleFunction<KernelCell> value, double quantile) {
        double[] sorted = cells.stream().mapToDouble(value).sorted().toArray();
        return sorted[(int) (quantile * (sorted.length - 1))];
    }

    static String head() {
        return String.format(
                Locale.ROOT,
                "%-11s %-8s %-7s %8s %9s %9s %7s %6s %6s %9s %9s",
                "type",
                "fold",
                "form",
                "bytes",
                "Java GB/s",
                "C GB/s",
                "Java/C",
                "from",
                "to",
                "own lines",
                "exact C");
    }

    /** A line of the table, with the least and the most of single processes. */
    String line(double least, double most) {
        return String.format(
                Locale.ROOT,
                "%-11s %-8s %-7s %8d %9.2f %9.2f %7.2f %6.2f %6.2f %9.2f %9s%s",
                type,
                fold,
                form,
                bytes,
                javaGbps,
                cGbps,
                ratio,
                least,
                most,
                ownLinesGbps,
                Double.isNaN(exactGbps) ? "" : String.format(Locale.ROOT, "%.2f", exactGbps),
                same ? "" : "  DIFFERENT RESULT");
    }

    String json(double least, double most) {
        return String.format(
                Locale.ROOT,
                "{\"type\":\"%s\",\"fold\":\"%s\",\"form\":\"%s\",\"bytes\":%d,\"java_gbps\":%.3f,\"c_gbps\":%.3f,"
                        + "\"c_own_lines_gbps\":%.3f,\"c_exact_gbps\":%s,\"ratio\":%.3f,\"least\":%.3f,\"most\":%.3f,\"same\":%b}",
                type,
                fold,
                form,
                bytes,
                javaGbps,
                cGbps,
                ownLinesGbps,
                Double.isNaN(exactGbps) ? "null" : String.format(Locale.ROOT, "%.3f", exactGbps),
                ratio,
                least,
                most,
                same);
    }
}
