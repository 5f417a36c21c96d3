package dev.tutti.exec;

import dev.tutti.plan.Chunk;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.Reach;
import dev.tutti.plan.Space;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A rank's part of a plan with sizes put in: flat records per lane. Two bound copies, one for each launch parity, hold absolute
 * addresses and stay valid while the user's buffers stay where they are.
 *
 * <p><b>Berths.</b> Writing a line that a peer has just read costs about four times what it costs to write one that has left the
 * peer's cache, as the peer's copy must be taken away first. So launches go round through the whole of their half of the scratch
 * rather than use its beginning again and again: by the time a berth is written again, its lines lie in the cache that all share. Whoever
 * reads a berth to its end makes its core fetch what comes after it. If that were the berth of the next launch, its lines would
 * be in the peer's cache just when they are written; so nothing lies there.
 */
final class Program {
    /** Less than this stays in the first-level cache, where going round loses more than it gains. */
    private static final long SMALLEST_ROTATED = 2 << 10;

    /**
     * When so much has gone through a core's cache, lines of a berth have left it. In calls of several launches, and where ranks share a core, every
     * launch brings other inputs and outputs there, so that fewer berths do; what slots take of the cache that all share is lost to the rest.
     */
    private static final long PASSED_BYTES = 3 << 20;

    /** The same memory is used again and again, and stays in the cache. */
    static final long NONE_PASS = -1;

    /** How far a core that reads on and on fetches ahead, and a little more. */
    private static final long BERTH_GAP = 1 << 10;

    final RankPlan plan;
    final long[][] symbolic;
    final long[][] even;
    final long[][] odd;
    /** Whether peers see anything of what this rank writes or signals. */
    final boolean writesPeers;

    final boolean hearsFromAll;
    /** Whether all that peers see of it are posts. */
    final boolean posts;
    /** Whether ranks touch each other's input and output. */
    final boolean reachesPeers;
    /** Peers that must know where this rank's input and output lie: those that it signals. */
    final int[] told;
    /** One lane in which all ranks meet before the plan, where a plan that reaches peers does not see to that itself. */
    final long @Nullable [][] entry;
    /** The same after the plan. */
    final long @Nullable [][] exit;
    /** Lanes that only transfer and signal may run to completion one after the other without looking at each other. */
    final boolean singleLane;

    final int template;
    final boolean[] writesOutput;
    final int[] semaphores;
    final long[] barrierArrivals;
    private final long[] boundInput = {-1, -1};
    private final long[] boundOutput = {-1, -1};

    /** Scratch that one launch takes; its berths in a half, or in the ring, are used in turn. */
    final long footprint;

    private final int berths;
    private final int[][] scratchOperands;
    private final long[] boundBerth = {0, 0};

    Program(
            Plan whole,
            RankPlan plan,
            long[][] symbolic,
            long @Nullable [] entry,
            long @Nullable [] exit,
            long footprint,
            long passingBytes,
            boolean posts,
            int outputBlocks,
            Endpoint endpoint) {
        this.plan = plan;
        this.reachesPeers = whole.reach() != Reach.OWN;
        this.told = reachesPeers ? told(plan, entry != null, endpoint) : new int[0];
        this.entry = entry == null ? null : new long[][] {entry};
        this.exit = exit == null ? null : new long[][] {exit};
        this.footprint = footprint;
        this.posts = posts;
        this.berths = berths(footprint, passingBytes, endpoint.fabric.layout().scratchBytes());
        this.scratchOperands = scratchOperands(symbolic);
        this.symbolic = symbolic;
        this.even = copyOf(symbolic);
        this.odd = copyOf(symbolic);
        this.writesPeers = plan.writesPeers();
        this.hearsFromAll = whole.collective().hearsFromAll();
        boolean meets = false;
        int barriers = 0;
        this.writesOutput = new boolean[outputBlocks];
        // Loops, not streams: the first call of every kind comes here before anything is compiled.
        for (List<Op> lane : plan.lanes()) {
            for (Op op : lane) {
                meets |= op.barrier() != null || !op.semaphores().isEmpty();
                barriers = Math.max(
                        barriers, op.barrier() == null ? 0 : op.barrier().id() + 1);
                for (Chunk chunk : op.destinations()) {
                    if (chunk.space() == Space.OUTPUT && chunk.rank() == plan.rank()) {
                        writesOutput[chunk.index() / plan.chunksPerBlock()] = true;
                    }
                }
            }
        }
        this.barrierArrivals = new long[barriers];
        this.singleLane = endpoint.usesInterpreter && symbolic.length == 1 && !meets;
        this.template = singleLane && !reachesPeers && endpoint.usesTemplates
                ? Templates.recognise(symbolic[0])
                : Templates.NONE;
        this.semaphores = new int[plan.semaphores().size()];
        for (int i = 0; i < semaphores.length; i++) {
            semaphores[i] = plan.semaphores().get(i);
        }
    }

    /** Whether the only lane is all that there is to run. */
    boolean isRunAlone() {
        return singleLane && entry == null && exit == null;
    }

    /** Berths in a half; all that fit, if slots alone have to push each other out. */
    private static int berths(long footprint, long passingBytes, long room) {
        if (footprint < SMALLEST_ROTATED) {
            return 1;
        }
        long fit = room / (footprint + BERTH_GAP);
        long launch = 2 * (footprint + passingBytes);
        long wanted = passingBytes == NONE_PASS ? fit : (PASSED_BYTES + launch - 1) / launch;
        return (int) Math.clamp(wanted, 1, Math.max(1, fit));
    }

    private static int[] told(RankPlan plan, boolean meets, Endpoint endpoint) {
        boolean[] found = new boolean[endpoint.size];
        if (meets) {
            Arrays.fill(found, true);
            found[endpoint.rank] = false;
        } else {
            for (RankPlan.Channel channel : plan.channels()) {
                found[channel.peer()] = true;
            }
        }
        int[] told = new int[endpoint.size];
        int count = 0;
        for (int peer = 0; peer < found.length; peer++) {
            if (found[peer]) {
                told[count++] = peer;
            }
        }
        return Arrays.copyOf(told, count);
    }

    /** The records of every lane with absolute addresses for this launch. */
    long[][] bind(Endpoint endpoint, long input, long output) {
        int parity = posts ? 0 : (int) endpoint.launch & 1;
        long[][] bound = bound(parity);
        if (boundInput[parity] != input || boundOutput[parity] != output) {
            for (int lane = 0; lane < bound.length; lane++) {
                bindLane(symbolic[lane], bound[lane], endpoint, parity, input, output);
            }
            boundInput[parity] = input;
            boundOutput[parity] = output;
            boundBerth[parity] = 0;
        }
        if (posts) {
            moveTo(endpoint.posts.take(this), bound, parity);
        } else if (berths > 1) {
            moveTo(berth(endpoint.launch), bound, parity);
        }
        return bound;
    }

    /** How far into its half of the scratch a launch is that does not post. */
    long berth(long launch) {
        return berths == 1 ? 0 : (launch >>> 1) % berths * (footprint + BERTH_GAP);
    }

    private void moveTo(long berth, long[][] bound, int parity) {
        long distance = berth - boundBerth[parity];
        boundBerth[parity] = berth;
        for (int lane = 0; lane < bound.length; lane++) {
            long[] code = bound[lane];
            for (int operand : scratchOperands[lane]) {
                code[operand] += distance;
            }
        }
    }

    private static int[][] scratchOperands(long[][] lanes) {
        int[][] found = new int[lanes.length][];
        for (int lane = 0; lane < lanes.length; lane++) {
            long[] code = lanes[lane];
            int[] operands = new int[code.length];
            int count = 0;
            for (int pc = 0; pc < code.length; pc += Records.words(code[pc])) {
                if (Records.hasOperands(code[pc])) {
                    for (int i = pc + Records.OPERANDS; i < pc + Records.words(code[pc]); i++) {
                        if (Records.base(code[i]) == Records.SCRATCH) {
                            operands[count++] = i;
                        }
                    }
                }
            }
            found[lane] = Arrays.copyOf(operands, count);
        }
        return found;
    }

    long[][] bound(int parity) {
        return parity == 0 ? even : odd;
    }

    private void bindLane(long[] from, long[] to, Endpoint endpoint, int parity, long input, long output) {
        int pc = 0;
        while (pc < from.length) {
            long header = from[pc];
            int next = pc + Records.words(header);
            if (Records.hasOperands(header)) {
                for (int i = pc + Records.OPERANDS; i < next; i++) {
                    to[i] = PeerBuffers.isPeers(from[i], endpoint.rank)
                            ? 0 // until they arrive
                            : address(from[i], endpoint, parity, input, output);
                }
            }
            pc = next;
        }
    }

    /** Where an operand lies in launches of this parity, before {@link #berth} is added to what is scratch. */
    long address(long operand, Endpoint endpoint, int parity, long input, long output) {
        long offset = Records.offset(operand);
        return switch (Records.base(operand)) {
            case Records.INPUT -> input + offset;
            case Records.OUTPUT -> output + offset;
            case Records.SCRATCH ->
                (posts
                                ? endpoint.posts.base(this, Records.rank(operand))
                                : endpoint.scratch(Records.rank(operand), parity))
                        + offset;
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
