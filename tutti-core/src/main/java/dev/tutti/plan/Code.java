package dev.tutti.plan;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What an operation does. The names and their meaning are those of the MSCCL++ plan format; what a name means for hosts
 * is in {@code docs/plans.md}.
 *
 * <p>To an executor there are fewer: every plain transfer is "fold these sources, store to those destinations", every
 * packet operation is the same with packets on either side, and the rest is waiting.
 */
public enum Code {
    /** Nothing: a lane is one thread. */
    NOP("nop", Shape.CONTROL),
    /** Wait for other lanes of this rank. */
    BARRIER("barrier", Shape.CONTROL),
    /** Take one from each semaphore, waiting until there is one. */
    ACQUIRE("sem_acquire", Shape.CONTROL),
    /** Give one to each semaphore. */
    RELEASE("sem_release", Shape.CONTROL),
    /** Add one to the counter at the other end, after all earlier writes. */
    SIGNAL("signal", Shape.CONTROL),
    /** Wait for one more signal. */
    WAIT("wait", Shape.CONTROL),
    /** A signal that orders no data; on hosts the same as {@link #SIGNAL}. */
    RELAXED_SIGNAL("rlxsignal", Shape.CONTROL),
    /** The wait for a relaxed signal. */
    RELAXED_WAIT("rlxwait", Shape.CONTROL),
    /** Wait until earlier puts no longer read their sources. */
    FLUSH("flush", Shape.CONTROL),
    /** Local to local. */
    COPY("copy", Shape.PLAIN),
    /** Local to a peer, pair by pair. */
    PUT("put", Shape.PLAIN),
    /** Put, then signal. */
    PUT_SIGNAL("pws", Shape.PLAIN),
    /** Put, signal, flush. */
    PUT_SIGNAL_FLUSH("pwsf", Shape.PLAIN),
    /** A peer to local, pair by pair. */
    GET("get", Shape.PLAIN),
    /** Fold local sources into one local destination. */
    REDUCE("re", Shape.PLAIN),
    /** Fold local sources; store locally and to peers. */
    REDUCE_SEND("res", Shape.PLAIN),
    /** Fold a local and remote sources. */
    READ_REDUCE("rre", Shape.PLAIN),
    /** Fold a local and remote sources; store locally and to peers. */
    READ_REDUCE_SEND("rres", Shape.PLAIN),
    /** Local data to packets in local scratch. */
    PACK("cpkt", Shape.PACKET),
    /** Packets in local scratch to local data. */
    UNPACK("upkt", Shape.PACKET),
    /** Local data as packets to peers. */
    PUT_PACKETS("ppkt", Shape.PACKET),
    /** Packets in local scratch, as they arrive, to peers. */
    READ_PUT_PACKETS("rppkt", Shape.PACKET),
    /** Fold packets and local data. */
    REDUCE_PACKETS("repkt", Shape.PACKET),
    /** Fold packets and local data; store locally and as packets to peers. */
    REDUCE_SEND_PACKETS("respkt", Shape.PACKET),
    /** Fold packets and local data; store locally and as packets in local scratch. */
    REDUCE_COPY_PACKETS("recpkt", Shape.PACKET),
    /** Fold packets and local data; store locally, as packets in local scratch, and as packets to peers. */
    REDUCE_COPY_SEND_PACKETS("recspkt", Shape.PACKET),
    /** Fold a region over a group into a local chunk. */
    GROUP_REDUCE("glre", Shape.PLAIN),
    /** Fold a region over a group and store it to all of them. */
    GROUP_REDUCE_STORE("glres", Shape.PLAIN),
    /** Store a local region to a whole group. */
    GROUP_STORE("gstore", Shape.PLAIN),
    /** Store packets to a whole group as they arrive. */
    GROUP_STORE_PACKETS("gstorepkt", Shape.PACKET),
    /** Repeat inner operations over pieces of a chunk. */
    PIPELINE("pipeline", Shape.CONTROL);

    /** What an executor must do with the operands. */
    public enum Shape {
        /** Order only. */
        CONTROL,
        /** Plain bytes on both sides. */
        PLAIN,
        /** Packets on at least one side. */
        PACKET
    }

    private static final Map<String, Code> BY_SYMBOL = new HashMap<>();

    static {
        for (Code each : values()) {
            BY_SYMBOL.put(each.symbol, each);
        }
    }

    private final String symbol;
    private final Shape shape;

    Code(String symbol, Shape shape) {
        this.symbol = symbol;
        this.shape = shape;
    }

    /**
     * The name in plan files.
     *
     * @return for example {@code rres}
     */
    public String symbol() {
        return symbol;
    }

    /**
     * Control, plain data or packets.
     *
     * @return the shape
     */
    public Shape shape() {
        return shape;
    }

    /**
     * The code of a name in plan files.
     *
     * @param symbol for example {@code rres}
     * @return the code, or null if there is none
     */
    public static @Nullable Code of(String symbol) {
        return BY_SYMBOL.get(symbol);
    }

    /**
     * Whether operands are a group's: every source or destination list holds one chunk per rank of the group.
     *
     * @return true for the four group operations
     */
    public boolean isGroup() {
        return switch (this) {
            case GROUP_REDUCE, GROUP_REDUCE_STORE, GROUP_STORE, GROUP_STORE_PACKETS -> true;
            default -> false;
        };
    }

    /**
     * Whether source i goes to destination i.
     *
     * @return true for puts and gets
     */
    public boolean isPairwise() {
        return switch (this) {
            case PUT, PUT_SIGNAL, PUT_SIGNAL_FLUSH, GET, PUT_PACKETS -> true;
            default -> false;
        };
    }

    /**
     * Whether several sources become one value.
     *
     * @return true for reductions of all kinds
     */
    public boolean folds() {
        return switch (this) {
            case REDUCE,
                    REDUCE_SEND,
                    READ_REDUCE,
                    READ_REDUCE_SEND,
                    REDUCE_PACKETS,
                    REDUCE_SEND_PACKETS,
                    REDUCE_COPY_PACKETS,
                    REDUCE_COPY_SEND_PACKETS,
                    GROUP_REDUCE,
                    GROUP_REDUCE_STORE -> true;
            default -> false;
        };
    }

    /**
     * Whether it adds to counters of peers.
     *
     * @return true for signals and puts with signal
     */
    public boolean signals() {
        return switch (this) {
            case SIGNAL, RELAXED_SIGNAL, PUT_SIGNAL, PUT_SIGNAL_FLUSH -> true;
            default -> false;
        };
    }
}
