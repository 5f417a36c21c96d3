package dev.tutti.bench.kernels;

import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * One kernel in several processes: a line of the table.
 *
 * @param cell medians
 * @param least the least ratio of a process
 * @param most the most
 */
record KernelRow(KernelCell cell, double least, double most) {
    static KernelRow of(List<KernelCell> processes) {
        KernelCell any = processes.getFirst();
        KernelCell median = new KernelCell(
                any.type(),
                any.fold(),
                any.form(),
                any.bytes(),
                quantile(processes, KernelCell::javaGbps, 0.5),
                quantile(processes, KernelCell::cGbps, 0.5),
                quantile(processes, KernelCell::ownLinesGbps, 0.5),
                quantile(processes, KernelCell::exactGbps, 0.5),
                quantile(processes, KernelCell::ratio, 0.5),
                processes.stream().allMatch(KernelCell::same));
        return new KernelRow(
                median, quantile(processes, KernelCell::ratio, 0), quantile(processes, KernelCell::ratio, 1));
    }

    private static double quantile(List<KernelCell> cells, ToDoubleFunction<KernelCell> value, double quantile) {
        double[] sorted = cells.stream().mapToDouble(value).sorted().toArray();
        return sorted[(int) (quantile * (sorted.length - 1))];
    }

    double ratio() {
        return cell.ratio();
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

    String line() {
        return write("%-11s %-8s %-7s %8d %9.2f %9.2f %7.2f %6.2f %6.2f %9.2f %9s", "%.2f", "")
                + (cell.same() ? "" : "  DIFFERENT RESULT");
    }

    String json() {
        return write(
                "{\"type\":\"%s\",\"fold\":\"%s\",\"form\":\"%s\",\"bytes\":%d,\"java_gbps\":%.3f,\"c_gbps\":%.3f,"
                        + "\"ratio\":%.3f,\"least\":%.3f,\"most\":%.3f,\"c_own_lines_gbps\":%.3f,\"c_exact_gbps\":%s,\"same\":%b}",
                "%.3f", "null");
    }

    /** All of it in one order; {@code none} where there is no exact loop in C. */
    private String write(String form, String number, String none) {
        return String.format(
                Locale.ROOT,
                form,
                cell.type(),
                cell.fold(),
                cell.form(),
                cell.bytes(),
                cell.javaGbps(),
                cell.cGbps(),
                cell.ratio(),
                least,
                most,
                cell.ownLinesGbps(),
                Double.isNaN(cell.exactGbps()) ? none : String.format(Locale.ROOT, number, cell.exactGbps()),
                cell.same());
    }
}
