package dev.tutti.exec;

import dev.tutti.Collective;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.plan.Plan;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.Reach;
import org.jspecify.annotations.Nullable;

/**
 * Everything about a call that does not depend on its pointers: the plan that was chosen, the window that one launch covers,
 * and the resolved programs.
 */
final class Shape {
    /** A chunk that stays in a core's cache together with its slot. */
    private static final long CHUNK_BYTES = 256 << 10;

    /** Fewer bytes are not worth a hand-off. */
    private static final long SHORT_CHUNK_BYTES = 128 << 10;

    /** The same where ranks share cores: what the slots of so many ranks take of the cache is worth more than a hand-off. */
    private static final long SHORT_SHARED_CHUNK_BYTES = 64 << 10;

    /** Launches that have gone round so many berths find lines that have left the peers' caches. */
    private static final int BERTHS = 4;

    /** After so many runs a call is likely to be made again, if on other memory. */
    private static final int MANY_RUNS = 3;

    private static final int LAST = 1;
    private static final int INPUT_STAGED = 2;
    private static final int OUTPUT_STAGED = 4;

    final Collective collective;
    final DataType type;
    final @Nullable ReduceOp op;
    final int root;
    final long count;
    final long extra;
    final boolean uniform;
    final boolean registered;
    final long longestBytes;
    final Plan plan;
    final RankPlan part;
    final long window;
    final long rounds;
    final long maxChunk;
    final long meta;
    final int digest;
    final int elementShift;
    /** Whether all that peers see of a launch is a post from each rank, so that ranks may be many launches apart. */
    final boolean posts;
    /** Whether this rank gets data without hearing from everybody. */
    final boolean hearsFromSome;
    /** Whether the plan takes {@link Places}, which peers cannot reach. */
    final boolean takesPlaces;
    /** Whether calls of this shape differ in what they need: the scalar of preMulSum, counts that only pairs know, memory that they use twice. */
    final boolean dependsOnCall;

    /** What goes past the caches in calls whose input and output are apart. */
    private final Streamed apart;

    private final Streamed inPlace;

    /** As of which choice of plans this is. */
    int generation;

    /** Runs of the program of calls in one launch, up to {@link #MANY_RUNS}. */
    private int runs;

    /** The program of calls in one launch in one piece, when somebody has asked. */
    private @Nullable Exchange exchange;

    private @Nullable Program exchanged;
    private final @Nullable Program[] programs = new @Nullable Program[8];

    Shape(Call call, Plan plan, Endpoint endpoint) {
        this.collective = call.collective();
        this.type = call.type();
        this.op = call.op();
        this.root = call.root();
        this.count = call.count();
        this.extra = call.extra();
        this.uniform = call.isUniform();
        this.registered = call.isRegistered();
        this.longestBytes = call.longestBytes();
        this.plan = plan;
        this.part = plan.rank(endpoint.rank);
        long chunk = largestChunk(endpoint);
        this.window = chunk * part.chunksPerBlock();
        this.rounds = Math.max(1, (longestBytes + window - 1) / window);
        this.maxChunk =
                rounds == 1 && !call.isPairwise() ? BlockCuts.maxChunk(longestBytes, part.chunksPerBlock()) : chunk;
        this.takesPlaces = plan.reach() == Reach.OWN;
        this.meta = Signature.meta(call);
        this.digest = Signature.digest(meta, count, extra);
        this.posts = rounds == 1
                && !call.isPairwise()
                && endpoint.posts.suit(collective, Resolver.shownBytes(part, maxChunk))
                && plan.isPosting();
        // Whoever posts writes nothing but its own memory, where nobody takes it for another's.
        this.hearsFromSome = !posts
                && endpoint.size > 2
                && switch (collective) {
                    case BROADCAST, SCATTER -> endpoint.rank != root;
                    case SCAN, EXSCAN -> endpoint.rank > 0 && endpoint.rank < endpoint.size - 1;
                    default -> false;
                };
        boolean throughSlots = plan.reach() == Reach.OWN || part.scratchChunks() > 0;
        this.apart = Streamed.of(throughSlots, collective, op != null, false, longestBytes, endpoint.size);
        this.inPlace = Streamed.of(throughSlots, collective, op != null, true, longestBytes, endpoint.size);
        this.dependsOnCall =
                call.isPairwise() || !inPlace.equals(apart) || (op != null && op.kind() == ReduceOp.Kind.PRE_MUL_SUM);
        this.elementShift = Integer.numberOfTrailingZeros(type.bytes());
    }

    /** What of a call goes past the caches. */
    Streamed streamed(Call call) {
        return call.isInPlace() ? inPlace : apart;
    }

    /** The exchange that a program of this shape is, or null. */
    @Nullable
    Exchange exchange(Program program, Endpoint endpoint) {
        if (program != exchanged) {
            exchanged = program;
            exchange = Exchange.of(this, program, endpoint);
        }
        return exchange;
    }

    /** The exchange that a call of this shape is, on whichever memory, if it has been run often enough for that; else null. */
    @Nullable
    Exchange exchange(Call call) {
        return exchange != null && !call.isInputStaged(takesPlaces) && !call.isOutputStaged(takesPlaces)
                ? exchange
                : null;
    }

    /** Counts the runs of the program of calls in one launch. The first ones should not have to wait for what later ones gain. */
    void countRun(Program program, Endpoint endpoint) {
        if (runs < MANY_RUNS && ++runs == MANY_RUNS) {
            exchange(program, endpoint);
        }
    }

    boolean matches(Call call) {
        return call.count() == count
                && call.collective() == collective
                && call.type() == type
                && call.root() == root
                && call.isUniform() == uniform
                && call.isRegistered() == registered
                && call.extra() == extra
                && call.longestBytes() == longestBytes
                && sameOperator(call.op(), op);
    }

    /** Scalars of preMulSum may differ from call to call; functions are compared as objects, as two with one name may differ. */
    private static boolean sameOperator(@Nullable ReduceOp a, @Nullable ReduceOp b) {
        return a == b || (a != null && b != null && a.kind() == b.kind() && a.function() == b.function());
    }

    /**
     * Which piece of the message a round is: the last one first. Who fills a buffer has most likely just written its end, and who takes
     * a result begins with its beginning; so what is still in the caches comes first, and what is wanted next is left there.
     */
    long piece(long round) {
        return rounds - 1 - round;
    }

    /** The program for a piece of the message; the last one may be shorter than the others. */
    Program program(
            Call call, long piece, boolean inputStaged, boolean outputStaged, Geometry scratchPad, Endpoint endpoint) {
        boolean last = piece == rounds - 1;
        int kind = (last ? LAST : 0) | (inputStaged ? INPUT_STAGED : 0) | (outputStaged ? OUTPUT_STAGED : 0);
        Program program = uniform ? programs[kind] : null;
        if (program == null) {
            scratchPad.piece(
                    call.geometry(),
                    piece * window,
                    window,
                    inputStaged ? stageStride() : -1,
                    outputStaged ? stageStride() : -1);
            program = Resolver.resolve(plan, part, endpoint, scratchPad, type, op, maxChunk, posts, rounds == 1);
            programs[kind] = program;
        }
        return program;
    }

    /** Distance of blocks in staging memory. */
    long stageStride() {
        // Peers look for blocks of what is staged where they have their own.
        return plan.reach() == Reach.OWN
                ? dev.tutti.memory.Memory.roundUp(Math.min(window, longestBytes), 128)
                : longestBytes;
    }

    private long largestChunk(Endpoint endpoint) {
        boolean needsRoom = part.scratchChunks() > 0 || part.packetChunks() > 0;
        if (plan.reach() != Reach.OWN && !needsRoom) {
            // Nothing has to fit anywhere, and one launch saves the others' meetings.
            return Math.max(BlockCuts.GRANULE, BlockCuts.maxChunk(longestBytes, part.chunksPerBlock()));
        }
        long chunk = CHUNK_BYTES;
        if (part.scratchChunks() > 0) {
            long room = endpoint.fabric.layout().scratchBytes() / part.scratchChunks();
            // On whole granules: a window must not end inside an element.
            long shortest = endpoint.sharesCores ? SHORT_SHARED_CHUNK_BYTES : SHORT_CHUNK_BYTES;
            chunk = Math.clamp(room / BERTHS / 128 * 128, shortest, chunk);
            chunk = Math.min(chunk, room / 128 * 128);
        }
        if (part.packetChunks() > 0) {
            long room = endpoint.fabric.layout().packetBytes() / part.packetChunks() / 64 * 64;
            chunk = Math.min(chunk, (room - 8) / 2 / BlockCuts.GRANULE * BlockCuts.GRANULE);
        }
        if (chunk < BlockCuts.GRANULE) {
            throw new IllegalArgumentException("a plan of " + part.ranks() + " ranks needs " + part.scratchChunks()
                    + " scratch and " + part.packetChunks() + " packet slots: set a larger scratch");
        }
        return chunk;
    }
}
