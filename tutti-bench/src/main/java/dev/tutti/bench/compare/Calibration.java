package dev.tutti.bench.compare;

import dev.tutti.memory.Memory;
import java.lang.foreign.Arena;

/**
 * How long a cache line takes to another core and back, now. On a virtual machine that changes within seconds, and small messages
 * with it: a round before and after which it differs says little.
 */
final class Calibration {
    private static final int TRIPS = 4000;
    private static final int BATCHES = 5;

    private final long lines = Arena.global().allocate(512, 128).address();
    private long next;

    /** Nanoseconds of a round trip between two threads: the best of a few batches. */
    double roundTripNanos() {
        long first = next;
        next += (long) TRIPS * BATCHES;
        Thread other = Thread.ofPlatform().daemon().start(() -> echo(first));
        double best = Double.MAX_VALUE;
        for (int batch = 0; batch < BATCHES; batch++) {
            long start = System.nanoTime();
            send(first + (long) batch * TRIPS);
            best = Math.min(best, (System.nanoTime() - start) / (double) TRIPS);
        }
        try {
            other.join();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        return best;
    }

    private void send(long first) {
        for (long i = first + 1; i <= first + TRIPS; i++) {
            Memory.putLongRelease(lines, i);
            await(lines + 256, i);
        }
    }

    private void echo(long first) {
        for (long i = first + 1; i <= first + (long) TRIPS * BATCHES; i++) {
            await(lines, i);
            Memory.putLongRelease(lines + 256, i);
        }
    }

    /** Yields now and then: both threads may have been put on one core. */
    private static void await(long address, long value) {
        int spins = 0;
        while (Memory.getLongAcquire(address) != value) {
            if (++spins % 5000 == 0) {
                Thread.yield();
            } else {
                Thread.onSpinWait();
            }
        }
    }
}
