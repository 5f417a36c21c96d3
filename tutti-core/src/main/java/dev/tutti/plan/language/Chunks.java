package dev.tutti.plan.language;

import dev.tutti.plan.Chunk;
import dev.tutti.plan.Space;

/**
 * A buffer of a rank, or a run of chunks of one: what operations take.
 *
 * @param rank whose memory
 * @param space which memory
 * @param first index of the first chunk
 * @param size number of chunks
 */
public record Chunks(int rank, Space space, int first, int size) {
    /**
     * One chunk.
     *
     * @param index counted from the beginning of this run
     * @return the chunk
     */
    public Chunks at(int index) {
        return slice(index, index + 1);
    }

    /**
     * Some chunks.
     *
     * @param from the first, counted from the beginning of this run
     * @param to one more than the last
     * @return the chunks
     */
    public Chunks slice(int from, int to) {
        if (from < 0 || to <= from || to > size) {
            throw new IllegalArgumentException("chunks " + from + " to " + to + " of " + this + ": it has " + size
                    + ", numbered from 0, and a slice has at least one");
        }
        return new Chunks(rank, space, first + from, to - from);
    }

    Chunk chunk() {
        return new Chunk(rank, space, first, size, null);
    }

    @Override
    public String toString() {
        return space.symbol() + "[" + first + ".." + (first + size - 1) + "]@" + rank;
    }
}
