package dev.tutti.posix;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * Sleeping until a word of memory changes, across processes. A virtual thread must not come here: it would block its carrier.
 *
 * @see <a href="https://man7.org/linux/man-pages/man2/futex.2.html">futex(2)</a>
 */
public final class Futex {
    private static final long FUTEX = Libc.systemCall(202, 98);
    private static final long FUTEX_WAITV = 449;
    private static final long WAIT = 0;
    private static final long WAKE = 1;
    private static final long CLOCK_MONOTONIC = 1;
    private static final int SIZE_U32 = 2;
    private static final long NANOS = 1_000_000_000L;

    /** struct futex_waitv: value, address, flags, reserved. */
    private static final int WAITV_BYTES = 24;

    /** How many words {@link Words} can hold at most. */
    public static final int MOST_WORDS = 128;

    private static final @Nullable String UNAVAILABILITY_CAUSE = probe(false);
    private static final @Nullable String ANY_UNAVAILABILITY_CAUSE = probe(true);

    private Futex() {}

    private static @Nullable String probe(boolean any) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment word = arena.allocate(4, 4);
            if (any) {
                new Words(1).set(0, word.address(), 1).await(0);
            } else {
                await(word.address(), 1, 0);
                wake(word.address());
            }
            return null;
        } catch (RuntimeException | LinkageError cause) {
            return cause.toString();
        }
    }

    public static boolean isAvailable() {
        return UNAVAILABILITY_CAUSE == null;
    }

    /** Why there is none here, or null. */
    public static @Nullable String unavailabilityCause() {
        return UNAVAILABILITY_CAUSE;
    }

    /** Whether one thread can sleep on several words. */
    public static boolean isAnyAvailable() {
        return ANY_UNAVAILABILITY_CAUSE == null;
    }

    /**
     * Sleeps while the 32-bit word is as expected, until {@link #wake} or the time is over; may also return for no reason.
     *
     * @param timeoutNanos how long at most; 0 or more
     */
    public static void await(long address, int expected, long timeoutNanos) {
        MemorySegment scratch = Libc.scratch();
        MemorySegment time = Libc.structure(scratch);
        putTime(time, timeoutNanos);
        if (Libc.call(scratch, FUTEX, address, WAIT, expected, time.address()) == -1) {
            ignoreOrdinary("futex(WAIT, 0x" + Long.toHexString(address) + ")", Libc.errno(scratch));
        }
    }

    /** Wakes everybody who sleeps on a word. Change the word before. */
    public static void wake(long address) {
        MemorySegment scratch = Libc.scratch();
        if (Libc.call(scratch, FUTEX, address, WAKE, Integer.MAX_VALUE) == -1) {
            throw new PosixException("futex(WAKE, 0x" + Long.toHexString(address) + ")", Libc.errno(scratch));
        }
    }

    /** Several words to sleep on at once. For one thread. */
    public static final class Words {
        private final MemorySegment entries;
        private int count;

        public Words(int capacity) {
            this.entries = Arena.ofAuto().allocate((long) Math.min(capacity, MOST_WORDS) * WAITV_BYTES, 8);
        }

        /** Says which word is watched in a place, and what it was like; those from {@code place} + 1 on are forgotten. */
        public Words set(int place, long address, int expected) {
            long at = (long) place * WAITV_BYTES;
            entries.set(ValueLayout.JAVA_LONG, at, expected & 0xFFFFFFFFL);
            entries.set(ValueLayout.JAVA_LONG, at + 8, address);
            entries.set(ValueLayout.JAVA_INT, at + 16, SIZE_U32);
            entries.set(ValueLayout.JAVA_INT, at + 20, 0);
            count = place + 1;
            return this;
        }

        /** Sleeps while all words are as expected, as {@link Futex#await}. */
        public void await(long timeoutNanos) {
            MemorySegment scratch = Libc.scratch();
            MemorySegment time = Libc.structure(scratch);
            // The deadline is a time of CLOCK_MONOTONIC, which on Linux is what nanoTime reads.
            putTime(time, System.nanoTime() + timeoutNanos);
            long result =
                    Libc.call(scratch, FUTEX_WAITV, entries.address(), count, 0, time.address(), CLOCK_MONOTONIC, 0);
            if (result == -1) {
                ignoreOrdinary("futex_waitv(" + count + " words)", Libc.errno(scratch));
            }
        }
    }

    private static void putTime(MemorySegment time, long nanos) {
        time.set(ValueLayout.JAVA_LONG, 0, nanos / NANOS);
        time.set(ValueLayout.JAVA_LONG, 8, nanos % NANOS);
    }

    /** Memory that was unmapped meanwhile ends a sleep like anything else. */
    private static void ignoreOrdinary(String call, int errno) {
        if (errno != PosixException.EAGAIN
                && errno != PosixException.ETIMEDOUT
                && errno != PosixException.EINTR
                && errno != PosixException.EFAULT) {
            throw new PosixException(call, errno);
        }
    }
}
