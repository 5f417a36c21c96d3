package dev.tutti.plan.simulate;

import java.util.Arrays;

/**
 * One lane's operations as numbers, so that ten thousand ranks fit into memory. Kinds and their words:
 *
 * <pre>
 *   WAIT     queues…                        SIGNAL   (queue, peer)…          (semaphores are queues without a peer)
 *   BARRIER  meeting, lanes                 FLUSH
 *   DATA     amount, mode, waits, sends, transfers…, (queue, peer)…
 * </pre>
 *
 * A header is kind, place of the operation in its lane ({@link #place}), and number of words behind it.
 */
final class Program {
    static final int WAIT = 0;
    static final int SIGNAL = 1;
    static final int BARRIER = 2;
    static final int FLUSH = 3;
    static final int DATA = 4;

    /** Mode of DATA: a transport moves the bytes while the lane goes on. */
    static final int ASYNC = 1;
    /** Mode of DATA: the lane waits until the transport has read everything. */
    static final int FLUSHES = 2;
    /** Mode of DATA: the switch folds or copies, so that the rank's own port carries the bytes once. */
    static final int GROUP = 4;

    /** Words of DATA before its lists; the last two are the lengths of those. */
    static final int DATA_WORDS = 6;

    private static final int INNER_SHIFT = 24;
    private static final int MOST_INNER = 255;

    private int[] words = new int[16];
    private int length;

    int length() {
        return length;
    }

    int word(int at) {
        return words[at];
    }

    /** Where an operation stands: index in its lane, and index in the loop that stands there or -1. Far inside of a loop is not told apart. */
    static int place(int op, int inner) {
        return op | Math.min(inner + 1, MOST_INNER) << INNER_SHIFT;
    }

    static int op(int place) {
        return place & ((1 << INNER_SHIFT) - 1);
    }

    static int inner(int place) {
        return (place >>> INNER_SHIFT) - 1;
    }

    /** Begins an operation; its words follow by {@link #add}. */
    void begin(int kind, int place) {
        add(kind);
        add(place);
        add(0);
    }

    /** Ends the operation that began at {@code start}. */
    void end(int start) {
        words[start + 2] = length - start - HEADER;
    }

    /** Words of a header: kind, index, number of words that follow. */
    static final int HEADER = 3;

    void add(int word) {
        if (length == words.length) {
            words = Arrays.copyOf(words, length + (length >> 1));
        }
        words[length++] = word;
    }

    void trim() {
        words = Arrays.copyOf(words, length);
    }
}
