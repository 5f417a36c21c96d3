package dev.tutti;

import dev.tutti.channel.Board;
import dev.tutti.plan.Plan;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * An ordered set of ranks, and the operations that they do together. Each rank has its own object.
 *
 * <p><b>Forms.</b> Every collective blocks ({@code allReduce}), starts ({@code allReduceAsync}, a {@link Work}) or is prepared
 * for many runs ({@code prepareAllReduce}, a {@link Prepared}). Memory is a {@link Buffer}: part of an array, a segment, or
 * {@linkplain #allocate memory of Tutti's own}; the most used collectives also take {@code float[]}, {@code double[]},
 * {@code int[]}, {@code long[]} and segments directly. Passing the same memory as input and output is allowed (in place).
 *
 * <p><b>Order.</b> All ranks make the same calls in the same order; one operation runs at a time, in call order. Different
 * communicators interleave. Calls from several threads are served one after the other.
 *
 * <p><b>Wrong arguments</b> throw {@link IllegalArgumentException} before anything is sent and leave the communicator usable.
 *
 * <p><b>Ranks that disagree</b> about collective, count, type, operator, root or order get a {@link MismatchException} on every
 * rank, now or at its next call; nobody gets garbage and nobody hangs.
 *
 * <p><b>Failure.</b> A timeout, a mismatch, a failed peer, an interrupt or a user's function that throws aborts the
 * communicator on all ranks. From then on every call throws the first cause, and only {@link #close} works. The exception knows the
 * ranks, the operation and the communicator that it is about ({@link TuttiException#ranks}).
 *
 * <p><b>Same bits.</b> All ranks get the same bits, and the same plan gives the same bits on every run.
 *
 * <p><b>Count 0</b> is an operation like any other: it is numbered and checked, and moves nothing.
 *
 * <p><b>Visibility.</b> The return of a call, or the end of its {@link Work}, happens-after the calls of the ranks whose data it
 * carries. On return no peer reads or writes this rank's buffers any more. Only {@link #barrier} promises to synchronise.
 *
 * {@snippet :
 * World.local(4).run(comm -> {
 *     float[] x = {comm.rank()};
 *     comm.allReduce(x, ReduceOp.SUM);      // 6.0 on every rank
 * });
 * }
 */
public final class Communicator extends Messages implements AutoCloseable {
    /** Receive from whoever sends first. */
    public static final int ANY_SOURCE = -1;

    /** Receive whatever tag comes first. */
    public static final int ANY_TAG = -1;

    /** In {@link #splitOptional}: this rank takes no part. */
    public static final int NO_COLOR = -1;

    /** Whether nobody else knows the world, so that it ends with this. */
    private boolean ownsWorld;

    Communicator(World world, Member member) {
        super(world, member, member.timeoutNanos());
    }

    private Communicator(World world, Member member, long timeoutNanos) {
        super(world, member, timeoutNanos);
    }

    /**
     * The same communicator with another deadline for whatever is called, started or prepared through the object that this returns.
     * It stands for the same ranks, operations stay in one order, and closing either closes both.
     *
     * {@snippet :
     * comm.withTimeout(Duration.ofSeconds(2)).barrier();
     * }
     *
     * @param timeout how long a call may wait for other ranks; more than 0
     * @return this communicator, more or less patient
     */
    public Communicator withTimeout(Duration timeout) {
        long nanos = Works.nanos(timeout);
        if (nanos == 0) {
            throw new IllegalArgumentException("timeout must be more than 0");
        }
        return new Communicator(world, member, nanos);
    }

    /** What a call through this object may wait for others at most. */
    long timeoutNanos() {
        return timeoutNanos;
    }

    /** Aborts the communicator because ranks disagree, and gives what to throw. */
    TuttiException mismatch(String text, String operation, int... ranks) {
        member.endpoint().board().abort(Board.Reason.MISMATCH, text, null, operation, Board.only(ranks));
        return member.endpoint().stall().failure();
    }

    /**
     * This process's rank in the world that it was started for: {@link World#fromEnvironment} with one rank per process. Closing
     * it closes the world.
     *
     * {@snippet :
     * try (Communicator comm = Communicator.fromEnvironment()) {
     *     float[] x = {comm.rank()};
     *     comm.allReduce(x, ReduceOp.SUM);
     * }
     * }
     *
     * @return the communicator of all ranks; of this one alone where nobody has started others
     * @throws IllegalArgumentException if a variable of the environment is missing or makes no sense
     * @throws TuttiException if the others do not come in time, or do not fit
     */
    public static Communicator fromEnvironment() {
        World world = World.fromEnvironment().open();
        try {
            Communicator communicator = world.communicator(world.firstLocalRank());
            communicator.ownsWorld = true;
            return communicator;
        } catch (RuntimeException failed) {
            world.close();
            throw failed;
        }
    }

    /**
     * This rank's number.
     *
     * @return 0 to size-1
     */
    public int rank() {
        return member.rank();
    }

    /**
     * How many ranks there are.
     *
     * @return at least 1
     */
    public int size() {
        return member.size();
    }

    /**
     * What messages call it.
     *
     * @return the name
     */
    public String name() {
        return member.name();
    }

    /**
     * The world that it belongs to.
     *
     * @return the world
     */
    public World world() {
        return world;
    }

    /**
     * Registered memory, zeroed: the fastest kind, because peers read and write it where it lies. It works with every communicator of
     * this world that this rank is in. In one call either all ranks pass registered memory only or none does; a
     * {@link MismatchException} says who did not. Close it when it is no longer needed.
     *
     * {@snippet :
     * Buffer gradients = comm.allocate(DataType.FLOAT32, 1 << 20);
     * }
     *
     * @param type what the elements are
     * @param count how many
     * @return a new buffer
     */
    public Buffer allocate(DataType type, long count) {
        return Buffer.allocate(world.transport(), member.worldRank(rank()), type, count);
    }

    /**
     * Lets all ranks read and write this memory of each other without each other's help. All ranks call it together, each with a
     * buffer of its own, of the same type and of any length.
     *
     * {@snippet :
     * Window window = comm.window(comm.allocate(DataType.FLOAT32, 1000));
     * }
     *
     * @param buffer registered memory of this rank
     * @return what to reach the others' through
     */
    public Window window(Buffer buffer) {
        return Window.create(this, buffer);
    }

    /**
     * Divides the ranks: those that give the same colour form a new communicator, in the order of their keys, ties by rank.
     *
     * {@snippet :
     * Communicator rows = comm.split(comm.rank() / 4, comm.rank());
     * }
     *
     * @param color 0 or more
     * @param key where this rank wants to stand
     * @return the communicator of this rank's colour
     */
    public Communicator split(int color, int key) {
        if (color < 0) {
            throw member.arguments().wrong("color must not be negative, got " + color + "; see splitOptional");
        }
        return splitOptional(color, key).orElseThrow();
    }

    /**
     * Like {@link #split}, for ranks that may stay out.
     *
     * {@snippet :
     * Optional<Communicator> leaders = comm.splitOptional(comm.rank() % 8 == 0 ? 0 : Communicator.NO_COLOR, 0);
     * }
     *
     * @param color 0 or more, or {@link #NO_COLOR}
     * @param key where this rank wants to stand
     * @return the communicator of this rank's colour; empty for {@link #NO_COLOR}
     */
    public Optional<Communicator> splitOptional(int color, int key) {
        if (color < NO_COLOR) {
            throw member.arguments().wrong("color must be 0 or more, or NO_COLOR, got " + color);
        }
        long[] all = new long[2 * size()];
        allGather(new long[] {color, key}, all);
        int number = member.nextSplit();
        if (color == NO_COLOR) {
            return Optional.empty();
        }
        List<Integer> members = new ArrayList<>();
        for (int peer = 0; peer < size(); peer++) {
            if (all[2 * peer] == color) {
                members.add(peer);
            }
        }
        members.sort((a, b) -> all[2 * a + 1] != all[2 * b + 1]
                ? Long.compare(all[2 * a + 1], all[2 * b + 1])
                : Integer.compare(a, b));
        int[] worldRanks = members.stream().mapToInt(member::worldRank).toArray();
        return Optional.of(world.join(
                member.childId(number, color),
                name() + "/" + number + "." + color,
                members.indexOf(rank()),
                worldRanks,
                schedule::requireActive));
    }

    /**
     * From now on lets a plan serve the calls that it can: its collective, its number of ranks, its operator (a plan that sums also
     * serves avg and preMulSum), messages within its limits, equal counts. Everything else goes to built-in algorithms as before. Of
     * several plans the one that was given last goes first. All ranks call this together, with equal plans; it proves the plan right
     * before, unless it is too large for that.
     *
     * {@snippet :
     * comm.use(PlanFile.load(Path.of("allreduce_8r.json")), 0, 1 << 20);
     * comm.allReduce(x, ReduceOp.SUM);      // up to 1 MiB by the plan
     * }
     *
     * @param plan what to run
     * @param minBytes shortest message, inclusive: the output of an all-gather, else the input
     * @param maxBytes longest message, inclusive
     * @throws IllegalArgumentException if the plan is for other ranks, is wrong, or differs from rank to rank; nothing changes then
     */
    public void use(Plan plan, long minBytes, long maxBytes) {
        UsedPlans.requireUsable(plan, size(), minBytes, maxBytes);
        long[] all = new long[2 * size()];
        allGather(new long[] {UsedPlans.digest(plan), rank() == 0 ? UsedPlans.verdict(plan) : 0}, all);
        UsedPlans.requireAgreement(plan, rank(), all);
        member.use(plan, minBytes, maxBytes, mine -> {
            long[] numbers = new long[size()];
            allGather(new long[] {mine}, numbers);
            return numbers;
        });
    }

    /**
     * Like {@link #use(Plan, long, long)} for messages of any length.
     *
     * @param plan what to run
     */
    public void use(Plan plan) {
        use(plan, 0, Long.MAX_VALUE);
    }

    /** Forgets the plans given to {@link #use(Plan, long, long)}. All ranks call this together. */
    public void useBuiltIn() {
        barrier();
        member.useBuiltIn();
    }

    /**
     * A second communicator of the same ranks, whose operations interleave freely with this one's.
     *
     * {@snippet :
     * Communicator background = comm.dup();
     * }
     *
     * @return the new communicator
     */
    public Communicator dup() {
        return split(0, rank());
    }

    /**
     * Throws what ended this communicator, if anything has: an abort by any rank, a rank that failed, {@link #close}. It waits for
     * nobody and takes part in nothing, so any thread may ask at any time.
     *
     * {@snippet :
     * while (!kernel.isDone()) {
     *     comm.requireActive();
     * }
     * }
     */
    public void requireActive() {
        schedule.requireActive();
    }

    /**
     * Ends every operation on this communicator, on all ranks, now. From then on every call throws.
     *
     * {@snippet :
     * comm.abort("loss is NaN");
     * }
     *
     * @param reason what the others will read
     */
    public void abort(String reason) {
        schedule.abort(Objects.requireNonNull(reason, "reason"), false);
    }

    /**
     * Ends this rank's part. Operations that are still going on, on this rank or needing it, fail. Closing twice is fine.
     */
    @Override
    public void close() {
        member.close();
        if (ownsWorld) {
            ownsWorld = false;
            world.close();
        }
    }

    @Override
    public String toString() {
        return "rank " + rank() + " of " + size() + " of '" + name() + "'";
    }
}
