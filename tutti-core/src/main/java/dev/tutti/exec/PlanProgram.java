package dev.tutti.exec;

import java.util.Arrays;

/**
 * A rank's part of a plan of a file with sizes put in: flat records per lane, symbolic and bound to addresses, one bound copy for each half
 * of scratch.
 */
public final class PlanProgram {
    /** Lanes as the resolver wrote them. */
    final long[][] symbolic;
    /** By lane: where each operation begins among the records, ascending. */
    final int[][] starts;
    /** By lane: which operation that is. */
    final PlanStep[][] steps;

    private final long[][][] bound = new long[2][][];
    private final long[][] boundTo = new long[2][];

    PlanProgram(long[][] symbolic, int[][] starts, PlanStep[][] steps) {
        this.symbolic = symbolic;
        this.starts = starts;
        this.steps = steps;
    }

    /**
     * The records with addresses put in.
     *
     * @param half which half of scratch
     * @param bases by {@link #base}, one address per (memory, rank)
     */
    public long[][] bind(int half, long[] bases) {
        long[][] lanes = bound[half];
        if (lanes == null) {
            lanes = new long[symbolic.length][];
            for (int lane = 0; lane < lanes.length; lane++) {
                lanes[lane] = symbolic[lane].clone();
            }
            bound[half] = lanes;
        } else if (Arrays.equals(boundTo[half], bases)) {
            return lanes;
        }
        boundTo[half] = bases.clone();
        for (int lane = 0; lane < lanes.length; lane++) {
            bindLane(symbolic[lane], lanes[lane], bases);
        }
        return lanes;
    }

    private static void bindLane(long[] from, long[] to, long[] bases) {
        int pc = 0;
        while (pc < from.length) {
            long header = from[pc];
            int next = pc + Records.words(header);
            if (Records.kind(header) == Records.DATA || Records.kind(header) == Records.PACKETS) {
                int end = next - ((Records.flags(header) & (Records.LOOPED | Records.CLIPPED)) != 0 ? 1 : 0);
                for (int i = pc + Records.OPERANDS; i < end; i++) {
                    to[i] = bases[base(Records.base(from[i]), Records.rank(from[i]))] + Records.offset(from[i]);
                }
            }
            pc = next;
        }
    }

    /** Where the address of a rank's memory stands among the bases. */
    static int base(int memory, int rank) {
        int kind = switch (memory) {
            case Records.INPUT -> 0;
            case Records.OUTPUT -> 1;
            case Records.PLAN_SCRATCH -> 2;
            case Records.PLAN_PACKETS -> 3;
            default -> throw new IllegalStateException("memory " + memory);
        };
        return 4 * rank + kind;
    }

    /**
     * One address per memory and rank, as {@link #bind} wants them; for executors whose memory is not the host's.
     *
     * @param inputs by rank
     * @param outputs by rank
     * @param scratch by rank, plain data
     * @param packets by rank
     */
    public static long[] bases(long[] inputs, long[] outputs, long[] scratch, long[] packets) {
        long[] bases = new long[4 * inputs.length];
        for (int rank = 0; rank < inputs.length; rank++) {
            bases[base(Records.INPUT, rank)] = inputs[rank];
            bases[base(Records.OUTPUT, rank)] = outputs[rank];
            bases[base(Records.PLAN_SCRATCH, rank)] = scratch[rank];
            bases[base(Records.PLAN_PACKETS, rank)] = packets[rank];
        }
        return bases;
    }

    /** The operation that a record belongs to. */
    public PlanStep step(int lane, int pc) {
        int found = Arrays.binarySearch(starts[lane], pc);
        int at = found >= 0 ? found : -found - 2;
        // Operations without records begin where the next one does.
        while (at + 1 < starts[lane].length && starts[lane][at + 1] <= pc) {
            at++;
        }
        return steps[lane][at];
    }
}
