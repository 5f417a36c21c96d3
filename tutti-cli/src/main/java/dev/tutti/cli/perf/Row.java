package dev.tutti.cli.perf;

import java.util.Arrays;
import java.util.List;

/** What was measured for one size of a case. */
record Row(Case what, Shape shape, int iterations, Steadiness steadiness, Half outOfPlace, Half inPlace) {
    /**
     * One side of the table.
     *
     * @param wrong wrong elements on all ranks, or {@link #UNCHECKED}
     * @param iterationMicros times of the iterations, each that of the slowest rank; empty if they were not asked for
     */
    record Half(double timeMicros, double algBandwidth, double busBandwidth, long wrong, List<Double> iterationMicros) {
        static final long UNCHECKED = -1;

        boolean isChecked() {
            return wrong != UNCHECKED;
        }
    }

    /** What the iterations' times say. */
    record Statistics(double min, double max, double mean, double p50, double p95, double p99, double deviation) {
        static Statistics of(List<Double> times, int skipped) {
            double[] sorted = times.stream()
                    .skip(skipped)
                    .mapToDouble(each -> each)
                    .sorted()
                    .toArray();
            double mean = Arrays.stream(sorted).average().orElse(0);
            double variance = Arrays.stream(sorted)
                    .map(time -> (time - mean) * (time - mean))
                    .average()
                    .orElse(0);
            return new Statistics(
                    sorted[0],
                    sorted[sorted.length - 1],
                    mean,
                    sorted[sorted.length / 2],
                    percentile(sorted, 95),
                    percentile(sorted, 99),
                    Math.sqrt(variance));
        }

        /** Nearest rank: some measured time that so many percent do not exceed. */
        private static double percentile(double[] sorted, int percent) {
            int count = sorted.length;
            return sorted[Math.min(count - 1, (count * percent + 99) / 100 - 1)];
        }

        /** Deviation in percent of the mean. */
        double variation() {
            return mean > 0 ? deviation / mean * 100 : 0;
        }
    }
}
