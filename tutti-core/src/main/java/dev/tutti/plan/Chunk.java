package dev.tutti.plan;

import org.jspecify.annotations.Nullable;

/**
 * A run of chunks of one memory of one rank: what operations read and write.
 *
 * <p>Input and output are divided into blocks (see {@link dev.tutti.Collective}) and each block into the plan's chunks per
 * block, so a chunk's place and length follow from the call. A chunk of scratch is only room, and of a peer's input or output the
 * acting rank knows no lengths: {@link #like} says whose length the data has, in terms of the acting rank's own input or output.
 * Without it (plan files) the length follows from the position, as the file format defines it.
 *
 * @param rank whose memory
 * @param space which memory
 * @param index first chunk
 * @param count number of chunks
 * @param like for scratch and for peers' memory: the own chunk of input or output whose length this has
 */
public record Chunk(
        int rank,
        Space space,
        int index,
        int count,
        @Nullable Chunk like) {

    /** Checks that the run makes sense. */
    public Chunk {
        if (index < 0 || count < 1) {
            throw new IllegalArgumentException(
                    "chunk index " + index + ", count " + count + ": index must be >= 0, count >= 1");
        }
    }

    /**
     * The chunk that tells the length of this one.
     *
     * @return {@link #like} if there is one, else this
     */
    public Chunk extent() {
        return like == null ? this : like;
    }

    @Override
    public String toString() {
        String run = count == 1 ? "" + index : index + ".." + (index + count - 1);
        return space.symbol() + "[" + run + "]@" + rank;
    }
}
