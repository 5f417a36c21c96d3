package dev.tutti.exec;

/** An exchange in which both ranks send: what {@link Swap} tells of, with addresses, but for those that change with the launch. */
abstract sealed class TwoWay extends Exchange permits SlotExchange, PostExchange {
    final int sentBytes;
    final int receivedBytes;
    long sent;
    private final Swap swap;
    private final int ownBytes;
    private final int kernel;
    private final int slotPosition;
    private final long[] sources = new long[2];
    private long own;
    private long ownTo;
    private long receivedTo;

    TwoWay(Shape shape, Program program, Endpoint endpoint, Swap swap) {
        super(shape, program, endpoint);
        this.swap = swap;
        this.sentBytes = swap.sent().bytes();
        this.ownBytes = swap.own().bytes();
        this.receivedBytes = swap.received().bytes();
        this.kernel = swap.kernel();
        this.slotPosition = swap.slotPosition();
    }

    @Override
    final void bind(long input, long output) {
        if (sentBytes > 0) {
            sent = program.address(swap.sent().from(), endpoint, 0, input, output);
        }
        if (ownBytes > 0) {
            own = program.address(swap.own().from(), endpoint, 0, input, output);
            ownTo = program.address(swap.own().to(), endpoint, 0, input, output);
        }
        if (receivedBytes > 0) {
            receivedTo = program.address(swap.received().to(), endpoint, 0, input, output);
        }
        if (kernel != Records.COPY) {
            sources[1 - slotPosition] = program.address(swap.folded(), endpoint, 0, input, output);
        }
    }

    /** Where an operand in scratch is in launches of a parity; 0 if there is none. */
    final long slot(Swap.Copy copy, long operand, int parity) {
        return copy.bytes() == 0 ? 0 : program.address(operand, endpoint, parity, 0, 0);
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
            sources[slotPosition] = slot;
            Transfers.fold(kernel, swap.scaled(), sources, 0, 2, 0, receivedTo, receivedBytes, endpoint);
        }
    }
}
