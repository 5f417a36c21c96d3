package dev.tutti.exec;

import dev.tutti.memory.Memory;
import org.jspecify.annotations.Nullable;

/**
 * One rank gives and the other takes, or the others do where they find it in a {@link Posts post}: a short broadcast. Who gives hears
 * nothing, so it looks whether there is room before it writes.
 *
 * <pre>
 *   who gives                          who takes
 *   ---------                          ---------
 *   input --&gt; slot or post
 *   signal or show the post            wait for it
 *   input --&gt; output                   slot or post --&gt; output
 * </pre>
 */
final class Handover extends Exchange {
    private final long[] code;
    /** Where the record is by which this rank tells, or waits for, the other. */
    private final int telling;

    private final boolean gives;
    private final long counter;
    private final int channel;

    private long bytes;
    private long givenOperand;
    private long slotOperand;
    /** What goes to the output: of who gives, its own block, if there is one. */
    private long keptOperand;

    private long outputOperand;
    private long given;
    private long slotEven;
    private long slotOdd;
    private long kept;
    private long output;

    private Handover(Shape shape, Program program, Endpoint endpoint, int telling) {
        super(shape, program, endpoint);
        this.code = program.symbolic[0];
        this.telling = telling;
        int kind = Records.kind(code[telling]);
        this.gives = kind == Records.POST || kind == Records.SIGNAL;
        this.counter = kind == Records.POST ? 0 : code[telling + 1];
        this.channel = kind == Records.POST ? 0 : (int) code[telling + 2];
    }

    static @Nullable Handover of(Shape shape, Program program, Endpoint endpoint) {
        long[] code = program.symbolic[0];
        int telling = -1;
        for (int pc = 0; pc < code.length; pc += Records.words(code[pc])) {
            if (Records.kind(code[pc]) != Records.DATA) {
                boolean one = Records.kind(code[pc]) == Records.POST || Records.sources(code[pc]) == 1;
                if (telling >= 0 || !one) {
                    return null;
                }
                telling = pc;
            }
        }
        if (telling < 0) {
            return null;
        }
        Handover handover = new Handover(shape, program, endpoint, telling);
        for (int pc = 0; pc < code.length; pc += Records.words(code[pc])) {
            if (Records.kind(code[pc]) == Records.DATA && !handover.takes(pc)) {
                return null;
            }
        }
        return handover.slotOperand == 0 ? null : handover;
    }

    /** Takes up a copy: from the input to the slot, or to the output, or both, or from the slot to the output. */
    private boolean takes(int pc) {
        int next = pc + Records.words(code[pc]);
        long from = code[pc + Records.OPERANDS];
        boolean fromSlot = Records.base(from) == Records.SCRATCH;
        if (Records.kernel(code[pc + 2]) != Records.COPY
                || fromSlot == gives
                || (bytes != 0 && bytes != code[pc + 1])) {
            return false;
        }
        bytes = code[pc + 1];
        for (int i = pc + Records.OPERANDS + 1; i < next; i++) {
            boolean toSlot = Records.base(code[i]) == Records.SCRATCH;
            if (toSlot ? slotOperand != 0 || pc > telling : outputOperand != 0 || (fromSlot && pc < telling)) {
                return false;
            }
            if (toSlot) {
                givenOperand = from;
                slotOperand = code[i];
            } else {
                keptOperand = from;
                outputOperand = code[i];
            }
        }
        if (fromSlot) {
            slotOperand = from;
        }
        return true;
    }

    @Override
    void bind(long inputAddress, long outputAddress) {
        slotEven = program.address(slotOperand, endpoint, 0, inputAddress, outputAddress);
        slotOdd = program.address(slotOperand, endpoint, 1, inputAddress, outputAddress);
        if (gives) {
            given = program.address(givenOperand, endpoint, 0, inputAddress, outputAddress);
        }
        if (outputOperand != 0) {
            kept = program.address(keptOperand, endpoint, 0, inputAddress, outputAddress);
            output = program.address(outputOperand, endpoint, 0, inputAddress, outputAddress);
        }
    }

    @Override
    void run(long number) {
        int history = nextHistory();
        long launch = endpoint.launch + 1;
        endpoint.history = history;
        endpoint.signature = history;
        endpoint.launch = launch;
        board.publishOperation(number);
        stall.begin(number);
        if (gives) {
            give(launch, signed(launch, history));
        } else {
            take(launch, signed(launch, history));
        }
        endpoint.finishLaunch(program);
    }

    private long slot(long launch) {
        return program.posts
                ? slotEven + endpoint.posts.berth(program)
                : ((launch & 1) == 0 ? slotEven : slotOdd) + program.berth(launch);
    }

    private void give(long launch, long signed) {
        for (int turns = 0; !endpoint.mayWrite(program); ) {
            turns = stall.pause(turns);
        }
        endpoint.stores.toSlot(given, slot(launch), bytes);
        if (program.posts) {
            endpoint.posts.post(code, telling);
        } else {
            Memory.putLong(counter + signature(launch), signed);
            Memory.putLongRelease(counter, ++endpoint.sent[channel]);
        }
        if (output != kept) {
            Transfers.copy(kept, output, bytes, endpoint);
        }
    }

    private void take(long launch, long signed) {
        if (program.posts) {
            endpoint.posts.await(code, telling);
        } else {
            int wanted = endpoint.expected[channel] + 1;
            await(counter, wanted);
            endpoint.expected[channel] = wanted;
            if (Memory.getLong(counter + signature(launch)) != signed) {
                throw stall.mismatch();
            }
        }
        Transfers.copy(slot(launch), output, bytes, endpoint);
    }
}
