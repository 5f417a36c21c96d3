package dev.tutti.reduce;

import dev.tutti.DataType;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.Random;

/** What {@link WithoutVectorModuleTest} runs in a JVM of its own. */
final class ScalarOnly {
    private ScalarOnly() {}

    public static void main(String[] args) throws InterruptedException {
        if (Kernels.vectorised()) {
            throw new AssertionError("the Vector API is there");
        }
        System.out.println("cause: " + Kernels.unavailabilityCause());
        Kernels.prepare();
        for (DataType type : DataType.values()) {
            for (Fold fold : KernelsTest.folds(type)) {
                check(type, fold);
                Kernels.warm(2, Kernels.id(type, fold));
            }
        }
        System.out.println("idle: " + Kernels.awaitWarm(Duration.ofSeconds(30)));
    }

    private static void check(DataType type, Fold fold) {
        Random random = new Random(1);
        int kernel = Kernels.id(type, fold);
        try (Arena arena = Arena.ofConfined()) {
            Sources sources = new Sources(type, 4, arena, random);
            long aux = Sources.aux(type, fold, 3, random);
            long dst = sources.addresses[3];
            for (int count : new int[] {1, 17, 1000}) {
                Kernels.reduce(kernel, sources.addresses, 0, 3, 0, dst, count, aux, 1);
                for (int i = 0; i < count; i++) {
                    long[] elements = new long[3];
                    for (int k = 0; k < 3; k++) {
                        elements[k] = Sources.get(type, sources.addresses[k] + (long) i * type.bytes());
                    }
                    long expected = Numbers.fold(type, fold, elements, aux, 1);
                    long actual = Sources.get(type, dst + (long) i * type.bytes());
                    if (!Numbers.same(type, expected, actual)) {
                        throw new AssertionError(type + " " + fold + " element " + i);
                    }
                }
            }
        }
    }
}
