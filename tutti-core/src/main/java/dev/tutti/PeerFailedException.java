package dev.tutti;

import org.jspecify.annotations.Nullable;

/**
 * Another rank failed or closed the communicator while this one needed it. {@link #ranks} are those that are known to have failed at the
 * moment of the throw: when several die at once, a later call may know of more.
 */
public final class PeerFailedException extends TuttiException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message who, what, and what to do
     * @param cause what was behind it, or null
     */
    public PeerFailedException(String message, @Nullable Throwable cause) {
        this(message, cause, Facts.NONE);
    }

    /**
     * Makes one that knows more.
     *
     * @param message who, what, and what to do
     * @param cause what was behind it, or null
     * @param facts where, and with whom
     */
    public PeerFailedException(String message, @Nullable Throwable cause, Facts facts) {
        super(Category.PEER_FAILED, message, cause, facts);
    }
}
