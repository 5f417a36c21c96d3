package dev.tutti.exec;

import dev.tutti.memory.Memory;
import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * The first look at a word that a peer is about to write. Whoever looks too soon takes the line from the peer's core, and both wait for it
 * twice; whoever looks too late waits for nothing. The right moment is some nanoseconds after the own post, and is learned: a look that came too soon
 * makes the next ones later, and from time to time one that did not makes them sooner. So two ranks get in step with each other.
 *
 * <p>How late they may become is another matter: what gets far cores in step keeps near ones waiting. So a few limits are tried now and then, and timed.
 *
 * <p>A core runs ahead of its program, and looks as soon as it knows where. So it learns the address only by multiplications that follow each other,
 * of the zero that is left of what it saw last.
 */
final class FirstLook {
    /** How many multiplications, of 0.75 ns each, are waited for at most: two limits for near cores, two for far ones. */
    private static final int[] LIMITS = {15, 30, 60, 160};

    private static final int UNTRIED = 1;

    /** By how many multiplications a look that came too soon makes the next ones later. */
    private static final int LATER = 4;
    /**
     * Which part of them a look that was in time takes back. The longer a rank waits, the more looks must come too soon for it to go on so: else
     * two near ranks, each as late as the other has learned to expect, would end up at the latest.
     */
    private static final int SOONER = 16;
    /** A look is made sooner every so many: a power of two. */
    private static final int PERIOD = 16;

    /** Looks that are timed together: so many that to read the clock takes nothing of them. */
    private static final int WINDOW = 64;

    /** How often each limit has its turn in a trial; the slowest does not count, as it may have been interrupted. */
    private static final int TURNS = 3;

    /** Looks before the second trial. The first times code that is not compiled yet, perhaps; after each there are twice as many until the next. */
    private static final int FEWEST_BETWEEN = 1 << 11;

    /** Of so many a trial is less than a hundredth. They take some milliseconds. */
    private static final int MOST_BETWEEN = 1 << 17;

    private final LongSupplier clock;
    private final long[] nanos = new long[LIMITS.length];
    private final long[] slowest = new long[LIMITS.length];
    /** What was last waited for under each limit. */
    private final int[] learned = new int[LIMITS.length];

    private int chosen = UNTRIED;
    private int multiplications;
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
        return learn(seen == word);
    }

    /** Whether the counter at an address has come so far when it is first looked at. */
    boolean reaches(int count, long address) {
        long seen = look(address);
        remember(seen, count);
        return learn((int) seen - count >= 0);
    }

    /** How long it may wait now. */
    int limit() {
        return LIMITS[chosen];
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

    private boolean learn(boolean inTime) {
        if (!inTime) {
            multiplications = Math.min(multiplications + LATER, limit());
        } else if ((left & (PERIOD - 1)) == 0 && multiplications > 0) {
            multiplications -= 1 + multiplications / SOONER;
        }
        return inTime;
    }

    private void nextWindow() {
        long now = clock.getAsLong();
        if (trying) {
            nanos[chosen] += now - began;
            slowest[chosen] = Math.max(slowest[chosen], now - began);
            windows++;
        }
        began = now;
        trying = windows < TURNS * LIMITS.length;
        if (trying) {
            choose(windows % LIMITS.length);
            left = WINDOW;
        } else {
            choose(fastest());
            forget();
            left = between;
            between = Math.min(2 * between, MOST_BETWEEN);
        }
    }

    private void choose(int limit) {
        learned[chosen] = multiplications;
        chosen = limit;
        multiplications = learned[limit];
    }

    private int fastest() {
        int fastest = 0;
        for (int i = 1; i < LIMITS.length; i++) {
            fastest = nanos[i] - slowest[i] < nanos[fastest] - slowest[fastest] ? i : fastest;
        }
        return fastest;
    }

    private void forget() {
        Arrays.fill(nanos, 0);
        Arrays.fill(slowest, 0);
        windows = 0;
    }
}
