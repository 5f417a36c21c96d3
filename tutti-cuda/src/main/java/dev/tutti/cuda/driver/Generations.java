package dev.tutti.cuda.driver;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * How often the context of each device was lost or rebuilt. Whatever lives in a context remembers the number it was made
 * under and is refused under another.
 */
public final class Generations {
    private static final int MOST_DEVICES = 1024;
    /** Null: the first one still. Read with every call, so it must cost nothing. */
    private static final AtomicReferenceArray<@Nullable State> STATES = new AtomicReferenceArray<>(MOST_DEVICES);

    private Generations() {}

    /** One device's count, and why the last one ended. */
    private record State(int number, boolean lost, @Nullable String cause) {}

    private static final State FIRST = new State(1, false, null);

    /** The number that things made now belong to; counts up as soon as the context is lost. */
    public static int current(int device) {
        return state(device).number();
    }

    /** Why the context before this one ended, or null. */
    public static @Nullable String cause(int device) {
        return state(device).cause();
    }

    /** Whether the context is unusable until it is rebuilt. */
    public static boolean isLost(int device) {
        return state(device).lost();
    }

    private static State state(int device) {
        State state = STATES.get(device);
        return state == null ? FIRST : state;
    }

    static void lose(int device, String cause) {
        if (device >= 0) {
            STATES.updateAndGet(device, old -> {
                State state = old == null ? FIRST : old;
                return state.lost() ? state : new State(state.number() + 1, true, cause);
            });
        }
    }

    /** Notes that the context is a new one. */
    public static void rebuilt(int device, String cause) {
        STATES.updateAndGet(device, old -> {
            State state = old == null ? FIRST : old;
            return state.lost()
                    ? new State(state.number(), false, state.cause())
                    : new State(state.number() + 1, false, cause);
        });
    }
}
