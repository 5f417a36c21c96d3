package dev.tutti;

import java.io.Serializable;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Base of everything that goes wrong in Tutti after the arguments of a call were accepted. The text is for people; what a program may
 * want to know has accessors.
 *
 * {@snippet :
 * try {
 *     step.run();
 * } catch (PeerFailedException failed) {
 *     log("lost ranks " + failed.ranks() + " of " + failed.communicator());
 * }
 * }
 */
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

    /**
     * Where it went wrong, and with whom.
     *
     * @param communicator name of the communicator, or null
     * @param operation the operation as texts call it, or null
     * @param ranks the ranks that it is about, in ascending order; as the communicator counts, or else the world
     */
    public record Facts(
            @Nullable String communicator, @Nullable String operation, List<Integer> ranks) implements Serializable {
        /** Nothing is known. */
        public static final Facts NONE = new Facts(null, null, List.of());

        /** Copies the ranks. */
        public Facts {
            ranks = List.copyOf(ranks);
        }
    }

    private final Category category;
    private final Facts facts;

    /**
     * Makes one.
     *
     * @param category what to do about it
     * @param message who, what, and what to do
     * @param cause what was behind it, or null
     */
    public TuttiException(Category category, String message, @Nullable Throwable cause) {
        this(category, message, cause, Facts.NONE);
    }

    /**
     * Makes one that knows more.
     *
     * @param category what to do about it
     * @param message who, what, and what to do
     * @param cause what was behind it, or null
     * @param facts where, and with whom
     */
    public TuttiException(Category category, String message, @Nullable Throwable cause, Facts facts) {
        super(message, cause);
        this.category = category;
        this.facts = facts;
    }

    /**
     * What to do about it.
     *
     * @return the category
     */
    public Category category() {
        return category;
    }

    /**
     * The communicator on which it happened.
     *
     * @return its name, or null if there was none yet
     */
    public @Nullable String communicator() {
        return facts.communicator();
    }

    /**
     * The operation in which the rank that noticed first was: what it does, of how many elements, and its number.
     *
     * @return the operation as the text calls it, or null if there was none
     */
    public @Nullable String operation() {
        return facts.operation();
    }

    /**
     * The ranks that it is about, as the communicator counts, or the world where there was no communicator yet: those that failed ({@link PeerFailedException}), that had not come
     * ({@link CollectiveTimeoutException}), that called something else ({@link MismatchException}), that gave up
     * ({@link AbortedException}).
     *
     * @return in ascending order; empty if that is not known
     */
    public List<Integer> ranks() {
        return facts.ranks();
    }

    Facts facts() {
        return facts;
    }
}
