package dev.tutti;

import org.jspecify.annotations.Nullable;

/** Another rank failed or closed the communicator while this one needed it. */
public final class PeerFailedException extends TuttiException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message who, what, and what to do
     * @param cause what was behind it, or null
     */
    public PeerFailedException(String message, @Nullable Throwable cause) {
        super(Category.PEER_FAILED, message, cause);
    }
}
