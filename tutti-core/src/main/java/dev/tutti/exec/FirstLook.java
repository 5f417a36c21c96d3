package dev.tutti.exec;

import dev.tutti.memory.Memory;
import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * The first look at a word that a peer is about to write. Whoever looks too soon takes the line from the peer's core, and both wait for it
 * twice; whoever looks too late waits for nothing. The right moment is some nanoseconds after the own post. Which is best depends on how far the
 * cores are from each other, on what is sent, and on when the peer looks: so some waits are tried from time to time, and timed.
 *
 * <p>A core runs ahead of its program, and looks as soon as it knows where. So it learns the address only by multiplications that follow each other,
 * of the zero that is left of what it saw last.
 */
final class FirstLook {
    /** Multiplications, of 0.75 ns each: none, for near cores, and for far ones. */
    private static final int[] WAITS = {0, 15, 25, 40, 60, 80, 160};

    private static final int UNTRIED = 2;

    /** Looks that are timed together: so many that to read the clock takes nothing of them. */
    private static final int WINDOW = 64;

    /** How often each wait has its turn in a trial; the slowest does not count, as it may have been interrupted. */
    private static final int TURNS = 3;

    /** Looks before the second trial. The first times code that is not compiled yet, perhaps; after each there are twice as many until the next. */
    private static final int FEWEST_BETWEEN = 1 << 11;

    /** Of so many a trial is a hundredth. They take some milliseconds. */
    private static final int MOST_BETWEEN = 1 << 17;

    private final LongSupplier clock;
    private final long[] nanos = new long[WAITS.length];
    private final long[] slowest = new long[WAITS.length];
    private int multiplications = WAITS[UNTRIED];
    /** Looks until the next window. */
    private int left = WINDOW;
    /** Windows that this trial has had; none before it. */
    private int windows;

    private int between = FEWEST_BETWEEN;
    private boolean trying;
    private long began;
    private long zero;

    FirstLook() {
        this(System::nanoTime);
    }

    FirstLook(LongSupplier clock) {
        this.clock = clock;
    }

    /** Whether the word at an address is there when it is first looked at. */
    boolean finds(long word, long address) {
        long seen = look(address);
        remember(seen, word);
        return seen == word;
    }

    /** Whether the counter at an address has come so far when it is first looked at. */
    boolean reaches(int count, long address) {
        long seen = look(address);
        remember(seen, count);
        return (int) seen - count >= 0;
    }

    /** What it does now before it looks. */
    int multiplications() {
        return multiplications;
    }

    private long look(long address) {
        if (--left == 0) {
            nextWindow();
        }
        long later = zero;
        for (int i = 0; i < multiplications; i++) {
            later *= later;
        }
        return Memory.getLongAcquire(address + later);
    }

    /** Keeps the zero that is left of what was seen; the compiler does not know that it is one. */
    private void remember(long seen, long awaited) {
        if (seen == awaited) {
            zero = seen - awaited;
        }
    }

    private void nextWindow() {
        long now = clock.getAsLong();
        if (trying) {
            int tried = windows++ % WAITS.length;
            nanos[tried] += now - began;
            slowest[tried] = Math.max(slowest[tried], now - began);
        }
        began = now;
        trying = windows < TURNS * WAITS.length;
        if (trying) {
            multiplications = WAITS[windows % WAITS.length];
            left = WINDOW;
        } else {
            decide();
        }
    }

    private void decide() {
        multiplications = WAITS[fastest()];
        Arrays.fill(nanos, 0);
        Arrays.fill(slowest, 0);
        windows = 0;
        left = between;
        between = Math.min(2 * between, MOST_BETWEEN);
    }

    private int fastest() {
        int fastest = 0;
        for (int i = 1; i < WAITS.length; i++) {
            fastest = nanos[i] - slowest[i] < nanos[fastest] - slowest[fastest] ? i : fastest;
        }
        return fastest;
    }
}
