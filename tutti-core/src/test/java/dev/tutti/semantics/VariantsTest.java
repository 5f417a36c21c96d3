package dev.tutti.semantics;

import dev.tutti.Communicator;
import dev.tutti.ReduceOp;
import dev.tutti.World;
import dev.tutti.semantics.Guarded.Placement;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Collectives with counts: none, one rank only, a triangle, random; blocks with gaps, in any order; every root. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class VariantsTest {
    private static final int[] RANKS = {1, 2, 3, 5};

    /** How many elements go from one rank to another. */
    enum Counts {
        NONE {
            @Override
            int of(int from, int to, int ranks) {
                return 0;
            }
        },
        ONE_RANK_ONLY {
            @Override
            int of(int from, int to, int ranks) {
                return from == ranks / 2 && to == ranks - 1 ? 17 : 0;
            }
        },
        TRIANGLE {
            @Override
            int of(int from, int to, int ranks) {
                return ranks + from - to;
            }
        },
        NOTHING_TO_SELF {
            @Override
            int of(int from, int to, int ranks) {
                return from == to ? 0 : 3 + to;
            }
        },
        RANDOM {
            @Override
            int of(int from, int to, int ranks) {
                return new Random(31L * from + to).nextInt(3_000);
            }
        },
        SEVERAL_WINDOWS {
            @Override
            int of(int from, int to, int ranks) {
                return (from + to) % 2 == 0 ? 35_001 : 13;
            }
        };

        abstract int of(int from, int to, int ranks);
    }

    private static int value(int from, int to, int index) {
        return from * 1_000_003 + to * 10_007 + index;
    }

    /** Places blocks in descending order with gaps of two elements before each. */
    private static long[] scattered(long[] counts) {
        long[] offsets = new long[counts.length];
        long next = 2;
        for (int block = counts.length - 1; block >= 0; block--) {
            offsets[block] = next;
            next += counts[block] + 2;
        }
        return offsets;
    }

    private static long[] packed(long[] counts) {
        long[] offsets = new long[counts.length];
        for (int block = 1; block < counts.length; block++) {
            offsets[block] = offsets[block - 1] + counts[block - 1];
        }
        return offsets;
    }

    private static int room(long[] counts) {
        return (int) Arrays.stream(counts).sum() + 2 * counts.length + 2;
    }

    /** Checks blocks, and that everything between them is as it was. */
    private static void check(Guarded out, long[] counts, long[] offsets, BlockValue expected, String what) {
        boolean[] written = new boolean[out.count()];
        for (int block = 0; block < counts.length; block++) {
            int from = block;
            int at = (int) offsets[block];
            Arrays.fill(written, at, at + (int) counts[block], true);
            out.assertElements(at, (int) counts[block], i -> expected.of(from, i), what + ", block " + block);
        }
        for (int i = 0; i < written.length; i++) {
            if (!written[i]) {
                out.assertElement(i, Guarded.POISON, what);
            }
        }
        out.assertGuards(what);
    }

    @FunctionalInterface
    interface BlockValue {
        int of(int block, int index);
    }

    private static long[] counts(int ranks, CountOf of) {
        long[] counts = new long[ranks];
        Arrays.setAll(counts, of::of);
        return counts;
    }

    @FunctionalInterface
    interface CountOf {
        int of(int peer);
    }

    @ParameterizedTest
    @EnumSource(Counts.class)
    void shouldMoveBlocksOfAnyLength(Counts counts) {
        for (int ranks : RANKS) {
            World.local(ranks).run(comm -> {
                for (boolean apart : new boolean[] {false, true}) {
                    allToAllV(comm, counts, apart, apart ? Placement.AUTOMATIC : Placement.ARRAY);
                    allGatherV(comm, counts, apart);
                    reduceScatterV(comm, counts);
                    for (int root = 0; root < ranks; root++) {
                        gatherV(comm, counts, apart, root);
                        scatterV(comm, counts, apart, root);
                    }
                }
                comm.barrier();
            });
        }
    }

    private static void allToAllV(Communicator comm, Counts counts, boolean apart, Placement placement) {
        int n = comm.size();
        long[] sent = counts(n, to -> counts.of(comm.rank(), to, n));
        long[] received = counts(n, from -> counts.of(from, comm.rank(), n));
        long[] sendOffsets = apart ? scattered(sent) : packed(sent);
        long[] receiveOffsets = apart ? scattered(received) : packed(received);
        Guarded in = Guarded.of(placement, room(sent));
        Guarded out = Guarded.of(placement, room(received));
        for (int to = 0; to < n; to++) {
            int block = to;
            in.set((int) sendOffsets[to], (int) sent[to], i -> value(comm.rank(), block, i));
        }
        comm.allToAllV(
                in.buffer(), sent, apart ? sendOffsets : null, out.buffer(), received, apart ? receiveOffsets : null);
        check(out, received, receiveOffsets, (from, i) -> value(from, comm.rank(), i), "allToAllV " + counts);
        check(in, sent, sendOffsets, (to, i) -> value(comm.rank(), to, i), "allToAllV input " + counts);
    }

    private static void allGatherV(Communicator comm, Counts counts, boolean apart) {
        int n = comm.size();
        long[] all = counts(n, from -> counts.of(from, n - 1, n));
        long[] offsets = apart ? scattered(all) : packed(all);
        Guarded in = own(comm, all);
        Guarded out = Guarded.of(room(all));
        comm.allGatherV(in.buffer(), out.buffer(), all, apart ? offsets : null);
        check(out, all, offsets, (from, i) -> value(from, 0, i), "allGatherV " + counts);
        Guarded inPlace = Guarded.of(room(all));
        int start = (int) offsets[comm.rank()];
        inPlace.set(start, (int) all[comm.rank()], i -> value(comm.rank(), 0, i));
        comm.allGatherVAsync(
                        inPlace.buffer().slice(start, all[comm.rank()]), inPlace.buffer(), all, apart ? offsets : null)
                .await();
        check(inPlace, all, offsets, (from, i) -> value(from, 0, i), "allGatherV in place " + counts);
    }

    private static void gatherV(Communicator comm, Counts counts, boolean apart, int root) {
        int n = comm.size();
        long[] all = counts(n, from -> counts.of(from, root, n));
        long[] offsets = apart ? scattered(all) : packed(all);
        Guarded in = own(comm, all);
        Guarded out = Guarded.of(room(all));
        comm.gatherV(in.buffer(), out.buffer(), all, apart ? offsets : null, root);
        if (comm.rank() == root) {
            check(out, all, offsets, (from, i) -> value(from, 0, i), "gatherV " + counts);
        } else {
            out.assertPoisoned("gatherV, not the root");
        }
    }

    private static Guarded own(Communicator comm, long[] all) {
        Guarded in = Guarded.of((int) all[comm.rank()]);
        in.set(0, in.count(), i -> value(comm.rank(), 0, i));
        return in;
    }

    private static void scatterV(Communicator comm, Counts counts, boolean apart, int root) {
        int n = comm.size();
        long[] all = counts(n, to -> counts.of(root, to, n));
        long[] offsets = apart ? scattered(all) : packed(all);
        Guarded in = Guarded.of(room(all));
        for (int to = 0; to < n; to++) {
            int block = to;
            in.set((int) offsets[to], (int) all[to], i -> value(root, block, i));
        }
        Guarded out = Guarded.of((int) all[comm.rank()]);
        comm.scatterV(comm.rank() == root ? in.buffer() : null, all, apart ? offsets : null, out.buffer(), root);
        check(out, new long[] {out.count()}, new long[1], (_, i) -> value(root, comm.rank(), i), "scatterV " + counts);
    }

    private static void reduceScatterV(Communicator comm, Counts counts) {
        int n = comm.size();
        long[] all = counts(n, to -> counts.of(0, to, n));
        long[] offsets = packed(all);
        Guarded in = Guarded.of((int) Arrays.stream(all).sum());
        for (int to = 0; to < n; to++) {
            int block = to;
            in.set((int) offsets[to], (int) all[to], i -> value(comm.rank(), block, i));
        }
        Guarded out = Guarded.of((int) all[comm.rank()]);
        comm.reduceScatterV(in.buffer(), out.buffer(), all, ReduceOp.SUM);
        out.assertElements(
                0,
                out.count(),
                i -> IntStream.range(0, n)
                        .map(from -> value(from, comm.rank(), i))
                        .sum(),
                "reduceScatterV " + counts);
        out.assertGuards("reduceScatterV");
    }
}
