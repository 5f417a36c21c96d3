package dev.tutti.exec;

import dev.tutti.memory.Memory;
import org.jspecify.annotations.Nullable;

/**
 * An exchange through slots and counters.
 *
 * <pre>
 *   input  --&gt; the peer's slot
 *   signal
 *   input  --&gt; output                   (the rank's own block, where a collective has one)
 *   wait
 *   own slot --&gt; output, or input op own slot --&gt; output
 * </pre>
 */
final class SlotExchange extends Exchange {
    private static final int EVEN = 0;
    private static final int ODD = 1;

    private final long outbound;
    private final long inbound;
    private final int outlet;
    private final int inlet;

    /** Operands as they are in the records; 0 where there is none. */
    private long sendOperand;

    private long sendToOperand;
    private long ownOperand;
    private long ownToOperand;
    private long receiveOperand;
    private long receiveToOperand;
    private long foldOperand;

    private int sendBytes;
    private int ownBytes;
    private int receiveBytes;
    private int kernel = Records.COPY;
    private int scaled;
    /** Which source of the fold is the slot. */
    private int slotPosition;

    private final long[] sources = new long[2];
    private long send;
    private long sendToEven;
    private long sendToOdd;
    private long own;
    private long ownTo;
    private long receiveEven;
    private long receiveOdd;
    private long receiveTo;

    private SlotExchange(Shape shape, Program program, Endpoint endpoint, long[] code, int signal, int wait) {
        super(shape, program, endpoint);
        this.outbound = code[signal + 1];
        this.outlet = (int) code[signal + 2];
        this.inbound = code[wait + 1];
        this.inlet = (int) code[wait + 2];
    }

    static @Nullable SlotExchange of(Shape shape, Program program, Endpoint endpoint) {
        long[] code = program.symbolic[0];
        int signal = only(code, Records.SIGNAL);
        int wait = only(code, Records.WAIT);
        if (signal < 0 || wait < signal) {
            return null;
        }
        SlotExchange exchange = new SlotExchange(shape, program, endpoint, code, signal, wait);
        for (int pc = 0; pc < code.length; pc += Records.words(code[pc])) {
            if (Records.kind(code[pc]) == Records.DATA
                    && !(pc < wait ? exchange.sends(code, pc, pc < signal) : exchange.receives(code, pc))) {
                return null;
            }
        }
        return exchange;
    }

    /** Where the only record of a kind is, if it has one channel; else negative. */
    private static int only(long[] code, int kind) {
        int found = -1;
        for (int pc = 0; pc < code.length; pc += Records.words(code[pc])) {
            if (Records.kind(code[pc]) == kind) {
                if (found >= 0 || Records.sources(code[pc]) != 1) {
                    return -1;
                }
                found = pc;
            }
        }
        return found;
    }

    /** Takes up a copy before the wait; false if there is one like it already. */
    private boolean sends(long[] code, int pc, boolean signalFollows) {
        int next = pc + Records.words(code[pc]);
        int slots = Records.slots(code[pc + 2]);
        for (int i = pc + Records.OPERANDS + 1; i < next; i++) {
            boolean toSlot = i >= next - slots;
            if (toSlot ? sendBytes > 0 || !signalFollows : ownBytes > 0) {
                return false;
            }
            if (toSlot) {
                sendOperand = code[pc + Records.OPERANDS];
                sendToOperand = code[i];
                sendBytes = (int) code[pc + 1];
            } else {
                ownOperand = code[pc + Records.OPERANDS];
                ownToOperand = code[i];
                ownBytes = (int) code[pc + 1];
            }
        }
        return Records.kernel(code[pc + 2]) == Records.COPY && Records.sources(code[pc]) == 1;
    }

    /** Takes up what is done with the slot; false if there is one like it already. */
    private boolean receives(long[] code, int pc) {
        int sourceCount = Records.sources(code[pc]);
        if (receiveBytes > 0 || Records.destinations(code[pc]) != 1 || sourceCount > 2) {
            return false;
        }
        int first = pc + Records.OPERANDS;
        slotPosition = Records.base(code[first]) == Records.SCRATCH ? 0 : 1;
        kernel = Records.kernel(code[pc + 2]);
        scaled = Records.scaled(code[pc + 2]);
        receiveBytes = (int) code[pc + 1];
        receiveToOperand = code[first + sourceCount];
        if (slotPosition >= sourceCount || (sourceCount == 1) != (kernel == Records.COPY)) {
            return false;
        }
        receiveOperand = code[first + slotPosition];
        foldOperand = sourceCount == 2 ? code[first + 1 - slotPosition] : 0;
        return true;
    }

    @Override
    void bind(long input, long output) {
        if (sendBytes > 0) {
            send = program.address(sendOperand, endpoint, EVEN, input, output);
            sendToEven = program.address(sendToOperand, endpoint, EVEN, input, output);
            sendToOdd = program.address(sendToOperand, endpoint, ODD, input, output);
        }
        if (ownBytes > 0) {
            own = program.address(ownOperand, endpoint, EVEN, input, output);
            ownTo = program.address(ownToOperand, endpoint, EVEN, input, output);
        }
        if (receiveBytes > 0) {
            receiveEven = program.address(receiveOperand, endpoint, EVEN, input, output);
            receiveOdd = program.address(receiveOperand, endpoint, ODD, input, output);
            receiveTo = program.address(receiveToOperand, endpoint, EVEN, input, output);
        }
        if (kernel != Records.COPY) {
            sources[1 - slotPosition] = program.address(foldOperand, endpoint, EVEN, input, output);
        }
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
        if (sendBytes > 0) {
            endpoint.stores.toSlot(send, (odd ? sendToOdd : sendToEven) + berth, sendBytes);
        }
        Memory.putLong(outbound + signature, signed);
        Memory.putLongRelease(outbound, count);
        sent(number, launch, history);
        endpoint.sent[outlet] = count;
        endpoint.expected[inlet] = wanted;
        if (ownBytes > 0) {
            Transfers.copy(own, ownTo, ownBytes, endpoint);
        }
        if ((int) Memory.getLongAcquire(inbound) - wanted < 0) {
            await(inbound, wanted);
        }
        if (Memory.getLong(inbound + signature) != signed) {
            throw stall.mismatch();
        }
        if (receiveBytes > 0) {
            receive((odd ? receiveOdd : receiveEven) + berth);
        }
        finish(launch);
    }

    private void receive(long slot) {
        if (kernel == Records.COPY) {
            Transfers.copy(slot, receiveTo, receiveBytes, endpoint);
        } else {
            sources[slotPosition] = slot;
            Transfers.fold(kernel, scaled, sources, 0, 2, 0, receiveTo, receiveBytes, endpoint);
        }
    }
}
