package dev.tutti.reduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.sun.management.ThreadMXBean;
import dev.tutti.DataType;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Runs first: in a JVM that has been busy with other things for minutes, code of kernels may have been unloaded. */
@Order(1)
@Timeout(180)
class WarmupTest {
    private static final Duration LONG = Duration.ofSeconds(150);
    private static final int COUNT = 4099;

    private final long seed = Long.getLong("tutti.seed", System.nanoTime());

    /** Waits for these kernels only: other tests of this JVM may have asked for hundreds. */
    private static void train(int sources, int... kernels) throws InterruptedException {
        Kernels.warm(sources, kernels);
        for (long end = System.nanoTime() + LONG.toNanos(); isWaiting(sources, kernels); ) {
            assertThat(System.nanoTime() - end).as("in time").isNegative();
            Kernels.awaitWarm(Duration.ofMillis(10));
        }
    }

    private static boolean isWaiting(int sources, int... kernels) {
        return IntStream.of(kernels)
                .map(kernel -> Readiness.index(kernel, sources))
                .anyMatch(index -> Readiness.NATIVE.is(index, Readiness.REQUESTED)
                        || Readiness.HEAP.is(index, Readiness.REQUESTED));
    }

    @ParameterizedTest
    @EnumSource
    void shouldGiveTheSameBitsWhenCompiled(DataType type) throws InterruptedException {
        int sum = Kernels.id(type, Fold.SUM);
        int max = Kernels.id(type, Fold.MAX);
        train(2, sum, max);
        // Of 8-bit floats C2 makes code now and then that is slower than the scalar twin: that is given up, rightly.
        if (type != DataType.FLOAT8E4M3 && type != DataType.FLOAT8E5M2) {
            assertThat(Readiness.NATIVE.isTrained(Readiness.index(sum, 2)))
                    .as("sums of %s are trained", type)
                    .isTrue();
            assertThat(Readiness.HEAP.isTrained(Readiness.index(max, 2)))
                    .as("maxima of %s in arrays are trained", type)
                    .isTrue();
        }
        try (Arena arena = Arena.ofConfined()) {
            Sources sources = new Sources(type, 4, arena, new Random(seed));
            for (int kernel : new int[] {sum, max}) {
                for (int count = 0; count < COUNT; count += count < 80 ? 1 : 801) {
                    Scalars.reduce(
                            kernel, null, 0, null, 0, sources.addresses, 0, 2, 1, sources.addresses[2], count, 0, -1);
                    Vectors.reduce(kernel, sources.addresses, 0, 2, 1, sources.addresses[3], count, 0, -1);
                    for (int i = 0; i < count; i++) {
                        long at = (long) i * type.bytes();
                        long expected = Sources.get(type, sources.addresses[2] + at);
                        long actual = Sources.get(type, sources.addresses[3] + at);
                        assertThat(Numbers.same(type, expected, actual))
                                .as("%s kernel %d count %d element %d seed %d", type, kernel, count, i, seed)
                                .isTrue();
                    }
                }
            }
        }
    }

    /** 8-bit floats do, now and then: an array for each turn of a loop (docs/measurements.md). */
    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"FLOAT8E4M3", "FLOAT8E5M2"})
    void shouldNotAllocateWhenWarm(DataType type) throws InterruptedException {
        int kernel = Kernels.id(type, Fold.SUM);
        train(2, kernel);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (Arena arena = Arena.ofConfined()) {
            Sources sources = new Sources(type, 3, arena, new Random(seed));
            for (int i = 0; i < 1000; i++) {
                Kernels.reduce(kernel, sources.addresses, 0, 2, 0, sources.addresses[2], 1000, 0, -1);
            }
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 1000; i++) {
                Kernels.reduce(kernel, sources.addresses, 0, 2, 0, sources.addresses[2], 1000, 0, -1);
            }
            // A deoptimisation in between rebuilds a few vectors; a kernel that boxes makes megabytes of them.
            assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(20_000);
        }
    }

    /**
     * Code that is thrown away when it meets what training has not shown it leaves vectors on the heap, megabytes of them. Of 8-bit floats
     * and bfloat16 C2 makes code that does so by itself, now and then (docs/measurements.md), so they are not among these.
     */
    @ParameterizedTest
    @EnumSource(names = {"UINT8", "INT32", "INT64", "FLOAT32", "FLOAT64"})
    void shouldStayCompiledWhenTrainedAndUsedOnAnything(DataType type) throws InterruptedException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        Random random = new Random(seed);
        try (Arena arena = Arena.ofConfined()) {
            for (Fold fold : new Fold[] {Fold.SUM, Fold.MIN, Fold.AVG, Fold.MUL_SUM}) {
                int kernel = Kernels.id(type, fold);
                train(3, kernel);
                if (!Vectors.exists(kernel, 3)) {
                    continue;
                }
                Sources sources = new Sources(type, 4, arena, random);
                long[] aux = new long[300];
                Arrays.setAll(aux, i -> Sources.aux(type, fold, i % 2 + 3, random));
                use(kernel, sources, aux, 1);
                long before = threads.getCurrentThreadAllocatedBytes();
                use(kernel, sources, aux, aux.length);
                // C2 leaves one vector's array in a call now and then: 24 kB.
                assertThat(threads.getCurrentThreadAllocatedBytes() - before)
                        .as("%s %s seed %d", type, fold, seed)
                        .isLessThan(100_000);
            }
        }
    }

    private static void use(int kernel, Sources sources, long[] aux, int times) {
        for (int i = 0; i < times; i++) {
            int count = 1000 + i % 31;
            Kernels.reduce(kernel, sources.addresses, 0, 3, 0, sources.addresses[3], count, aux[i], i % 4 - 1);
        }
    }

    @Test
    void shouldUseTheTrainedKernelWhenOnArrays() throws InterruptedException {
        int kernel = Kernels.id(DataType.FLOAT32, Fold.PROD);
        train(2, kernel);
        try (Arena arena = Arena.ofConfined()) {
            Sources sources = new Sources(DataType.FLOAT32, 1, arena, new Random(seed));
            float[] own = new float[COUNT];
            float[] expected = new float[COUNT];
            for (int i = 0; i < COUNT; i++) {
                own[i] = i;
                expected[i] = i * Memory.ALL.get(Memory.FLOAT, sources.addresses[0] + 4L * i);
            }
            Kernels.reduceHeap(kernel, own, 0, own, 0, sources.addresses, 0, 1, 0, COUNT, 0, -1);
            assertThat(own).isEqualTo(expected);
        }
    }

    @Test
    void shouldTrainInTheBackgroundWhenUsedMoreThanALittle() throws InterruptedException {
        int kernel = Kernels.id(DataType.INT32, Fold.XOR);
        try (Arena arena = Arena.ofConfined()) {
            Sources sources = new Sources(DataType.INT32, 5, arena, new Random(seed));
            for (int i = 0; i < 100; i++) {
                Kernels.reduce(kernel, sources.addresses, 0, 4, 0, sources.addresses[4], 16, 0, -1);
            }
            assertThat(Readiness.NATIVE.is(Readiness.index(kernel, 4), Readiness.UNKNOWN))
                    .isFalse();
            train(4, kernel);
            assertThat(Readiness.NATIVE.isTrained(Readiness.index(kernel, 4))).isTrue();
        }
    }

    @Test
    void shouldTrainAgainWhenCodeIsFoundMissingAfterACollection() throws InterruptedException {
        // Nobody else has this one compiled.
        int kernel = Kernels.id(DataType.INT64, Fold.PROD);
        int index = Readiness.index(kernel, 7);
        assertThat(Readiness.NATIVE.is(index, Readiness.UNKNOWN)).isTrue();
        Readiness.NATIVE.settle(index, true);
        collect();
        try (Arena arena = Arena.ofConfined()) {
            Sources sources = new Sources(DataType.INT64, 9, arena, new Random(seed));
            Scalars.reduce(kernel, null, 0, null, 0, sources.addresses, 0, 7, 0, sources.addresses[7], COUNT, 0, -1);
            Kernels.reduce(kernel, sources.addresses, 0, 7, 0, sources.addresses[8], COUNT, 0, -1);
            assertThat(Memory.ALL
                            .asSlice(sources.addresses[8], 8L * COUNT)
                            .mismatch(Memory.ALL.asSlice(sources.addresses[7], 8L * COUNT)))
                    .isEqualTo(-1);
            assertThat(Readiness.NATIVE.isReady(index)).isFalse();
            train(7, kernel);
            assertThat(Readiness.NATIVE.isTrained(index)).isTrue();
        }
    }

    @Test
    void shouldStayReadyWhenACollectionLeavesTheCode() throws InterruptedException {
        int kernel = Kernels.id(DataType.FLOAT32, Fold.SUM);
        int index = Readiness.index(kernel, 2);
        train(2, kernel);
        collect();
        assertThat(Readiness.NATIVE.isReady(index)).isFalse();
        try (Arena arena = Arena.ofConfined()) {
            Sources sources = new Sources(DataType.FLOAT32, 3, arena, new Random(seed));
            // Found slow by a chance interruption, it is trained again.
            Kernels.reduce(kernel, sources.addresses, 0, 2, 0, sources.addresses[2], COUNT, 0, -1);
            train(2, kernel);
            assertThat(Readiness.NATIVE.isTrained(index)).isTrue();
        }
    }

    private static void collect() {
        WeakReference<Object> witness = new WeakReference<>(new Object());
        while (!witness.refersTo(null)) {
            System.gc();
        }
    }

    @Test
    void shouldLeaveNoThreadWhenNothingIsLeftToTrain() throws InterruptedException {
        Kernels.prepare();
        Kernels.warm(3, Kernels.id(DataType.FLOAT32, Fold.SUM));
        assumeThat(Kernels.awaitWarm(LONG))
                .as("what other tests have asked for is trained")
                .isTrue();
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().equals("tutti-warmup")) {
                thread.join(10_000);
                assertThat(thread.isAlive()).isFalse();
            }
        }
    }

    @Test
    void shouldStayScalarWhenThereIsNoVectorKernel() throws InterruptedException {
        int average = Kernels.id(DataType.INT64, Fold.AVG);
        train(2, average);
        assertThat(Readiness.NATIVE.is(Readiness.index(average, 2), Readiness.NEVER))
                .isTrue();
    }
}
