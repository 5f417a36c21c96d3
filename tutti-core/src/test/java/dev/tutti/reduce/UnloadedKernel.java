package dev.tutti.reduce;

import com.sun.management.ThreadMXBean;
import dev.tutti.DataType;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Random;
import javax.management.ObjectName;

/** What {@link UnloadedKernelTest} runs in a JVM of its own, whose collections unload code soon. */
final class UnloadedKernel {
    private static final String COMPILED = "NativeFloat32.sum2(";
    private static final int COLLECTIONS = 100;
    private static final int CALLS = 300;
    private static final int COUNT = 4096;

    private static volatile int sink;

    private UnloadedKernel() {}

    public static void main(String[] args) throws Throwable {
        int kernel = Kernels.id(DataType.FLOAT32, Fold.SUM);
        Kernels.warm(2, kernel);
        System.out.println("trained: " + Kernels.awaitWarm(Duration.ofSeconds(30)));
        int collections = 0;
        while (isCompiled() && collections < COLLECTIONS) {
            heat();
            System.gc();
            collections++;
        }
        System.out.println("after " + collections + " collections compiled: " + isCompiled());
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (Arena arena = Arena.ofConfined()) {
            long[] addresses = new Sources(DataType.FLOAT32, 3, arena, new Random(1)).addresses;
            long before = threads.getCurrentThreadAllocatedBytes();
            long start = System.nanoTime();
            for (int i = 0; i < CALLS; i++) {
                Kernels.reduce(kernel, addresses, 0, 2, 0, addresses[2], COUNT, 0, -1);
            }
            long nanos = System.nanoTime() - start;
            System.out.println("allocated: " + (threads.getCurrentThreadAllocatedBytes() - before));
            System.out.println("took: " + nanos / 1000 + " us");
        }
        System.out.println("trained again: " + Kernels.awaitWarm(Duration.ofSeconds(30)));
    }

    /** Has something new compiled: while nothing is, a collector keeps what nobody enters. */
    private static void heat() throws Throwable {
        try (InputStream in = Heater.class.getResourceAsStream("UnloadedKernel$Heater.class")) {
            Class<?> copy = MethodHandles.lookup()
                    .defineHiddenClass(in.readAllBytes(), true)
                    .lookupClass();
            MethodHandle heat =
                    MethodHandles.lookup().findStatic(copy, "heat", MethodType.methodType(int.class, int.class));
            int sum = 0;
            for (int i = 0; i < 20_000; i++) {
                sum += (int) heat.invoke(i);
            }
            sink = sum;
        }
    }

    private static boolean isCompiled() throws Exception {
        Object list = ManagementFactory.getPlatformMBeanServer()
                .invoke(new ObjectName("com.sun.management:type=DiagnosticCommand"), "compilerCodelist", null, null);
        return list.toString().contains(COMPILED);
    }

    static final class Heater {
        private Heater() {}

        static int heat(int seed) {
            int sum = seed;
            for (int i = 0; i < 10; i++) {
                sum = sum * 31 + Integer.rotateLeft(sum, i);
            }
            return sum;
        }
    }
}
