package dev.tutti.exec;

import dev.tutti.memory.Memory;

/**
 * The first look at a word that a peer is about to write. Whoever looks too soon takes the line from the peer's core, and both wait for it
 * twice; whoever looks too late waits for nothing. The right moment is some nanoseconds after the own post, and is learned: a look that came too soon
 * makes the next ones later, and from time to time one that did not makes them a little sooner.
 *
 * <p>A core runs ahead of its program, and looks as soon as it knows where. So it learns the address only by multiplications that follow each other,
 * of the zero that is left of what it saw last.
 */
final class FirstLook {
    /** Multiplications: about 20 ns. */
    private static final int LATEST = 28;

    /** By how many of them a look that came too soon makes the next ones later. */
    private static final int LATER = 4;
    /** A look is made sooner every so many launches: a power of two. */
    private static final int PERIOD = 16;

    private int multiplications;
    private long zero;

    /** Whether the word at an address is there in a launch when it is first looked at. */
    boolean finds(long word, long address, long launch) {
        long later = zero;
        for (int i = 0; i < multiplications; i++) {
            later *= later;
        }
        long seen = Memory.getLongAcquire(address + later);
        if (seen != word) {
            multiplications = Math.min(multiplications + LATER, LATEST);
            return false;
        }
        zero = seen - word;
        if ((launch & (PERIOD - 1)) == 0 && multiplications > 0) {
            multiplications--;
        }
        return true;
    }
}
