package dev.tutti;

import dev.tutti.exec.Call;
import org.jspecify.annotations.Nullable;

/**
 * The small calls that a communicator has made last: most programs make a few of them in turn, over and over. A call that is found here needs
 * no second look at its arguments. Used by whoever is inside the gate.
 */
final class RecentCalls {
    /** Each may keep some memory of the user's alive. */
    private static final int MOST = 8;

    private final Call[] calls = new Call[MOST];
    private final Call barrier = Call.inline();
    private final Call other = Call.inline();
    /** How many there are. */
    private int size = 1;
    /** The call that was made last. */
    private int last;

    /** The call that was last filled. */
    private int newest;

    RecentCalls() {
        calls[0] = Call.inline();
    }

    /** The call that these arguments make, if it is here; else one to fill, in place of whichever has been here longest. */
    Call find(
            Collective which,
            DataType type,
            @Nullable Object in,
            @Nullable Object out,
            @Nullable ReduceOp op,
            int root) {
        Call call = calls[last];
        return call.repeats(which, type, in, out, op, root) ? call : turnTo(which, type, in, out, op, root);
    }

    /** Calls that take turns stand here in that order. */
    private Call turnTo(
            Collective which,
            DataType type,
            @Nullable Object in,
            @Nullable Object out,
            @Nullable ReduceOp op,
            int root) {
        for (int at = next(last); at != last; at = next(at)) {
            if (calls[at].repeats(which, type, in, out, op, root)) {
                last = at;
                return calls[at];
            }
        }
        return replaceOldest();
    }

    private int next(int at) {
        return at + 1 < size ? at + 1 : 0;
    }

    /** What was filled last stays only if it can be made again, which large calls cannot. */
    private Call replaceOldest() {
        if (calls[newest].isRepeatable()) {
            if (size < MOST) {
                newest = size++;
                calls[newest] = Call.inline();
            } else {
                newest = next(newest);
                calls[newest].drop();
            }
        }
        last = newest;
        return calls[newest];
    }

    /** A barrier, which has no arguments. */
    Call barrier() {
        return barrier;
    }

    /** A call to fill that is not to be found again. */
    Call other() {
        return other;
    }
}
