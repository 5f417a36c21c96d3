package dev.tutti.matrix;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.Prepared;
import dev.tutti.ReduceOp;
import dev.tutti.Work;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * The calls of one cell on one rank, in all three forms.
 *
 * @param in the input, or null where this rank has none; in place the one buffer there is
 * @param out the output, or null where this rank has none; in place null
 * @param list the buffers of a list operation, else empty
 */
record Invocation(Cell cell, Contents contents, Communicator comm, Slot in, Slot out, List<Buffer> list, ReduceOp op) {

    private Buffer input() {
        return in == null ? null : in.buffer();
    }

    private Buffer output() {
        return out == null ? null : out.buffer();
    }

    private long[] inOffsets() {
        return contents.gaps ? contents.inOffsets : null;
    }

    private long[] outOffsets() {
        return contents.gaps ? contents.outOffsets : null;
    }

    /** Blocks. Passes arrays and segments directly where the API takes them. */
    void block() {
        if ((cell.variant() & 2) == 0 && blockDirectly()) {
            return;
        }
        Buffer a = input();
        Buffer b = output();
        int root = cell.root();
        boolean isRoot = comm.rank() == root;
        switch (cell.operation()) {
            case BARRIER -> comm.barrier();
            case ALL_REDUCE_LIST -> comm.allReduce(list, op);
            case BROADCAST_LIST -> comm.broadcast(list, root);
            case ALL_REDUCE -> {
                if (cell.inPlace()) {
                    comm.allReduce(a, op);
                } else {
                    comm.allReduce(a, b, op);
                }
            }
            case REDUCE -> {
                if (cell.inPlace()) {
                    comm.reduce(a, op, root);
                } else {
                    comm.reduce(a, b, op, root);
                }
            }
            case BROADCAST -> {
                if (cell.inPlace()) {
                    comm.broadcast(a, root);
                } else {
                    comm.broadcast(a, b, root);
                }
            }
            case ALL_GATHER -> {
                if (cell.inPlace()) {
                    comm.allGather(a);
                } else {
                    comm.allGather(a, b);
                }
            }
            case REDUCE_SCATTER -> {
                if (cell.inPlace()) {
                    comm.reduceScatter(a, op);
                } else {
                    comm.reduceScatter(a, b, op);
                }
            }
            case GATHER -> comm.gather(cell.inPlace() && isRoot ? null : a, cell.inPlace() && isRoot ? a : b, root);
            case SCATTER ->
                comm.scatter(cell.inPlace() && !isRoot ? null : a, cell.inPlace() ? (isRoot ? null : a) : b, root);
            case ALL_TO_ALL -> comm.allToAll(a, cell.inPlace() ? a : b);
            case SCAN -> comm.scan(a, cell.inPlace() ? a : b, op);
            case EXSCAN -> comm.exscan(a, cell.inPlace() ? a : b, op);
            case ALL_GATHER_V -> comm.allGatherV(a, b, contents.outCounts, outOffsets());
            case REDUCE_SCATTER_V -> comm.reduceScatterV(a, b, contents.inCounts, op);
            case GATHER_V -> comm.gatherV(a, b, isRoot ? contents.outCounts : null, isRoot ? outOffsets() : null, root);
            case SCATTER_V -> comm.scatterV(a, isRoot ? contents.inCounts : null, isRoot ? inOffsets() : null, b, root);
            case ALL_TO_ALL_V -> comm.allToAllV(a, contents.inCounts, inOffsets(), b, contents.outCounts, outOffsets());
        }
    }

    Work start() {
        Buffer a = input();
        Buffer b = output();
        int root = cell.root();
        boolean isRoot = comm.rank() == root;
        boolean here = cell.inPlace();
        return switch (cell.operation()) {
            case BARRIER -> comm.barrierAsync();
            case ALL_REDUCE_LIST -> comm.allReduceAsync(list, op);
            case BROADCAST_LIST -> comm.broadcastAsync(list, root);
            case ALL_REDUCE -> here ? comm.allReduceAsync(a, op) : comm.allReduceAsync(a, b, op);
            case REDUCE -> here ? comm.reduceAsync(a, op, root) : comm.reduceAsync(a, b, op, root);
            case BROADCAST -> here ? comm.broadcastAsync(a, root) : comm.broadcastAsync(a, b, root);
            case ALL_GATHER -> here ? comm.allGatherAsync(a) : comm.allGatherAsync(a, b);
            case REDUCE_SCATTER -> here ? comm.reduceScatterAsync(a, op) : comm.reduceScatterAsync(a, b, op);
            case GATHER -> comm.gatherAsync(here && isRoot ? null : a, here && isRoot ? a : b, root);
            case SCATTER -> comm.scatterAsync(here && !isRoot ? null : a, here ? (isRoot ? null : a) : b, root);
            case ALL_TO_ALL -> comm.allToAllAsync(a, here ? a : b);
            case SCAN -> comm.scanAsync(a, here ? a : b, op);
            case EXSCAN -> comm.exscanAsync(a, here ? a : b, op);
            case ALL_GATHER_V -> comm.allGatherVAsync(a, b, contents.outCounts, outOffsets());
            case REDUCE_SCATTER_V -> comm.reduceScatterVAsync(a, b, contents.inCounts, op);
            case GATHER_V ->
                comm.gatherVAsync(a, b, isRoot ? contents.outCounts : null, isRoot ? outOffsets() : null, root);
            case SCATTER_V ->
                comm.scatterVAsync(a, isRoot ? contents.inCounts : null, isRoot ? inOffsets() : null, b, root);
            case ALL_TO_ALL_V ->
                comm.allToAllVAsync(a, contents.inCounts, inOffsets(), b, contents.outCounts, outOffsets());
        };
    }

    Prepared prepare() {
        Buffer a = input();
        Buffer b = output();
        int root = cell.root();
        boolean isRoot = comm.rank() == root;
        boolean here = cell.inPlace();
        return switch (cell.operation()) {
            case BARRIER -> comm.prepareBarrier();
            case ALL_REDUCE_LIST -> comm.prepareAllReduce(list, op);
            case BROADCAST_LIST -> comm.prepareBroadcast(list, root);
            case ALL_REDUCE -> here ? comm.prepareAllReduce(a, op) : comm.prepareAllReduce(a, b, op);
            case REDUCE -> here ? comm.prepareReduce(a, op, root) : comm.prepareReduce(a, b, op, root);
            case BROADCAST -> here ? comm.prepareBroadcast(a, root) : comm.prepareBroadcast(a, b, root);
            case ALL_GATHER -> here ? comm.prepareAllGather(a) : comm.prepareAllGather(a, b);
            case REDUCE_SCATTER -> here ? comm.prepareReduceScatter(a, op) : comm.prepareReduceScatter(a, b, op);
            case GATHER -> comm.prepareGather(here && isRoot ? null : a, here && isRoot ? a : b, root);
            case SCATTER -> comm.prepareScatter(here && !isRoot ? null : a, here ? (isRoot ? null : a) : b, root);
            case ALL_TO_ALL -> comm.prepareAllToAll(a, here ? a : b);
            case SCAN -> comm.prepareScan(a, here ? a : b, op);
            case EXSCAN -> comm.prepareExscan(a, here ? a : b, op);
            case ALL_GATHER_V -> comm.prepareAllGatherV(a, b, contents.outCounts, outOffsets());
            case REDUCE_SCATTER_V -> comm.prepareReduceScatterV(a, b, contents.inCounts, op);
            case GATHER_V ->
                comm.prepareGatherV(a, b, isRoot ? contents.outCounts : null, isRoot ? outOffsets() : null, root);
            case SCATTER_V ->
                comm.prepareScatterV(a, isRoot ? contents.inCounts : null, isRoot ? inOffsets() : null, b, root);
            case ALL_TO_ALL_V ->
                comm.prepareAllToAllV(a, contents.inCounts, inOffsets(), b, contents.outCounts, outOffsets());
        };
    }

    /** Calls an overload without buffers, if there is one for this cell. */
    private boolean blockDirectly() {
        if (in == null || !(cell.inPlace() || out != null)) {
            return false;
        }
        return cell.inPlace() ? blockInPlace(in.direct()) : blockApart(in.direct(), out.direct());
    }

    private boolean blockInPlace(Object memory) {
        int root = cell.root();
        DataType type = cell.type();
        if (memory instanceof MemorySegment x) {
            switch (cell.operation()) {
                case ALL_REDUCE -> comm.allReduce(x, type, op);
                case REDUCE -> comm.reduce(x, type, op, root);
                case BROADCAST -> comm.broadcast(x, type, root);
                default -> {
                    return false;
                }
            }
            return true;
        }
        if (!impliesType(memory)) {
            return false;
        }
        switch (cell.operation()) {
            case ALL_REDUCE -> {
                switch (memory) {
                    case float[] x -> comm.allReduce(x, op);
                    case double[] x -> comm.allReduce(x, op);
                    case int[] x -> comm.allReduce(x, op);
                    default -> comm.allReduce((long[]) memory, op);
                }
            }
            case REDUCE -> {
                switch (memory) {
                    case float[] x -> comm.reduce(x, op, root);
                    case double[] x -> comm.reduce(x, op, root);
                    case int[] x -> comm.reduce(x, op, root);
                    default -> comm.reduce((long[]) memory, op, root);
                }
            }
            case BROADCAST -> {
                switch (memory) {
                    case float[] x -> comm.broadcast(x, root);
                    case double[] x -> comm.broadcast(x, root);
                    case int[] x -> comm.broadcast(x, root);
                    default -> comm.broadcast((long[]) memory, root);
                }
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private boolean blockApart(Object from, Object to) {
        DataType type = cell.type();
        if (from instanceof MemorySegment x && to instanceof MemorySegment y) {
            switch (cell.operation()) {
                case ALL_REDUCE -> comm.allReduce(x, y, type, op);
                case ALL_GATHER -> comm.allGather(x, y, type);
                case REDUCE_SCATTER -> comm.reduceScatter(x, y, type, op);
                default -> {
                    return false;
                }
            }
            return true;
        }
        if (!impliesType(from) || !impliesType(to)) {
            return false;
        }
        switch (cell.operation()) {
            case ALL_REDUCE -> {
                switch (from) {
                    case float[] x -> comm.allReduce(x, (float[]) to, op);
                    case double[] x -> comm.allReduce(x, (double[]) to, op);
                    case int[] x -> comm.allReduce(x, (int[]) to, op);
                    default -> comm.allReduce((long[]) from, (long[]) to, op);
                }
            }
            case ALL_GATHER -> {
                switch (from) {
                    case float[] x -> comm.allGather(x, (float[]) to);
                    case double[] x -> comm.allGather(x, (double[]) to);
                    case int[] x -> comm.allGather(x, (int[]) to);
                    default -> comm.allGather((long[]) from, (long[]) to);
                }
            }
            case REDUCE_SCATTER -> {
                switch (from) {
                    case float[] x -> comm.reduceScatter(x, (float[]) to, op);
                    case double[] x -> comm.reduceScatter(x, (double[]) to, op);
                    case int[] x -> comm.reduceScatter(x, (int[]) to, op);
                    default -> comm.reduceScatter((long[]) from, (long[]) to, op);
                }
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private boolean impliesType(Object memory) {
        return switch (cell.type()) {
            case FLOAT32 -> memory instanceof float[];
            case FLOAT64 -> memory instanceof double[];
            case INT32 -> memory instanceof int[];
            case INT64 -> memory instanceof long[];
            default -> false;
        };
    }
}
