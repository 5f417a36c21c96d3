package dev.tutti.exec;

import dev.tutti.DataType;
import dev.tutti.memory.Memory;
import dev.tutti.posix.StreamingFold;
import dev.tutti.posix.StreamingFold.Operation;
import dev.tutti.reduce.Fold;
import dev.tutti.reduce.Kernels;
import org.jspecify.annotations.Nullable;

/**
 * Folds of memory that is larger than the caches, with every result past them: an ordinary store fetches the line that it overwrites, which
 * is a fifth of all that two ranks move in an all-reduce.
 */
final class StreamedFolds {
    private static final @Nullable Operation[] OPERATIONS = operations();

    /** So many addresses have room in the tiles. */
    private static final int MOST_OPERANDS = 2 * Endpoint.TILE_BYTES / Long.BYTES;

    private StreamedFolds() {}

    private static @Nullable Operation[] operations() {
        @Nullable Operation[] operations = new @Nullable Operation[256];
        for (DataType type : DataType.values()) {
            for (Fold fold : Fold.values()) {
                if (fold.accepts(type)) {
                    operations[Kernels.id(type, fold)] = operation(type, fold);
                }
            }
        }
        return operations;
    }

    private static @Nullable Operation operation(DataType type, Fold fold) {
        return switch (fold) {
            case SUM ->
                switch (type) {
                    case FLOAT32 -> Operation.ADD_FLOATS;
                    case FLOAT64 -> Operation.ADD_DOUBLES;
                    case INT8, UINT8 -> Operation.ADD_BYTES;
                    case INT16, UINT16 -> Operation.ADD_SHORTS;
                    case INT32, UINT32 -> Operation.ADD_INTS;
                    case INT64, UINT64 -> Operation.ADD_LONGS;
                    default -> null;
                };
            case PROD ->
                switch (type) {
                    case FLOAT32 -> Operation.MULTIPLY_FLOATS;
                    case FLOAT64 -> Operation.MULTIPLY_DOUBLES;
                    default -> null;
                };
            case AND -> Operation.AND;
            case OR -> Operation.OR;
            case XOR -> Operation.XOR;
            default -> null;
        };
    }

    /**
     * What a DATA record does, if all of its results should go past the caches and can: they lie alike in their lines, begin on an element, and
     * are none of the sources, whose lines are at hand.
     */
    static @Nullable Operation of(long[] code, int pc, Endpoint endpoint) {
        int kernel = Records.kernel(code[pc + 2]);
        int operands = Records.sources(code[pc]) + Records.destinations(code[pc]);
        Operation operation = kernel < OPERATIONS.length ? OPERATIONS[kernel] : null;
        return operation != null
                        && operands <= MOST_OPERANDS
                        && StreamingFold.isAvailable()
                        && !Places.isAmong(code, pc + Records.OPERANDS, operands, 0)
                        && areApart(code, pc, endpoint)
                ? operation
                : null;
    }

    private static boolean areApart(long[] code, int pc, Endpoint endpoint) {
        int firstSource = pc + Records.OPERANDS;
        int firstDestination = firstSource + Records.sources(code[pc]);
        int next = firstDestination + Records.destinations(code[pc]);
        long first = code[firstDestination];
        boolean apart = (first & ((1L << endpoint.elementShift) - 1)) == 0;
        for (int i = firstDestination; i < next && apart; i++) {
            apart = ((code[i] ^ first) & (StreamingFold.LINE - 1)) == 0;
            for (int j = firstSource; j < firstDestination; j++) {
                apart &= code[i] != code[j];
            }
        }
        return apart;
    }

    /** Folds the lines of bytes {@code [from, to)} of a record; the bytes must be whole lines of the destinations. */
    static void run(Operation operation, long[] code, int pc, long from, long to, Endpoint endpoint) {
        int first = pc + Records.OPERANDS;
        int sources = Records.sources(code[pc]);
        int destinations = Records.destinations(code[pc]);
        for (int i = 0; i < sources + destinations; i++) {
            Memory.putLong(endpoint.tileAddress + 8L * i, code[first + i]);
        }
        for (long at = from; at < to; at += Transfers.PIECE) {
            long end = Math.min(at + Transfers.PIECE, to);
            StreamingFold.fold(operation, endpoint.tileAddress, sources, destinations, at, end);
            if (endpoint.board.isAborted()) {
                throw endpoint.stall.failure();
            }
        }
    }
}
