package dev.tutti.exec;

import org.jspecify.annotations.Nullable;

/**
 * Two ranks reach into each other's memory: they meet, copy or fold, and meet again.
 *
 * <pre>
 *   say where the own memory lies, signal
 *   wait                                       and learn where the peer's lies
 *   inputs --&gt; outputs, of both
 *   signal
 *   input --&gt; output                        (the own block, where a plan has left it for then)
 *   wait
 * </pre>
 */
final class DirectExchange extends Exchange {
    /** The records, with addresses. */
    private final long[] code;

    private final long[] symbolic;
    /** The lines in which ranks say where their memory lies. */
    private final long there;

    private final long here;
    /** Where the second signal and the second wait are: data records lie between those, and before them. */
    private final int telling;

    private final int waiting;
    private final int first;
    private long input;
    private long output;
    /** What the peer has told in the last launch of where its memory lies. */
    private long peersInput = Long.MIN_VALUE;

    private long peersOutput = Long.MIN_VALUE;

    private DirectExchange(Shape shape, Program program, Endpoint endpoint, int first, int telling, int waiting) {
        super(shape, program, endpoint);
        this.symbolic = program.symbolic[0];
        this.code = symbolic.clone();
        this.there = endpoint.outbound(peer, 0);
        this.here = endpoint.inbound(peer, 0);
        this.first = first;
        this.telling = telling;
        this.waiting = waiting;
    }

    static @Nullable DirectExchange of(Shape shape, Program program, Endpoint endpoint) {
        long[] code = program.symbolic[0];
        int wait = next(code, 0);
        int arrival = next(code, wait);
        int first = next(code, arrival);
        int telling = skipData(code, first);
        int waiting = skipData(code, next(code, telling));
        return isOne(code, 0, Records.SIGNAL)
                        && isOne(code, wait, Records.WAIT)
                        && kind(code, arrival) == Records.ARRIVE
                        && isOne(code, telling, Records.SIGNAL)
                        && isOne(code, waiting, Records.WAIT)
                        && next(code, waiting) == code.length
                        && code[1] == code[telling + 1]
                        && code[wait + 1] == code[waiting + 1]
                ? new DirectExchange(shape, program, endpoint, first, telling, waiting)
                : null;
    }

    private static int next(long[] code, int pc) {
        return pc < code.length ? pc + Records.words(code[pc]) : pc;
    }

    private static int skipData(long[] code, int from) {
        int pc = from;
        while (kind(code, pc) == Records.DATA) {
            pc = next(code, pc);
        }
        return pc;
    }

    private static int kind(long[] code, int pc) {
        return pc < code.length ? Records.kind(code[pc]) : -1;
    }

    private static boolean isOne(long[] code, int pc, int kind) {
        return kind(code, pc) == kind && Records.sources(code[pc]) == 1;
    }

    @Override
    void bind(long inputAddress, long outputAddress) {
        place(false, inputAddress, outputAddress);
        input = endpoint.peerBuffers.location(endpoint.input, inputAddress, 0);
        output = endpoint.peerBuffers.location(endpoint.output, outputAddress, 0);
    }

    /** Puts addresses into the records: of the peer's memory, or of the rank's own. */
    private void place(boolean peers, long inputAddress, long outputAddress) {
        for (int pc = first; pc < code.length; pc = next(code, pc)) {
            if (!Records.hasOperands(code[pc])) {
                continue;
            }
            for (int i = pc + Records.OPERANDS; i < next(code, pc); i++) {
                if (PeerBuffers.isPeers(symbolic[i], endpoint.rank) == peers) {
                    code[i] = peers
                            ? endpoint.peerBuffers.address(symbolic[i])
                            : program.address(symbolic[i], endpoint, 0, inputAddress, outputAddress);
                }
            }
        }
    }

    @Override
    void run(long number) {
        long signed = begin(number);
        long launch = endpoint.launch;
        endpoint.peerBuffers.goInside();
        endpoint.peerBuffers.tell(there, input, output);
        signal(launch, signed);
        await(launch, signed);
        learn();
        move(first, telling);
        signal();
        move(next(code, telling), waiting);
        await();
        finish(launch);
        endpoint.peerBuffers.finished();
    }

    private void move(int from, int to) {
        for (int pc = from; pc < to; pc += Records.words(code[pc])) {
            Transfers.run(code, pc, 0, code[pc + 1], endpoint);
        }
    }

    /** Finds the peer's memory, which mostly is where it was. */
    private void learn() {
        long in = PeerBuffers.toldInput(here);
        long out = PeerBuffers.toldOutput(here);
        if (in == peersInput && out == peersOutput) {
            return;
        }
        place(true, 0, 0);
        peersInput = in;
        peersOutput = out;
    }
}
