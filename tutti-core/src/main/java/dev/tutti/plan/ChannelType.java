package dev.tutti.plan;

import java.util.Locale;

/** How two ranks are joined. */
public enum ChannelType {
    /** The peer's memory can be read and written where it lies. */
    MEMORY,
    /** A transport carries the bytes; puts are ordered before later signals. */
    PORT,
    /** A group of ranks is reached at once. */
    SWITCH;

    /**
     * The name in plan files.
     *
     * @return the lower-case name
     */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
