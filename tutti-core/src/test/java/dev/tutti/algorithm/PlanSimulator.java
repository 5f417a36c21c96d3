package dev.tutti.algorithm;

import dev.tutti.Collective;
import dev.tutti.plan.Chunk;
import dev.tutti.plan.Code;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.Reach;
import dev.tutti.plan.Space;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * Runs a plan on numbers, one operation at a time, lanes and ranks interleaved at random, several launches back to back on the
 * two halves of all scratch. Written from the rules for plans, not from the executor: whatever breaks one is an
 * {@link AssertionError}.
 */
final class PlanSimulator {
    /** How values are folded: with a plain sum any order is right; the other tells every order and every grouping apart. */
    enum Fold {
        SUM,
        ORDERED;

        long apply(long left, long right) {
            return this == SUM ? left + right : left * 1_000_003 + right;
        }
    }

    /** Lengths of the blocks that one rank sees, in elements. */
    record Lengths(long[][] input, long[][] output) {}

    private final Plan plan;
    private final Collective collective;
    private final int ranks;
    private final Lengths lengths;
    private final boolean inPlace;
    private final Fold fold;
    private final boolean finishingCounts;
    private final RandomGenerator random;
    private final List<Rank> world = new ArrayList<>();
    private final Map<Wire, Deque<Signal>> wires = new HashMap<>();
    /** Who reads a slot, one bit for each rank. */
    private final Map<Integer, Long> readers = new HashMap<>();

    /** One direction of a channel. */
    private record Wire(int from, int to, int ordinal) {}

    /** A signal on its way: when it was sent, after which writes, and of whom its sender had heard. */
    private record Signal(int launch, int lane, long writes, long heard) {}

    /** What a slot holds, since which launch, and who wrote it as its how-manieth write. */
    private record Content(long[] values, int launch, int rank, int lane, long write, long heard) {}

    PlanSimulator(Plan plan, Lengths lengths, boolean inPlace, Fold fold, RandomGenerator random) {
        this.plan = plan;
        this.collective = plan.collective();
        this.ranks = plan.ranks();
        this.lengths = lengths;
        this.inPlace = inPlace;
        this.fold = fold;
        this.finishingCounts =
                collective.isReducing() && collective != Collective.SCAN && collective != Collective.EXSCAN;
        this.random = random;
        for (RankPlan part : plan.all()) {
            world.add(new Rank(part));
        }
        checkWhole();
    }

    /** What a finished value becomes: applied twice, or not at all, it shows. */
    static long finish(long value) {
        return value * 7 + 13;
    }

    /** What each rank multiplies its own input by before it is folded, as preMulSum does. */
    static long scalar(int rank) {
        return 3 + rank;
    }

    /** Runs launches back to back and returns outputs as (launch, rank, block, element); null where a rank has none. */
    long[][][][] run(long[][][][] inputs) {
        int launches = inputs.length;
        long[][][][] outputs = new long[launches][ranks][][];
        List<LaneRun> laneRuns = new ArrayList<>();
        world.forEach(rank -> laneRuns.addAll(rank.laneRuns));
        for (Rank rank : world) {
            rank.inputs = inputs;
            rank.outputs = outputs;
        }
        while (world.stream().anyMatch(rank -> rank.finished < launches - 1)) {
            if (!burst(laneRuns)) {
                throw new AssertionError("deadlock: " + world);
            }
        }
        wires.forEach((wire, signals) -> require(signals.isEmpty(), () -> "signals nobody awaited on " + wire));
        return outputs;
    }

    /** Some lane, picked at random, takes some steps; if it cannot move the others are asked in turn. */
    private boolean burst(List<LaneRun> laneRuns) {
        int first = random.nextInt(laneRuns.size());
        int steps = 1 << random.nextInt(8);
        for (int i = 0; i < laneRuns.size(); i++) {
            LaneRun run = laneRuns.get((first + i) % laneRuns.size());
            if (run.step()) {
                while (--steps > 0 && run.step()) {}
                return true;
            }
        }
        return false;
    }

    /** What can be seen without running: equal scratch everywhere, balanced signals, spaces that exist. */
    private void checkWhole() {
        RankPlan first = plan.rank(0);
        Map<Wire, Integer> balance = new HashMap<>();
        for (Rank rank : world) {
            RankPlan part = rank.part;
            require(
                    part.scratchChunks() == first.scratchChunks()
                            && part.packetChunks() == first.packetChunks()
                            && part.chunksPerBlock() == first.chunksPerBlock(),
                    () -> "rank " + part.rank() + " declares other scratch than rank 0");
            for (List<Op> lane : part.lanes()) {
                for (Op op : lane) {
                    op.channels()
                            .forEach(id -> balance.merge(wire(part, id, op.code()), signOf(op.code()), Integer::sum));
                    op.sources().forEach(chunk -> noteReader(part, op, chunk));
                    op.sources().forEach(chunk -> checkSpace(part, op, chunk));
                    op.destinations().forEach(chunk -> checkSpace(part, op, chunk));
                }
            }
        }
        balance.forEach((wire, sum) -> require(sum == 0, () -> "signals and waits differ by " + sum + " on " + wire));
    }

    private static int signOf(Code code) {
        return code == Code.SIGNAL ? 1 : -1;
    }

    private static Wire wire(RankPlan part, int id, Code code) {
        RankPlan.Channel channel = part.channels().get(id);
        return code == Code.SIGNAL
                ? new Wire(part.rank(), channel.peer(), channel.ordinal())
                : new Wire(channel.peer(), part.rank(), channel.ordinal());
    }

    private void noteReader(RankPlan part, Op op, Chunk chunk) {
        if (chunk.space() == Space.SCRATCH) {
            readers.merge(slotKey(op, chunk, true), 1L << part.rank(), (some, more) -> some | more);
        }
    }

    private int slotKey(Op op, Chunk chunk, boolean source) {
        return (chunk.index() * ranks + chunk.rank()) * 2 + (isPacket(op, chunk, source) ? 1 : 0);
    }

    private static boolean isPacket(Op op, Chunk chunk, boolean source) {
        return op.code().shape() == Code.Shape.PACKET
                && chunk.space() == Space.SCRATCH
                && (source || op.code() != Code.UNPACK);
    }

    private void checkSpace(RankPlan part, Op op, Chunk chunk) {
        require(chunk.count() == 1, () -> "runs of chunks do not replicate: " + op);
        if (chunk.space() == Space.SCRATCH) {
            Chunk like = chunk.like();
            require(like != null && like.space() != Space.SCRATCH, () -> "scratch without a length: " + op);
            require(like.rank() == part.rank(), () -> "length of another rank's chunk: " + op);
            checkSpace(part, op, like);
            boolean packet = op.code().shape() == Code.Shape.PACKET;
            int slots = packet ? part.packetChunks() : part.scratchChunks();
            require(chunk.index() < slots, () -> "slot that is not declared: " + op);
            return;
        }
        boolean own = chunk.rank() == part.rank();
        require(own || plan.reach() != Reach.OWN, () -> "reaches into a peer's buffer: " + op);
        if (!own) {
            require(
                    chunk.like() != null && chunk.like().rank() == part.rank(),
                    () -> "length of a peer's chunk unknown: " + op);
            checkSpace(part, op, chunk.like());
        }
        long[] blocks = (chunk.space() == Space.INPUT ? lengths.input() : lengths.output())[chunk.rank()];
        require(
                blocks != null,
                () -> "rank " + chunk.rank() + " has no " + chunk.space() + " in " + collective + ": " + op);
        require(chunk.index() / part.chunksPerBlock() < blocks.length, () -> "beyond the last block: " + op);
    }

    private static void require(boolean holds, Supplier<String> message) {
        if (!holds) {
            throw new AssertionError(message.get());
        }
    }

    /** One rank: its user memory, its scratch, its lanes. */
    private final class Rank {
        final RankPlan part;
        final int rank;
        final List<LaneRun> laneRuns = new ArrayList<>();
        /** Both halves, plain and packets: [parity][packet][slot]. */
        final Content[][][] scratch;
        /** User memory by first chunk; in place, input and output are one. */
        long[][] input = {};

        long[][] output = {};
        /** Chunks of output that were written in this launch. */
        boolean[] written = {};

        int launch = -1;
        int finished = -1;
        int running;
        long[][][][] inputs = {};
        long[][][][] outputs = {};

        Rank(RankPlan part) {
            this.part = part;
            this.rank = part.rank();
            this.scratch = new Content[][][] {
                {new Content[part.scratchChunks()], new Content[part.packetChunks()]},
                {new Content[part.scratchChunks()], new Content[part.packetChunks()]}
            };
            for (int lane = 0; lane < part.lanes().size(); lane++) {
                laneRuns.add(new LaneRun(this, lane));
            }
        }

        /** Begins the next launch if the executor would: before a rank writes, all must be done with the launch before the last. */
        boolean tryLaunch() {
            int next = launch + 1;
            if (finished != launch || next == inputs.length) {
                return false;
            }
            boolean heardFromAll = collective.hearsFromAll() && launch >= 0;
            boolean safe = heardFromAll || world.stream().allMatch(each -> each.finished >= next - 2);
            if (!safe && part.writesPeers()) {
                return false;
            }
            launch = next;
            running = laneRuns.size();
            load();
            laneRuns.forEach(LaneRun::begin);
            return true;
        }

        private void load() {
            input = chunks(lengths.input()[rank]);
            output = chunks(lengths.output()[rank]);
            written = new boolean[output.length];
            for (int i = 0; i < input.length; i++) {
                int block = i / part.chunksPerBlock();
                int start = cut(lengths.input()[rank][block], i % part.chunksPerBlock());
                System.arraycopy(inputs[launch][rank][block], start, input[i], 0, input[i].length);
            }
            int shift = aliasShift();
            for (int i = 0; inPlace && i < Math.min(input.length, output.length); i++) {
                if (input.length <= output.length) {
                    output[i + shift] = input[i];
                } else {
                    output[i] = input[i + shift];
                }
            }
            long fresh = random.nextLong();
            for (int i = 0; i < output.length; i++) {
                if (!inPlace || !aliased(i)) {
                    Arrays.fill(output[i], fresh);
                }
            }
        }

        private boolean aliased(int outputChunk) {
            long[] chunk = output[outputChunk];
            return Arrays.stream(input).anyMatch(each -> each == chunk);
        }

        /** Where the shorter of input and output lies in the longer, in chunks. */
        private int aliasShift() {
            return input.length == output.length ? 0 : rank * part.chunksPerBlock();
        }

        private long[][] chunks(long[] blocks) {
            if (blocks == null) {
                return new long[0][];
            }
            long[][] chunks = new long[blocks.length * part.chunksPerBlock()][];
            for (int i = 0; i < chunks.length; i++) {
                long length = blocks[i / part.chunksPerBlock()];
                int within = i % part.chunksPerBlock();
                chunks[i] = new long[cut(length, within + 1) - cut(length, within)];
            }
            return chunks;
        }

        private int cut(long length, int index) {
            long each = length / part.chunksPerBlock();
            long rest = length % part.chunksPerBlock();
            return (int) (index * each + Math.min(index, rest));
        }

        void endLane() {
            running--;
            if (running > 0) {
                return;
            }
            long heard = 1L << rank;
            for (LaneRun run : laneRuns) {
                heard |= run.heard;
            }
            if (collective.hearsFromAll()) {
                require(
                        heard == (ranks == 64 ? -1 : (1L << ranks) - 1),
                        () -> "rank " + rank + " ended without hearing from all");
            }
            outputs[launch][rank] = store();
            finished = launch;
        }

        private long[][] store() {
            long[] blocks = lengths.output()[rank];
            if (blocks == null) {
                return null;
            }
            long[][] result = new long[blocks.length][];
            for (int block = 0; block < blocks.length; block++) {
                result[block] = new long[(int) blocks[block]];
                for (int within = 0; within < part.chunksPerBlock(); within++) {
                    long[] chunk = output[block * part.chunksPerBlock() + within];
                    System.arraycopy(chunk, 0, result[block], cut(blocks[block], within), chunk.length);
                }
            }
            return result;
        }

        /** Whether a chunk of input has been overwritten through output in this launch. */
        boolean overwritten(int inputChunk) {
            for (int i = 0; inPlace && i < output.length; i++) {
                if (written[i] && output[i] == input[inputChunk]) {
                    return true;
                }
            }
            return false;
        }

        @Override
        public String toString() {
            StringBuilder text = new StringBuilder("\n  rank " + rank + " launch " + launch + ":");
            laneRuns.forEach(run -> text.append(" ").append(run));
            return text.toString();
        }
    }

    /** One lane of one rank. */
    private final class LaneRun {
        final Rank rank;
        final int lane;
        final List<Op> ops;
        /** Writes that this lane has done, ever. */
        long writes;
        /** For every rank and lane, the writes that a signal straight from there has told of. */
        final long[] told;
        /** Ranks that this lane knows to have entered this launch. */
        long heard;

        int pc = Integer.MAX_VALUE;
        int waited;

        LaneRun(Rank rank, int lane) {
            this.rank = rank;
            this.lane = lane;
            this.ops = rank.part.lanes().get(lane);
            this.told = new long[ranks * rank.part.lanes().size()];
        }

        void begin() {
            pc = 0;
            waited = 0;
            heard = 1L << rank.rank;
        }

        boolean step() {
            if (pc > ops.size()) {
                return rank.tryLaunch();
            }
            if (pc == ops.size()) {
                pc = Integer.MAX_VALUE;
                rank.endLane();
                return true;
            }
            Op op = ops.get(pc);
            boolean done = switch (op.code().shape()) {
                case CONTROL -> control(op);
                case PLAIN -> transfer(op);
                case PACKET -> packetsArrived(op) && transfer(op);
            };
            if (done) {
                pc++;
            }
            return done;
        }

        private boolean control(Op op) {
            if (op.code() == Code.SIGNAL) {
                for (int id : op.channels()) {
                    wires.computeIfAbsent(wire(rank.part, id, op.code()), key -> new ArrayDeque<>())
                            .add(new Signal(rank.launch, lane, writes, heard));
                }
                return true;
            }
            require(op.code() == Code.WAIT, () -> "unexpected " + op);
            while (waited < op.channels().size()) {
                Wire wire = wire(rank.part, op.channels().get(waited), op.code());
                Deque<Signal> signals = wires.get(wire);
                if (signals == null || signals.isEmpty()) {
                    return false;
                }
                Signal signal = signals.remove();
                require(
                        signal.launch() == rank.launch,
                        () -> "signal of launch " + signal.launch() + " taken in " + rank.launch);
                told[signal.lane() * ranks + wire.from()] = signal.writes();
                heard |= signal.heard();
                waited++;
            }
            waited = 0;
            return true;
        }

        private boolean packetsArrived(Op op) {
            for (Chunk chunk : op.sources()) {
                if (chunk.space() == Space.SCRATCH) {
                    Content content = slots(chunk.rank(), true)[chunk.index()];
                    if (content == null || content.launch() != rank.launch) {
                        return false;
                    }
                }
            }
            return true;
        }

        private Content[] slots(int owner, boolean packets) {
            return world.get(owner).scratch[rank.launch & 1][packets ? 1 : 0];
        }

        private boolean transfer(Op op) {
            List<long[]> operands = new ArrayList<>();
            boolean scaled = false;
            for (Chunk chunk : op.sources()) {
                long[] values = read(op, chunk);
                if (chunk.space() == Space.INPUT && collective.isReducing() && fold == Fold.SUM) {
                    require(!scaled || plan.reach() != Reach.OWN, () -> "two inputs in one fold: " + op);
                    scaled = true;
                    values = Arrays.stream(values)
                            .map(value -> value * scalar(chunk.rank()))
                            .toArray();
                }
                operands.add(values);
            }
            if (op.code().shape() == Code.Shape.PACKET && operands.size() > 1) {
                long[] plain = operands.removeFirst();
                operands.add(op.plainPosition(), plain);
            }
            long[] result = operands.getFirst().clone();
            for (long[] operand : operands.subList(1, operands.size())) {
                require(collective.isReducing(), () -> "folds in " + collective + ": " + op);
                require(operand.length == result.length, () -> "operands of different lengths: " + op);
                for (int i = 0; i < result.length; i++) {
                    result[i] = fold.apply(result[i], operand[i]);
                }
            }
            if (op.finishes() && finishingCounts) {
                Arrays.setAll(result, i -> finish(result[i]));
            }
            for (Chunk chunk : op.destinations()) {
                write(op, chunk, result);
            }
            return true;
        }

        private long[] read(Op op, Chunk chunk) {
            Rank owner = world.get(chunk.rank());
            if (chunk.space() == Space.INPUT) {
                requireInside(owner, op);
                require(!owner.overwritten(chunk.index()), () -> "reads input that output has overwritten: " + op);
                long[] values = owner.input[chunk.index()];
                require(values.length == length(chunk.extent()), () -> "a peer's chunk has another length: " + op);
                return values;
            }
            if (chunk.space() == Space.OUTPUT) {
                requireInside(owner, op);
                require(owner.written[chunk.index()], () -> "reads output before it is written: " + op);
                return owner.output[chunk.index()];
            }
            boolean packet = isPacket(op, chunk, true);
            Content content = slots(chunk.rank(), packet)[chunk.index()];
            require(
                    content != null && content.launch() == rank.launch,
                    () -> "reads a slot that nobody has written: " + op);
            boolean own = content.rank() == rank.rank && content.lane() == lane;
            if (packet) {
                heard |= content.heard();
            } else if (!own) {
                long known = told[content.lane() * ranks + content.rank()];
                require(known >= content.write(), () -> "reads a slot without a wait for its writer: " + op);
            }
            require(
                    content.values().length == length(chunk.extent()),
                    () -> "length differs from what was written: " + op);
            return content.values();
        }

        /** A peer's input and output may be touched only while it is inside this launch, and is known to be. */
        private void requireInside(Rank owner, Op op) {
            require(
                    owner.launch == rank.launch && owner.finished < rank.launch,
                    () -> "reaches into a buffer of rank " + owner.rank + ", which is not inside: " + op);
            require(
                    (heard & (1L << owner.rank)) != 0,
                    () -> "reaches into a buffer of rank " + owner.rank + " without having heard from it: " + op);
        }

        private int length(Chunk chunk) {
            return (chunk.space() == Space.INPUT ? rank.input : rank.output)[chunk.index()].length;
        }

        private void write(Op op, Chunk chunk, long[] values) {
            require(length(chunk.extent()) == values.length, () -> "destination of another length: " + op);
            require(chunk.space() != Space.INPUT, () -> "writes input: " + op);
            writes++;
            if (chunk.space() == Space.OUTPUT) {
                Rank owner = world.get(chunk.rank());
                requireInside(owner, op);
                long[] to = owner.output[chunk.index()];
                require(to.length == values.length, () -> "a peer's chunk has another length: " + op);
                System.arraycopy(values, 0, to, 0, values.length);
                owner.written[chunk.index()] = true;
                return;
            }
            boolean packet = isPacket(op, chunk, false);
            Content[] slots = slots(chunk.rank(), packet);
            Content before = slots[chunk.index()];
            require(before == null || before.launch() < rank.launch, () -> "writes a slot twice in a launch: " + op);
            for (long left = readers.getOrDefault(slotKey(op, chunk, false), 0L); left != 0; left &= left - 1) {
                int reader = Long.numberOfTrailingZeros(left);
                require(
                        reader == rank.rank || world.get(reader).finished >= rank.launch - 2,
                        () -> "overwrites what rank " + reader + " may still read: " + op);
            }
            slots[chunk.index()] = new Content(values, rank.launch, rank.rank, lane, writes, heard);
        }

        @Override
        public String toString() {
            return pc < ops.size() ? ops.get(pc).toString() : "-";
        }
    }
}
