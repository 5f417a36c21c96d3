package dev.tutti.exec;

import dev.tutti.memory.Memory;

/** A barrier: a signal each way, and nothing moves. */
final class Meeting extends Exchange {
    private final long outbound;
    private final long inbound;
    private final int outlet;
    private final int inlet;

    Meeting(Shape shape, Program program, Endpoint endpoint) {
        super(shape, program, endpoint);
        long[] code = program.symbolic[0];
        int wait = Records.words(code[0]);
        this.outbound = code[1];
        this.outlet = (int) code[2];
        this.inbound = code[wait + 1];
        this.inlet = (int) code[wait + 2];
    }

    @Override
    void bind(long input, long output) {
        // There is none.
    }

    @Override
    void run(long number) {
        int history = nextHistory();
        long launch = endpoint.launch + 1;
        long signature = signature(launch);
        long signed = signed(launch, history);
        int wanted = endpoint.expected[inlet] + 1;
        int count = endpoint.sent[outlet] + 1;
        board.publishOperation(number);
        Memory.putLong(outbound + signature, signed);
        Memory.putLongRelease(outbound, count);
        sent(number, launch, history);
        endpoint.sent[outlet] = count;
        endpoint.expected[inlet] = wanted;
        await(inbound, wanted);
        if (Memory.getLong(inbound + signature) != signed) {
            throw stall.mismatch();
        }
        finish(launch);
    }
}
