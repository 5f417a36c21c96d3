package dev.tutti.bench.kernels;

import java.util.Arrays;

/**
 * What one process has measured of one kernel on one kind of memory. The ratio is the median of those of all rounds, not the ratio of the two medians; NaN
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
}
