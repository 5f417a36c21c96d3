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
        family.inOrder("one-shot", SIMPLE, AllReduce.ONE_SHOT);
        family.inOrder("one-shot", PACKET, AllReduce.ONE_SHOT_PACKETS);
        family.reading("one-shot-read", AllReduce.ONE_SHOT_READ);
        family.inOrder("one-shot-pipelined", SIMPLE, AllReduce.ONE_SHOT_PIPELINED);
        family.inOrder("two-shot", SIMPLE, AllReduce.TWO_SHOT);
        family.inOrder("two-shot", PACKET, AllReduce.TWO_SHOT_PACKETS);
        family.reading("two-shot-read", AllReduce.TWO_SHOT_READ);
        family.anyOrder("ring", AllReduce.RING);
        family.anyOrder("tree", AllReduce.TREE);
        family.anyOrder("halving-doubling", AllReduce.HALVING_DOUBLING);
        family.anyOrder("double-tree", AllReduce.DOUBLE_TREE);
        family.anyOrder("hierarchical", AllReduce.HIERARCHICAL);
        family.direct("direct", AllReduce.DIRECT);
        family.writing("direct-write", false, AllReduce.DIRECT_WRITING);
    }

    /** See {@link Algorithms#hierarchical}. */
    static Algorithm hierarchical(int ranksPerNode) {
        Consumer<RankBuilder> author =
                ranksPerNode == 0 ? AllReduce.HIERARCHICAL : me -> Hierarchical.allReduce(me, ranksPerNode);
        Cost cost = (n, b, c) -> hierarchicalNanos(ranksPerNode, n, b, c);
        return new Algorithm("hierarchical", Collective.ALL_REDUCE, SIMPLE, false, true, false, false, author, cost);
    }

    private static double hierarchicalNanos(int ranksPerNode, int n, double b, Constants c) {
        int inside = ranksPerNode == 0 ? Hierarchical.nodeSize(n) : ranksPerNode;
        int nodes = n / inside;
        double work = c.work(6.0 * inside + 12, 8.0 * inside + 12, 3.0 * b, 2.0 * b);
        double between = c.work(12, 12, 2.0 * b / inside, 2.0 * b / inside);
        double rounds = c.rounds(b, 2.0 * inside);
        return c.steps(n, 2 + 2.0 * log2(nodes), rounds) + c.shared(n, work) + inTurn(nodes, between, c, rounds);
    }

    static void reduce(Family family) {
        family.inOrder("one-shot", SIMPLE, Reduce.ONE_SHOT);
        family.inOrder("one-shot", PACKET, Reduce.ONE_SHOT_PACKETS);
        family.reading("one-shot-read", Reduce.ONE_SHOT_READ);
        family.anyOrder("tree", Reduce.TREE);
        family.anyOrder("ring", Reduce.RING);
        family.anyOrder("double-tree", Reduce.DOUBLE_TREE);
        family.direct("direct", Reduce.DIRECT);
    }

    static void reduceScatter(Family family) {
        family.inOrder("one-shot", SIMPLE, ReduceScatter.ONE_SHOT);
        family.inOrder("one-shot", PACKET, ReduceScatter.ONE_SHOT_PACKETS);
        family.reading("one-shot-read", ReduceScatter.ONE_SHOT_READ);
        family.anyOrder("ring", ReduceScatter.RING);
        family.anyOrder("halving", ReduceScatter.HALVING);
        family.anyOrder("pat", ReduceScatter.PAT);
        family.directRagged("direct", ReduceScatter.DIRECT);
    }

    static void scan(Family family) {
        family.inOrder("one-shot", SIMPLE, Prefixes.SCAN_ONE_SHOT);
        family.inOrder("one-shot", PACKET, Prefixes.SCAN_ONE_SHOT_PACKETS);
        family.reading("one-shot-read", Prefixes.SCAN_ONE_SHOT_READ);
        family.inOrder("chain", SIMPLE, Prefixes.SCAN_CHAIN);
    }

    static void exscan(Family family) {
        family.inOrder("one-shot", SIMPLE, Prefixes.EXSCAN_ONE_SHOT);
        family.inOrder("one-shot", PACKET, Prefixes.EXSCAN_ONE_SHOT_PACKETS);
        family.reading("one-shot-read", Prefixes.EXSCAN_ONE_SHOT_READ);
        family.inOrder("chain", SIMPLE, Prefixes.EXSCAN_CHAIN);
    }

    private enum AllReduce implements Author {
        ONE_SHOT,
        ONE_SHOT_PACKETS,
        ONE_SHOT_READ,
        ONE_SHOT_PIPELINED,
        TWO_SHOT,
        TWO_SHOT_PACKETS,
        TWO_SHOT_READ,
        RING,
        TREE,
        HALVING_DOUBLING,
        DOUBLE_TREE,
        HIERARCHICAL,
        DIRECT,
        DIRECT_WRITING;

        @Override
        public void accept(RankBuilder me) {
            switch (this) {
                case ONE_SHOT -> AllPairs.oneShotAllReduce(me);
                case ONE_SHOT_PACKETS -> AllPairsPackets.oneShotAllReduce(me);
                case ONE_SHOT_READ -> AllPairsRead.oneShotAllReduce(me);
                case ONE_SHOT_PIPELINED -> AllPairs.pipelinedAllReduce(me);
                case TWO_SHOT -> AllPairs.twoShotAllReduce(me);
                case TWO_SHOT_PACKETS -> AllPairsPackets.twoShotAllReduce(me);
                case TWO_SHOT_READ -> AllPairsRead.twoShotAllReduce(me);
                case RING -> Ring.allReduce(me);
                case TREE -> BinomialTree.allReduce(me);
                case HALVING_DOUBLING -> HalvingDoubling.allReduce(me);
                case DOUBLE_TREE -> DoubleTree.allReduce(me);
                case HIERARCHICAL -> Hierarchical.allReduce(me);
                case DIRECT -> Direct.allReduce(me);
                case DIRECT_WRITING -> Direct.allReduceWriting(me);
            }
        }

        @Override
        public double nanos(int n, double b, Constants c) {
            return switch (this) {
                case ONE_SHOT -> {
                    double work = c.work(4, 4.0 * (n - 1), (n - 1.0) * b, c.foldedByAll(n, b));
                    yield c.steps(n, 1, c.rounds(b, 1)) + c.shared(n, work);
                }
                case ONE_SHOT_PACKETS -> {
                    double work = c.packetWork(2, 2.0 * (n - 1), (n - 1.0) * b, (n + 1.0) * b);
                    yield c.packetSteps(n, 1) + c.shared(n, work);
                }
                case ONE_SHOT_READ -> {
                    double work = c.work(4, c.metLines(n, b), b, c.foldedByAll(n, b));
                    yield c.met(n, b, c.rounds(b, 1)) + c.shared(n, work);
                }
                case ONE_SHOT_PIPELINED -> {
                    int chunks = AllPairs.PIPELINED_CHUNKS;
                    double work = c.work(4 * chunks, 4.0 * chunks * (n - 1), (n - 1.0) * b, c.foldedByAll(n, b));
                    yield c.steps(n, 1, c.rounds(b, chunks)) + c.shared(n, work);
                }
                case TWO_SHOT -> {
                    double work = c.work(2 * n + 3, 8.0 * (n - 1), 3.0 * (n - 1) / n * b, (n + 1.0) / n * b);
                    yield c.steps(n, 2, c.rounds(b, n)) + c.shared(n, work + c.resultKept(b / n));
                }
                case TWO_SHOT_PACKETS -> {
                    double work = c.packetWork(2 * n, 4.0 * (n - 1), 2.0 * (n - 1) / n * b, (n + 1.0) / n * b);
                    yield c.packetSteps(n, 2) + c.shared(n, work);
                }
                case TWO_SHOT_READ -> {
                    double work = c.work(2 * n + 3, 6.0 * (n - 1) + 2, (2.0 * n - 1) / n * b, (n + 1.0) / n * b);
                    yield c.steps(n, 2, c.rounds(b, n)) + c.shared(n, work + c.resultKept(b / n));
                }
                case RING -> {
                    double work =
                            c.work(6.0 * (n - 1) + 1, 8.0 * (n - 1), (2.0 * n - 1) / n * b, 3.0 * (n - 1) / n * b);
                    yield c.steps(n, 2.0 * (n - 1), c.rounds(b, n)) + c.shared(n, work + c.resultKept(b / n));
                }
                case TREE -> {
                    double root = c.work(3, 4.0 * log2(n), 1.0 * log2(n) * b, (log2(n) + 2.0) * b);
                    double other = c.work(6, 8, 2.0 * b, 2.0 * b);
                    yield c.steps(n, 2.0 * log2(n), c.rounds(b, 1)) + c.rooted(n, root, other, c.rounds(b, 1));
                }
                case HALVING_DOUBLING -> {
                    double work = c.work(2.0 * n + 4 * log2(n), 4.0 * (n - 1) + 4 * log2(n), 2.5 * b, 2.0 * b);
                    yield c.steps(n, 2.0 * log2(n), c.rounds(b, n)) + c.shared(n, work);
                }
                case DOUBLE_TREE -> {
                    double work = c.work(12, 12, 2.0 * b, 2.0 * b);
                    yield c.steps(n, 2.0 * log2(n), c.rounds(b, 2)) + inTurn(n, work, c, c.rounds(b, 2));
                }
                case HIERARCHICAL -> hierarchicalNanos(0, n, b, c);
                case DIRECT -> {
                    double work = c.work(5, 6.0 * (n - 1), (n - 1.0) / n * b, (n + 1.0) / n * b);
                    yield c.steps(n, 2, 1) + c.shared(n, work);
                }
                case DIRECT_WRITING -> {
                    double work = c.work(n + 5, 8.0 * (n - 1), 2.0 * (n - 1) / n * b, (n + 1.0) / n * b);
                    yield c.steps(n, 2, c.rounds(b, n)) + c.shared(n, work) + c.writtenByPeers((n - 1.0) / n * b);
                }
            };
        }
    }

    private enum Reduce implements Author {
        ONE_SHOT,
        ONE_SHOT_PACKETS,
        ONE_SHOT_READ,
        TREE,
        RING,
        DOUBLE_TREE,
        DIRECT;

        @Override
        public void accept(RankBuilder me) {
            switch (this) {
                case ONE_SHOT -> AllPairs.oneShotReduce(me);
                case ONE_SHOT_PACKETS -> AllPairsPackets.oneShotReduce(me);
                case ONE_SHOT_READ -> AllPairsRead.oneShotReduce(me);
                case TREE -> BinomialTree.reduce(me);
                case RING -> Ring.reduce(me);
                case DOUBLE_TREE -> DoubleTree.reduce(me);
                case DIRECT -> Direct.reduce(me);
            }
        }

        @Override
        public double nanos(int n, double b, Constants c) {
            return switch (this) {
                case ONE_SHOT -> {
                    double root = c.work(2, 2.0 * (n - 1), 0, (n + 1.0) * b);
                    yield c.steps(n, 1, c.rounds(b, 1)) + c.rooted(n, root, c.work(2, 2, b, 0), c.rounds(b, 1));
                }
                case ONE_SHOT_PACKETS -> {
                    double root = c.packetWork(1, n - 1, (n - 1.0) * b, (n + 1.0) * b);
                    yield c.packetSteps(n, 1) + c.rooted(n, root, c.packetWork(1, 1, b, 0), 1);
                }
                case ONE_SHOT_READ -> {
                    double root = c.work(2, 2.0 * (n - 1), 0, (n + 1.0) * b);
                    yield c.shown(n, b, c.rounds(b, 1)) + c.rooted(n, root, c.work(2, 2, b, 0), c.rounds(b, 1));
                }
                case TREE -> {
                    double root = c.work(2, 2.0 * log2(n), 0, (log2(n) + 2.0) * b);
                    double other = c.work(3, 4, b, 1.5 * b);
                    yield c.steps(n, log2(n), c.rounds(b, 1)) + c.rooted(n, root, other, c.rounds(b, 1));
                }
                case RING -> {
                    double other = c.work(3.0 * n, 4.0 * (n - 1) + 2, 1.0 / n * b, 3.0 * (n - 1) / n * b);
                    double root = other + c.work(n, 2.0 * (n - 1), (n - 1.0) / n * b, 0);
                    yield c.steps(n, n, c.rounds(b, n)) + c.rooted(n, root, other, c.rounds(b, n));
                }
                case DOUBLE_TREE -> {
                    double work = c.work(7, 7, 0.5 * b, 2.0 * b);
                    yield c.steps(n, log2(n), c.rounds(b, 2)) + inTurn(n, work, c, c.rounds(b, 2));
                }
                case DIRECT -> {
                    double work = c.work(5, 5.0 * (n - 1), 0, (n + 1.0) / n * b);
                    yield c.steps(n, 2, 1) + c.shared(n, work);
                }
            };
        }
    }

    private enum ReduceScatter implements Author {
        ONE_SHOT,
        ONE_SHOT_PACKETS,
        ONE_SHOT_READ,
        RING,
        HALVING,
        PAT,
        DIRECT;

        @Override
        public void accept(RankBuilder me) {
            switch (this) {
                case ONE_SHOT -> AllPairs.oneShotReduceScatter(me);
                case ONE_SHOT_PACKETS -> AllPairsPackets.oneShotReduceScatter(me);
                case ONE_SHOT_READ -> AllPairsRead.oneShotReduceScatter(me);
                case RING -> Ring.reduceScatter(me);
                case HALVING -> HalvingDoubling.reduceScatter(me);
                case PAT -> Pat.reduceScatter(me);
                case DIRECT -> Direct.reduceScatter(me);
            }
        }

        @Override
        public double nanos(int n, double b, Constants c) {
            return switch (this) {
                case ONE_SHOT -> {
                    double work = c.work(n + 2, 4.0 * (n - 1), (n - 1.0) * b, (n + 1.0) * b);
                    yield c.steps(n, 1, c.rounds(b, 1)) + c.shared(n, work);
                }
                case ONE_SHOT_PACKETS -> {
                    double work = c.packetWork(n, 2.0 * (n - 1), (n - 1.0) * b, (n + 1.0) * b);
                    yield c.packetSteps(n, 1) + c.shared(n, work);
                }
                case ONE_SHOT_READ -> {
                    double work = c.work(n + 3, c.metBlockLines(n, (n - 1.0) * b), (n - 1.0) * b, (n + 1.0) * b);
                    yield c.met(n, (n - 1.0) * b, c.rounds(b, 1)) + c.shared(n, work);
                }
                case RING -> {
                    double work = c.work(3.0 * (n - 1) + 1, 4.0 * (n - 1), b, 3.0 * (n - 1) * b);
                    yield c.steps(n, n - 1, c.rounds(b, 1)) + c.shared(n, work);
                }
                case HALVING, PAT -> {
                    double work =
                            c.work(n + 2.0 * log2(n), 2.0 * (n - 1) + 2 * log2(n), 0.5 * n * b, (2.0 * n - 1) * b);
                    yield c.steps(n, log2(n), c.rounds(b, 1)) + c.shared(n, work);
                }
                case DIRECT -> {
                    double work = c.work(5, 5.0 * (n - 1), 0, (n + 1.0) * b);
                    yield c.steps(n, 2, 1) + c.shared(n, work) + c.readFromAfar(n, b);
                }
            };
        }
    }

    private enum Prefixes implements Author {
        SCAN_ONE_SHOT,
        SCAN_ONE_SHOT_PACKETS,
        SCAN_ONE_SHOT_READ,
        SCAN_CHAIN,
        EXSCAN_ONE_SHOT,
        EXSCAN_ONE_SHOT_PACKETS,
        EXSCAN_ONE_SHOT_READ,
        EXSCAN_CHAIN;

        @Override
        public void accept(RankBuilder me) {
            switch (this) {
                case SCAN_ONE_SHOT -> AllPairs.oneShotScan(me);
                case SCAN_ONE_SHOT_PACKETS -> AllPairsPackets.oneShotScan(me);
                case SCAN_ONE_SHOT_READ -> AllPairsRead.oneShotScan(me);
                case SCAN_CHAIN -> Chain.scan(me);
                case EXSCAN_ONE_SHOT -> AllPairs.oneShotExscan(me);
                case EXSCAN_ONE_SHOT_PACKETS -> AllPairsPackets.oneShotExscan(me);
                case EXSCAN_ONE_SHOT_READ -> AllPairsRead.oneShotExscan(me);
                case EXSCAN_CHAIN -> Chain.exscan(me);
            }
        }

        /** The last rank folds most, the first sends most; on average it is half of that. */
        @Override
        public double nanos(int n, double b, Constants c) {
            return switch (this) {
                case SCAN_ONE_SHOT, EXSCAN_ONE_SHOT -> {
                    double mean = c.work(4, 2.0 * (n - 1), (n - 1.0) / 2 * b, (n + 3.0) / 2 * b);
                    double last = c.work(4, 2.0 * (n - 1), 0, (n + 1.0) * b);
                    yield c.steps(n, 1, c.rounds(b, 1)) + Math.max(last, c.shared(n, mean));
                }
                case SCAN_ONE_SHOT_PACKETS, EXSCAN_ONE_SHOT_PACKETS -> {
                    double mean = c.packetWork(2, n - 1, (n - 1.0) / 2 * b, (n + 3.0) / 2 * b);
                    double last = c.packetWork(2, n - 1, (n - 1.0) * b, (n + 1.0) * b);
                    yield c.packetSteps(n, 1) + Math.max(last, c.shared(n, mean));
                }
                case SCAN_ONE_SHOT_READ, EXSCAN_ONE_SHOT_READ -> {
                    double mean = c.work(4, 1.5 * (n - 1) + 1, b, (n + 3.0) / 2 * b);
                    double last = c.work(4, 2.0 * (n - 1) + 1, 0, (n + 1.0) * b);
                    yield c.steps(n, 1, c.rounds(b, 1)) + Math.max(last, c.shared(n, mean));
                }
                case SCAN_CHAIN, EXSCAN_CHAIN -> {
                    double work = c.work(3, 4, b, 3.0 * b);
                    double arriving = (n - 1) * work / c.rounds(b, 1);
                    yield c.steps(n, n - 2 + c.rounds(b, 1), 1) + Math.max(arriving + work, c.shared(n, work));
                }
            };
        }
    }
}
