package dev.tutti.plan.simulate;

import dev.tutti.plan.ChannelType;
import dev.tutti.plan.Chunk;
import dev.tutti.plan.Code;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.Space;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Turns a plan, a message size and costs into {@link Program}s. Where the plan and the network look the same after moving all ranks
 * by {@code period} places, only the first {@code period} ranks are written: rank r stands for r + period, r + 2·period …
 */
final class Compiler {
    /** What a data operation costs: work of the lane, and bytes of each transfer, in full windows and in the last. */
    record Amount(double nanosFull, double nanosLast, double bytesFull, double bytesLast) {}

    /** Packets that an operation awaits on its rank, or sends to ranks; ranges on the scale of {@link Layout#start}. */
    record Packets(List<Range> ranges) {}

    /** Packets of one rank. */
    record Range(int rank, long start, long end) {}

    private record QueueKey(int rank, ChannelType type, int peer, int ordinal) {}

    private final Plan plan;
    private final int ranks;
    private final int period;
    private final Layout layout;
    private final Costs costs;
    private final double streamNanosPerByte;
    private final Map<QueueKey, Integer> queues = new HashMap<>();
    private final Map<Amount, Integer> amountIds = new HashMap<>();
    final List<Amount> amounts = new ArrayList<>();
    final List<Packets> packets = new ArrayList<>();
    /** Tokens that a queue has at first: semaphores. */
    final List<Integer> initialTokens = new ArrayList<>();
    /** Lanes of each rank. */
    final List<List<Program>> programs = new ArrayList<>();

    int meetings;
    private RankPlan part;
    private int firstSemaphore;
    private Program program = new Program();

    Compiler(Plan plan, int period, Layout layout, Costs costs, boolean inPlace) {
        this.plan = plan;
        this.ranks = plan.ranks();
        this.period = period;
        this.layout = layout;
        this.costs = costs;
        this.streamNanosPerByte = costs.streamNanosPerByte((double) ranks * layout.userBytes(inPlace));
        this.part = plan.part(0);
    }

    void compile() {
        for (int rank = 0; rank < period; rank++) {
            part = plan.part(rank);
            firstSemaphore = initialTokens.size();
            initialTokens.addAll(part.semaphores());
            List<Program> lanes = new ArrayList<>();
            for (List<Op> lane : part.lanes()) {
                program = new Program();
                for (int i = 0; i < lane.size(); i++) {
                    op(lane.get(i), i);
                }
                program.trim();
                lanes.add(program);
            }
            programs.add(lanes);
            meetings += 1
                    + part.operations()
                            .filter(op -> op.barrier() != null)
                            .mapToInt(op -> Objects.requireNonNull(op.barrier()).id())
                            .max()
                            .orElse(-1);
        }
    }

    private void op(Op op, int index) {
        if (op.loop() == null) {
            one(op, Program.place(index, -1), 0, Long.MAX_VALUE);
            return;
        }
        Op.Loop loop = op.loop();
        long iterations = layout.iterations(part, loop);
        for (long i = 0; i < iterations; i++) {
            for (int inner = 0; inner < loop.body().size(); inner++) {
                one(loop.body().get(inner), Program.place(index, inner), i * loop.unitBytes(), loop.unitBytes());
            }
        }
    }

    /** One operation, or the piece of it that one iteration of a loop does. */
    private void one(Op op, int place, long offset, long most) {
        int start = program.length();
        switch (op.code()) {
            case NOP, PIPELINE -> {
                return;
            }
            case BARRIER -> {
                Op.Barrier barrier = Objects.requireNonNull(op.barrier());
                program.begin(Program.BARRIER, place);
                program.add(meetings + barrier.id());
                program.add(barrier.lanes());
            }
            case ACQUIRE -> {
                program.begin(Program.WAIT, place);
                op.semaphores().forEach(id -> program.add(firstSemaphore + id));
            }
            case RELEASE -> {
                program.begin(Program.SIGNAL, place);
                for (int id : op.semaphores()) {
                    program.add(firstSemaphore + id);
                    program.add(part.rank());
                }
            }
            case WAIT, RELAXED_WAIT -> {
                program.begin(Program.WAIT, place);
                op.channels().forEach(id -> program.add(inbound(part.channels().get(id))));
            }
            case SIGNAL, RELAXED_SIGNAL -> {
                program.begin(Program.SIGNAL, place);
                op.channels().forEach(this::addOutbound);
            }
            case FLUSH -> program.begin(Program.FLUSH, place);
            default -> data(op, place, offset, most);
        }
        program.end(start);
    }

    private void data(Op op, int place, long offset, long most) {
        Code code = op.code();
        boolean port = part.via(op) == ChannelType.PORT;
        int mode = (port ? Program.ASYNC : 0)
                | (code == Code.PUT_SIGNAL_FLUSH ? Program.FLUSHES : 0)
                | (code.isGroup() ? Program.GROUP : 0);
        boolean signals = code == Code.PUT_SIGNAL || code == Code.PUT_SIGNAL_FLUSH;
        program.begin(Program.DATA, place);
        program.add(amount(op, port, offset, most));
        program.add(mode);
        program.add(awaited(op));
        program.add(sent(op));
        List<Integer> transfers = new ArrayList<>();
        for (Chunk source : op.sources()) {
            if (source.rank() != part.rank()) {
                transfers.add(source.rank() * 2);
            }
        }
        for (Chunk destination : op.destinations()) {
            if (destination.rank() != part.rank()) {
                transfers.add(destination.rank() * 2 + 1);
            }
        }
        program.add(transfers.size());
        program.add(signals ? op.channels().size() : 0);
        transfers.forEach(program::add);
        if (signals) {
            op.channels().forEach(this::addOutbound);
        }
    }

    private int amount(Op op, boolean port, long offset, long most) {
        double[] nanos = new double[2];
        double[] bytes = new double[2];
        for (int window = Layout.FULL; window <= Layout.LAST; window++) {
            Chunk first = op.sources().getFirst();
            long length = Math.clamp(layout.bytes(part, op, first, window) - offset, 0, most);
            bytes[window] = length * (op.code().shape() == Code.Shape.PACKET ? 2.0 : 1.0);
            nanos[window] = touches(op) * costs.touchNanos() + costs.opNanos() + (port ? 0 : length * perByte(op));
        }
        Amount amount = new Amount(nanos[Layout.FULL], nanos[Layout.LAST], bytes[Layout.FULL], bytes[Layout.LAST]);
        return amountIds.computeIfAbsent(amount, key -> {
            amounts.add(key);
            return amounts.size() - 1;
        });
    }

    private int touches(Op op) {
        int touches = op.code().isGroup() ? 1 : op.channels().size();
        if (!op.code().isGroup()) {
            for (Chunk chunk : op.sources()) {
                touches += chunk.rank() == part.rank() ? 0 : 1;
            }
            for (Chunk chunk : op.destinations()) {
                touches += chunk.rank() == part.rank() ? 0 : 1;
            }
        }
        return touches;
    }

    /** What the lane itself does for each byte. */
    private double perByte(Op op) {
        Code code = op.code();
        int sources = code.isGroup() ? 1 : op.sources().size();
        int destinations = code.isGroup() ? 1 : op.destinations().size();
        boolean folds = sources > 1 && !(code.isPairwise() && sources == destinations);
        double nanos = sources * (folds ? costs.foldNanosPerByte() : costs.readNanosPerByte())
                + destinations * costs.writeNanosPerByte();
        if (!code.isGroup()) {
            for (Chunk chunk : op.sources()) {
                nanos += chunk.space() == Space.SCRATCH ? 0 : streamNanosPerByte;
            }
            for (Chunk chunk : op.destinations()) {
                nanos += chunk.space() == Space.SCRATCH ? 0 : streamNanosPerByte;
            }
        }
        if (code.shape() == Code.Shape.PACKET) {
            nanos += costs.packetNanosPerByte()
                    * (packetSources(op).size() + packetDestinations(op).size());
        }
        return nanos;
    }

    private static List<Chunk> packetSources(Op op) {
        return switch (op.code()) {
            case UNPACK, READ_PUT_PACKETS, GROUP_STORE_PACKETS -> op.sources();
            case REDUCE_PACKETS, REDUCE_SEND_PACKETS, REDUCE_COPY_PACKETS, REDUCE_COPY_SEND_PACKETS ->
                op.sources().subList(1, op.sources().size());
            default -> List.of();
        };
    }

    private static List<Chunk> packetDestinations(Op op) {
        return switch (op.code()) {
            case PACK, PUT_PACKETS, READ_PUT_PACKETS, GROUP_STORE_PACKETS -> op.destinations();
            case REDUCE_SEND_PACKETS, REDUCE_COPY_PACKETS, REDUCE_COPY_SEND_PACKETS ->
                op.destinations().subList(1, op.destinations().size());
            default -> List.of();
        };
    }

    /** Packets that the operation waits for; 0 if none, else one more than their place in the list. */
    private int awaited(Op op) {
        return listed(op, packetSources(op));
    }

    private int sent(Op op) {
        return listed(op, packetDestinations(op));
    }

    private int listed(Op op, List<Chunk> chunks) {
        if (chunks.isEmpty()) {
            return 0;
        }
        List<Range> ranges = new ArrayList<>(chunks.size());
        for (Chunk chunk : chunks) {
            ranges.add(new Range(
                    chunk.rank(),
                    layout.start(part, op, chunk, Layout.LAST),
                    layout.end(part, op, chunk, Layout.LAST)));
        }
        packets.add(new Packets(ranges));
        return packets.size();
    }

    private int inbound(RankPlan.Channel channel) {
        return queue(new QueueKey(part.rank(), channel.type(), channel.peer(), channel.ordinal()));
    }

    /** The queue at the other end, seen from the rank that stands for its owner. */
    private void addOutbound(int id) {
        RankPlan.Channel channel = part.channels().get(id);
        int owner = channel.peer() % period;
        int self = Math.floorMod(part.rank() - (channel.peer() - owner), ranks);
        program.add(queue(new QueueKey(owner, channel.type(), self, channel.ordinal())));
        program.add(channel.peer());
    }

    private int queue(QueueKey key) {
        return queues.computeIfAbsent(key, absent -> {
            initialTokens.add(0);
            return initialTokens.size() - 1;
        });
    }
}
