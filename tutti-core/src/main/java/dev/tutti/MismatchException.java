package dev.tutti;

import org.jspecify.annotations.Nullable;

/** Ranks called different operations, or the same one with different arguments. The text says which rank said what. */
public final class MismatchException extends TuttiException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message who, what, and what to do
     * @param cause what was behind it, or null
     */
    public MismatchException(String message, @Nullable Throwable cause) {
        super(Category.MISMATCH, message, cause);
    }
}
