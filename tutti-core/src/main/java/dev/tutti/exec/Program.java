package dev.tutti.exec;

import dev.tutti.plan.RankPlan;
import dev.tutti.plan.Space;

/**
 * A rank's part of a plan with sizes put in: flat records per lane. Two bound copies, one for each launch parity, hold absolute
 * addresses and stay valid while the user's buffers stay where they are.
 */
final class Program {
    final RankPlan plan;
    final long[][] symbolic;
    final long[][] even;
    final long[][] odd;
    /** Whether peers see anything of what this rank writes or signals. */
    final boolean writesPeers;

    final boolean hearsFromAll;
    /** Lanes that only transfer and signal may run to completion one after the other without looking at each other. */
    final boolean singleLane;

    final int template;
    final boolean[] writesOutput;
    final int[] semaphores;
    final long[] barrierArrivals;
    private final long[] boundInput = {-1, -1};
    private final long[] boundOutput = {-1, -1};

    Program(RankPlan plan, long[][] symbolic, int outputBlocks, boolean hearsFromAll, Endpoint endpoint) {
        this.plan = plan;
        this.symbolic = symbolic;
        this.even = copyOf(symbolic);
        this.odd = copyOf(symbolic);
        this.writesPeers = plan.writesPeers();
        this.hearsFromAll = hearsFromAll;
        boolean meets = plan.lanes().stream()
                .flatMap(java.util.List::stream)
                .anyMatch(op -> op.barrier() != null || !op.semaphores().isEmpty());
        this.singleLane = endpoint.usesInterpreter && symbolic.length == 1 && !meets;
        this.template = singleLane && endpoint.usesTemplates ? Templates.recognise(symbolic[0]) : Templates.NONE;
        this.writesOutput = new boolean[outputBlocks];
        plan.lanes().stream()
                .flatMap(java.util.List::stream)
                .flatMap(op -> op.destinations().stream())
                .filter(chunk -> chunk.space() == Space.OUTPUT && chunk.rank() == plan.rank())
                .forEach(chunk -> writesOutput[chunk.index() / plan.chunksPerBlock()] = true);
        this.semaphores = plan.semaphores().stream().mapToInt(Integer::intValue).toArray();
        this.barrierArrivals = new long
                [plan.lanes().stream()
                        .flatMap(java.util.List::stream)
                        .mapToInt(op -> op.barrier() == null ? 0 : op.barrier().id() + 1)
                        .max()
                        .orElse(0)];
    }

    /** The records of every lane with absolute addresses for this launch. */
    long[][] bind(Endpoint endpoint, long input, long output) {
        int parity = (int) endpoint.launch & 1;
        long[][] bound = parity == 0 ? even : odd;
        if (boundInput[parity] != input || boundOutput[parity] != output) {
            for (int lane = 0; lane < bound.length; lane++) {
                bindLane(symbolic[lane], bound[lane], endpoint, parity, input, output);
            }
            boundInput[parity] = input;
            boundOutput[parity] = output;
        }
        return bound;
    }

    private static void bindLane(long[] from, long[] to, Endpoint endpoint, int parity, long input, long output) {
        int pc = 0;
        while (pc < from.length) {
            long header = from[pc];
            int next = pc + Records.words(header);
            if (Records.kind(header) == Records.DATA || Records.kind(header) == Records.PACKETS) {
                for (int i = pc + Records.OPERANDS; i < next; i++) {
                    to[i] = address(from[i], endpoint, parity, input, output);
                }
            }
            pc = next;
        }
    }

    private static long address(long operand, Endpoint endpoint, int parity, long input, long output) {
        long offset = Records.offset(operand);
        return switch (Records.base(operand)) {
            case Records.INPUT -> input + offset;
            case Records.OUTPUT -> output + offset;
            case Records.SCRATCH -> endpoint.scratch(Records.rank(operand), parity) + offset;
            case Records.PACKET_AREA -> endpoint.packets(Records.rank(operand), parity) + offset;
            default -> throw new IllegalStateException("operand " + Long.toHexString(operand));
        };
    }

    private static long[][] copyOf(long[][] lanes) {
        long[][] copy = new long[lanes.length][];
        for (int lane = 0; lane < lanes.length; lane++) {
            copy[lane] = lanes[lane].clone();
        }
        return copy;
    }
}
