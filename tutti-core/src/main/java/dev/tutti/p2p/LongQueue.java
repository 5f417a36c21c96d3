package dev.tutti.p2p;

/** Numbers, first in first out. */
final class LongQueue {
    private long[] numbers = new long[8];
    private int first;
    private int count;

    boolean isEmpty() {
        return count == 0;
    }

    void add(long number) {
        if (count == numbers.length) {
            long[] longer = new long[2 * count];
            for (int i = 0; i < count; i++) {
                longer[i] = numbers[(first + i) & (numbers.length - 1)];
            }
            numbers = longer;
            first = 0;
        }
        numbers[(first + count++) & (numbers.length - 1)] = number;
    }

    long poll() {
        long number = numbers[first];
        first = (first + 1) & (numbers.length - 1);
        count--;
        return number;
    }
}
