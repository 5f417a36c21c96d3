package dev.tutti.exec;

import dev.tutti.memory.Memory;
import org.jspecify.annotations.Nullable;

/** Both ranks send through slots and counters. */
final class SlotExchange extends TwoWay {
    private final long outbound;
    private final long inbound;
    private final int outlet;
    private final int inlet;
    private final long sendEven;
    private final long sendOdd;
    private final long receiveEven;
    private final long receiveOdd;

    private SlotExchange(Shape shape, Program program, Endpoint endpoint, Swap swap) {
        super(shape, program, endpoint, swap);
        long[] code = program.symbolic[0];
        this.outbound = code[swap.telling() + 1];
        this.outlet = (int) code[swap.telling() + 2];
        this.inbound = code[swap.waiting() + 1];
        this.inlet = (int) code[swap.waiting() + 2];
        this.sendEven = slot(swap.sent(), swap.sent().to(), 0);
        this.sendOdd = slot(swap.sent(), swap.sent().to(), 1);
        this.receiveEven = slot(swap.received(), swap.received().from(), 0);
        this.receiveOdd = slot(swap.received(), swap.received().from(), 1);
    }

    static @Nullable SlotExchange of(Shape shape, Program program, Endpoint endpoint) {
        Swap swap = Swap.of(program.symbolic[0], Records.SIGNAL, Records.WAIT);
        return swap == null ? null : new SlotExchange(shape, program, endpoint, swap);
    }

    @Override
    void run(long number) {
        int history = nextHistory();
        long launch = endpoint.launch + 1;
        boolean odd = (launch & 1) != 0;
        long signature = signature(launch);
        long signed = signed(launch, history);
        long berth = program.berth(launch);
        int wanted = endpoint.expected[inlet] + 1;
        int count = endpoint.sent[outlet] + 1;
        board.publishOperation(number);
        if (sentBytes > 0) {
            endpoint.stores.toSlot(sent, (odd ? sendOdd : sendEven) + berth, sentBytes);
        }
        Memory.putLong(outbound + signature, signed);
        Memory.putLongRelease(outbound, count);
        sent(number, launch, history);
        endpoint.sent[outlet] = count;
        endpoint.expected[inlet] = wanted;
        keep();
        await(inbound, wanted);
        if (Memory.getLong(inbound + signature) != signed) {
            throw stall.mismatch();
        }
        if (receivedBytes > 0) {
            receive((odd ? receiveOdd : receiveEven) + berth);
        }
        finish(launch);
    }
}
