package dev.tutti.cuda.nccl;

import dev.tutti.cuda.library.Scratch;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** The functions of NCCL that take plain values. */
public final class NcclCalls {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private static final MethodHandle ncclGetVersion = Nccl.LIBRARY.function("ncclGetVersion", LONG);

    private static final MethodHandle ncclGetUniqueId = Nccl.LIBRARY.function("ncclGetUniqueId", LONG);

    private static final MethodHandle ncclCommFinalize = Nccl.LIBRARY.function("ncclCommFinalize", LONG);

    private static final MethodHandle ncclCommDestroy = Nccl.LIBRARY.function("ncclCommDestroy", LONG);

    private static final MethodHandle ncclCommAbort = Nccl.LIBRARY.function("ncclCommAbort", LONG);

    private static final MethodHandle ncclCommSplit =
            Nccl.LIBRARY.function("ncclCommSplit", LONG, INT, INT, LONG, LONG);

    private static final MethodHandle ncclCommShrink =
            Nccl.LIBRARY.function("ncclCommShrink", LONG, LONG, INT, LONG, LONG, INT);

    private static final MethodHandle ncclCommGetAsyncError =
            Nccl.LIBRARY.function("ncclCommGetAsyncError", LONG, LONG);

    private static final MethodHandle ncclGroupStart = Nccl.LIBRARY.function("ncclGroupStart");

    private static final MethodHandle ncclGroupEnd = Nccl.LIBRARY.function("ncclGroupEnd");

    private static final MethodHandle ncclAllReduce =
            Nccl.LIBRARY.function("ncclAllReduce", LONG, LONG, LONG, INT, INT, LONG, LONG);

    private static final MethodHandle ncclReduce =
            Nccl.LIBRARY.function("ncclReduce", LONG, LONG, LONG, INT, INT, INT, LONG, LONG);

    private static final MethodHandle ncclBroadcast =
            Nccl.LIBRARY.function("ncclBroadcast", LONG, LONG, LONG, INT, INT, LONG, LONG);

    private static final MethodHandle ncclAllGather =
            Nccl.LIBRARY.function("ncclAllGather", LONG, LONG, LONG, INT, LONG, LONG);

    private static final MethodHandle ncclReduceScatter =
            Nccl.LIBRARY.function("ncclReduceScatter", LONG, LONG, LONG, INT, INT, LONG, LONG);

    private static final MethodHandle ncclSend = Nccl.LIBRARY.function("ncclSend", LONG, LONG, INT, INT, LONG, LONG);

    private static final MethodHandle ncclRecv = Nccl.LIBRARY.function("ncclRecv", LONG, LONG, INT, INT, LONG, LONG);

    private static final MethodHandle ncclRedOpCreatePreMulSum =
            Nccl.LIBRARY.function("ncclRedOpCreatePreMulSum", LONG, LONG, INT, INT, LONG);

    private static final MethodHandle ncclRedOpDestroy = Nccl.LIBRARY.function("ncclRedOpDestroy", INT, LONG);

    /** 10000 times major plus 100 times minor plus patch. */
    public static int getVersion() {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) ncclGetVersion.invokeExact(out.address());
            if (code != 0) {
                throw Nccl.failure(code, "ncclGetVersion", "");
            }
            return out.get(ValueLayout.JAVA_INT, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Writes the 128 bytes by which ranks find each other. */
    public static void getUniqueId(long id) {
        try {
            int code = (int) ncclGetUniqueId.invokeExact(id);
            if (code != 0) {
                throw Nccl.failure(code, "ncclGetUniqueId", "id " + id);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Begins to end a communicator. */
    public static int finalise(long communicator) {
        try {
            return (int) ncclCommFinalize.invokeExact(communicator);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Frees a communicator. */
    public static int destroy(long communicator) {
        try {
            return (int) ncclCommDestroy.invokeExact(communicator);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Ends everything on a communicator and frees it. */
    public static int abort(long communicator) {
        try {
            return (int) ncclCommAbort.invokeExact(communicator);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Writes a communicator of the ranks with the same colour. */
    public static int split(long communicator, int colour, int key, long made, long config) {
        try {
            return (int) ncclCommSplit.invokeExact(communicator, colour, key, made, config);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Writes a communicator without some ranks. */
    public static int shrink(long communicator, long excluded, int count, long made, long config, int flags) {
        try {
            return (int) ncclCommShrink.invokeExact(communicator, excluded, count, made, config, flags);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** What a communicator that does not block is at: 0 done, 7 in progress. */
    public static int asyncError(long communicator) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) ncclCommGetAsyncError.invokeExact(communicator, out.address());
            if (code != 0) {
                throw Nccl.failure(code, "ncclCommGetAsyncError", "communicator " + communicator);
            }
            return out.get(ValueLayout.JAVA_INT, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** What follows is one operation. */
    public static int groupStart() {
        try {
            return (int) ncclGroupStart.invokeExact();
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Runs what was grouped. */
    public static int groupEnd() {
        try {
            return (int) ncclGroupEnd.invokeExact();
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** See NCCL. */
    public static int allReduce(
            long from, long to, long count, int type, int operator, long communicator, long stream) {
        try {
            return (int) ncclAllReduce.invokeExact(from, to, count, type, operator, communicator, stream);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** See NCCL. */
    public static int reduce(
            long from, long to, long count, int type, int operator, int root, long communicator, long stream) {
        try {
            return (int) ncclReduce.invokeExact(from, to, count, type, operator, root, communicator, stream);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** See NCCL. */
    public static int broadcast(long from, long to, long count, int type, int root, long communicator, long stream) {
        try {
            return (int) ncclBroadcast.invokeExact(from, to, count, type, root, communicator, stream);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** See NCCL. */
    public static int allGather(long from, long to, long count, int type, long communicator, long stream) {
        try {
            return (int) ncclAllGather.invokeExact(from, to, count, type, communicator, stream);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** See NCCL. */
    public static int reduceScatter(
            long from, long to, long count, int type, int operator, long communicator, long stream) {
        try {
            return (int) ncclReduceScatter.invokeExact(from, to, count, type, operator, communicator, stream);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** See NCCL. */
    public static int send(long from, long count, int type, int peer, long communicator, long stream) {
        try {
            return (int) ncclSend.invokeExact(from, count, type, peer, communicator, stream);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** See NCCL. */
    public static int receive(long to, long count, int type, int peer, long communicator, long stream) {
        try {
            return (int) ncclRecv.invokeExact(to, count, type, peer, communicator, stream);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Writes the number of a new operator. */
    public static int createPreMulSum(long operator, long scalar, int type, int residence, long communicator) {
        try {
            return (int) ncclRedOpCreatePreMulSum.invokeExact(operator, scalar, type, residence, communicator);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Frees an operator. */
    public static int destroyOperator(int operator, long communicator) {
        try {
            return (int) ncclRedOpDestroy.invokeExact(operator, communicator);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    private NcclCalls() {}
}
