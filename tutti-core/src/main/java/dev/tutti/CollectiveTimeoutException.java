package dev.tutti;

import org.jspecify.annotations.Nullable;

/**
 * An operation passed its deadline. The text names the operation, who has arrived and who has not; {@link #ranks} are those who have
 * not. If all were inside, there are none.
 */
public final class CollectiveTimeoutException extends TuttiException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message who, what, and what to do
     * @param cause what was behind it, or null
     */
    public CollectiveTimeoutException(String message, @Nullable Throwable cause) {
        this(message, cause, Facts.NONE);
    }

    /**
     * Makes one that knows more.
     *
     * @param message who, what, and what to do
     * @param cause what was behind it, or null
     * @param facts where, and with whom
     */
    public CollectiveTimeoutException(String message, @Nullable Throwable cause, Facts facts) {
        super(Category.TIMEOUT, message, cause, facts);
    }
}
