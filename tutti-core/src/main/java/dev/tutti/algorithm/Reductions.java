package dev.tutti.algorithm;

import static dev.tutti.algorithm.Cost.inTurn;
import static dev.tutti.algorithm.Cost.log2;
import static dev.tutti.plan.Protocol.PACKET;
import static dev.tutti.plan.Protocol.SIMPLE;

import dev.tutti.Collective;
import dev.tutti.plan.RankBuilder;
import java.util.function.Consumer;

/**
 * The algorithms that reduce, and what they cost. Of two that cost the same the first is taken, so those with the shapes that
 * executors know best come first. The formulas are those in the pictures of each algorithm, plus what operations and operands cost.
 */
final class Reductions {
    private Reductions() {}

    static void allReduce(Family family) {
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
        family.add(hierarchical(0));
        family.direct("direct", Direct::allReduce, (n, b, c) -> {
            double work = c.work(5, 6.0 * (n - 1), (n - 1.0) / n * b, (n + 1.0) / n * b);
            return c.steps(n, 2, 1) + c.shared(n, work);
        });
    }

    /** See {@link Algorithms#hierarchical}. */
    static Algorithm hierarchical(int ranksPerNode) {
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

    static void reduce(Family family) {
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

    static void reduceScatter(Family family) {
        family.inOrder("one-shot", SIMPLE, AllPairs::oneShotReduceScatter, (n, b, c) -> {
            double work = c.work(n + 2, 4.0 * (n - 1), (n - 1.0) * b, (n + 1.0) * b);
            return c.steps(n, 1, c.rounds(b, 1)) + c.shared(n, work);
        });
        family.inOrder("one-shot", PACKET, AllPairsPackets::oneShotReduceScatter, (n, b, c) -> {
            double work = c.packetWork(n, 2.0 * (n - 1), (n - 1.0) * b, (n + 1.0) * b);
            return c.packetSteps(n, 1) + c.shared(n, work);
        });
        family.reading("one-shot-read", AllPairsRead::oneShotReduceScatter, (n, b, c) -> {
            double work = c.work(n + 3, c.metLines(n, (n - 1.0) * b) + n - 1, (n - 1.0) * b, (n + 1.0) * b);
            return c.met(n, (n - 1.0) * b, c.rounds(b, 1)) + c.shared(n, work);
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
            double work = c.work(5, 5.0 * (n - 1), 0, (n + 1.0) * b);
            return c.steps(n, 2, 1) + c.shared(n, work) + c.readFromAfar(n, b);
        });
    }

    static void scan(Family family) {
        prefixes(family, AllPairs::oneShotScan, AllPairsPackets::oneShotScan, AllPairsRead::oneShotScan, Chain::scan);
    }

    static void exscan(Family family) {
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
}
