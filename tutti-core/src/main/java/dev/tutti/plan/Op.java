package dev.tutti.plan;

import dev.tutti.ReduceOp;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One step of a lane. Which of the lists are used depends on the {@link Code}; unused ones are empty.
 *
 * <p>Pairwise codes (put, get and their kin, {@link Code#isPairwise}) move source i to destination i; of {@link Code#PUT} and
 * {@link Code#PUT_PACKETS} Tutti's own plans also have a form with one source and several destinations. Group codes list one chunk
 * for each rank of the group where the file has one reference to all of them.
 *
 * @param code what to do
 * @param sources chunks read, in the order in which they are folded, except for packet folds: there the plain source comes
 *     first in this list and takes part at {@code plainPosition}
 * @param destinations chunks written
 * @param channels ids of the rank's channels that are signalled, waited for, or put through; for group codes, of its groups
 * @param semaphores ids of the rank's semaphores
 * @param fold a fixed operator (plan files), or null for the call's own
 * @param plainPosition for packet folds: where the plain source stands among the sources in folding order
 * @param finishes whether the result is the collective's final value, so that avg divides here
 * @param slice the part of each operand that is this lane's, or null for all
 * @param barrier barrier id and number of lanes, or null
 * @param loop iteration and inner operations of a pipeline, or null
 */
public record Op(
        Code code,
        List<Chunk> sources,
        List<Chunk> destinations,
        List<Integer> channels,
        List<Integer> semaphores,
        @Nullable ReduceOp fold,
        int plainPosition,
        boolean finishes,
        @Nullable Slice slice,
        @Nullable Barrier barrier,
        @Nullable Loop loop) {

    /**
     * One of several equal parts: lanes that share one operation.
     *
     * @param index which part
     * @param of how many there are
     */
    public record Slice(int index, int of) {}

    /**
     * A meeting of lanes of one rank.
     *
     * @param id which barrier
     * @param lanes how many lanes meet
     */
    public record Barrier(int id, int lanes) {}

    /**
     * Inner operations repeated over pieces of chunks.
     *
     * @param unitBytes size of a piece
     * @param chunks how many chunks are covered
     * @param body the inner operations
     */
    public record Loop(long unitBytes, int chunks, List<Op> body) {
        /** Keeps its own copy of the body. */
        public Loop {
            body = List.copyOf(body);
        }
    }

    /** Keeps its own copies of the lists. */
    public Op {
        sources = List.copyOf(sources);
        destinations = List.copyOf(destinations);
        channels = List.copyOf(channels);
        semaphores = List.copyOf(semaphores);
    }

    /**
     * This operation and, if it is a loop, those inside.
     *
     * @return at least this one
     */
    public Stream<Op> withInner() {
        return loop == null
                ? Stream.of(this)
                : Stream.concat(Stream.of(this), loop.body().stream().flatMap(Op::withInner));
    }

    /** An operation that moves or folds data. */
    static Op data(Code code, List<Chunk> sources, List<Chunk> destinations, int plainPosition, boolean finishes) {
        return new Op(
                code, sources, destinations, List.of(), List.of(), null, plainPosition, finishes, null, null, null);
    }

    /** An operation on channels. */
    static Op sync(Code code, List<Integer> channels) {
        return new Op(code, List.of(), List.of(), channels, List.of(), null, 0, false, null, null, null);
    }

    /** An operation on semaphores. */
    static Op semaphore(Code code, List<Integer> semaphores) {
        return new Op(code, List.of(), List.of(), List.of(), semaphores, null, 0, false, null, null, null);
    }

    /** A meeting of lanes. */
    static Op barrier(int id, int lanes) {
        return new Op(
                Code.BARRIER,
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                null,
                0,
                false,
                null,
                new Barrier(id, lanes),
                null);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(code.symbol());
        if (!destinations.isEmpty()) {
            text.append(' ').append(destinations).append(" <- ").append(sources);
        }
        if (!channels.isEmpty()) {
            text.append(" ch").append(channels);
        }
        if (!semaphores.isEmpty()) {
            text.append(" sem").append(semaphores);
        }
        if (barrier != null) {
            text.append(" #").append(barrier.id()).append(" of ").append(barrier.lanes());
        }
        if (slice != null) {
            text.append(" part ").append(slice.index()).append(" of ").append(slice.of());
        }
        if (fold != null) {
            text.append(' ').append(fold);
        }
        if (loop != null) {
            text.append(" every ").append(loop.unitBytes()).append(" B of ").append(loop.chunks());
            text.append(" chunks ").append(loop.body());
        }
        return text.toString();
    }
}
