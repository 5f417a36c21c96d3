package dev.tutti;

import org.jspecify.annotations.Nullable;

/** Base of everything that goes wrong in Tutti after the arguments of a call were accepted. */
public class TuttiException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What to do about it. */
    public enum Category {
        /** The caller did something that is not allowed in this state. */
        USAGE,
        /** Somebody did not come in time. */
        TIMEOUT,
        /** A peer is gone. */
        PEER_FAILED,
        /** Ranks disagree about the operation. */
        MISMATCH,
        /** The communicator cannot be used any more. */
        BROKEN
    }

    private final Category category;

    /**
     * Makes one.
     *
     * @param category what to do about it
     * @param message who, what, and what to do
     * @param cause what was behind it, or null
     */
    public TuttiException(Category category, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.category = category;
    }

    /**
     * What to do about it.
     *
     * @return the category
     */
    public Category category() {
        return category;
    }
}
