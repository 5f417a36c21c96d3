package dev.tutti;

import dev.tutti.reduce.Kernels;
import dev.tutti.transport.local.LocalTransport;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Two ranks that play through the common kinds of calls once, before the first world of a process begins. Otherwise the first
 * user of each kind of memory, template and interpreter would wait ten milliseconds and more while the JVM loads and links it.
 */
final class Rehearsal {
    private static final long LATE_NANOS = 3_000_000;

    private static final long LOOK_MILLIS = 10;

    private static final int MOST_REHEARSED = 32;

    /** How long the compilers may take when all is played: a world and its first call shall take less than a second. */
    private static final long MOST_NANOS = 300_000_000;

    /** They are done when the process has used less than half a core for so long. */
    private static final long CALM_NANOS = 20_000_000;

    private static @Nullable Thread thread;

    private Rehearsal() {}

    /**
     * Starts rehearsing, the first time.
     *
     * @param crowded whether more processes do so than there are cores: then they would wait for each other longer than for first calls,
     *     and leave out what few need
     */
    static synchronized Thread begin(boolean crowded) {
        if (thread == null) {
            thread = Thread.ofPlatform().daemon().name("tutti-rehearsal").start(() -> rehearse(crowded));
        }
        return thread;
    }

    /** Rehearses, the first time, and returns when that is done; or when it is in vain, which is looked at now and then. */
    static void await(BooleanSupplier inVain) {
        Thread rehearsing = begin(false);
        try {
            while (!rehearsing.join(Duration.ofMillis(LOOK_MILLIS)) && !inVain.getAsBoolean()) {
                // Looked; on with it.
            }
        } catch (InterruptedException interrupted) {
            // Whoever interrupts wants to be rid of a call that is still to come: that one notices.
            Thread.currentThread().interrupt();
        }
    }

    private static void rehearse(boolean crowded) {
        Kernels.prepare();
        Kernels.countUse(false);
        // All processes of a job rehearse at the same time: whoever spins here takes the core from another.
        int cores = Runtime.getRuntime().availableProcessors();
        LocalTransport transport = LocalTransport.yielding();
        try (World world = new World(2, "rehearsal", Config.from(Map.of()), transport, Peers.none(2), cores)) {
            new LocalRun<>(world, comm -> play(comm, !crowded), false).await();
        } catch (RuntimeException unexpected) {
            // What is broken will be reported to whoever uses it; a rehearsal is only about time.
            System.getLogger("dev.tutti").log(Level.DEBUG, "rehearsal failed", unexpected);
        } finally {
            Kernels.countUse(true);
        }
        if (!crowded) {
            awaitCompilers();
        }
    }

    /** Who calls while the compilers are at what the rehearsal has left them shares a core with them. */
    private static void awaitCompilers() {
        long start = System.nanoTime();
        long before = cpuNanos();
        long now = start;
        boolean busy = true;
        while (busy && now - start < MOST_NANOS) {
            LockSupport.parkNanos(CALM_NANOS);
            long after = cpuNanos();
            long then = now;
            now = System.nanoTime();
            busy = after - before > (now - then) / 2;
            before = after;
        }
    }

    private static long cpuNanos() {
        return ProcessHandle.current()
                .info()
                .totalCpuDuration()
                .orElse(Duration.ZERO)
                .toNanos();
    }

    private static Boolean play(Communicator comm, boolean everyKind) {
        boolean first = comm.rank() == 0;
        int other = 1 - comm.rank();
        for (int count : new int[] {2, 64, 1 << 16}) {
            float[] array = new float[count];
            comm.allReduce(array, ReduceOp.SUM);
            comm.allReduce(array, new float[count], ReduceOp.MAX);
            comm.broadcast(array, 0);
            comm.allGather(array, new float[2 * count]);
            comm.reduceScatter(array, new float[count / 2], ReduceOp.SUM);
            try (Buffer buffer = comm.allocate(DataType.FLOAT32, count)) {
                comm.allReduce(buffer, ReduceOp.SUM);
                comm.allReduceAsync(buffer, ReduceOp.SUM).await();
                comm.allToAll(buffer, buffer);
                comm.reduce(buffer, ReduceOp.SUM, 0);
            }
        }
        for (Buffer memory : List.of(
                Buffer.of(new double[1]),
                Buffer.of(new int[1]),
                Buffer.of(new long[1]),
                Buffer.of(new short[1], DataType.INT16),
                Buffer.of(new byte[1], DataType.INT8))) {
            comm.broadcast(memory, 0);
            comm.broadcast(memory, 1);
        }
        if (everyKind) {
            rehearseKinds(comm);
        }
        Buffer one = Buffer.of(new int[1]);
        if (first) {
            comm.send(one, other, 0);
        } else {
            comm.recv(one, other, 0);
        }
        if (first) {
            // So that the other one finds out what waiting for long is like.
            LockSupport.parkNanos(LATE_NANOS);
        }
        comm.barrier();
        return Boolean.TRUE;
    }

    /** Every type and operator: choosing and resolving a plan is then compiled, and the first call of any kind is like others. */
    private static void rehearseKinds(Communicator comm) {
        List<ReduceOp> operators = List.of(
                ReduceOp.SUM,
                ReduceOp.PROD,
                ReduceOp.MIN,
                ReduceOp.MAX,
                ReduceOp.AVG,
                ReduceOp.preMulSum(1),
                ReduceOp.AND,
                ReduceOp.OR,
                ReduceOp.XOR);
        for (DataType type : DataType.values()) {
            try (Buffer buffer = comm.allocate(type, MOST_REHEARSED / type.bytes())) {
                for (ReduceOp op : operators) {
                    for (int bytes = 8; op.accepts(type) && bytes <= MOST_REHEARSED; bytes *= 2) {
                        comm.allReduce(buffer.slice(0, bytes / type.bytes()), op);
                    }
                }
            }
        }
    }
}
