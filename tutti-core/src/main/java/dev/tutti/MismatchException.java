package dev.tutti;

import org.jspecify.annotations.Nullable;

/**
 * Ranks called different operations, or the same one with different arguments. The text says which rank said what. {@link #ranks} are
 * those that said something else than most; of sets of equal size, the one of the lowest rank counts as right. If a pair disagrees about
 * what goes between them, both are in it; of a message, its sender.
 */
public final class MismatchException extends TuttiException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message who, what, and what to do
     * @param cause what was behind it, or null
     */
    public MismatchException(String message, @Nullable Throwable cause) {
        this(message, cause, Facts.NONE);
    }

    /**
     * Makes one that knows more.
     *
     * @param message who, what, and what to do
     * @param cause what was behind it, or null
     * @param facts where, and with whom
     */
    public MismatchException(String message, @Nullable Throwable cause, Facts facts) {
        super(Category.MISMATCH, message, cause, facts);
    }
}
