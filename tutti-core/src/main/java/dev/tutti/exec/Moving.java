package dev.tutti.exec;

import dev.tutti.reduce.PairFold;
import org.jspecify.annotations.Nullable;

/** An exchange that moves data through slots: its {@link Parts}, with addresses. */
abstract sealed class Moving extends Exchange permits SlotExchange, PostExchange, PostHandover, Handover {
    /** So much of an array is copied to and from a tile faster than a kernel for arrays is found. */
    private static final int MOST_TILED_BYTES = 32;

    final Parts parts;
    final int sentBytes;
    final int receivedBytes;
    final int kernel;
    private final int ownBytes;
    private final int slotPosition;
    /** What folds addresses; null if nothing is folded, or each source has a factor, or by a function of the user's. */
    private final @Nullable PairFold pair;

    private final long[] sources = new long[2];
    private final long sentToEven;
    private final long sentToOdd;
    private final long receivedEven;
    private final long receivedOdd;
    long sent;
    long folded;
    long receivedTo;
    private long own;
    private long ownTo;
    /** Whether some of the memory is an array for which a kernel for arrays pays. */
    private boolean arrays;

    Moving(Shape shape, Program program, Endpoint endpoint, Parts parts) {
        super(shape, program, endpoint);
        this.parts = parts;
        this.sentBytes = parts.sent.bytes();
        this.ownBytes = parts.own.bytes();
        this.receivedBytes = parts.received.bytes();
        this.kernel = parts.kernel;
        this.slotPosition = parts.slotPosition;
        this.pair = parts.hasPair() ? new PairFold(kernel, receivedBytes >> shape.elementShift, endpoint.size) : null;
        this.sentToEven = slot(parts.sent, parts.sent.to(), 0);
        this.sentToOdd = slot(parts.sent, parts.sent.to(), 1);
        this.receivedEven = slot(parts.received, parts.received.from(), 0);
        this.receivedOdd = slot(parts.received, parts.received.from(), 1);
    }

    private long slot(Parts.Copy copy, long operand, int parity) {
        return copy.bytes() == 0 ? 0 : program.address(operand, endpoint, parity, 0, 0);
    }

    @Override
    final void bind(long input, long output) {
        if (sentBytes > 0) {
            sent = program.address(parts.sent.from(), endpoint, 0, input, output);
        }
        if (ownBytes > 0) {
            own = program.address(parts.own.from(), endpoint, 0, input, output);
            ownTo = program.address(parts.own.to(), endpoint, 0, input, output);
        }
        if (receivedBytes > 0) {
            receivedTo = program.address(parts.received.to(), endpoint, 0, input, output);
        }
        if (kernel != Records.COPY) {
            folded = program.address(parts.folded, endpoint, 0, input, output);
            arrays = receivedBytes > MOST_TILED_BYTES
                    && (endpoint.input.array() != null || endpoint.output.array() != null);
        }
    }

    /** Where this rank writes in a launch, if that is the first of its berth. */
    final long sentTo(long launch) {
        return (launch & 1) == 0 ? sentToEven : sentToOdd;
    }

    /** Where this rank reads in a launch, if that is the first of its berth. */
    final long receivedFrom(long launch) {
        return (launch & 1) == 0 ? receivedEven : receivedOdd;
    }

    /** Copies the rank's own block. */
    final void keep() {
        if (ownBytes > 0) {
            Templates.copyShort(own, ownTo, ownBytes, endpoint);
        }
    }

    /** Copies or folds what the peer has sent. */
    final void receive(long slot) {
        if (kernel == Records.COPY) {
            Templates.copyShort(slot, receivedTo, receivedBytes, endpoint);
        } else {
            fold(folded, slot, receivedTo);
        }
    }

    final void fold(long input, long slot, long result) {
        if (pair != null && (input | result) >= 0) {
            fold(pair, input, slot, result);
        } else if (pair != null && !arrays) {
            foldInTile(pair, input, slot, result);
        } else {
            sources[1 - slotPosition] = input;
            sources[slotPosition] = slot;
            Transfers.fold(kernel, parts.scaled, sources, 0, 2, 0, result, receivedBytes, endpoint);
        }
    }

    private void fold(PairFold pair, long input, long slot, long result) {
        if (slotPosition == 0) {
            pair.fold(slot, input, result);
        } else {
            pair.fold(input, slot, result);
        }
    }

    /** Folds what is only touched by checked copies: segments that somebody could close meanwhile, and a few elements of arrays. */
    private void foldInTile(PairFold pair, long input, long slot, long result) {
        long tile = endpoint.tileAddress;
        long to = result < 0 ? tile : result;
        fold(pair, Places.address(input, tile, receivedBytes, endpoint), slot, to);
        if (result < 0) {
            Places.copy(tile, result, receivedBytes, endpoint);
        }
    }
}
