package dev.tutti.exec;

import dev.tutti.Config;
import dev.tutti.plan.Plan;
import dev.tutti.spi.RegionLayout;
import dev.tutti.transport.local.LocalTransport;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Executors of several ranks without a communicator around them, so that a test can choose the plan of every call. */
final class Ranks {
    static final long TIMEOUT_NANOS = Config.fromEnvironment()
            .with(Config.Key.TIMEOUT, System.getProperty("tutti.matrix.timeout", "20s"))
            .duration(Config.Key.TIMEOUT)
            .toNanos();

    private static final LocalTransport TRANSPORT = new LocalTransport(1);

    /** What a rank does. */
    interface Body {
        void run(Rank rank) throws Exception;
    }

    /** One rank's executor. */
    static final class Rank {
        final int rank;
        final Endpoint endpoint;
        final Execution execution;

        Rank(int rank, Endpoint endpoint, Function<Call, Plan> chooser) {
            this.rank = rank;
            this.endpoint = endpoint;
            this.execution = new Execution(endpoint, chooser, bytes -> TRANSPORT.allocate(rank, bytes));
        }

        /** Runs a call as a task in the background would: step by step. */
        void step(Call call) {
            execution.begin(call);
            int moved = Execution.MOVED;
            while (moved != Execution.DONE) {
                moved = execution.advance();
                if (moved == Execution.BLOCKED) {
                    Thread.yield();
                }
            }
        }
    }

    final List<Rank> all = new ArrayList<>();

    Ranks(int size, long scratchBytes, long packetBytes, long firstLaunch, Function<Call, Plan> chooser) {
        LocalTransport transport = new LocalTransport(size);
        RegionLayout layout = new RegionLayout(size, 8, packetBytes, scratchBytes);
        int[] everybody = java.util.stream.IntStream.range(0, size).toArray();
        for (int rank = 0; rank < size; rank++) {
            Endpoint endpoint = new Endpoint(
                    transport.join(1, rank, everybody, layout),
                    "test",
                    rank,
                    size,
                    firstLaunch,
                    TimeUnit.MINUTES.toNanos(1));
            all.add(new Rank(rank, endpoint, chooser));
        }
    }

    /** Runs a body on every rank, each in its own thread; the first failure aborts the others and is thrown. */
    void run(Body body) throws InterruptedException {
        ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
        List<Thread> threads = new ArrayList<>();
        for (Rank rank : all) {
            threads.add(Thread.ofPlatform().name("rank-" + rank.rank).start(() -> {
                try {
                    body.run(rank);
                } catch (Throwable thrown) {
                    failures.add(thrown);
                    rank.endpoint.stall.abort("rank " + rank.rank + " failed: " + thrown, false);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (!failures.isEmpty()) {
            throw new AssertionError("a rank failed: " + failures.peek(), failures.peek());
        }
    }
}
