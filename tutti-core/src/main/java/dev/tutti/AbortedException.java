package dev.tutti;

import org.jspecify.annotations.Nullable;

/**
 * The communicator was aborted: an interrupt, a user's function that threw, or a call to abort. {@link #ranks} are those on which that
 * happened.
 */
public final class AbortedException extends TuttiException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message who, what, and what to do
     * @param cause what was behind it, or null
     */
    public AbortedException(String message, @Nullable Throwable cause) {
        this(message, cause, Facts.NONE);
    }

    /**
     * Makes one that knows more.
     *
     * @param message who, what, and what to do
     * @param cause what was behind it, or null
     * @param facts where, and with whom
     */
    public AbortedException(String message, @Nullable Throwable cause, Facts facts) {
        super(Category.BROKEN, message, cause, facts);
    }
}
