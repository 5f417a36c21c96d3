package dev.tutti.exec;

/**
 * Runs one lane on the calling thread and waits where it must. For ranks whose plan has a single lane. An if-chain rather than
 * a jump table: after a wait an indirect jump is never predicted.
 */
final class Interpreter {
    private Interpreter() {}

    static void run(long[] code, Endpoint endpoint) {
        int pc = 0;
        while (pc < code.length) {
            long header = code[pc];
            int kind = Records.kind(header);
            if (kind == Records.DATA) {
                Transfers.run(code, pc, 0, code[pc + 1], endpoint);
            } else if (kind == Records.SIGNAL) {
                Signals.signal(code, pc, endpoint);
            } else if (kind == Records.WAIT) {
                Signals.await(code, pc, endpoint);
            } else if (kind == Records.PACKETS) {
                packets(code, pc, endpoint);
            } else if (kind == Records.POST) {
                endpoint.posts.post(code, pc);
            } else if (kind == Records.FETCH) {
                endpoint.posts.await(code, pc);
            } else if (kind == Records.ARRIVE) {
                endpoint.peerBuffers.arrive((int) code[pc + 1]);
            } else {
                throw new IllegalStateException("record kind " + kind + " needs several lanes");
            }
            pc += Records.words(header);
        }
    }

    static void packets(long[] code, int pc, Endpoint endpoint) {
        long position = 0;
        int turns = 0;
        while (true) {
            long reached = Packets.run(code, pc, position, endpoint);
            if (reached >= 0) {
                return;
            }
            if (~reached > position) {
                position = ~reached;
                turns = 0;
            } else {
                turns = endpoint.stall.pause(turns);
            }
        }
    }
}
