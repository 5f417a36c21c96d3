package dev.tutti.reduce;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Array;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Trains kernels on scratch memory, on a thread of its own, until they are compiled. Before C2 has compiled it, Vector
 * API code allocates and is a hundred times slower than its scalar twin, so nobody may call it until then.
 *
 * <p>C2 drops what it has not seen happen, and throws the code away when it happens after all; the kernel is then back at its
 * slowest until it has been compiled again, which takes those of 8-bit floats more than a second. So training shows everything that
 * users may come with: all classes first, then sizes, arguments and odd numbers in turn. The thread ends when nothing has been left to train for a while; not at once, because starting it again
 * would cost a caller up to a millisecond on a busy machine.
 */
final class Warmup {
    private static final int SCRATCH_BYTES = 16 << 10;
    /** Random bits, of which small calls see another part each time. */
    private static final int ODD_BYTES = 8 << 10;

    private static final int ODD_PLACES = 499;
    private static final int[] COUNTS = {1, 0, 40, 3, 67, 8, 130, 31, 517, 16};
    /** Per byte of each source. Interpreted vector code takes 50 ns and more; what C2 makes of it, less than 0.1. */
    private static final double FAST_NANOS = 0.15;

    /** The same for 8-bit floats. */
    private static final double FLOAT8_FAST_NANOS = 0.5;

    /** From the second turn on a kernel may take so many times as long as its scalar twin: machines may be slow, but are so at both. */
    private static final double SLACK = 1.25;

    private static final int FAST_ROUNDS = 4;

    /** How often, and how many times, an idle trainer looks for work before it ends. */
    private static final long LOOK_MILLIS = 10;

    private static final int LOOKS = 200;
    /** Enough calls for C2 to have been asked, however slow they are; from then on the trainer leaves the core to it. */
    private static final int ENOUGH_ROUNDS = 80;

    private static final int PAUSE_MILLIS = 2;
    /** A kernel that is not fast so long after that makes way for the others, and comes back after them, so many times. */
    private static final long TURN_NANOS = 1_000_000_000L;

    private static final int TURNS = 10;
    private static final int FACADE_CALLS = 300;

    private static final int HEAP = 1 << 16;
    /** Jobs count in their upper bits the turns that they have had. */
    private static final int TURN = 1 << 20;

    private static final int REPORT = -1;
    private static final int END = -2;

    private static final Object LOCK = new Object();
    private static final ArrayDeque<Integer> QUEUE = new ArrayDeque<>();
    private static boolean running;
    private static boolean idle = true;
    private static boolean reported;
    private static boolean succeeded;
    private static boolean hopeless;

    private Warmup() {}

    /** Asks for a vector kernel, unless somebody has. */
    static void request(boolean heap, int kernel, int sources) {
        synchronized (LOCK) {
            Readiness readiness = heap ? Readiness.HEAP : Readiness.NATIVE;
            int index = Readiness.index(kernel, sources);
            if (!readiness.is(index, Readiness.UNKNOWN)) {
                return;
            }
            if (!Kernels.vectorised() && !reported) {
                reported = true;
                add(REPORT);
            }
            int taken = Math.min(sources, VectorFolds.SLOTS);
            if (!Kernels.vectorised() || !Vectors.exists(kernel, taken)) {
                readiness.set(index, Readiness.NEVER);
                return;
            }
            readiness.set(index, Readiness.REQUESTED);
            add((heap ? HEAP : 0) | kernel << 4 | taken);
        }
    }

    /** Starts the trainer, which a first call would else wait for. */
    static void prepare() {
        synchronized (LOCK) {
            start();
        }
    }

    private static void add(int job) {
        QUEUE.add(job);
        idle = false;
        start();
    }

    /** A running trainer looks by itself: woken from here, it would take this core from its caller. */
    private static void start() {
        if (!running) {
            running = true;
            Thread thread = new Thread(null, new Trainer(), "tutti-warmup", 0, false);
            thread.setDaemon(true);
            thread.start();
        }
    }

    /** Whether all that was asked for is trained (or given up) in time. */
    static boolean await(Duration timeout) throws InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        synchronized (LOCK) {
            while (!idle) {
                long left = deadline - System.nanoTime();
                if (left <= 0) {
                    return false;
                }
                LOCK.wait(left / 1_000_000 + 1);
            }
            return true;
        }
    }

    private static final class Trainer implements Runnable {
        private final long[] code = new long[VectorFolds.SLOTS + 1];
        private final boolean[] linked = new boolean[2 * Codes.TYPES];
        private final long[] odd = new long[VectorFolds.SLOTS];
        private final @Nullable Object[] oddArrays = new Object[Codes.TYPES];
        private long dst;
        private int oddCalls;
        /** Turns that ended without a fast kernel, of all jobs. */
        private int futile;

        @Override
        public void run() {
            try (Arena arena = Arena.ofConfined()) {
                for (int k = 0; k < code.length; k++) {
                    // Not all at the same offset in a page: stores would stall loads from there.
                    code[k] = arena.allocate(SCRATCH_BYTES + 256L * k, 64).address() + 256L * k;
                }
                dst = code[VectorFolds.SLOTS];
                Random random = new Random(1);
                for (int k = 0; k < odd.length; k++) {
                    byte[] bits = new byte[ODD_BYTES];
                    random.nextBytes(bits);
                    odd[k] = arena.allocate(ODD_BYTES)
                            .copyFrom(MemorySegment.ofArray(bits))
                            .address();
                }
                for (int job = next(); job != END; job = next()) {
                    run(job);
                }
            } catch (InterruptedException impossible) {
                throw new AssertionError("nobody has this thread", impossible);
            }
        }

        private static int next() throws InterruptedException {
            synchronized (LOCK) {
                if (QUEUE.isEmpty()) {
                    idle = true;
                    LOCK.notifyAll();
                }
                for (int look = 0; QUEUE.isEmpty() && look < LOOKS; look++) {
                    LOCK.wait(LOOK_MILLIS);
                }
                running = !QUEUE.isEmpty();
                return running ? QUEUE.remove() : END;
            }
        }

        private void run(int job) throws InterruptedException {
            if (job == REPORT) {
                VectorModule.report();
                return;
            }
            boolean heap = (job & HEAP) != 0;
            int kernel = (job & HEAP - 1) >>> 4;
            int turn = job / TURN;
            int sources = job & 15;
            Readiness readiness = heap ? Readiness.HEAP : Readiness.NATIVE;
            int index = Readiness.index(kernel, sources);
            boolean ready = false;
            try {
                ready = !hopeless && train(heap, kernel, sources, turn == 0);
            } catch (LinkageError | RuntimeException e) {
                System.getLogger("dev.tutti").log(System.Logger.Level.WARNING, "A vector kernel does not run", e);
                turn = TURNS;
            }
            succeeded |= ready;
            if (!ready) {
                futile++;
                // Where not even one gets compiled (no C2, say), stop trying.
                hopeless |= !succeeded && futile >= TURNS;
                if (!hopeless && turn + 1 < TURNS) {
                    again(job + TURN);
                    return;
                }
            }
            if (!ready) {
                readiness.set(index, Readiness.NEVER);
                return;
            }
            readiness.settle(index, true);
            for (int i = 0; i < FACADE_CALLS; i++) {
                callFacade(heap, kernel, sources);
            }
        }

        /** So that the façade, too, has seen its branch to vector kernels before C2 compiles it into its callers. */
        private void callFacade(boolean heap, int kernel, int sources) {
            if (heap) {
                Object array = newArray(Codes.type(kernel), 1);
                Kernels.reduceHeap(kernel, array, 0, array, 0, code, 0, sources - 1, 0, 1, 1, 0);
            } else {
                Kernels.reduce(kernel, code, 0, sources, 0, dst, 1, 1, 0);
            }
        }

        private static void again(int job) {
            synchronized (LOCK) {
                QUEUE.add(job);
            }
        }

        /** Whether the kernel was fast before its turn was over. */
        private boolean train(boolean heap, int kernel, int sources, boolean first) throws InterruptedException {
            int type = Codes.type(kernel);
            // Code of 8-bit floats is too large to be unrolled for long loops, and the slowest by far before it is
            // compiled.
            int bytes = Codes.isFloat8(type) ? SCRATCH_BYTES / 4 : SCRATCH_BYTES;
            int large = bytes >> Codes.shift(type);
            Object array = newArray(type, large);
            link(heap, type, array);
            double fastNanos = (Codes.isFloat8(type) ? FLOAT8_FAST_NANOS : FAST_NANOS) * bytes * sources;
            long twinNanos = Long.MAX_VALUE;
            long asked = Long.MAX_VALUE;
            int fast = 0;
            for (int round = 0; fast < FAST_ROUNDS; round++) {
                if (round == ENOUGH_ROUNDS) {
                    asked = System.nanoTime();
                } else if (round > ENOUGH_ROUNDS && fast == 0) {
                    Thread.sleep(PAUSE_MILLIS);
                }
                for (int count : COUNTS) {
                    for (int i = 0; i < 8; i++) {
                        callOddly(heap, kernel, sources, array, count);
                    }
                }
                call(heap, kernel, sources, array, 1, large - 1, round);
                long before = System.nanoTime();
                call(heap, kernel, sources, array, 0, large, round);
                long after = System.nanoTime();
                if (!first) {
                    twinNanos = Math.min(twinNanos, timeTwin(heap, kernel, sources, array, large, round));
                }
                // The twin, too, is compiled by then.
                boolean keepsUp = !first && round > ENOUGH_ROUNDS && after - before < SLACK * twinNanos;
                fast = after - before < fastNanos || keepsUp ? fast + 1 : 0;
                if (round > ENOUGH_ROUNDS && after - asked > TURN_NANOS) {
                    return false;
                }
            }
            return true;
        }

        /**
         * Loads the classes of all vectors, because one that is loaded later invalidates code that was compiled without it; and runs every case
         * of a kernel class's switch, because C2 leaves out those that it has not seen.
         */
        private void link(boolean heap, int type, Object array) {
            int index = type + (heap ? Codes.TYPES : 0);
            if (linked[index]) {
                return;
            }
            linked[index] = true;
            VectorFolds.loadAll();
            int twin = Codes.isInteger(type) ? type ^ 1 : type;
            for (int round = 0; round < 4; round++) {
                for (int fold = 0; fold < Codes.FOLDS; fold++) {
                    for (int sources = 1; sources <= VectorFolds.SLOTS; sources++) {
                        for (int kernel : new int[] {Codes.kernel(type, fold), Codes.kernel(twin, fold)}) {
                            if (Vectors.exists(kernel, sources)) {
                                call(heap, kernel, sources, array, 0, 0, round);
                            }
                        }
                    }
                }
            }
        }

        /** On zeros, the {@code number}-th time. With {@code outAt} 0 the destination is the first source, at the same place. */
        private void call(boolean heap, int kernel, int sources, Object array, int outAt, int count, int number) {
            long aux = aux(kernel, number);
            if (heap) {
                Vectors.reduceHeap(kernel, array, outAt, array, 0, code, 0, sources - 1, 0, count, aux, 0);
            } else {
                Vectors.reduce(kernel, code, 0, sources, 0, dst, count, aux, 0);
            }
        }

        private long timeTwin(boolean heap, int kernel, int sources, Object array, int count, int number) {
            long aux = aux(kernel, number);
            long before = System.nanoTime();
            if (heap) {
                Scalars.reduce(kernel, array, 0, array, 0, code, 0, sources - 1, 0, 0, count, aux, 0);
            } else {
                Scalars.reduce(kernel, null, 0, null, 0, code, 0, sources, 0, dst, count, aux, 0);
            }
            return System.nanoTime() - before;
        }

        /** On whatever numbers there are: infinities, subnormals, what is not a number. */
        private void callOddly(boolean heap, int kernel, int sources, Object array, int count) {
            int place = oddCalls++ % ODD_PLACES;
            long offset = (long) place << Codes.shift(Codes.type(kernel));
            long aux = aux(kernel, place);
            if (heap) {
                Object own = oddArray(Codes.type(kernel));
                int outAt = place & ~2;
                int scaled = place % 2 - 1;
                Vectors.reduceHeap(kernel, array, outAt, own, place, odd, 0, sources - 1, offset, count, aux, scaled);
            } else {
                int scaled = place % (sources + 1) - 1;
                Vectors.reduce(kernel, odd, 0, sources, offset, dst, count, aux, scaled);
            }
        }

        /** Averages over powers of two and over other numbers are different kernels. */
        private static long aux(int kernel, int number) {
            return Codes.fold(kernel) == Codes.AVG ? number % 2 | 2 : 0;
        }

        private Object oddArray(int type) {
            Object array = oddArrays[type];
            if (array == null) {
                int length = ODD_BYTES >> Codes.shift(type);
                array = newArray(type, length);
                // The sum of one source.
                int sum = Codes.kernel(type, Codes.SUM);
                Scalars.reduce(sum, null, 0, array, 0, odd, VectorFolds.SOURCES - 1, 1, 0, 0, length, 0, -1);
                oddArrays[type] = array;
            }
            return array;
        }

        private static Object newArray(int type, int length) {
            return Array.newInstance(Codes.arrayClass(type).getComponentType(), length);
        }
    }
}
