package dev.tutti.cli.show;

import dev.tutti.plan.Chunk;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.simulate.Simulation;
import dev.tutti.plan.simulate.Topology;
import dev.tutti.plan.trace.Timeline;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The operations of a plan, in an order in which they can happen, and what depends on what: who writes what who reads, which signal
 * ends which wait. The order is that of a simulation in which every operation takes one unit.
 */
final class PlanGraph {
    private static final Topology UNITS = Topology.parse("""
            name units
            op 1 ns
            level all * latency 0 ns bandwidth 0 GB/s port rank
            """);
    /** Enough for every chunk to hold something. */
    private static final long BYTES_PER_CHUNK = 256;

    final List<Node> nodes = new ArrayList<>();
    final List<Edge> edges = new ArrayList<>();
    private final Plan plan;
    private final Map<Wire, ArrayDeque<Step>> signals = new HashMap<>();
    private final Map<Place, List<Written>> writers = new HashMap<>();
    private final Map<Place, ArrayDeque<Step>> releases = new HashMap<>();
    private final Map<Place, List<Node>> meetings = new HashMap<>();

    /** An operation. */
    static final class Node {
        final int id;
        final int rank;
        final int lane;
        final int index;
        final Op op;
        /** Its first column; operations of a lane follow each other, and nothing comes before what it waits for. */
        int column;

        Node(int id, int rank, int lane, int index, Op op) {
            this.id = id;
            this.rank = rank;
            this.lane = lane;
            this.index = index;
            this.op = op;
        }

        int columns() {
            return op.loop() == null ? 1 : Math.max(1, op.loop().body().size());
        }
    }

    /** Why one operation comes after another. */
    enum Kind {
        SIGNAL,
        DATA,
        LOCAL
    }

    /** From one operation to another; inside loops also from which of the inner ones to which. */
    record Edge(Node from, int fromInner, Node to, int toInner, Kind kind) {}

    /** An operation, or one inside a loop. */
    private record Step(Node node, int inner, Op op) {}

    /** Who wrote a part of a chunk. */
    private record Written(Step by, Op.Slice slice) {
        boolean overlaps(Op.Slice other) {
            return (long) slice.index() * other.of() < (other.index() + 1L) * slice.of()
                    && (long) other.index() * slice.of() < (slice.index() + 1L) * other.of();
        }
    }

    private static final Op.Slice ALL = new Op.Slice(0, 1);

    private record Wire(int from, int to, Object type, int ordinal) {}

    private record Place(int rank, Object space, int index) {}

    PlanGraph(Plan plan) {
        this.plan = plan;
        Map<Place, Node> last = new HashMap<>();
        for (Timeline.Span span : spans()) {
            Place lane = new Place(span.rank(), "lane", span.lane());
            Op op = plan.rank(span.rank()).lanes().get(span.lane()).get(span.op());
            Node before = last.get(lane);
            if (before != null && before.index == span.op()) {
                continue; // another iteration of a loop
            }
            Node node = new Node(nodes.size(), span.rank(), span.lane(), span.op(), op);
            node.column = before == null ? 0 : before.column + before.columns();
            nodes.add(node);
            last.put(lane, node);
            if (op.loop() == null) {
                connect(new Step(node, 0, op));
            } else {
                for (int i = 0; i < op.loop().body().size(); i++) {
                    connect(new Step(node, i, op.loop().body().get(i)));
                }
            }
        }
    }

    private List<Timeline.Span> spans() {
        long chunks = plan.all().stream()
                .mapToLong(part -> Math.max(part.inputChunks(), part.outputChunks()))
                .max()
                .orElse(1);
        Timeline timeline = Simulation.of(plan, UNITS)
                .bytes(Math.max(1, chunks) * BYTES_PER_CHUNK)
                .recorded()
                .run()
                .timeline();
        List<Timeline.Span> spans = new ArrayList<>();
        for (int i = 0; timeline != null && i < timeline.size(); i++) {
            spans.add(timeline.span(i));
        }
        spans.sort(Comparator.comparingDouble(Timeline.Span::endNanos));
        return spans;
    }

    private void connect(Step step) {
        Node node = step.node;
        Op op = step.op;
        RankPlan part = plan.rank(node.rank);
        switch (op.code()) {
            case WAIT, RELAXED_WAIT -> {
                for (int id : op.channels()) {
                    RankPlan.Channel channel = part.channels().get(id);
                    take(step, signals.get(new Wire(channel.peer(), node.rank, channel.type(), channel.ordinal())));
                }
            }
            case ACQUIRE -> op.semaphores().forEach(id -> take(step, releases.get(new Place(node.rank, "sem", id))));
            case RELEASE ->
                op.semaphores()
                        .forEach(id -> releases.computeIfAbsent(
                                        new Place(node.rank, "sem", id), absent -> new ArrayDeque<>())
                                .add(step));
            case BARRIER -> meet(node, op);
            default -> {
                read(step);
                write(step);
                if (op.code().signals()) {
                    for (int id : op.channels()) {
                        RankPlan.Channel channel = part.channels().get(id);
                        signals.computeIfAbsent(
                                        new Wire(node.rank, channel.peer(), channel.type(), channel.ordinal()),
                                        absent -> new ArrayDeque<>())
                                .add(step);
                    }
                }
            }
        }
    }

    private void meet(Node node, Op op) {
        Op.Barrier barrier = java.util.Objects.requireNonNull(op.barrier());
        List<Node> others =
                meetings.computeIfAbsent(new Place(node.rank, "barrier", barrier.id()), absent -> new ArrayList<>());
        others.add(node);
        if (others.size() == barrier.lanes()) {
            int column = others.stream().mapToInt(each -> each.column).max().orElse(0);
            others.forEach(each -> each.column = column);
            others.clear();
        }
    }

    private void take(Step step, @Nullable Queue<Step> queue) {
        Step from = queue == null ? null : queue.poll();
        if (from != null) {
            edge(from, step, from.node.rank == step.node.rank ? Kind.LOCAL : Kind.SIGNAL);
        }
    }

    private void read(Step step) {
        Op.Slice slice = slice(step.op);
        Set<Step> from = new LinkedHashSet<>();
        places(step.op.sources())
                .flatMap(place -> writers.getOrDefault(place, List.of()).stream())
                .filter(written -> written.by.node != step.node && written.overlaps(slice))
                .forEach(written -> from.add(written.by));
        from.forEach(writer -> edge(writer, step, Kind.DATA));
    }

    private void write(Step step) {
        Op.Slice slice = slice(step.op);
        places(step.op.destinations()).forEach(place -> {
            List<Written> known = writers.computeIfAbsent(place, absent -> new ArrayList<>());
            known.removeIf(written -> written.overlaps(slice));
            known.add(new Written(step, slice));
        });
    }

    private static Op.Slice slice(Op op) {
        return op.slice() == null ? ALL : op.slice();
    }

    private static Stream<Place> places(List<Chunk> chunks) {
        return chunks.stream()
                .flatMap(chunk -> IntStream.range(0, chunk.count())
                        .mapToObj(i -> new Place(chunk.rank(), chunk.space(), chunk.index() + i)));
    }

    private void edge(Step from, Step to, Kind kind) {
        edges.add(new Edge(from.node, from.inner, to.node, to.inner, kind));
        boolean sameLane = from.node.rank == to.node.rank && from.node.lane == to.node.lane;
        // Loops that wait for each other run side by side.
        boolean bothLoop = from.node.op.loop() != null && to.node.op.loop() != null;
        if (!sameLane && !bothLoop) {
            to.node.column = Math.max(to.node.column, from.node.column + from.node.columns());
        }
    }
}
