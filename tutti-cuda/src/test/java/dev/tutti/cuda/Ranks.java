package dev.tutti.cuda;

import java.util.ArrayList;
import java.util.List;

/** Threads that are the ranks of a world. */
final class Ranks {
    private Ranks() {}

    interface Body {
        void run(CudaCommunicator comm) throws Exception;
    }

    /** Runs every rank; returns what each threw, or null. */
    static List<Throwable> outcomes(CudaWorld world, Body body) throws InterruptedException {
        Throwable[] thrown = new Throwable[world.size()];
        List<Thread> threads = new ArrayList<>();
        for (int rank = 0; rank < world.size(); rank++) {
            int number = rank;
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    body.run(world.communicator(number));
                } catch (Throwable any) {
                    thrown[number] = any;
                    world.abort("rank " + number + ": " + any);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        return java.util.Arrays.asList(thrown);
    }

    static void run(CudaWorld world, Body body) throws Exception {
        for (Throwable each : outcomes(world, body)) {
            if (each instanceof Exception exception) {
                throw exception;
            }
            if (each instanceof Error error) {
                throw error;
            }
        }
    }
}
