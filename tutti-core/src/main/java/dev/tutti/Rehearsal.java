package dev.tutti;

import dev.tutti.algorithm.Algorithm;
import dev.tutti.algorithm.Constants;
import dev.tutti.plan.RankPlan;
import dev.tutti.posix.Futex;
import dev.tutti.posix.Membarrier;
import dev.tutti.posix.ProcessTime;
import dev.tutti.reduce.Kernels;
import dev.tutti.transport.local.LocalTransport;
import dev.tutti.tune.Tuner;
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
    private static final long VERY_LATE_NANOS = 3_000_000;

    /** How late ranks are when the other one waits, in how many worlds, and how many calls they make then. */
    private static final long LATE_NANOS = 300_000;

    private static final int WORLDS = 8;
    private static final int CALLS = 10;

    private static final long LOOK_MILLIS = 10;

    /** Lengths, in bytes, of calls that go another way each: a post of one line, one of several, a slot, several slots. */
    private static final int LINE = 8;

    private static final int POST = 256;
    private static final int SLOT = 4 << 10;
    private static final int LONG = 1 << 18;

    private static final int[] WAYS = {LINE, POST, SLOT, LONG};

    /** And so many other lengths, so that planning a call is compiled. */
    private static final int LENGTHS = 3;

    /** Who has not played by then is on a slow machine, or beside others who rehearse, and leaves the waits out. */
    private static final long SOON_NANOS = 450_000_000;

    /** How many worlds are made without ranks that run, and how many begin as a user's first one does, if there is time for so many. */
    private static final int MADE = 300;

    private static final long MADE_NANOS = 610_000_000;
    private static final int BEGINNINGS = 80;
    private static final long BEGUN_NANOS = 630_000_000;

    /** When the compilers are no longer waited for: a world and its first call shall take less than a second. */
    private static final long MOST_NANOS = 750_000_000;

    /** They are done when the process has hardly used a core so many times, each for so long. */
    private static final int CALM = 2;

    private static final long CALM_NANOS = 5_000_000;

    /** As users have it, but with less memory, all of which is written to when it is made; and with as little as short calls need. */
    private static final Config CONFIG = Config.from(Map.of("TUTTI_SCRATCH", "512K", "TUTTI_PACKETS", "8K"));

    private static final Config SMALL = CONFIG.with(Config.Key.SCRATCH, "64K");

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
        long start = System.nanoTime();
        // Linking a system call takes the JVM a tenth of a second; what needs none is done meanwhile.
        Thread.ofPlatform().daemon().name("tutti-linking").start(Rehearsal::linkSystemCalls);
        Kernels.prepare();
        Kernels.countUse(false);
        try {
            planCommonCalls();
            // All processes of a job rehearse at the same time: whoever spins here takes the core from another.
            perform(CONFIG, LocalTransport.yielding(), comm -> play(comm, !crowded));
            for (int turn = 0; !crowded && turn < WORLDS && System.nanoTime() - start < SOON_NANOS; turn++) {
                int late = turn % 2;
                perform(SMALL, new LocalTransport(2), comm -> waitForEachOther(comm, late));
                // Little by little: C1 asks for the more calls the longer its queue is.
                Kernels.runTwins();
            }
            for (int turn = 0; !crowded && turn < MADE && System.nanoTime() - start < MADE_NANOS; turn++) {
                make();
            }
            for (int turn = 0; !crowded && turn < BEGINNINGS && System.nanoTime() - start < BEGUN_NANOS; turn++) {
                DataType type = DataType.values()[turn % DataType.values().length];
                ReduceOp op = turn % 2 == 0 ? ReduceOp.SUM : ReduceOp.preMulSum(1);
                perform(SMALL, new LocalTransport(2), comm -> begin(comm, type, op));
            }
        } catch (RuntimeException unexpected) {
            // What is broken will be reported to whoever uses it; a rehearsal is only about time.
            System.getLogger("dev.tutti").log(Level.DEBUG, "rehearsal failed", unexpected);
        } finally {
            Kernels.countUse(true);
        }
        if (!crowded) {
            awaitCompilers(start);
        }
    }

    private static void linkSystemCalls() {
        boolean _ = Futex.isAvailable() && Membarrier.isAvailable();
    }

    /** Needs no world. */
    private static void planCommonCalls() {
        Tuner tuner = new Tuner(Constants.of(2, Runtime.getRuntime().availableProcessors()));
        for (Collective collective : Collective.values()) {
            for (int bytes : WAYS) {
                Algorithm chosen = tuner.choose(
                        collective,
                        DataType.FLOAT32,
                        ReduceOp.SUM,
                        bytes / Float.BYTES,
                        bytes,
                        2,
                        false,
                        false,
                        null,
                        null);
                List<RankPlan> _ = BuiltInPlans.of(chosen, 2, 0, 1).all();
            }
        }
    }

    private static void perform(Config config, LocalTransport transport, RankBody.Returning<Boolean> part) {
        try (World world = world(config, transport)) {
            new LocalRun<>(world, part, false).await();
        }
    }

    private static World world(Config config, LocalTransport transport) {
        return new World(2, "rehearsal", config, transport);
    }

    /** Who calls while the compilers are at what the rehearsal has left them shares a core with them. */
    private static void awaitCompilers(long start) {
        long before = ProcessTime.nanos();
        int calm = 0;
        while (calm < CALM && System.nanoTime() - start < MOST_NANOS) {
            LockSupport.parkNanos(CALM_NANOS);
            long now = ProcessTime.nanos();
            calm = now - before > CALM_NANOS / 10 ? 0 : calm + 1;
            before = now;
        }
    }

    private static Boolean play(Communicator comm, boolean everyKind) {
        boolean first = comm.rank() == 0;
        int other = 1 - comm.rank();
        for (int bytes : WAYS) {
            int count = bytes / Float.BYTES;
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
            // So that the other one finds out what waiting for long is like.
            LockSupport.parkNanos(VERY_LATE_NANOS);
        } else {
            comm.recv(one, other, 0);
        }
        comm.barrier();
        return Boolean.TRUE;
    }

    /**
     * Has a rank wait for the other in every collective, on cores of their own: loops that wait are what C2 would take up beside a user's
     * first calls, and what is called now for the two-hundredth time is what C1 would. Each world is a new one: what is called once for a
     * world or a plan would else come to its two-hundredth call in the user's first world.
     */
    private static Boolean waitForEachOther(Communicator comm, int late) {
        try (Buffer one = comm.allocate(DataType.FLOAT32, 2);
                Buffer two = comm.allocate(DataType.FLOAT32, 4);
                Buffer many = comm.allocate(DataType.FLOAT32, SLOT / Float.BYTES)) {
            boolean last = comm.rank() == late;
            for (Collective collective : Collective.values()) {
                for (Buffer of : collective == Collective.ALL_REDUCE ? List.of(one, many) : List.of(one)) {
                    if (last) {
                        LockSupport.parkNanos(LATE_NANOS);
                    }
                    for (int again = 0; again < CALLS; again++) {
                        call(comm, collective, of, two, late);
                    }
                }
            }
        }
        return Boolean.TRUE;
    }

    private static void call(Communicator comm, Collective collective, Buffer one, Buffer two, int root) {
        boolean atRoot = comm.rank() == root;
        switch (collective) {
            case ALL_REDUCE -> {
                comm.allReduce(new float[2], ReduceOp.SUM);
                comm.allReduce(one, ReduceOp.SUM);
                comm.allReduce(one, ReduceOp.preMulSum(1));
            }
            case REDUCE -> comm.reduce(one, ReduceOp.SUM, 1 - root);
            case BROADCAST -> comm.broadcast(one, root);
            case ALL_GATHER -> comm.allGather(one, two);
            case REDUCE_SCATTER -> comm.reduceScatter(two, one, ReduceOp.SUM);
            case GATHER -> comm.gather(one, atRoot ? null : two, 1 - root);
            case SCATTER -> comm.scatter(atRoot ? two : null, one, root);
            case ALL_TO_ALL -> comm.allToAll(two, two);
            case BARRIER -> comm.barrier();
            case SCAN -> comm.scan(one, one, ReduceOp.SUM);
            case EXSCAN -> comm.exscan(one, one, ReduceOp.SUM);
        }
    }

    /**
     * What a rank does first. In a new world, as C1 compiles what is called for the two-hundredth time: with few worlds that would be much of
     * what makes the user's first one, beside its first calls. The more there have been, the less is left that comes to that point just then.
     */
    private static Boolean begin(Communicator comm, DataType type, ReduceOp op) {
        comm.allReduce(new float[2], ReduceOp.SUM);
        try (Buffer buffer = comm.allocate(type, LINE / type.bytes())) {
            comm.barrier();
            comm.allReduce(buffer, op);
        }
        return Boolean.TRUE;
    }

    /** Makes a world in which nothing happens: for what makes worlds that does as well, and takes an eighth of the time. */
    private static void make() {
        try (World world = world(SMALL, new LocalTransport(2));
                Buffer _ = world.communicator(0).allocate(DataType.FLOAT32, 2)) {
            world.communicator(1);
        }
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
            try (Buffer few = comm.allocate(type, LINE / type.bytes());
                    Buffer more = comm.allocate(type, SLOT / type.bytes())) {
                for (ReduceOp op : operators) {
                    if (op.accepts(type)) {
                        comm.allReduce(few, op);
                        comm.allReduce(more, op);
                        for (int count = 1; count <= Math.min(LENGTHS, more.count()); count++) {
                            comm.allReduce(more.slice(0, count), op);
                        }
                    }
                }
            }
        }
    }
}
