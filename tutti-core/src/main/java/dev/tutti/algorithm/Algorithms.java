package dev.tutti.algorithm;

import static dev.tutti.plan.Protocol.PACKET;
import static dev.tutti.plan.Protocol.SIMPLE;

import dev.tutti.Collective;
import dev.tutti.plan.Protocol;
import dev.tutti.plan.RankBuilder;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * All built-in algorithms. Of two that cost the same the first is taken, so those with the shapes that executors know best
 * come first. The cost formulas are those in the pictures of each algorithm, plus what operations and operands cost.
 */
public final class Algorithms {
    private static final Map<Collective, List<Algorithm>> ALL = all();

    private Algorithms() {}

    /**
     * The algorithms of a collective.
     *
     * @param collective what to compute
     * @return at least one
     */
    public static List<Algorithm> of(Collective collective) {
        return ALL.getOrDefault(collective, List.of());
    }

    /**
     * Checks that some collective has an algorithm of this name and protocol, so that a misspelt one is noticed.
     *
     * @param name an algorithm, or empty for any
     * @param protocol a protocol, or empty for any
     */
    public static void requireKnown(String name, String protocol) {
        if (name.isEmpty() && protocol.isEmpty()) {
            return;
        }
        boolean known = ALL.values().stream()
                .flatMap(List::stream)
                .anyMatch(each -> (name.isEmpty() || each.name().equals(name))
                        && (protocol.isEmpty() || each.protocol().toString().equals(protocol)));
        if (!known) {
            throw new IllegalArgumentException("no algorithm is called '" + name + "'"
                    + (protocol.isEmpty() ? "" : " with protocol '" + protocol + "'") + "; there are "
                    + ALL.values().stream()
                            .flatMap(List::stream)
                            .map(Algorithm::name)
                            .distinct()
                            .sorted()
                            .collect(Collectors.joining(", "))
                    + "; protocols are simple and packet");
        }
    }

    /**
     * One algorithm by its name.
     *
     * @param collective what it computes
     * @param name its name
     * @param protocol its protocol
     * @return the algorithm, if there is one
     */
    public static Optional<Algorithm> find(Collective collective, String name, Protocol protocol) {
        return of(collective).stream()
                .filter(each -> each.name().equals(name) && each.protocol() == protocol)
                .findFirst();
    }

    /**
     * What there is for a collective, for messages.
     *
     * @param collective what to compute
     * @return for example {@code one-shot (simple, packet), ring (simple)}
     */
    public static String names(Collective collective) {
        return of(collective).stream()
                .collect(Collectors.groupingBy(
                        Algorithm::name,
                        LinkedHashMap::new,
                        Collectors.mapping(each -> each.protocol().toString(), Collectors.joining(", ", " (", ")"))))
                .entrySet()
                .stream()
                .map(entry -> entry.getKey() + entry.getValue())
                .collect(Collectors.joining(", "));
    }

    private static Map<Collective, List<Algorithm>> all() {
        Map<Collective, List<Algorithm>> all = new EnumMap<>(Collective.class);
        for (Collective collective : Collective.values()) {
            Family family = new Family(collective, new ArrayList<>());
            switch (collective) {
                case ALL_REDUCE -> allReduce(family);
                case REDUCE -> reduce(family);
                case BROADCAST -> broadcast(family);
                case ALL_GATHER -> allGather(family);
                case REDUCE_SCATTER -> reduceScatter(family);
                case GATHER -> gather(family);
                case SCATTER -> scatter(family);
                case ALL_TO_ALL -> allToAll(family);
                case BARRIER -> barrier(family);
                case SCAN -> scan(family);
                case EXSCAN -> exscan(family);
            }
            all.put(collective, List.copyOf(family.members));
        }
        return all;
    }

    private static void allReduce(Family family) {
        family.inOrder("one-shot", SIMPLE, AllPairs::oneShotAllReduce, (n, b, c) -> {
            double work = c.work(4, 4.0 * (n - 1), (n - 1.0) * b, (n + 1.0) * b);
            return c.steps(n, 1, c.rounds(b, 1)) + c.shared(n, work);
        });
        family.inOrder("one-shot", PACKET, AllPairsPackets::oneShotAllReduce, (n, b, c) -> {
            double work = c.packetWork(2, 2.0 * (n - 1), (n - 1.0) * b, (n + 1.0) * b);
            return c.packetSteps(n, 1) + c.shared(n, work);
        });
        family.reading("one-shot-read", AllPairsRead::oneShotAllReduce, (n, b, c) -> {
            double work = c.work(4, c.metLines(n, b), b, (n + 1.0) * b);
            return c.met(n, b, c.rounds(b, 1)) + c.shared(n, work);
        });
        family.inOrder("two-shot", SIMPLE, AllPairs::twoShotAllReduce, (n, b, c) -> {
            double work = c.work(2 * n + 3, 8.0 * (n - 1), 3.0 * (n - 1) / n * b, (n + 1.0) / n * b);
            return c.steps(n, 2, c.rounds(b, n)) + c.shared(n, work);
        });
        family.inOrder("two-shot", PACKET, AllPairsPackets::twoShotAllReduce, (n, b, c) -> {
            double work = c.packetWork(2 * n, 4.0 * (n - 1), 2.0 * (n - 1) / n * b, (n + 1.0) / n * b);
            return c.packetSteps(n, 2) + c.shared(n, work);
        });
        family.reading("two-shot-read", AllPairsRead::twoShotAllReduce, (n, b, c) -> {
            double work = c.work(2 * n + 3, 6.0 * (n - 1) + 2, (2.0 * n - 1) / n * b, (n + 1.0) / n * b);
            return c.steps(n, 2, c.rounds(b, n)) + c.shared(n, work);
        });
        family.anyOrder("ring", Ring::allReduce, (n, b, c) -> {
            double work = c.work(6.0 * (n - 1) + 1, 8.0 * (n - 1), (2.0 * n - 1) / n * b, 3.0 * (n - 1) / n * b);
            return c.steps(n, 2.0 * (n - 1), c.rounds(b, n)) + c.shared(n, work);
        });
        family.anyOrder("tree", BinomialTree::allReduce, (n, b, c) -> {
            double root = c.work(3, 4.0 * log2(n), 1.0 * log2(n) * b, (log2(n) + 2.0) * b);
            double other = c.work(6, 8, 2.0 * b, 2.0 * b);
            return c.steps(n, 2.0 * log2(n), c.rounds(b, 1)) + c.rooted(n, root, other, c.rounds(b, 1));
        });
        family.anyOrder("halving-doubling", HalvingDoubling::allReduce, (n, b, c) -> {
            double work = c.work(2.0 * n + 4 * log2(n), 4.0 * (n - 1) + 4 * log2(n), 2.5 * b, 2.0 * b);
            return c.steps(n, 2.0 * log2(n), c.rounds(b, n)) + c.shared(n, work);
        });
        family.anyOrder("double-tree", DoubleTree::allReduce, (n, b, c) -> {
            double work = c.work(12, 12, 2.0 * b, 2.0 * b);
            return c.steps(n, 2.0 * log2(n), c.rounds(b, 2)) + inTurn(n, work, c, c.rounds(b, 2));
        });
        family.members.add(hierarchical(0));
        family.direct("direct", Direct::allReduce, (n, b, c) -> {
            double work = c.work(5, 6.0 * (n - 1), (n - 1.0) / n * b, (n + 1.0) / n * b);
            return c.steps(n, 2, 1) + c.shared(n, work);
        });
        family.writing("direct-write", false, Direct::allReduceWriting, (n, b, c) -> {
            double work = c.work(n + 4, 7.0 * (n - 1), 2.0 * (n - 1) / n * b, (n + 1.0) / n * b);
            // Peers still hold the lines of their outputs.
            return c.steps(n, 2, c.rounds(b, n)) + c.shared(n, work) + c.takenBack(b);
        });
    }

    /**
     * The hierarchical all-reduce for nodes of so many consecutive ranks.
     *
     * @param ranksPerNode ranks of a node, a divisor of the number of ranks; 0 for the largest up to its square root
     * @return the algorithm
     */
    public static Algorithm hierarchical(int ranksPerNode) {
        Consumer<RankBuilder> author =
                ranksPerNode == 0 ? Hierarchical::allReduce : me -> Hierarchical.allReduce(me, ranksPerNode);
        return new Algorithm(
                "hierarchical", Collective.ALL_REDUCE, SIMPLE, false, true, false, false, author, (n, b, c) -> {
                    int inside = ranksPerNode == 0 ? Hierarchical.nodeSize(n) : ranksPerNode;
                    int nodes = n / inside;
                    double work = c.work(6.0 * inside + 12, 8.0 * inside + 12, 3.0 * b, 2.0 * b);
                    double between = c.work(12, 12, 2.0 * b / inside, 2.0 * b / inside);
                    double rounds = c.rounds(b, 2.0 * inside);
                    return c.steps(n, 2 + 2.0 * log2(nodes), rounds)
                            + c.shared(n, work)
                            + inTurn(nodes, between, c, rounds);
                });
    }

    /** Work of which the ranks of a binary tree wait for each other's: in the first round level by level, later all at once. */
    private static double inTurn(int ranks, double work, Constants c, double rounds) {
        return c.shared(ranks, work) * (1 + (log2(ranks) - 1) / (2 * rounds));
    }

    private static void reduce(Family family) {
        family.inOrder("one-shot", SIMPLE, AllPairs::oneShotReduce, (n, b, c) -> {
            double root = c.work(2, 2.0 * (n - 1), 0, (n + 1.0) * b);
            return c.steps(n, 1, c.rounds(b, 1)) + c.rooted(n, root, c.work(2, 2, b, 0), c.rounds(b, 1));
        });
        family.inOrder("one-shot", PACKET, AllPairsPackets::oneShotReduce, (n, b, c) -> {
            double root = c.packetWork(1, n - 1, (n - 1.0) * b, (n + 1.0) * b);
            return c.packetSteps(n, 1) + c.rooted(n, root, c.packetWork(1, 1, b, 0), 1);
        });
        family.reading("one-shot-read", AllPairsRead::oneShotReduce, (n, b, c) -> {
            double root = c.work(2, 2.0 * (n - 1), 0, (n + 1.0) * b);
            return c.shown(n, b, c.rounds(b, 1)) + c.rooted(n, root, c.work(2, 2, b, 0), c.rounds(b, 1));
        });
        family.anyOrder("tree", BinomialTree::reduce, (n, b, c) -> {
            double root = c.work(2, 2.0 * log2(n), 0, (log2(n) + 2.0) * b);
            double other = c.work(3, 4, b, 1.5 * b);
            return c.steps(n, log2(n), c.rounds(b, 1)) + c.rooted(n, root, other, c.rounds(b, 1));
        });
        family.anyOrder("ring", Ring::reduce, (n, b, c) -> {
            double other = c.work(3.0 * n, 4.0 * (n - 1) + 2, 1.0 / n * b, 3.0 * (n - 1) / n * b);
            double root = other + c.work(n, 2.0 * (n - 1), (n - 1.0) / n * b, 0);
            return c.steps(n, n, c.rounds(b, n)) + c.rooted(n, root, other, c.rounds(b, n));
        });
        family.anyOrder("double-tree", DoubleTree::reduce, (n, b, c) -> {
            double work = c.work(7, 7, 0.5 * b, 2.0 * b);
            return c.steps(n, log2(n), c.rounds(b, 2)) + inTurn(n, work, c, c.rounds(b, 2));
        });
        family.direct("direct", Direct::reduce, (n, b, c) -> {
            double work = c.work(5, 5.0 * (n - 1), 0, (n + 1.0) / n * b);
            return c.steps(n, 2, 1) + c.shared(n, work);
        });
    }

    private static void broadcast(Family family) {
        family.inOrder("one-shot", SIMPLE, AllPairs::oneShotBroadcast, (n, b, c) -> {
            // In place, which is usual, the root's own output is left out, here and below.
            double root = c.work(2, 2.0 * (n - 1), (n - 1.0) * b, 0);
            return c.steps(n, 1, c.rounds(b, 1)) + c.rooted(n, root, c.work(2, 2, b, 0), c.rounds(b, 1));
        });
        family.inOrder("one-shot", PACKET, AllPairsPackets::oneShotBroadcast, (n, b, c) -> {
            double root = c.packetWork(2, n - 1, (n - 1.0) * b, 0);
            return c.packetSteps(n, 1) + c.rooted(n, root, c.packetWork(1, 1, b, 0), 1);
        });
        family.reading("one-shot-read", AllPairsRead::oneShotBroadcast, (n, b, c) -> {
            double root = c.work(3, n, b, 0);
            return c.shown(n, b, c.rounds(b, 1)) + c.rooted(n, root, c.work(2, 2, b, 0), c.rounds(b, 1));
        });
        family.inOrder("two-shot", SIMPLE, AllPairs::twoShotBroadcast, (n, b, c) -> {
            double root = c.work(n + 1, 3.0 * (n - 1), (2.0 * n - 2) / n * b, 0);
            double other = c.work(n + 3, 4.0 * (n - 1), (2.0 * n - 2) / n * b, 0);
            return c.steps(n, 2, c.rounds(b, n)) + c.rooted(n, root, other, c.rounds(b, n));
        });
        family.inOrder("tree", SIMPLE, BinomialTree::broadcast, (n, b, c) -> {
            double root = c.work(2, 2.0 * log2(n), 1.0 * log2(n) * b, 0);
            return c.steps(n, log2(n), c.rounds(b, 1)) + c.rooted(n, root, c.work(3, 4, 2.0 * b, 0), c.rounds(b, 1));
        });
        family.inOrder("chain", SIMPLE, Chain::broadcast, (n, b, c) -> {
            double pieces = Chain.PIECES;
            double work = c.work(3 * pieces, 4 * pieces, 2.0 * b, 0);
            double arriving = work * (n - 2) / (pieces * c.rounds(b, pieces));
            return c.steps(n, n + pieces - 2, c.rounds(b, pieces)) + arriving + c.shared(n, work);
        });
        family.inOrder("double-tree", SIMPLE, DoubleTree::broadcast, (n, b, c) -> {
            double work = c.work(7, 7, 2.0 * b, 0);
            return c.steps(n, log2(n), c.rounds(b, 2)) + inTurn(n, work, c, c.rounds(b, 2));
        });
        family.direct("direct", Direct::broadcast, (n, b, c) -> {
            double work = c.work(5, 5.0 * (n - 1), (n - 1.0) / n * b, 0);
            return c.steps(n, 2, 1) + c.shared(n, work);
        });
        family.direct("direct-read", Direct::broadcastReading, (n, b, c) -> {
            return c.steps(n, 2, 1) + c.rooted(n, c.work(3, 2.0 * (n - 1), 0, 0), c.work(3, 3, b, 0), 1);
        });
        family.writing("direct-write", false, Direct::broadcastWriting, (n, b, c) -> {
            double root = c.work(3, 3.0 * (n - 1), (n - 1.0) * b, 0);
            return c.steps(n, 2, 1) + c.rooted(n, root, c.work(2, 2, 0, 0), 1);
        });
    }

    private static void allGather(Family family) {
        family.inOrder("one-shot", SIMPLE, AllPairs::oneShotAllGather, (n, b, c) -> {
            double work = c.work(n + 2, 4.0 * (n - 1), (2.0 * n - 1) * b, 0);
            return c.steps(n, 1, c.rounds(b, 1)) + c.shared(n, work);
        });
        family.inOrder("one-shot", PACKET, AllPairsPackets::oneShotAllGather, (n, b, c) -> {
            double work = c.packetWork(n + 1, 2.0 * (n - 1), (n - 1.0) * b, 0);
            return c.packetSteps(n, 1) + c.shared(n, work);
        });
        family.reading("one-shot-read", AllPairsRead::oneShotAllGather, (n, b, c) -> {
            double work = c.work(n + 3, c.metLines(n, b), (n + 1.0) * b, 0);
            return c.met(n, b, c.rounds(b, 1)) + c.shared(n, work);
        });
        family.inOrder("ring", SIMPLE, Ring::allGather, (n, b, c) -> {
            double work = c.work(3.0 * (n - 1) + 1, 4.0 * (n - 1), (2.0 * n - 1) * b, 0);
            return c.steps(n, n - 1, c.rounds(b, 1)) + c.shared(n, work);
        });
        family.inOrder("doubling", SIMPLE, HalvingDoubling::allGather, (n, b, c) -> {
            double work = c.work(n + 2.0 * log2(n), 2.0 * (n - 1) + 2 * log2(n), (2.0 * n - 1) * b, 0);
            return c.steps(n, log2(n), c.rounds(b, 1)) + c.shared(n, work);
        });
        family.inOrder("pat", SIMPLE, Pat::allGather, (n, b, c) -> {
            double work = c.work(n + 2.0 * log2(n), 2.0 * (n - 1) + 2 * log2(n), (2.0 * n - 1) * b, 0);
            return c.steps(n, log2(n), c.rounds(b, 1)) + c.shared(n, work);
        });
        family.writing("direct", false, Direct::allGather, (n, b, c) -> {
            return c.steps(n, 2, 1) + c.shared(n, c.work(5, 5.0 * (n - 1), 1.0 * n * b, 0));
        });
        family.directRagged("direct-read", Direct::allGatherReading, (n, b, c) -> {
            return c.steps(n, 2, 1) + c.shared(n, c.work(n + 4, 5.0 * (n - 1), 1.0 * n * b, 0));
        });
    }

    private static void reduceScatter(Family family) {
        family.inOrder("one-shot", SIMPLE, AllPairs::oneShotReduceScatter, (n, b, c) -> {
            double work = c.work(n + 2, 4.0 * (n - 1), (n - 1.0) * b, (n + 1.0) * b);
            return c.steps(n, 1, c.rounds(b, 1)) + c.shared(n, work);
        });
        family.inOrder("one-shot", PACKET, AllPairsPackets::oneShotReduceScatter, (n, b, c) -> {
            double work = c.packetWork(n, 2.0 * (n - 1), (n - 1.0) * b, (n + 1.0) * b);
            return c.packetSteps(n, 1) + c.shared(n, work);
        });
        family.reading("one-shot-read", AllPairsRead::oneShotReduceScatter, (n, b, c) -> {
            double work = c.work(n + 3, c.metLines(n, n * b) + n - 1, (n - 1.0) * b, (n + 1.0) * b);
            return c.met(n, n * b, c.rounds(b, 1)) + c.shared(n, work);
        });
        family.anyOrder("ring", Ring::reduceScatter, (n, b, c) -> {
            double work = c.work(3.0 * (n - 1) + 1, 4.0 * (n - 1), b, 3.0 * (n - 1) * b);
            return c.steps(n, n - 1, c.rounds(b, 1)) + c.shared(n, work);
        });
        family.anyOrder("halving", HalvingDoubling::reduceScatter, (n, b, c) -> {
            double work = c.work(n + 2.0 * log2(n), 2.0 * (n - 1) + 2 * log2(n), 0.5 * n * b, (2.0 * n - 1) * b);
            return c.steps(n, log2(n), c.rounds(b, 1)) + c.shared(n, work);
        });
        family.anyOrder("pat", Pat::reduceScatter, (n, b, c) -> {
            double work = c.work(n + 2.0 * log2(n), 2.0 * (n - 1) + 2 * log2(n), 0.5 * n * b, (2.0 * n - 1) * b);
            return c.steps(n, log2(n), c.rounds(b, 1)) + c.shared(n, work);
        });
        family.directRagged("direct", Direct::reduceScatter, (n, b, c) -> {
            return c.steps(n, 2, 1) + c.shared(n, c.work(5, 5.0 * (n - 1), 0, (n + 1.0) * b));
        });
    }

    private static void gather(Family family) {
        family.inOrder("linear", SIMPLE, Linear::gather, (n, b, c) -> {
            double root = c.work(n + 1, 2.0 * (n - 1), 1.0 * n * b, 0);
            return c.steps(n, 1, c.rounds(b, 1)) + c.rooted(n, root, c.work(2, 2, b, 0), c.rounds(b, 1));
        });
        family.inOrder("linear", PACKET, Linear::gatherPackets, (n, b, c) -> {
            double root = c.packetWork(n, n - 1, (n - 1.0) * b, 0);
            return c.packetSteps(n, 1) + c.rooted(n, root, c.packetWork(1, 1, b, 0), 1);
        });
        family.reading("linear-read", Linear::gatherReading, (n, b, c) -> {
            double root = c.work(n + 1, 2.0 * (n - 1), 1.0 * n * b, 0);
            return c.shown(n, b, c.rounds(b, 1)) + c.rooted(n, root, c.work(2, 2, b, 0), c.rounds(b, 1));
        });
        family.even("tree", BinomialTree::gather, (n, b, c) -> {
            double root = c.work(n + 1, n - 1 + log2(n), 1.0 * n * b, 0);
            double other = c.work(3 + log2(n) / 2.0, 2 + log2(n), (1 + log2(n) / 2.0) * b, 0);
            return c.steps(n, log2(n), c.rounds(b, 1)) + c.rooted(n, root, other, c.rounds(b, 1));
        });
        family.writing("direct", false, Direct::gather, (n, b, c) -> {
            return c.steps(n, 2, 1) + c.rooted(n, c.work(3, 2.0 * (n - 1), b, 0), c.work(3, 3, b, 0), 1);
        });
        family.directRagged("direct-read", Direct::gatherReading, (n, b, c) -> {
            double root = c.work(n + 2, 3.0 * (n - 1), 1.0 * n * b, 0);
            return c.steps(n, 2, 1) + c.rooted(n, root, c.work(2, 2, 0, 0), 1);
        });
    }

    private static void scatter(Family family) {
        family.inOrder("linear", SIMPLE, Linear::scatter, (n, b, c) -> {
            double root = c.work(n + 1, 2.0 * (n - 1), 1.0 * n * b, 0);
            return c.steps(n, 1, c.rounds(b, 1)) + c.rooted(n, root, c.work(2, 2, b, 0), c.rounds(b, 1));
        });
        family.inOrder("linear", PACKET, Linear::scatterPackets, (n, b, c) -> {
            double root = c.packetWork(n, n - 1, (n - 1.0) * b, 0);
            return c.packetSteps(n, 1) + c.rooted(n, root, c.packetWork(1, 1, b, 0), 1);
        });
        family.reading("linear-read", Linear::scatterReading, (n, b, c) -> {
            double root = c.work(n + 1, n, 1.0 * n * b, 0);
            return c.shown(n, n * b, c.rounds(n * b, n)) + c.rooted(n, root, c.work(2, 2, b, 0), c.rounds(b, 1));
        });
        family.even("tree", BinomialTree::scatter, (n, b, c) -> {
            double root = c.work(n + 1, n - 1 + log2(n), 1.0 * n * b, 0);
            double other = c.work(3 + log2(n) / 2.0, 2 + log2(n), (1 + log2(n) / 2.0) * b, 0);
            return c.steps(n, log2(n), c.rounds(b, 1)) + c.rooted(n, root, other, c.rounds(b, 1));
        });
        family.direct("direct", Direct::scatter, (n, b, c) -> {
            return c.steps(n, 2, 1) + c.rooted(n, c.work(3, 2.0 * (n - 1), b, 0), c.work(3, 3, b, 0), 1);
        });
        family.writing("direct-write", true, Direct::scatterWriting, (n, b, c) -> {
            double root = c.work(n + 2, 3.0 * (n - 1), 1.0 * n * b, 0);
            return c.steps(n, 2, 1) + c.rooted(n, root, c.work(2, 2, 0, 0), 1);
        });
    }

    private static void allToAll(Family family) {
        family.inOrder("one-shot", SIMPLE, AllPairs::oneShotAllToAll, (n, b, c) -> {
            double work = c.work(2 * n + 1, 4.0 * (n - 1), (2.0 * n - 1) * b, 0);
            return c.steps(n, 1, c.rounds(b, 1)) + c.shared(n, work);
        });
        family.inOrder("one-shot", PACKET, AllPairsPackets::oneShotAllToAll, (n, b, c) -> {
            double work = c.packetWork(2 * n, 2.0 * (n - 1), (n - 1.0) * b, 0);
            return c.packetSteps(n, 1) + c.shared(n, work);
        });
        family.reading("one-shot-read", AllPairsRead::oneShotAllToAll, (n, b, c) -> {
            double work = c.work(2 * n + 2, c.metLines(n, n * b) + n - 1, (2.0 * n - 1) * b, 0);
            return c.met(n, n * b, c.rounds(b, 1)) + c.shared(n, work);
        });
        family.inOrder("pairwise", SIMPLE, Pairwise::allToAll, (n, b, c) -> {
            double work = c.work(4.0 * (n - 1) + 1, 4.0 * (n - 1), (2.0 * n - 1) * b, 0);
            return c.steps(n, n - 1, c.rounds(b, 1)) + c.shared(n, work);
        });
        family.even("bruck", Bruck::allToAll, (n, b, c) -> {
            double moved = n * log2(n) / 2.0;
            double work = c.work(moved + n, moved + n + 2.0 * log2(n), (moved + n) * b, 0);
            return c.steps(n, log2(n), c.rounds(b, 1)) + c.shared(n, work);
        });
        family.writing("direct", false, Direct::allToAll, (n, b, c) -> {
            return c.steps(n, 2, 1) + c.shared(n, c.work(n + 4, 5.0 * (n - 1), 1.0 * n * b, 0));
        });
    }

    private static void barrier(Family family) {
        family.inOrder("flat", SIMPLE, Barriers::flat, (n, b, c) -> {
            // With more than two ranks lines wait for each other on their way, which elsewhere is hidden by the data.
            return c.steps(n, 1, 1) + c.shared(n, c.work(2, 2.0 * (n - 1) + 4.0 * (n - 2), 0, 0));
        });
        family.inOrder("dissemination", SIMPLE, Barriers::dissemination, (n, b, c) -> {
            return c.steps(n, log2(n), 1) + c.shared(n, c.work(2.0 * log2(n), 2.0 * log2(n), 0, 0));
        });
        family.inOrder("tree", SIMPLE, BinomialTree::barrier, (n, b, c) -> {
            return c.steps(n, 2.0 * log2(n), 1) + c.shared(n, c.work(4, 4, 0, 0));
        });
    }

    private static void scan(Family family) {
        prefixes(family, AllPairs::oneShotScan, AllPairsPackets::oneShotScan, AllPairsRead::oneShotScan, Chain::scan);
    }

    private static void exscan(Family family) {
        prefixes(
                family,
                AllPairs::oneShotExscan,
                AllPairsPackets::oneShotExscan,
                AllPairsRead::oneShotExscan,
                Chain::exscan);
    }

    /** The last rank folds most, the first sends most; on average it is half of that. */
    private static void prefixes(
            Family family,
            Consumer<RankBuilder> oneShot,
            Consumer<RankBuilder> packets,
            Consumer<RankBuilder> read,
            Consumer<RankBuilder> chain) {
        family.inOrder("one-shot", SIMPLE, oneShot, (n, b, c) -> {
            double mean = c.work(4, 2.0 * (n - 1), (n - 1.0) / 2 * b, (n + 3.0) / 2 * b);
            double last = c.work(4, 2.0 * (n - 1), 0, (n + 1.0) * b);
            return c.steps(n, 1, c.rounds(b, 1)) + Math.max(last, c.shared(n, mean));
        });
        family.inOrder("one-shot", PACKET, packets, (n, b, c) -> {
            double mean = c.packetWork(2, n - 1, (n - 1.0) / 2 * b, (n + 3.0) / 2 * b);
            double last = c.packetWork(2, n - 1, (n - 1.0) * b, (n + 1.0) * b);
            return c.packetSteps(n, 1) + Math.max(last, c.shared(n, mean));
        });
        family.reading("one-shot-read", read, (n, b, c) -> {
            double mean = c.work(4, 1.5 * (n - 1) + 1, b, (n + 3.0) / 2 * b);
            double last = c.work(4, 2.0 * (n - 1) + 1, 0, (n + 1.0) * b);
            return c.steps(n, 1, c.rounds(b, 1)) + Math.max(last, c.shared(n, mean));
        });
        family.inOrder("chain", SIMPLE, chain, (n, b, c) -> {
            double work = c.work(3, 4, b, 3.0 * b);
            double arriving = (n - 1) * work / c.rounds(b, 1);
            return c.steps(n, n - 2 + c.rounds(b, 1), 1) + Math.max(arriving + work, c.shared(n, work));
        });
    }

    /** Steps of an algorithm that doubles what it knows in each; 0 for one rank. */
    static int log2(int ranks) {
        return 32 - Integer.numberOfLeadingZeros(ranks - 1);
    }

    private record Family(Collective collective, List<Algorithm> members) {
        void inOrder(String name, Protocol protocol, Consumer<RankBuilder> author, Cost cost) {
            members.add(
                    new Algorithm(name, collective, protocol, true, protocol == SIMPLE, false, false, author, cost));
        }

        void anyOrder(String name, Consumer<RankBuilder> author, Cost cost) {
            members.add(new Algorithm(name, collective, SIMPLE, false, true, false, false, author, cost));
        }

        void reading(String name, Consumer<RankBuilder> author, Cost cost) {
            members.add(new Algorithm(name, collective, SIMPLE, true, true, true, false, author, cost));
        }

        /** An algorithm on registered memory whose blocks all have the same length. */
        void direct(String name, Consumer<RankBuilder> author, Cost cost) {
            members.add(new Algorithm(name, collective, SIMPLE, true, false, false, true, author, inPlace(cost)));
        }

        /** An algorithm on registered memory. */
        void directRagged(String name, Consumer<RankBuilder> author, Cost cost) {
            members.add(new Algorithm(name, collective, SIMPLE, true, true, false, true, author, inPlace(cost)));
        }

        /** An algorithm on registered memory that reaches outputs only, which nobody but who reaches them writes. */
        void writing(String name, boolean ragged, Consumer<RankBuilder> author, Cost cost) {
            members.add(new Algorithm(name, collective, SIMPLE, true, ragged, false, true, author, cost));
        }

        /** What peers read where it lies is in its owner's cache, and has to be taken back into it when its owner writes it next. */
        private static Cost inPlace(Cost cost) {
            return (n, b, c) -> cost.nanos(n, b, c) + c.readInPlace(b);
        }

        /** An algorithm in which ranks pass on blocks of others, whose lengths only the root would know. */
        void even(String name, Consumer<RankBuilder> author, Cost cost) {
            members.add(new Algorithm(name, collective, SIMPLE, true, false, false, false, author, cost));
        }
    }
}
