package dev.tutti.cli.common;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.LongConsumer;

/**
 * Message sizes in bytes, from the smallest to the largest, by a factor or a step.
 *
 * @param factor grows by this factor if it is more than 1, else by the step
 */
public record Sizes(long min, long max, long step, long factor) {
    /** A decimal number with K, M or G (powers of 1024) behind it, as in {@code 64M} or {@code 1.5K}. */
    public static long parse(String text) {
        String number = text.strip().toUpperCase(Locale.ROOT);
        char last = number.isEmpty() ? ' ' : number.charAt(number.length() - 1);
        int shift = last == 'K' ? 10 : last == 'M' ? 20 : last == 'G' ? 30 : 0;
        if (shift > 0) {
            number = number.substring(0, number.length() - 1).strip();
        }
        if (!number.matches("\\d+(\\.\\d*)?|\\.\\d+")) {
            throw new IllegalArgumentException("'" + text + "' is no size: a number, and K, M or G if you like");
        }
        double bytes = Double.parseDouble(number) * (1L << shift);
        if (bytes > 0x1p53) {
            throw new IllegalArgumentException("'" + text + "' is too large");
        }
        return (long) bytes;
    }

    public void forEach(LongConsumer action) {
        for (long size = min; size <= max; size = next(size)) {
            action.accept(size);
        }
    }

    /** All of them. */
    public List<Long> all() {
        List<Long> all = new ArrayList<>();
        forEach(all::add);
        return all;
    }

    /** Twice as large each time, as warm-up goes. */
    public void forEachDoubling(LongConsumer action) {
        for (long size = min; size <= max; size = Math.max(1, 2 * size)) {
            action.accept(size);
        }
    }

    public int count() {
        int[] count = {0};
        forEach(size -> count[0]++);
        return count[0];
    }

    private long next(long size) {
        return factor > 1 ? size * factor : size + step;
    }
}
