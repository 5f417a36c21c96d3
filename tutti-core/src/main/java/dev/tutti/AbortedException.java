package dev.tutti;

import org.jspecify.annotations.Nullable;

/** The communicator was aborted: an interrupt, a user's function that threw, or a call to abort. */
public final class AbortedException extends TuttiException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message who, what, and what to do
     * @param cause what was behind it, or null
     */
    public AbortedException(String message, @Nullable Throwable cause) {
        super(Category.BROKEN, message, cause);
    }
}
