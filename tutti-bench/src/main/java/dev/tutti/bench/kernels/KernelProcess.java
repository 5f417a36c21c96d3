package dev.tutti.bench.kernels;

import dev.tutti.DataType;
import dev.tutti.reduce.Fold;
import dev.tutti.reduce.Kernels;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Random;
import java.util.regex.Pattern;

/**
 * Each kernel against the loop that a C programmer writes: {@code c = a op b}, on the same memory, contestants taking turns, medians of
 * rounds. Where memory lies is chance, and costs both alike up to a fifth: rounds take several places in turn, and beside them stands what C
 * reaches on whole cache lines of its own. Minima and maxima of floats are one instruction in C, which forgets NaN and the sign of zero;
 * beside them stands a loop that keeps Tutti's promises. Prints a line for each {@link KernelCell}.
 */
final class KernelProcess {
    private static final int[] SIZES = {64 << 10, 1 << 20};
    /** Shorter than a time slice: on a busy machine most batches then run undisturbed. */
    private static final long BATCH_NANOS = 300_000;

    private static final int WARM_ROUNDS = 60;

    /** Places that rounds take in turn: results, or pairs of arrays, each further apart by this many bytes than the one before. */
    private static final int PAIRS = 5;

    private static final int GAP_BYTES = 832;

    private final int rounds;
    private final Pattern only;
    private final CTwin c;
    private final Arena arena = Arena.global();
    private final int largest = Arrays.stream(SIZES).max().getAsInt();
    // Apart by more than whole pages, so that no store waits for a load of another array.
    private final MemorySegment a = arena.allocate(largest + 4096, 4096).asSlice(0, largest);
    private final MemorySegment b = arena.allocate(largest + 4096, 4096).asSlice(1088, largest);
    private final MemorySegment[] results = new MemorySegment[PAIRS];

    /** Keeps two arrays apart. */
    private byte[] between = {};

    private KernelProcess(int rounds, Pattern only, CTwin c) {
        // Each place as often with Java first as with C first.
        this.rounds = Math.ceilDiv(rounds, 2 * PAIRS) * 2 * PAIRS;
        this.only = only;
        this.c = c;
        Arrays.setAll(results, pair -> arena.allocate(largest + 4096, 4096).asSlice(2176, largest));
    }

    public static void main(String[] args) throws Throwable {
        new KernelProcess(Integer.parseInt(args[0]), Pattern.compile(args[1]), CTwin.compile()).run();
    }

    private void run() throws Throwable {
        for (DataType type : DataType.values()) {
            fill(type, a, 1);
            fill(type, b, 2);
            for (Fold fold : Fold.values()) {
                if (!fold.accepts(type)) {
                    continue;
                }
                for (boolean heap : new boolean[] {false, true}) {
                    for (int bytes : SIZES) {
                        String name = type + " " + fold + " " + (heap ? "heap" : "native") + " " + bytes;
                        if (only.matcher(name).find()) {
                            System.out.println(measure(type, fold, heap, bytes).raw());
                        }
                    }
                }
            }
        }
    }

    private KernelCell measure(DataType type, Fold fold, boolean heap, int bytes) throws Throwable {
        int kernel = Kernels.id(type, fold);
        Kernels.warm(2, kernel);
        Kernels.awaitWarm(Duration.ofSeconds(30));
        int count = bytes / type.bytes();
        long aux = aux(type, fold);
        MethodHandle twin = c.kernel(type, fold);
        MethodHandle exactTwin = c.exact(type, fold).orElse(null);
        long[] code = {a.address(), b.address()};
        Object[] own = new Object[PAIRS];
        Object[] out = new Object[PAIRS];
        for (int pair = 0; heap && pair < PAIRS; pair++) {
            own[pair] = array(type, count);
            between = new byte[pair * GAP_BYTES];
            out[pair] = array(type, count);
            MemorySegment.copy(a, 0, segment(own[pair]), 0, bytes);
        }

        int iterations = calibrate(twin, count, aux);
        double[] javaNanos = new double[rounds];
        double[] cNanos = new double[rounds];
        double[] ownLinesNanos = new double[rounds];
        double[] exactNanos = new double[rounds];
        Arrays.fill(exactNanos, Double.NaN);
        for (int round = -WARM_ROUNDS; round < rounds; round++) {
            int pair = Math.floorMod(round, PAIRS);
            MemorySegment from = heap ? segment(own[pair]) : a;
            MemorySegment to = heap ? segment(out[pair]) : results[pair];
            // Whoever is first on a pair finds it colder.
            boolean javaFirst = Math.floorMod(round, 2 * PAIRS) < PAIRS;
            double early = javaFirst ? Double.NaN : c(twin, from, to, count, aux, iterations);
            double nanosJava = heap
                    ? javaHeap(kernel, own[pair], out[pair], code, count, aux, iterations)
                    : javaNative(kernel, code, to.address(), count, aux, iterations);
            double nanosC = javaFirst ? c(twin, from, to, count, aux, iterations) : early;
            double nanosExact = exactTwin == null ? Double.NaN : c(exactTwin, from, to, count, aux, iterations);
            double nanosOwnLines = c(twin, a, results[pair], count, aux, iterations);
            if (round >= 0) {
                javaNanos[round] = nanosJava;
                cNanos[round] = nanosC;
                exactNanos[round] = nanosExact;
                ownLinesNanos[round] = nanosOwnLines;
            }
        }
        MemorySegment result = heap ? segment(out[0]) : results[0];
        if (heap) {
            javaHeap(kernel, own[0], out[0], code, count, aux, 1);
        } else {
            javaNative(kernel, code, result.address(), count, aux, 1);
        }
        c(twin, a, results[1], count, aux, 1);
        boolean same = result.asSlice(0, bytes).mismatch(results[1].asSlice(0, bytes)) < 0;
        return new KernelCell(
                type.toString(),
                fold.name().toLowerCase(Locale.ROOT),
                heap ? "heap" : "native",
                bytes,
                bytes / median(javaNanos),
                bytes / median(cNanos),
                bytes / median(ownLinesNanos),
                bytes / median(exactNanos),
                median(quotients(cNanos, javaNanos)),
                same);
    }

    private int calibrate(MethodHandle twin, int count, long aux) throws Throwable {
        double nanos = c(twin, a, results[0], count, aux, 20);
        return (int) Math.clamp(BATCH_NANOS / Math.max(nanos, 1), 2, 20_000);
    }

    private static double javaNative(int kernel, long[] code, long dst, int count, long aux, int iterations) {
        Kernels.reduce(kernel, code, 0, 2, 0, dst, count, aux, 0);
        long start = System.nanoTime();
        for (int i = 0; i < iterations; i++) {
            Kernels.reduce(kernel, code, 0, 2, 0, dst, count, aux, 0);
        }
        return (double) (System.nanoTime() - start) / iterations;
    }

    private static double javaHeap(
            int kernel, Object own, Object out, long[] code, int count, long aux, int iterations) {
        Kernels.reduceHeap(kernel, out, 0, own, 0, code, 1, 1, 0, count, aux, 0);
        long start = System.nanoTime();
        for (int i = 0; i < iterations; i++) {
            Kernels.reduceHeap(kernel, out, 0, own, 0, code, 1, 1, 0, count, aux, 0);
        }
        return (double) (System.nanoTime() - start) / iterations;
    }

    private double c(MethodHandle twin, MemorySegment from, MemorySegment to, long count, long aux, int iterations)
            throws Throwable {
        twin.invokeExact(from, b, to, count, aux);
        long start = System.nanoTime();
        for (int i = 0; i < iterations; i++) {
            twin.invokeExact(from, b, to, count, aux);
        }
        return (double) (System.nanoTime() - start) / iterations;
    }

    private static double[] quotients(double[] dividends, double[] divisors) {
        double[] quotients = new double[dividends.length];
        Arrays.setAll(quotients, i -> dividends[i] / divisors[i]);
        return quotients;
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    private static long aux(DataType type, Fold fold) {
        if (fold != Fold.MUL_SUM) {
            return 2;
        }
        return switch (type) {
            case FLOAT64 -> Double.doubleToRawLongBits(0.75);
            case FLOAT16, BFLOAT16, FLOAT32, FLOAT8E4M3, FLOAT8E5M2 -> Float.floatToRawIntBits(0.75f);
            default -> 3;
        };
    }

    /** Ordinary numbers: neither NaN nor infinite, few subnormals. */
    private static void fill(DataType type, MemorySegment segment, int seed) {
        Random random = new Random(seed);
        long count = segment.byteSize() / type.bytes();
        for (long i = 0; i < count; i++) {
            float value = random.nextFloat(-2, 2);
            switch (type) {
                case FLOAT32 -> segment.setAtIndex(ValueLayout.JAVA_FLOAT, i, value);
                case FLOAT64 -> segment.setAtIndex(ValueLayout.JAVA_DOUBLE, i, value);
                case FLOAT16 -> segment.setAtIndex(ValueLayout.JAVA_SHORT, i, Float.floatToFloat16(value));
                case BFLOAT16 ->
                    segment.setAtIndex(ValueLayout.JAVA_SHORT, i, (short) (Float.floatToRawIntBits(value) >>> 16));
                case FLOAT8E4M3, FLOAT8E5M2 ->
                    segment.setAtIndex(
                            ValueLayout.JAVA_BYTE, i, (byte) (1 + random.nextInt(0x70) | random.nextInt(2) << 7));
                case INT8, UINT8 -> segment.setAtIndex(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
                case INT16, UINT16 -> segment.setAtIndex(ValueLayout.JAVA_SHORT, i, (short) random.nextInt());
                case INT32, UINT32 -> segment.setAtIndex(ValueLayout.JAVA_INT, i, random.nextInt());
                case INT64, UINT64 -> segment.setAtIndex(ValueLayout.JAVA_LONG, i, random.nextLong());
            }
        }
    }

    private static Object array(DataType type, int count) {
        return switch (type) {
            case FLOAT32 -> new float[count];
            case FLOAT64 -> new double[count];
            case INT32, UINT32 -> new int[count];
            case INT64, UINT64 -> new long[count];
            case FLOAT16, BFLOAT16, INT16, UINT16 -> new short[count];
            case INT8, UINT8, FLOAT8E4M3, FLOAT8E5M2 -> new byte[count];
        };
    }

    private static MemorySegment segment(Object array) {
        return switch (array) {
            case float[] floats -> MemorySegment.ofArray(floats);
            case double[] doubles -> MemorySegment.ofArray(doubles);
            case int[] ints -> MemorySegment.ofArray(ints);
            case long[] longs -> MemorySegment.ofArray(longs);
            case short[] shorts -> MemorySegment.ofArray(shorts);
            case byte[] bytes -> MemorySegment.ofArray(bytes);
            default -> throw new IllegalArgumentException(array.getClass().getName());
        };
    }
}
