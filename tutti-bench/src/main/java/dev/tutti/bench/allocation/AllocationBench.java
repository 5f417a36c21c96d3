package dev.tutti.bench.allocation;

import com.sun.management.ThreadMXBean;
import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.Prepared;
import dev.tutti.ReduceOp;
import dev.tutti.World;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Bytes that all threads of the process allocate while two ranks all-reduce many times, the ranks' own and those of the others,
 * above all of the trainer of kernels: 0 per blocking call, one object per started one. Usage:
 * {@code AllocationBench [operations] [operations at 1 MB]}.
 */
public final class AllocationBench {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int WARM_UP = 30_000;

    /** More than a communicator remembers. */
    private static final int MANY = 32;

    /** What the ranks have allocated in the calls that are measured. */
    private static final AtomicLong BY_RANKS = new AtomicLong();

    private AllocationBench() {}

    /** One way to call. */
    private interface Way {
        void run(Communicator comm, int times);
    }

    public static void main(String[] arguments) {
        int operations = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1_000_000;
        int large = arguments.length > 1 ? Integer.parseInt(arguments[1]) : operations;
        System.out.println("way                  bytes   operations    by ranks   by others   by ranks, per operation");
        World.local(2).run(comm -> {
            for (int bytes : new int[] {8, 4 << 10, 1 << 20}) {
                int times = bytes == 1 << 20 ? large : operations;
                float[] array = new float[bytes / 4];
                MemorySegment segment = Arena.ofAuto().allocate(bytes, 64);
                Buffer buffer = comm.allocate(DataType.FLOAT32, bytes / 4);
                Prepared prepared = comm.prepareAllReduce(buffer, ReduceOp.SUM);
                measure(comm, "float[] blocking", bytes, times, (c, n) -> arrays(c, array, n));
                measure(comm, "segment blocking", bytes, times, (c, n) -> segments(c, n, segment));
                MemorySegment[] many = new MemorySegment[MANY];
                Arrays.setAll(many, _ -> Arena.ofAuto().allocate(bytes, 64));
                measure(comm, "segments in turn", bytes, times, (c, n) -> segments(c, n, many));
                measure(comm, "Buffer blocking", bytes, times, (c, n) -> buffers(c, buffer, n));
                measure(comm, "prepared run", bytes, times, (c, n) -> prepared(prepared, n));
                measure(comm, "Buffer async", bytes, Math.min(times, 200_000), (c, n) -> started(c, buffer, n));
            }
        });
    }

    private static void measure(Communicator comm, String name, int bytes, int times, Way way) {
        way.run(comm, bytes > 1 << 16 ? Math.min(WARM_UP, 2_000) : WARM_UP);
        comm.barrier();
        long before = comm.rank() == 0 ? THREADS.getTotalThreadAllocatedBytes() : 0;
        comm.barrier();
        long own = THREADS.getCurrentThreadAllocatedBytes();
        way.run(comm, times);
        BY_RANKS.addAndGet(THREADS.getCurrentThreadAllocatedBytes() - own);
        comm.barrier();
        if (comm.rank() == 0) {
            long byRanks = BY_RANKS.getAndSet(0);
            long byOthers = THREADS.getTotalThreadAllocatedBytes() - before - byRanks;
            System.out.println(String.format(
                    Locale.ROOT,
                    "%-18s %7d %12d %11d %11d %12.4f",
                    name,
                    bytes,
                    times,
                    byRanks,
                    byOthers,
                    byRanks / 2.0 / times));
        }
        comm.barrier();
    }

    private static void arrays(Communicator comm, float[] array, int times) {
        for (int i = 0; i < times; i++) {
            comm.allReduce(array, ReduceOp.MAX);
        }
    }

    private static void segments(Communicator comm, int times, MemorySegment... segments) {
        for (int i = 0; i < times; i++) {
            comm.allReduce(segments[i % segments.length], DataType.FLOAT32, ReduceOp.MAX);
        }
    }

    private static void buffers(Communicator comm, Buffer buffer, int times) {
        for (int i = 0; i < times; i++) {
            comm.allReduce(buffer, ReduceOp.MAX);
        }
    }

    private static void prepared(Prepared prepared, int times) {
        for (int i = 0; i < times; i++) {
            prepared.run();
        }
    }

    private static void started(Communicator comm, Buffer buffer, int times) {
        for (int i = 0; i < times; i++) {
            comm.allReduceAsync(buffer, ReduceOp.MAX).await();
        }
    }
}
