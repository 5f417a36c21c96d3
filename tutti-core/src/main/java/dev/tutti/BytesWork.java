package dev.tutti;

import dev.tutti.exec.Call;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A collective that tells all ranks lengths, and then moves as many bytes; as one operation, with nothing in between. */
final class BytesWork<T> extends CollectiveWork implements ResultWork<T> {
    private @Nullable Supplier<Call> data;
    private final Supplier<T> cut;
    private @Nullable T result;

    /**
     * A work to be submitted.
     *
     * @param lengths the call that tells lengths
     * @param data gives the call that moves bytes, when lengths are known
     * @param cut gives the result, when bytes are there
     */
    BytesWork(Communicator communicator, Call lengths, Supplier<Call> data, Supplier<T> cut) {
        super(communicator, communicator.schedule, lengths, null);
        this.data = data;
        this.cut = cut;
    }

    @Override
    protected boolean goesOn() {
        Supplier<Call> next = data;
        if (next == null) {
            return false;
        }
        data = null;
        replace(next.get());
        return true;
    }

    /** Cut on the thread that asks, not on the one that moves everybody's operations. */
    @Override
    public synchronized T result() {
        if (!isDone()) {
            throw new TuttiException(
                    TuttiException.Category.USAGE, "there is no result yet: await the Work first", null);
        }
        Works.rethrow(error());
        T known = result;
        if (known == null) {
            known = cut.get();
            result = known;
        }
        return known;
    }
}
