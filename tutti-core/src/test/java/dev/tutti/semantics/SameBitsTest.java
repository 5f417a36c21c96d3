package dev.tutti.semantics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Buffer;
import dev.tutti.Collective;
import dev.tutti.Communicator;
import dev.tutti.Config;
import dev.tutti.DataType;
import dev.tutti.ReduceFunction;
import dev.tutti.ReduceOp;
import dev.tutti.World;
import dev.tutti.algorithm.Algorithms;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every rank gets the same bits, and gets them again; functions that do not commute are folded in rank order. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SameBitsTest {
    private static final long SEED = 20_251;
    private static final int[] COUNTS = {1, 33, 250, 5_000, 70_001};

    static Stream<String> algorithms() {
        return Stream.concat(
                Stream.of("|"),
                Algorithms.of(Collective.ALL_REDUCE).stream().map(each -> each.name() + "|" + each.protocol()));
    }

    /** Numbers of very different size, so that every order of additions rounds differently. */
    private static float[] random(int rank, int count) {
        Random random = new Random(SEED + rank);
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = (float) (random.nextGaussian() * Math.pow(10, random.nextInt(13) - 6));
        }
        return values;
    }

    @ParameterizedTest
    @MethodSource("algorithms")
    void shouldGiveAllRanksTheSameBitsOnEveryRun(String forced) {
        String[] parts = forced.split("\\|", -1);
        Config config = Config.fromEnvironment().with(Config.Key.ALGO, parts[0]).with(Config.Key.PROTO, parts[1]);
        for (int ranks : new int[] {2, 3, 5}) {
            for (int count : COUNTS) {
                List<float[]> first = sums(ranks, count, config);
                List<float[]> second = sums(ranks, count, config);
                for (int rank = 0; rank < ranks; rank++) {
                    String what = forced + ", " + count + " floats, rank " + rank + " of " + ranks + ", seed " + SEED;
                    assertThat(Arrays.equals(first.get(rank), first.getFirst()))
                            .as("%s: same as rank 0", what)
                            .isTrue();
                    assertThat(Arrays.equals(second.get(rank), first.get(rank)))
                            .as("%s: same again", what)
                            .isTrue();
                }
            }
        }
    }

    private static List<float[]> sums(int ranks, int count, Config config) {
        return World.local(ranks).config(config).call(comm -> {
            float[] values = random(comm.rank(), count);
            comm.allReduce(values, ReduceOp.SUM);
            float[] again = random(comm.rank(), count);
            comm.allReduce(again, ReduceOp.SUM);
            assertThat(Arrays.equals(values, again)).isTrue();
            return values;
        });
    }

    /**
     * Affine functions x -> a·x + b of integers modulo 2^16, packed into one element; composing them does not
     * commute.
     */
    private static final ReduceFunction COMPOSE =
            new ReduceFunction("compose", DataType.INT32, false, (left, right, count) -> {
                for (long i = 0; i < count; i++) {
                    int f = left.getAtIndex(ValueLayout.JAVA_INT, i);
                    int g = right.getAtIndex(ValueLayout.JAVA_INT, i);
                    left.setAtIndex(ValueLayout.JAVA_INT, i, compose(f, g));
                }
            });

    private static int compose(int f, int g) {
        int a = (f >>> 16) * (g >>> 16);
        int b = (g >>> 16) * (f & 0xFFFF) + (g & 0xFFFF);
        return a << 16 | (b & 0xFFFF);
    }

    private static int element(int rank, int index) {
        return (2 * (rank + index) + 3) << 16 | (31 * rank + index & 0xFFFF);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 8})
    void shouldFoldInRankOrderWhenAFunctionDoesNotCommute(int ranks) {
        ReduceOp op = ReduceOp.of(COMPOSE);
        World.local(ranks).run(comm -> {
            for (int count : COUNTS) {
                int[] own = new int[count];
                Arrays.setAll(own, i -> element(comm.rank(), i));
                int[] all = own.clone();
                comm.allReduce(all, op);
                assertFold(all, 0, ranks, 0, "allReduce");
                int[] atRoot = own.clone();
                comm.reduce(atRoot, op, ranks - 1);
                assertFold(atRoot, comm.rank() == ranks - 1 ? 0 : comm.rank(), comm.rank() + 1, 0, "reduce");
                int[] scan = new int[count];
                comm.scan(Buffer.of(own), Buffer.of(scan), op);
                assertFold(scan, 0, comm.rank() + 1, 0, "scan");
                comm.exscanAsync(Buffer.of(own), Buffer.of(scan), op).await();
                assertFold(scan, 0, Math.max(1, comm.rank()), 0, "exscan");
                reduceScatter(comm, count, op);
            }
        });
    }

    private static void reduceScatter(Communicator comm, int count, ReduceOp op) {
        int[] blocks = new int[count * comm.size()];
        Arrays.setAll(blocks, i -> element(comm.rank(), i));
        int[] block = new int[count];
        comm.reduceScatter(blocks, block, op);
        assertFold(block, 0, comm.size(), comm.rank() * count, "reduceScatter");
    }

    private static void assertFold(int[] actual, int from, int to, int shift, String what) {
        for (int i = 0; i < actual.length; i++) {
            int expected = element(from, i + shift);
            for (int rank = from + 1; rank < to; rank++) {
                expected = compose(expected, element(rank, i + shift));
            }
            if (actual[i] != expected) {
                assertThat(Integer.toHexString(actual[i]))
                        .as("%s of %d, element %d, ranks %d to %d", what, actual.length, i, from, to - 1)
                        .isEqualTo(Integer.toHexString(expected));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void shouldGiveFunctionsWholeAlignedElements(int ranks) {
        ReduceOp op = ReduceOp.of(new ReduceFunction("check", DataType.INT64, true, (left, right, count) -> {
            check(left, count);
            check(right, count);
            assertThat(right.isReadOnly()).isTrue();
            for (long i = 0; i < count; i++) {
                long sum = left.getAtIndex(ValueLayout.JAVA_LONG, i) + right.getAtIndex(ValueLayout.JAVA_LONG, i);
                left.setAtIndex(ValueLayout.JAVA_LONG, i, sum);
            }
        }));
        World.local(ranks).run(comm -> {
            for (int count : COUNTS) {
                long[] values = new long[count];
                Arrays.fill(values, comm.rank() + 1);
                comm.allReduce(values, op);
                assertThat(values).containsOnly((long) ranks * (ranks + 1) / 2);
            }
        });
    }

    private static void check(MemorySegment segment, long count) {
        assertThat(segment.byteSize()).isEqualTo(8 * count);
        assertThat(segment.address() % 64).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5})
    void shouldAverageAndScaleWhateverTheNumberOfRanks(int ranks) {
        World.local(ranks).run(comm -> {
            for (int count : COUNTS) {
                double[] scaled = new double[count];
                Arrays.fill(scaled, 2);
                comm.allReduce(scaled, ReduceOp.preMulSum(comm.rank() + 0.5));
                assertThat(scaled).containsOnly(2 * (ranks * (ranks - 1) / 2.0 + ranks * 0.5));
                int[] truncated = new int[count];
                Arrays.fill(truncated, comm.rank() == 0 ? -5 : -1);
                comm.allReduce(truncated, ReduceOp.AVG);
                assertThat(truncated).containsOnly((-5 - (ranks - 1)) / ranks);
                float[] halves = new float[count];
                Arrays.fill(halves, comm.rank());
                float[] mean = new float[count];
                comm.allReduce(halves, mean, ReduceOp.AVG);
                assertThat(mean).containsOnly((ranks - 1) / 2f);
                int[] wrapped = new int[count];
                Arrays.fill(wrapped, Integer.MAX_VALUE);
                comm.allReduce(wrapped, ReduceOp.SUM);
                assertThat(wrapped).containsOnly(Integer.MAX_VALUE * ranks);
            }
        });
    }
}
