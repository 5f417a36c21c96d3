package dev.tutti.cli.perf;

import static dev.tutti.cli.common.Numbers.fixed;
import static dev.tutti.cli.common.Numbers.pad;

import dev.tutti.cli.common.Names;
import dev.tutti.cli.common.Numbers;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The text of nccl-tests: the lines before the table, its head, its rows, the lines after it. Methods give text without
 * printing it.
 */
final class Table {
    private final PerfOptions options;
    private final Program program;
    private final Supplier<String> timestamp;

    Table(PerfOptions options, Program program, Supplier<String> timestamp) {
        this.options = options;
        this.program = program;
        this.timestamp = timestamp;
    }

    String head(String version, List<Participant> participants) {
        StringBuilder text = new StringBuilder();
        boolean byFactor = options.sizes().factor() > 1;
        line(text, "# " + version);
        line(text, "# Collective test starting: " + program.testName());
        line(
                text,
                "# nThread " + options.threads + " nGpus " + options.ranksPerThread() + " minBytes "
                        + options.sizes().min() + " maxBytes " + options.sizes().max() + " step: "
                        + (byFactor
                                ? options.sizes().factor() + "(factor)"
                                : options.sizes().step() + "(bytes)")
                        + " warmup iters: " + givenOrAuto(options.warmupIterationsGiven) + " iters: "
                        + givenOrAuto(options.iterationsGiven)
                        + " agg iters: " + options.aggregated + " validation: " + options.check + " graph: 0 unalign: "
                        + options.unaligned);
        switch (options.blocking) {
            case 1 -> line(text, "# Blocking Enabled: wait and barrier after each inner iteration (-m) ");
            case 2 -> line(text, "# Blocking Enabled: wait after each inner iteration (-m), no barrier ");
            case 3 ->
                line(
                        text,
                        "# Blocking Enabled: wait and barrier after each outer iteration (-n); time excludes barrier ");
            default -> {}
        }
        if (options.perIteration()) {
            line(
                    text,
                    "# Per-Iteration Report: wall clock; i_* uses max over ranks"
                            + (options.skipped > 0 ? "; summary skips first " + options.skipped + " iterations" : "")
                            + " ");
        }
        line(text, "#");
        line(text, "# Using ranks");
        participants.forEach(participant -> line(text, participant.line()));
        return text.toString();
    }

    private static String givenOrAuto(@Nullable Integer given) {
        return given == null ? "auto" : given.toString();
    }

    String columns() {
        StringBuilder text = new StringBuilder();
        String margin = "# " + pad("", 10) + pad("", 14) + pad("", 10) + pad("", 8) + pad("", 8);
        line(text, "#");
        line(text, margin + sides());
        String time = options.reportsCpuTime() ? "cputime" : "time";
        line(text, columnLine(List.of("size", "count", "type", "redop", "root"), half(time, false), "timestamp"));
        line(text, columnLine(List.of("(B)", "(elements)", "", "", ""), half("(us)", true), "%Y-%m-%d %H:%M:%S"));
        return text.toString();
    }

    private String sides() {
        if (options.perIteration() && !options.percentiles) {
            return "              out-of-place (+ per-iteration)                                in-place (+ per-iteration)";
        }
        String left = "           out-of-place           ";
        String right = "            in-place          ";
        String extra = " ".repeat((options.percentiles ? 18 : 0) + (options.perIteration() ? 36 : 0));
        return left + extra + right;
    }

    private List<String> half(String time, boolean units) {
        List<String> cells = new ArrayList<>();
        cells.add(pad(time, 7));
        cells.add(pad(units ? "(GB/s)" : "algbw", 6));
        cells.add(pad(units ? "(GB/s)" : "busbw", 6));
        cells.add(pad(units ? "" : "#wrong", 6));
        if (options.percentiles) {
            cells.add(pad(units ? "(us)" : "p50", 7));
            cells.add(pad(units ? "(us)" : "p99", 7));
        }
        if (options.perIteration()) {
            for (String name : List.of("i_min", "i_max", "i_p99")) {
                cells.add(pad(units ? "(us)" : name, 7));
            }
            cells.add(pad(units ? "(%)" : "i_cv%", 7));
        }
        return cells;
    }

    private String columnLine(List<String> names, List<String> half, String stamp) {
        StringBuilder text = new StringBuilder("# ");
        int[] widths = {10, 12, 8, 6, 6};
        for (int i = 0; i < widths.length; i++) {
            text.append(i == 0 ? "" : "  ").append(pad(names.get(i), widths[i]));
        }
        for (int side = 0; side < 2; side++) {
            half.forEach(cell -> text.append("  ").append(cell));
        }
        text.append(' ');
        if (options.reportsTimestamps()) {
            text.append(pad(stamp, 19));
        }
        return text.toString();
    }

    String row(Row row) {
        StringBuilder text = new StringBuilder();
        text.append(pad(Long.toString(row.shape().bytes()), 12));
        text.append("  ").append(pad(Long.toString(row.shape().count()), 12));
        text.append("  ").append(pad(Names.of(row.what().type()), 8));
        text.append("  ").append(pad(program.redopColumn(row.what().operator()), 6));
        text.append("  ").append(pad(Integer.toString(row.what().root()), 6));
        half(text, row.outOfPlace());
        half(text, row.inPlace());
        if (options.reportsTimestamps()) {
            text.append(pad(timestamp.get(), 21));
        }
        return text.append('\n').toString();
    }

    private void half(StringBuilder text, Row.Half half) {
        text.append("  ").append(fixed(half.timeMicros(), 7));
        text.append("  ").append(fixed(half.algBandwidth(), 6));
        text.append("  ").append(fixed(half.busBandwidth(), 6));
        text.append("  ")
                .append(pad(
                        half.isChecked() ? Numbers.general((double) half.wrong()) : "N/A", half.isChecked() ? 6 : 5));
        if (half.iterationMicros().isEmpty()) {
            return;
        }
        Row.Statistics times = Row.Statistics.of(half.iterationMicros(), options.skipped);
        List<Double> cells = new ArrayList<>();
        if (options.percentiles) {
            cells.addAll(List.of(times.p50(), times.p99()));
        }
        if (options.perIteration()) {
            cells.addAll(List.of(times.min(), times.max(), times.p99(), times.variation()));
        }
        cells.forEach(cell -> text.append("  ").append(fixed(cell, 7)));
    }

    String foot(Summary summary) {
        StringBuilder text = new StringBuilder();
        line(
                text,
                "# Out of bounds values : " + summary.failedChecks()
                        + (summary.failedChecks() > 0 ? " FAILED" : " OK"));
        line(
                text,
                "# Avg bus bandwidth    : " + Numbers.general(summary.averageBusBandwidth()) + " "
                        + switch (summary.bandwidth()) {
                            case UNCHECKED -> "";
                            case OKAY -> "OK";
                            case TOO_LOW -> "FAILED";
                        });
        line(text, "#");
        line(text, "# Collective test concluded: " + program.testName());
        line(text, "#");
        line(text, "");
        return text.toString();
    }

    private static void line(StringBuilder text, String line) {
        text.append(line).append('\n');
    }
}
