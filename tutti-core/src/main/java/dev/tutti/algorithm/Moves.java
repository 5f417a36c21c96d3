package dev.tutti.algorithm;

import static dev.tutti.algorithm.Cost.inTurn;
import static dev.tutti.algorithm.Cost.log2;
import static dev.tutti.plan.Protocol.PACKET;
import static dev.tutti.plan.Protocol.SIMPLE;

/**
 * The algorithms that only move data, and the barriers, and what they cost. Of two that cost the same the first is taken, so those with the shapes that
 * executors know best come first. The formulas are those in the pictures of each algorithm, plus what operations and operands cost.
 */
final class Moves {
    private Moves() {}

    static void broadcast(Family family) {
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
            return c.steps(n, 2, 1) + c.shared(n, work) + c.readFromAfar(n, Math.min(b / n, Constants.CACHED_BYTES));
        });
        family.direct("direct-read", Direct::broadcastReading, (n, b, c) -> {
            double reading = c.rooted(n, c.work(3, 2.0 * (n - 1), 0, 0), c.work(3, 3, b, 0), 1);
            return c.steps(n, 2, 1) + reading + c.readFromAfar(n, b);
        });
        family.writing("direct-write", false, Direct::broadcastWriting, (n, b, c) -> {
            double root = c.work(3, 3.0 * (n - 1), (n - 1.0) * b, 0);
            return c.steps(n, 2, 1) + c.rooted(n, root, c.work(2, 2, 0, 0), 1);
        });
    }

    static void allGather(Family family) {
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

    static void gather(Family family) {
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

    static void scatter(Family family) {
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

    static void allToAll(Family family) {
        family.inOrder("one-shot", SIMPLE, AllPairs::oneShotAllToAll, (n, b, c) -> {
            double work = c.work(2 * n + 1, 4.0 * (n - 1), (2.0 * n - 1) * b, 0);
            return c.steps(n, 1, c.rounds(b, 1)) + c.shared(n, work);
        });
        family.inOrder("one-shot", PACKET, AllPairsPackets::oneShotAllToAll, (n, b, c) -> {
            double work = c.packetWork(2 * n, 2.0 * (n - 1), (n - 1.0) * b, 0);
            return c.packetSteps(n, 1) + c.shared(n, work);
        });
        family.reading("one-shot-read", AllPairsRead::oneShotAllToAll, (n, b, c) -> {
            double work = c.work(2 * n + 2, c.metLines(n, (n - 1.0) * b) + n - 1, (2.0 * n - 1) * b, 0);
            return c.met(n, (n - 1.0) * b, c.rounds(b, 1)) + c.shared(n, work);
        });
        family.inOrder("pairwise", SIMPLE, Pairwise::allToAll, (n, b, c) -> {
            double work = c.work(4.0 * (n - 1) + 1, 4.0 * (n - 1), (2.0 * n - 1) * b, 0);
            return c.steps(n, n - 1, c.rounds(b, 1)) + c.shared(n, work);
        });
        family.even("bruck", Bruck::allToAll, (n, b, c) -> {
            double moved = n * log2(n) / 2.0;
            double work = c.work(moved + n + 2 * log2(n), 2.0 * (moved + log2(n)), (moved + n) * b, 0);
            return c.steps(n, log2(n), c.rounds(b, 1)) + c.shared(n, work);
        });
        family.writing("direct", false, Direct::allToAll, (n, b, c) -> {
            return c.steps(n, 2, 1) + c.shared(n, c.work(n + 4, 5.0 * (n - 1), 1.0 * n * b, 0));
        });
        family.directRagged("direct-read", Direct::allToAllReading, (n, b, c) -> {
            return c.steps(n, 2, 1) + c.shared(n, c.work(n + 4, 5.0 * (n - 1), 1.0 * n * b, 0));
        });
    }

    static void barrier(Family family) {
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
}
