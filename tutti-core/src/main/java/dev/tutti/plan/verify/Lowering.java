package dev.tutti.plan.verify;

import dev.tutti.plan.ChannelType;
import dev.tutti.plan.Chunk;
import dev.tutti.plan.Code;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
import dev.tutti.plan.PlanHeader;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.verify.Step.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Turns a plan and one choice of sizes into steps, and finds what is wrong without taking any of them. */
final class Lowering {
    private record Wire(ChannelType type, int from, int to, int ordinal) {
        @Override
        public String toString() {
            return type + " channel " + ordinal + " from rank " + from + " to rank " + to;
        }
    }

    private final Plan plan;
    private final Layout layout;
    private final Findings findings;
    private final Rules rules;
    private final boolean guarded;
    private final Map<Wire, Integer> counters = new HashMap<>();
    private final List<String> counterNames = new ArrayList<>();
    private final Map<List<Integer>, Integer> barriers = new HashMap<>();
    private final List<Integer> semaphores = new ArrayList<>();
    private final List<String> semaphoreNames = new ArrayList<>();
    private final int[] firstSemaphore;
    private List<Step> steps = new ArrayList<>();
    private long emitted;

    private Lowering(Plan plan, Layout layout, Findings findings) {
        this.plan = plan;
        this.layout = layout;
        this.findings = findings;
        this.rules = new Rules(plan, findings);
        this.guarded = plan.header().style() == PlanHeader.Style.BLOCKS;
        this.firstSemaphore = new int[plan.ranks()];
        for (RankPlan part : plan.all()) {
            firstSemaphore[part.rank()] = semaphores.size();
            for (int i = 0; i < part.semaphores().size(); i++) {
                semaphores.add(part.semaphores().get(i));
                semaphoreNames.add("semaphore " + i + " of rank " + part.rank());
            }
        }
    }

    /** Steps of all launches together. */
    private static final long MOST_STEPS = 8L << 20;
    /** Every lane knows of every lane. */
    private static final long MOST_PAIRS_OF_LANES = 64L << 20;

    static Script lower(Plan plan, Layout layout, Findings findings) {
        layout.requireModest();
        return new Lowering(plan, layout, findings).script();
    }

    private Script script() {
        int ranks = plan.ranks();
        int[] firstLane = new int[ranks + 1];
        List<Step[]> threads = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            threads.add(new Step[0]);
        }
        boolean[] awaitsRoom = new boolean[ranks];
        boolean fenced = false;
        for (RankPlan part : plan.all()) {
            firstLane[part.rank()] = threads.size();
            awaitsRoom[part.rank()] = part.writesPeers();
            fenced |= guarded && part.reachesPeersBuffers();
            if (guarded) {
                rules.requireSameScratch(part);
            }
            for (int lane = 0; lane < part.lanes().size(); lane++) {
                threads.add(lane(part, lane));
            }
        }
        firstLane[ranks] = threads.size();
        requireModest(threads.size());
        Step[][] all = threads.toArray(Step[][]::new);
        rules.requireBalance(all, Kind.SIGNAL, Kind.WAIT, counterNames);
        rules.requireBalance(all, Kind.RELEASE, Kind.ACQUIRE, semaphoreNames);
        return new Script(
                plan,
                layout.label,
                firstLane,
                all,
                layout.areas,
                layout.inputs,
                layout.outputs,
                counterNames.toArray(String[]::new),
                semaphores.stream().mapToInt(Integer::intValue).toArray(),
                semaphoreNames.toArray(String[]::new),
                barriers.size(),
                guarded,
                fenced,
                awaitsRoom,
                layout.expectation,
                launches());
    }

    /**
     * Enough launches that every pair of launches that share scratch is seen, the steady ones too: an access and its repetition in the
     * next launch that uses the same half are on one lane, so order carries over to all later launches.
     */
    private int launches() {
        boolean halves = guarded || plan.header().doubleScratch();
        return halves && plan.ranks() <= 16 ? 4 : 3;
    }

    /** A plan that is too large for a proof is refused before it takes all memory. */
    private void requireModest(int threads) {
        if ((long) threads * threads > MOST_PAIRS_OF_LANES || emitted * launches() > MOST_STEPS) {
            throw new TooLargeException(threads + " lanes and more than " + emitted + " steps in a launch");
        }
    }

    private Step[] lane(RankPlan part, int lane) {
        emitted += steps.size();
        requireModest(lane);
        steps = new ArrayList<>();
        List<Op> ops = part.lanes().get(lane);
        for (int index = 0; index < ops.size(); index++) {
            Op op = ops.get(index);
            Op.Loop loop = op.loop();
            if (loop == null) {
                op(part, new Step.Place(part.rank(), lane, index, -1, 0, op), null);
                continue;
            }
            long rounds = layout.iterations(loop);
            for (int round = 0; round < rounds; round++) {
                if ((emitted + steps.size()) * launches() > MOST_STEPS) {
                    throw new TooLargeException("more than " + (emitted + steps.size()) + " steps in a launch");
                }
                for (int inner = 0; inner < loop.body().size(); inner++) {
                    op(
                            part,
                            new Step.Place(
                                    part.rank(),
                                    lane,
                                    index,
                                    inner,
                                    round,
                                    loop.body().get(inner)),
                            new Layout.Loop(round, layout.unit(loop)));
                }
            }
        }
        return steps.toArray(Step[]::new);
    }

    private void op(RankPlan part, Step.Place place, Layout.@Nullable Loop loop) {
        Op op = place.op();
        switch (op.code()) {
            case NOP, FLUSH -> {} // a lane is one thread, and puts to addressable memory are done when they return
            case SIGNAL, RELAXED_SIGNAL -> op.channels().forEach(id -> signal(part, place, id));
            case WAIT, RELAXED_WAIT ->
                op.channels().forEach(id -> steps.add(Step.sync(Kind.WAIT, place, counter(part, id, false))));
            case ACQUIRE -> op.semaphores().forEach(id -> semaphore(Kind.ACQUIRE, place, id));
            case RELEASE -> op.semaphores().forEach(id -> semaphore(Kind.RELEASE, place, id));
            case BARRIER -> {
                Op.Barrier barrier = Objects.requireNonNull(op.barrier());
                int id = barriers.computeIfAbsent(List.of(part.rank(), barrier.id()), key -> barriers.size());
                steps.add(Step.barrier(place, id, Math.max(1, barrier.lanes())));
            }
            case PIPELINE -> throw new IllegalArgumentException("a loop inside a loop: " + op);
            default -> data(part, place, loop);
        }
    }

    private void signal(RankPlan part, Step.Place place, int channel) {
        steps.add(Step.sync(Kind.SIGNAL, place, counter(part, channel, true)));
    }

    private void semaphore(Kind kind, Step.Place place, int id) {
        steps.add(Step.sync(kind, place, firstSemaphore[place.rank()] + id));
    }

    private int counter(RankPlan part, int id, boolean outbound) {
        RankPlan.Channel channel = part.channels().get(id);
        Wire wire = outbound
                ? new Wire(channel.type(), part.rank(), channel.peer(), channel.ordinal())
                : new Wire(channel.type(), channel.peer(), part.rank(), channel.ordinal());
        return counters.computeIfAbsent(wire, key -> {
            counterNames.add(key.toString());
            return counterNames.size() - 1;
        });
    }

    private void data(RankPlan part, Step.Place place, Layout.@Nullable Loop loop) {
        Op op = place.op();
        boolean port = part.via(op) == ChannelType.PORT;
        boolean raw = op.code() == Code.PUT_PACKETS && port;
        int plainSources = plainSources(op, raw);
        int plainDestinations = op.code().shape() == Code.Shape.PLAIN
                ? op.destinations().size()
                : op.code() == Code.UNPACK || op.code().folds() ? 1 : 0;
        if (guarded) {
            rules.requireOwnStyle(place, Objects.requireNonNull(layout.expectation));
        }
        boolean pairs = op.code().isPairwise()
                && op.sources().size() == op.destinations().size();
        if (!pairs) {
            move(part, place, loop, op.sources(), op.destinations(), plainSources, plainDestinations, raw);
            return;
        }
        for (int i = 0; i < op.sources().size(); i++) {
            List<Chunk> source = op.sources().subList(i, i + 1);
            List<Chunk> destination = op.destinations().subList(i, i + 1);
            move(
                    part,
                    place,
                    loop,
                    source,
                    destination,
                    Math.min(1, plainSources),
                    Math.min(1, plainDestinations),
                    raw);
            if (op.code().signals()) {
                signal(part, place, op.channels().get(Math.min(i, op.channels().size() - 1)));
            }
        }
    }

    private void move(
            RankPlan part,
            Step.Place place,
            Layout.@Nullable Loop loop,
            List<Chunk> from,
            List<Chunk> to,
            int plainSources,
            int plainDestinations,
            boolean raw) {
        Op op = place.op();
        if (from.isEmpty() || !areThere(place, from) || !areThere(place, to)) {
            return;
        }
        Layout.Operands operands = new Layout.Operands(op, from, to, plainSources, plainDestinations);
        for (Layout.Piece piece : layout.pieces(part.rank(), operands, loop)) {
            Region[] sources = piece.sources();
            Region[] destinations = piece.destinations();
            requireBounds(place, sources);
            requireBounds(place, destinations);
            if (layout.lead() > 0) {
                sign(place, sources, destinations);
            }
            boolean plainFirst = sources.length == from.size();
            if (plainFirst && op.code().folds() && op.code().shape() == Code.Shape.PACKET && sources.length > 1) {
                List<Region> inOrder = new ArrayList<>(Arrays.asList(sources).subList(1, sources.length));
                inOrder.add(Math.min(op.plainPosition(), inOrder.size()), sources[0]);
                sources = inOrder.toArray(Region[]::new);
            }
            emit(place, sources, destinations, raw);
        }
    }

    /** Chunks beyond the last have no place at all. */
    private boolean areThere(Step.Place place, List<Chunk> chunks) {
        for (Chunk chunk : chunks) {
            RankPlan owner = chunk.rank() < plan.ranks() ? plan.rank(chunk.rank()) : null;
            long last = (long) chunk.index() + chunk.count();
            long room = owner == null
                    ? 0
                    : switch (chunk.space()) {
                        case INPUT -> owner.inputChunks();
                        case OUTPUT -> owner.outputChunks();
                        case SCRATCH -> Math.max(owner.scratchChunks(), owner.packetChunks());
                    };
            if (last > room) {
                beyond(place, chunk.toString());
                return false;
            }
        }
        return true;
    }

    private void requireBounds(Step.Place place, Region[] regions) {
        for (int i = 0; i < regions.length; i++) {
            Region region = regions[i];
            Script.Area area = layout.areas.get(region.even());
            if (region.bytes() < 0 || region.offset() < 0 || region.offset() + region.bytes() > area.bytes()) {
                beyond(place, area.symbol() + "@" + area.rank());
                regions[i] = new Region(region.even(), region.odd(), 0, 0, region.packet());
            }
        }
    }

    private void beyond(Step.Place place, String what) {
        Step step = Step.data(place, Region.NONE, Region.NONE, "", false);
        findings.add(Finding.Kind.OUT_OF_BOUNDS, step, place.rank(), what, step + " reaches beyond the end of " + what);
    }

    /** The words before packets, which the executor of Tutti's own plans waits for and writes first, even if nothing follows. */
    private void sign(Step.Place place, Region[] sources, Region[] destinations) {
        Region[] awaited = leads(sources);
        Region[] written = leads(destinations);
        if (awaited.length + written.length > 0) {
            steps.add(Step.data(place, awaited, written, "", false));
        }
    }

    private Region[] leads(Region[] regions) {
        return Arrays.stream(regions)
                .filter(region -> region.packet() && region.offset() >= layout.lead())
                .map(region ->
                        new Region(region.even(), region.odd(), region.offset() - layout.lead(), layout.lead(), true))
                .toArray(Region[]::new);
    }

    private static int plainSources(Op op, boolean raw) {
        if (op.code().shape() == Code.Shape.PLAIN) {
            return op.sources().size();
        }
        return switch (op.code()) {
            case UNPACK, READ_PUT_PACKETS, GROUP_STORE_PACKETS -> 0;
            case PUT_PACKETS -> raw ? 0 : op.sources().size();
            default -> 1;
        };
    }

    private void emit(Step.Place place, Region[] sources, Region[] destinations, boolean raw) {
        Op op = place.op();
        String operator = op.fold() == null ? "" : op.fold().toString();
        Step step = Step.data(place, sources, destinations, operator, raw);
        if (sources.length + destinations.length == 0) {
            return;
        }
        long bytes = (sources.length > 0 ? sources : destinations)[0].bytes();
        for (Region[] operands : List.of(sources, destinations)) {
            for (int i = 0; i < operands.length; i++) {
                if (operands[i].bytes() != bytes) {
                    operands(step, "has operands of " + bytes + " and of " + operands[i].bytes() + " bytes");
                    Region wrong = operands[i];
                    operands[i] = new Region(wrong.even(), wrong.odd(), wrong.offset(), 0, wrong.packet());
                    bytes = 0;
                }
            }
        }
        if (bytes == 0) {
            for (Region[] operands : List.of(sources, destinations)) {
                Arrays.setAll(
                        operands,
                        i -> new Region(
                                operands[i].even(), operands[i].odd(), operands[i].offset(), 0, operands[i].packet()));
            }
        }
        for (Region destination : destinations) {
            for (Region[] others : List.of(sources, destinations)) {
                for (Region other : others) {
                    if (destination.overlaps(other) && destination.offset() != other.offset()) {
                        operands(
                                step,
                                "has operands that overlap in part, so that its result depends on the order of bytes");
                    }
                }
            }
        }
        steps.add(step);
    }

    private void operands(Step step, String what) {
        findings.add(Finding.Kind.OPERANDS, step, step.rank, "itself", step + " " + what);
    }
}
