package dev.tutti.cuda;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.Window;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;

/**
 * How many calls each rank has made, in memory of the host that all ranks can read without each other's help: what NCCL does not
 * tell when a rank does not come. The communicator behind it also tells of processes that have ended and of ranks that gave up.
 */
final class Board implements AutoCloseable {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    private final Communicator ranks;
    private final Buffer words;
    private final MemorySegment own;
    private final Window window;

    /** All ranks make one together. The communicator is the board's from now on. */
    Board(Communicator ranks) {
        this.ranks = ranks;
        this.words = ranks.allocate(DataType.INT64, 1);
        this.own = words.segment();
        this.window = ranks.window(words);
    }

    Communicator ranks() {
        return ranks;
    }

    /** This rank has come to a call. A release: who reads the number sees what was written before. */
    void come(long number) {
        WORD.setRelease(own, 0L, number);
    }

    /** Throws if a rank has failed or given up. */
    void requireAll() {
        ranks.requireActive();
    }

    private long read(int rank) {
        long[] word = new long[1];
        window.get(Buffer.of(word), rank, 0);
        return word[0];
    }

    /** Who has come to a call and who has not. */
    String whoIsMissing(long number) {
        List<Integer> here = new ArrayList<>();
        List<Integer> absent = new ArrayList<>();
        StringBuilder where = new StringBuilder();
        for (int rank = 0; rank < ranks.size(); rank++) {
            long reached = read(rank);
            if (reached >= number) {
                here.add(rank);
            } else {
                absent.add(rank);
                where.append(where.isEmpty() ? "" : ", ")
                        .append("rank ")
                        .append(rank)
                        .append(" at #")
                        .append(reached);
            }
        }
        return absent.isEmpty()
                ? "all ranks have come to #" + number
                : "ranks " + here + " have come to #" + number + ", ranks " + absent + " have not (" + where + ")";
    }

    /** Lets the other ranks know that this one gives up. */
    void abort(String reason) {
        ranks.abort(reason);
    }

    @Override
    public void close() {
        // Not the window, for which all ranks would have to come: it ends with the communicator.
        ranks.close();
    }
}
