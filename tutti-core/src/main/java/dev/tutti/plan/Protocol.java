package dev.tutti.plan;

import java.util.Locale;

/** How a transfer tells its receiver that data has arrived. */
public enum Protocol {
    /** Data into a slot, then a counter on its own cache line: a release store that the receiver waits for. */
    SIMPLE,
    /** Data and flag in one 64-bit word: nothing to wait for but the data. Twice the bytes, half the round trips. */
    PACKET;

    /**
     * The name on the command line.
     *
     * @return the lower-case name
     */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
