package dev.tutti.algorithm;

import static dev.tutti.algorithm.Cost.inTurn;
import static dev.tutti.algorithm.Cost.log2;
import static dev.tutti.plan.Protocol.PACKET;
import static dev.tutti.plan.Protocol.SIMPLE;

import dev.tutti.plan.RankBuilder;

/**
 * The algorithms that only move data, and the barriers, and what they cost. Of two that cost the same the first is taken, so those with the shapes that
 * executors know best come first. The formulas are those in the pictures of each algorithm, plus what operations and operands cost.
 */
final class Moves {
    private Moves() {}

    static void broadcast(Family family) {
        family.inOrder("one-shot", SIMPLE, Broadcast.ONE_SHOT);
        family.inOrder("one-shot", PACKET, Broadcast.ONE_SHOT_PACKETS);
        family.reading("one-shot-read", Broadcast.ONE_SHOT_READ);
        family.inOrder("two-shot", SIMPLE, Broadcast.TWO_SHOT);
        family.inOrder("tree", SIMPLE, Broadcast.TREE);
        family.inOrder("chain", SIMPLE, Broadcast.CHAIN);
        family.inOrder("double-tree", SIMPLE, Broadcast.DOUBLE_TREE);
        family.direct("direct", Broadcast.DIRECT);
        family.direct("direct-read", Broadcast.DIRECT_READ);
        family.writing("direct-write", false, Broadcast.DIRECT_WRITE);
    }

    static void allGather(Family family) {
        family.inOrder("one-shot", SIMPLE, AllGather.ONE_SHOT);
        family.inOrder("one-shot", PACKET, AllGather.ONE_SHOT_PACKETS);
        family.reading("one-shot-read", AllGather.ONE_SHOT_READ);
        family.inOrder("ring", SIMPLE, AllGather.RING);
        family.inOrder("doubling", SIMPLE, AllGather.DOUBLING);
        family.inOrder("pat", SIMPLE, AllGather.PAT);
        family.writing("direct", false, AllGather.DIRECT);
        family.directRagged("direct-read", AllGather.DIRECT_READ);
    }

    static void gather(Family family) {
        family.inOrder("linear", SIMPLE, Blocks.GATHER_LINEAR);
        family.inOrder("linear", PACKET, Blocks.GATHER_LINEAR_PACKETS);
        family.reading("linear-read", Blocks.GATHER_LINEAR_READ);
        family.even("tree", Blocks.GATHER_TREE);
        family.writing("direct", false, Blocks.GATHER_DIRECT);
        family.directRagged("direct-read", Blocks.GATHER_DIRECT_READ);
    }

    static void scatter(Family family) {
        family.inOrder("linear", SIMPLE, Blocks.SCATTER_LINEAR);
        family.inOrder("linear", PACKET, Blocks.SCATTER_LINEAR_PACKETS);
        family.reading("linear-read", Blocks.SCATTER_LINEAR_READ);
        family.even("tree", Blocks.SCATTER_TREE);
        family.direct("direct", Blocks.SCATTER_DIRECT);
        family.writing("direct-write", true, Blocks.SCATTER_DIRECT_WRITE);
    }

    static void allToAll(Family family) {
        family.inOrder("one-shot", SIMPLE, AllToAll.ONE_SHOT);
        family.inOrder("one-shot", PACKET, AllToAll.ONE_SHOT_PACKETS);
        family.reading("one-shot-read", AllToAll.ONE_SHOT_READ);
        family.inOrder("pairwise", SIMPLE, AllToAll.PAIRWISE);
        family.even("bruck", AllToAll.BRUCK);
        family.writing("direct", false, AllToAll.DIRECT);
        family.directRagged("direct-read", AllToAll.DIRECT_READ);
    }

    static void barrier(Family family) {
        family.inOrder("flat", SIMPLE, Barrier.FLAT);
        family.inOrder("dissemination", SIMPLE, Barrier.DISSEMINATION);
        family.inOrder("tree", SIMPLE, Barrier.TREE);
    }

    private enum Broadcast implements Author {
        ONE_SHOT,
        ONE_SHOT_PACKETS,
        ONE_SHOT_READ,
        TWO_SHOT,
        TREE,
        CHAIN,
        DOUBLE_TREE,
        DIRECT,
        DIRECT_READ,
        DIRECT_WRITE;

        @Override
        public void accept(RankBuilder me) {
            switch (this) {
                case ONE_SHOT -> AllPairs.oneShotBroadcast(me);
                case ONE_SHOT_PACKETS -> AllPairsPackets.oneShotBroadcast(me);
                case ONE_SHOT_READ -> AllPairsRead.oneShotBroadcast(me);
                case TWO_SHOT -> AllPairs.twoShotBroadcast(me);
                case TREE -> BinomialTree.broadcast(me);
                case CHAIN -> Chain.broadcast(me);
                case DOUBLE_TREE -> DoubleTree.broadcast(me);
                case DIRECT -> Direct.broadcast(me);
                case DIRECT_READ -> Direct.broadcastReading(me);
                case DIRECT_WRITE -> Direct.broadcastWriting(me);
            }
        }

        @Override
        public double nanos(int n, double b, Constants c) {
            return switch (this) {
                case ONE_SHOT -> {
                    // In place, which is usual, the root's own output is left out, here and below.
                    double root = c.work(2, 2.0 * (n - 1), (n - 1.0) * b, 0);
                    yield c.steps(n, 1, c.rounds(b, 1)) + c.rooted(n, root, c.work(2, 2, b, 0), c.rounds(b, 1));
                }
                case ONE_SHOT_PACKETS -> {
                    double root = c.packetWork(2, n - 1, (n - 1.0) * b, 0);
                    yield c.packetSteps(n, 1) + c.rooted(n, root, c.packetWork(1, 1, b, 0), 1);
                }
                case ONE_SHOT_READ -> {
                    double root = c.work(3, n, b, 0);
                    yield c.shown(n, b, c.rounds(b, 1)) + c.rooted(n, root, c.work(2, 2, b, 0), c.rounds(b, 1));
                }
                case TWO_SHOT -> {
                    double root = c.work(n + 1, 3.0 * (n - 1), (2.0 * n - 2) / n * b, 0);
                    double other = c.work(n + 3, 4.0 * (n - 1), (2.0 * n - 2) / n * b, 0);
                    yield c.steps(n, 2, c.rounds(b, n)) + c.rooted(n, root, other, c.rounds(b, n));
                }
                case TREE -> {
                    double root = c.work(2, 2.0 * log2(n), 1.0 * log2(n) * b, 0);
                    yield c.steps(n, log2(n), c.rounds(b, 1))
                            + c.rooted(n, root, c.work(3, 4, 2.0 * b, 0), c.rounds(b, 1));
                }
                case CHAIN -> {
                    double pieces = Chain.PIECES;
                    double work = c.work(3 * pieces, 4 * pieces, 2.0 * b, 0);
                    double arriving = work * (n - 2) / (pieces * c.rounds(b, pieces));
                    yield c.steps(n, n + pieces - 2, c.rounds(b, pieces)) + arriving + c.shared(n, work);
                }
                case DOUBLE_TREE -> {
                    double work = c.work(7, 7, 2.0 * b, 0);
                    yield c.steps(n, log2(n), c.rounds(b, 2)) + inTurn(n, work, c, c.rounds(b, 2));
                }
                case DIRECT -> {
                    double work = c.work(5, 5.0 * (n - 1), (n - 1.0) / n * b, 0);
                    yield c.steps(n, 2, 1)
                            + c.keptBack(n)
                            + c.shared(n, work)
                            + c.readFromAfar(n, Math.min(b / n, Constants.CACHED_BYTES));
                }
                case DIRECT_READ -> {
                    double reading = c.rooted(n, c.work(3, 2.0 * (n - 1), 0, 0), c.work(3, 3, b, 0), 1);
                    yield c.steps(n, 2, 1) + c.keptBack(n) + reading + c.readFromAfar(n, b);
                }
                case DIRECT_WRITE -> {
                    double root = c.work(3, 3.0 * (n - 1), (n - 1.0) * b, 0);
                    yield c.steps(n, 2, 1) + c.keptBack(n) + c.rooted(n, root, c.work(2, 2, 0, 0), 1);
                }
            };
        }
    }

    private enum AllGather implements Author {
        ONE_SHOT,
        ONE_SHOT_PACKETS,
        ONE_SHOT_READ,
        RING,
        DOUBLING,
        PAT,
        DIRECT,
        DIRECT_READ;

        @Override
        public void accept(RankBuilder me) {
            switch (this) {
                case ONE_SHOT -> AllPairs.oneShotAllGather(me);
                case ONE_SHOT_PACKETS -> AllPairsPackets.oneShotAllGather(me);
                case ONE_SHOT_READ -> AllPairsRead.oneShotAllGather(me);
                case RING -> Ring.allGather(me);
                case DOUBLING -> HalvingDoubling.allGather(me);
                case PAT -> Pat.allGather(me);
                case DIRECT -> Direct.allGather(me);
                case DIRECT_READ -> Direct.allGatherReading(me);
            }
        }

        @Override
        public double nanos(int n, double b, Constants c) {
            return switch (this) {
                case ONE_SHOT -> {
                    double work = c.work(n + 2, 4.0 * (n - 1), (2.0 * n - 1) * b, 0);
                    yield c.steps(n, 1, c.rounds(b, 1)) + c.shared(n, work);
                }
                case ONE_SHOT_PACKETS -> {
                    double work = c.packetWork(n + 1, 2.0 * (n - 1), (n - 1.0) * b, 0);
                    yield c.packetSteps(n, 1) + c.shared(n, work);
                }
                case ONE_SHOT_READ -> {
                    double work = c.work(n + 3, c.metLines(n, b), (n + 1.0) * b, 0);
                    yield c.met(n, b, c.rounds(b, 1)) + c.shared(n, work);
                }
                case RING -> {
                    double work = c.work(3.0 * (n - 1) + 1, 4.0 * (n - 1), (2.0 * n - 1) * b, 0);
                    yield c.steps(n, n - 1, c.rounds(b, 1)) + c.shared(n, work);
                }
                case DOUBLING, PAT -> {
                    double work = c.work(n + 2.0 * log2(n), 2.0 * (n - 1) + 2 * log2(n), (2.0 * n - 1) * b, 0);
                    yield c.steps(n, log2(n), c.rounds(b, 1)) + c.shared(n, work);
                }
                case DIRECT -> c.steps(n, 2, 1) + c.shared(n, c.work(5, 5.0 * (n - 1), 1.0 * n * b, 0));
                case DIRECT_READ -> c.steps(n, 2, 1) + c.shared(n, c.work(n + 4, 5.0 * (n - 1), 1.0 * n * b, 0));
            };
        }
    }

    /** Gathers and scatters: the same blocks go the other way, and mostly cost the same. */
    private enum Blocks implements Author {
        GATHER_LINEAR,
        GATHER_LINEAR_PACKETS,
        GATHER_LINEAR_READ,
        GATHER_TREE,
        GATHER_DIRECT,
        GATHER_DIRECT_READ,
        SCATTER_LINEAR,
        SCATTER_LINEAR_PACKETS,
        SCATTER_LINEAR_READ,
        SCATTER_TREE,
        SCATTER_DIRECT,
        SCATTER_DIRECT_WRITE;

        @Override
        public void accept(RankBuilder me) {
            switch (this) {
                case GATHER_LINEAR -> Linear.gather(me);
                case GATHER_LINEAR_PACKETS -> Linear.gatherPackets(me);
                case GATHER_LINEAR_READ -> Linear.gatherReading(me);
                case GATHER_TREE -> BinomialTree.gather(me);
                case GATHER_DIRECT -> Direct.gather(me);
                case GATHER_DIRECT_READ -> Direct.gatherReading(me);
                case SCATTER_LINEAR -> Linear.scatter(me);
                case SCATTER_LINEAR_PACKETS -> Linear.scatterPackets(me);
                case SCATTER_LINEAR_READ -> Linear.scatterReading(me);
                case SCATTER_TREE -> BinomialTree.scatter(me);
                case SCATTER_DIRECT -> Direct.scatter(me);
                case SCATTER_DIRECT_WRITE -> Direct.scatterWriting(me);
            }
        }

        @Override
        public double nanos(int n, double b, Constants c) {
            return switch (this) {
                case GATHER_LINEAR, SCATTER_LINEAR -> {
                    double root = c.work(n + 1, 2.0 * (n - 1), 1.0 * n * b, 0);
                    yield c.steps(n, 1, c.rounds(b, 1)) + c.rooted(n, root, c.work(2, 2, b, 0), c.rounds(b, 1));
                }
                case GATHER_LINEAR_PACKETS, SCATTER_LINEAR_PACKETS -> {
                    double root = c.packetWork(n, n - 1, (n - 1.0) * b, 0);
                    yield c.packetSteps(n, 1) + c.rooted(n, root, c.packetWork(1, 1, b, 0), 1);
                }
                case GATHER_LINEAR_READ -> {
                    double root = c.work(n + 1, 2.0 * (n - 1), 1.0 * n * b, 0);
                    yield c.shown(n, b, c.rounds(b, 1)) + c.rooted(n, root, c.work(2, 2, b, 0), c.rounds(b, 1));
                }
                case SCATTER_LINEAR_READ -> {
                    double root = c.work(n + 1, n, 1.0 * n * b, 0);
                    yield c.shown(n, n * b, c.rounds(n * b, n)) + c.rooted(n, root, c.work(2, 2, b, 0), c.rounds(b, 1));
                }
                case GATHER_TREE, SCATTER_TREE -> {
                    double root = c.work(n + 1, n - 1 + log2(n), 1.0 * n * b, 0);
                    double other = c.work(3 + log2(n) / 2.0, 2 + log2(n), (1 + log2(n) / 2.0) * b, 0);
                    yield c.steps(n, log2(n), c.rounds(b, 1)) + c.rooted(n, root, other, c.rounds(b, 1));
                }
                case GATHER_DIRECT, SCATTER_DIRECT ->
                    c.steps(n, 2, 1) + c.rooted(n, c.work(3, 2.0 * (n - 1), b, 0), c.work(3, 3, b, 0), 1);
                case GATHER_DIRECT_READ, SCATTER_DIRECT_WRITE -> {
                    double root = c.work(n + 2, 3.0 * (n - 1), 1.0 * n * b, 0);
                    yield c.steps(n, 2, 1) + c.rooted(n, root, c.work(2, 2, 0, 0), 1);
                }
            };
        }
    }

    private enum AllToAll implements Author {
        ONE_SHOT,
        ONE_SHOT_PACKETS,
        ONE_SHOT_READ,
        PAIRWISE,
        BRUCK,
        DIRECT,
        DIRECT_READ;

        @Override
        public void accept(RankBuilder me) {
            switch (this) {
                case ONE_SHOT -> AllPairs.oneShotAllToAll(me);
                case ONE_SHOT_PACKETS -> AllPairsPackets.oneShotAllToAll(me);
                case ONE_SHOT_READ -> AllPairsRead.oneShotAllToAll(me);
                case PAIRWISE -> Pairwise.allToAll(me);
                case BRUCK -> Bruck.allToAll(me);
                case DIRECT -> Direct.allToAll(me);
                case DIRECT_READ -> Direct.allToAllReading(me);
            }
        }

        @Override
        public double nanos(int n, double b, Constants c) {
            return switch (this) {
                case ONE_SHOT -> {
                    double work = c.work(2 * n + 1, 4.0 * (n - 1), (2.0 * n - 1) * b, 0);
                    yield c.steps(n, 1, c.rounds(b, 1)) + c.shared(n, work);
                }
                case ONE_SHOT_PACKETS -> {
                    double work = c.packetWork(2 * n, 2.0 * (n - 1), (n - 1.0) * b, 0);
                    yield c.packetSteps(n, 1) + c.shared(n, work);
                }
                case ONE_SHOT_READ -> {
                    double work = c.work(2 * n + 2, c.metBlockLines(n, (n - 1.0) * b), (2.0 * n - 1) * b, 0);
                    yield c.met(n, (n - 1.0) * b, c.rounds(b, 1)) + c.shared(n, work);
                }
                case PAIRWISE -> {
                    double work = c.work(4.0 * (n - 1) + 1, 4.0 * (n - 1), (2.0 * n - 1) * b, 0);
                    yield c.steps(n, n - 1, c.rounds(b, 1)) + c.shared(n, work);
                }
                case BRUCK -> {
                    double moved = n * log2(n) / 2.0;
                    double work = c.work(moved + n + 2 * log2(n), 2.0 * (moved + log2(n)), (moved + n) * b, 0);
                    yield c.steps(n, log2(n), c.rounds(b, 1)) + c.shared(n, work);
                }
                case DIRECT, DIRECT_READ ->
                    c.steps(n, 2, 1) + c.shared(n, c.work(n + 4, 5.0 * (n - 1), 1.0 * n * b, 0));
            };
        }
    }

    private enum Barrier implements Author {
        FLAT,
        DISSEMINATION,
        TREE;

        @Override
        public void accept(RankBuilder me) {
            switch (this) {
                case FLAT -> Barriers.flat(me);
                case DISSEMINATION -> Barriers.dissemination(me);
                case TREE -> BinomialTree.barrier(me);
            }
        }

        @Override
        public double nanos(int n, double b, Constants c) {
            return switch (this) {
                case FLAT -> c.met(n, 0, 1) + c.shared(n, c.work(2, n, 0, 0));
                case DISSEMINATION -> c.steps(n, log2(n), 1) + c.shared(n, c.work(2.0 * log2(n), 2.0 * log2(n), 0, 0));
                case TREE -> c.steps(n, 2.0 * log2(n), 1) + c.shared(n, c.work(4, 4, 0, 0));
            };
        }
    }
}
