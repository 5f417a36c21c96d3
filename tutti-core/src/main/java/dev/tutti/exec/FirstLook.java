package dev.tutti.exec;

import dev.tutti.memory.Memory;

/**
 * The first look at a word that a peer is about to write. Whoever looks too soon takes the line from the peer's core, and both wait for it
 * twice; whoever looks too late waits for nothing. The right moment is some nanoseconds after the own post, and is learned: a look that came too soon
 * makes the next ones later, and from time to time one that did not makes them sooner.
 *
 * <p>A core runs ahead of its program, and looks as soon as it knows where. So it learns the address only by multiplications that follow each other,
 * of the zero that is left of what it saw last.
 */
final class FirstLook {
    /** Multiplications: about 120 ns, half of what a line takes between far cores. */
    private static final int LATEST = 160;

    /** By how many of them a look that came too soon makes the next ones later. */
    private static final int LATER = 4;
    /**
     * Which part of them a look that was in time takes back. The longer a rank waits, the more looks must come too soon for it to go on so: else
     * two near ranks, each as late as the other has learned to expect, would end up at the latest.
     */
    private static final int SOONER = 16;
    /** A look is made sooner every so many launches: a power of two. */
    private static final int PERIOD = 16;

    private int multiplications;
    private long zero;

    /** Whether the word at an address is there in a launch when it is first looked at. */
    boolean finds(long word, long address, long launch) {
        long seen = look(address);
        remember(seen, word);
        return learn(seen == word, launch);
    }

    /** Whether the counter at an address has come so far in a launch when it is first looked at. */
    boolean reaches(int count, long address, long launch) {
        long seen = look(address);
        remember(seen, count);
        return learn((int) seen - count >= 0, launch);
    }

    private long look(long address) {
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

    private boolean learn(boolean inTime, long launch) {
        if (!inTime) {
            multiplications = Math.min(multiplications + LATER, LATEST);
        } else if ((launch & (PERIOD - 1)) == 0 && multiplications > 0) {
            multiplications -= 1 + multiplications / SOONER;
        }
        return inTime;
    }
}
