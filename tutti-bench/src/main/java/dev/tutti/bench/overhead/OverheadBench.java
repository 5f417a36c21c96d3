package dev.tutti.bench.overhead;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.World;
import dev.tutti.reduce.Fold;
import dev.tutti.reduce.Kernels;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;

/**
 * What the whole API costs beside a hand-written loop with the same protocol, two ranks of one process: batches of both
 * alternate in the same threads, medians are compared. Usage: {@code OverheadBench [rounds]}.
 */
public final class OverheadBench {
    private static final int[] SIZES = {8, 32, 64, 128, 512, 2048, 8192};
    private static final int BATCH = 4000;
    /** Up to which Tutti sends packets, and posts. */
    private static final int MOST_PACKET_BYTES = 16;

    private static final int MOST_POSTED_BYTES = 312;

    private OverheadBench() {}

    public static void main(String[] arguments) throws InterruptedException {
        int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 41;
        Kernels.warm(2, Kernels.id(DataType.FLOAT32, Fold.SUM));
        Kernels.awaitWarm(Duration.ofSeconds(5));
        HandWritten[] hands = HandWritten.pair();
        System.out.println("bytes     hand (us)   API (us)   ratio   [float32 sum, native memory, in place, 2 ranks]");
        World.local(2).run(comm -> run(comm, hands[comm.rank()], rounds));
    }

    private static void run(Communicator comm, HandWritten hand, int rounds) {
        int rows = SIZES.length + 1;
        double[][] handNanos = new double[rows][rounds];
        double[][] apiNanos = new double[rows][rounds];
        Buffer[] buffers = new Buffer[SIZES.length];
        for (int i = 0; i < SIZES.length; i++) {
            buffers[i] = comm.allocate(DataType.FLOAT32, SIZES[i] / 4);
        }
        // Every shape takes its turn in every round, so that no size is compiled alone; early rounds are thrown away.
        for (int round = -rounds / 2; round < rounds; round++) {
            for (int row = 0; row < rows; row++) {
                double h = row < SIZES.length ? hand(hand, buffers[row], SIZES[row]) : handBarrier(hand);
                comm.barrier();
                double a = row < SIZES.length ? api(comm, buffers[row]) : apiBarrier(comm);
                comm.barrier();
                if (round >= 0) {
                    handNanos[row][round] = h;
                    apiNanos[row][round] = a;
                }
            }
        }
        hand.end();
        if (comm.rank() == 0) {
            for (int row = 0; row < rows; row++) {
                print(row < SIZES.length ? "" + SIZES[row] : "barrier", handNanos[row], apiNanos[row]);
            }
        }
    }

    private static void print(String name, double[] hand, double[] api) {
        double[] ratios = new double[hand.length];
        Arrays.setAll(ratios, i -> api[i] / hand[i]);
        System.out.println(String.format(
                Locale.ROOT, "%-8s %10.3f %10.3f %7.2f", name, median(hand) / 1e3, median(api) / 1e3, median(ratios)));
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    private static double hand(HandWritten hand, Buffer buffer, int bytes) {
        long address = buffer.segment().address();
        if (bytes <= MOST_PACKET_BYTES) {
            return handPackets(hand, address, bytes);
        }
        return bytes <= MOST_POSTED_BYTES ? handPost(hand, address, bytes) : handSlot(hand, address, bytes);
    }

    private static double handPost(HandWritten hand, long address, int bytes) {
        long start = System.nanoTime();
        for (int i = 0; i < BATCH; i++) {
            hand.post(address, bytes);
        }
        return (System.nanoTime() - start) / (double) BATCH;
    }

    private static double handPackets(HandWritten hand, long address, int bytes) {
        long start = System.nanoTime();
        for (int i = 0; i < BATCH; i++) {
            hand.packets(address, bytes);
        }
        return (System.nanoTime() - start) / (double) BATCH;
    }

    private static double handSlot(HandWritten hand, long address, int bytes) {
        long start = System.nanoTime();
        for (int i = 0; i < BATCH; i++) {
            hand.slot(address, bytes);
        }
        return (System.nanoTime() - start) / (double) BATCH;
    }

    private static double handBarrier(HandWritten hand) {
        long start = System.nanoTime();
        for (int i = 0; i < BATCH; i++) {
            hand.barrier();
        }
        return (System.nanoTime() - start) / (double) BATCH;
    }

    private static double api(Communicator comm, Buffer buffer) {
        long start = System.nanoTime();
        for (int i = 0; i < BATCH; i++) {
            comm.allReduce(buffer, ReduceOp.SUM);
        }
        return (System.nanoTime() - start) / (double) BATCH;
    }

    private static double apiBarrier(Communicator comm) {
        long start = System.nanoTime();
        for (int i = 0; i < BATCH; i++) {
            comm.barrier();
        }
        return (System.nanoTime() - start) / (double) BATCH;
    }
}
