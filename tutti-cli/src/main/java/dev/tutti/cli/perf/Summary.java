package dev.tutti.cli.perf;

import dev.tutti.cli.common.ExitCode;
import java.util.List;
import java.util.stream.Stream;

/** What all rows together say. */
record Summary(int failedChecks, double averageBusBandwidth, Bandwidth bandwidth) {
    /** Whether the average is what was demanded. */
    enum Bandwidth {
        UNCHECKED,
        OKAY,
        TOO_LOW
    }

    /**
     * Adds up.
     *
     * @param demanded GB/s that the average must come near, or a negative number
     */
    static Summary of(List<Row> rows, double demanded) {
        List<Row.Half> halves = rows.stream()
                .flatMap(row -> Stream.of(row.outOfPlace(), row.inPlace()))
                .toList();
        int failed = (int) halves.stream().filter(half -> half.wrong() > 0).count();
        double average =
                halves.stream().mapToDouble(Row.Half::busBandwidth).average().orElse(0);
        Bandwidth bandwidth =
                demanded < 0 ? Bandwidth.UNCHECKED : average < 0.9 * demanded ? Bandwidth.TOO_LOW : Bandwidth.OKAY;
        return new Summary(failed, average, bandwidth);
    }

    ExitCode exitCode() {
        return failedChecks > 0 || bandwidth == Bandwidth.TOO_LOW ? ExitCode.BAD_RESULTS : ExitCode.SUCCESS;
    }
}
