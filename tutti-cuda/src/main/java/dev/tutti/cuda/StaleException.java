package dev.tutti.cuda;

import dev.tutti.TuttiException;

/** Something of a context that was lost or rebuilt: a buffer, stream or communicator from before. Make it anew. */
public final class StaleException extends TuttiException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message what is stale, since when, and what to do
     */
    public StaleException(String message) {
        super(Category.USAGE, message, null);
    }
}
