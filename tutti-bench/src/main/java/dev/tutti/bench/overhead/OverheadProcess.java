package dev.tutti.bench.overhead;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.World;
import dev.tutti.reduce.Fold;
import dev.tutti.reduce.Kernels;
import dev.tutti.spi.RegionLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;

/**
 * Two ranks of one process, by hand and through the API. In each round each size has its turn: by hand, API, by hand, in the same threads, on the same
 * memory; the API is compared with the mean of the two. Where these differ, the cores have moved meanwhile, and the round does not
 * count. Prints for each size the medians of all rounds: nanoseconds by hand, of the API, and their ratio.
 */
final class OverheadProcess {
    private static final int[] SIZES = {8, 32, 64, 128, 512, 2048, 8192};
    private static final int BATCH = 4000;
    /** Calls before the clock is read: then both ranks are under way, and the API knows the call. */
    private static final int FIRST = 20;
    /** The cores have moved if the loop by hand takes so many times as long, or as short, after the API as before it. */
    private static final double MOVED = 1.5;

    /** Something that is done again and again. */
    private interface Batch {
        void run(int times);
    }

    private OverheadProcess() {}

    public static void main(String[] arguments) throws InterruptedException {
        int rounds = Integer.parseInt(arguments[0]);
        Kernels.warm(2, Kernels.id(DataType.FLOAT32, Fold.SUM));
        Kernels.awaitWarm(Duration.ofSeconds(5));
        MemorySegment[][] memory = new MemorySegment[SIZES.length + 1][2];
        for (MemorySegment[] row : memory) {
            Arrays.setAll(row, rank -> HandWritten.memory(Arena.global()));
        }
        World.local(2).run(comm -> run(comm, memory, rounds));
    }

    private static void run(Communicator comm, MemorySegment[][] memory, int rounds) {
        int rows = SIZES.length + 1;
        // Each has its own, as each call through the API learns for itself when to look for the peer.
        HandWritten[] hands = new HandWritten[rows];
        Arrays.setAll(
                hands,
                row -> new HandWritten(memory[row][comm.rank()], memory[row][1 - comm.rank()], comm.rank() == 0));
        Batch[] byHand = new Batch[rows];
        Batch[] api = new Batch[rows];
        for (int i = 0; i < SIZES.length; i++) {
            Buffer buffer = comm.allocate(DataType.FLOAT32, SIZES[i] / 4);
            byHand[i] = byHand(hands[i], buffer.segment().address(), SIZES[i]);
            api[i] = times -> api(comm, buffer, times);
        }
        byHand[SIZES.length] = times -> handBarrier(hands[SIZES.length], times);
        api[SIZES.length] = times -> apiBarrier(comm, times);
        double[][][] nanos = new double[rows][3][rounds];
        int[] counted = new int[rows];
        // Every shape takes its turn in every round, so that no size is compiled alone; early rounds are thrown away.
        for (int round = -2 * rounds; round < rounds; round++) {
            for (int row = 0; row < rows; row++) {
                double before = nanos(byHand[row]);
                comm.barrier();
                double a = nanos(api[row]);
                comm.barrier();
                double after = nanos(byHand[row]);
                comm.barrier();
                double h = (before + after) / 2;
                if (round >= 0 && Math.max(before, after) < MOVED * Math.min(before, after)) {
                    int at = counted[row]++;
                    nanos[row][0][at] = h;
                    nanos[row][1][at] = a;
                    nanos[row][2][at] = a / h;
                }
            }
        }
        if (comm.rank() == 0) {
            for (int row = 0; row < rows; row++) {
                print(row < SIZES.length ? "" + SIZES[row] : "barrier", nanos[row], counted[row]);
            }
        }
    }

    private static void print(String name, double[][] nanos, int counted) {
        if (counted > 0) {
            System.out.println(String.format(
                    Locale.ROOT,
                    "%s %.1f %.1f %.3f %d",
                    name,
                    median(nanos[0], counted),
                    median(nanos[1], counted),
                    median(nanos[2], counted),
                    counted));
        }
    }

    private static double median(double[] values, int count) {
        double[] sorted = Arrays.copyOf(values, count);
        Arrays.sort(sorted);
        return sorted[count / 2];
    }

    private static double nanos(Batch batch) {
        batch.run(FIRST);
        long start = System.nanoTime();
        batch.run(BATCH);
        return (System.nanoTime() - start) / (double) BATCH;
    }

    // Each loop is a method of its own, so that it is compiled as a whole.

    private static Batch byHand(HandWritten hand, long address, int bytes) {
        if (bytes <= RegionLayout.MEETING_ROOM) {
            return times -> handPost(hand, address, bytes, times);
        }
        return times -> handSlot(hand, address, bytes, times);
    }

    private static void handPost(HandWritten hand, long address, int bytes, int times) {
        for (int i = 0; i < times; i++) {
            hand.post(address, bytes);
        }
    }

    private static void handSlot(HandWritten hand, long address, int bytes, int times) {
        for (int i = 0; i < times; i++) {
            hand.slot(address, bytes);
        }
    }

    private static void handBarrier(HandWritten hand, int times) {
        for (int i = 0; i < times; i++) {
            hand.barrier();
        }
    }

    private static void api(Communicator comm, Buffer buffer, int times) {
        for (int i = 0; i < times; i++) {
            comm.allReduce(buffer, ReduceOp.SUM);
        }
    }

    private static void apiBarrier(Communicator comm, int times) {
        for (int i = 0; i < times; i++) {
            comm.barrier();
        }
    }
}
