package dev.tutti;

import org.jspecify.annotations.Nullable;

/** An operation passed its deadline. The text names the operation, who has arrived and who has not. */
public final class CollectiveTimeoutException extends TuttiException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message who, what, and what to do
     * @param cause what was behind it, or null
     */
    public CollectiveTimeoutException(String message, @Nullable Throwable cause) {
        super(Category.TIMEOUT, message, cause);
    }
}
