package dev.tutti.cli.plan;

import dev.tutti.AbortedException;
import dev.tutti.Collective;
import dev.tutti.DataType;
import dev.tutti.algorithm.Algorithms;
import dev.tutti.channel.Board;
import dev.tutti.exec.Call;
import dev.tutti.exec.Endpoint;
import dev.tutti.exec.Execution;
import dev.tutti.exec.PlanContext;
import dev.tutti.exec.PlanExchange;
import dev.tutti.plan.Plan;
import dev.tutti.plan.Protocol;
import dev.tutti.spi.RegionLayout;
import dev.tutti.transport.local.LocalTransport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Ranks that are threads, each with its own context of one plan, and nothing between the plan and them. */
final class TrialRanks {
    private static final long SCRATCH = 64 << 10;

    /** One rank. */
    static final class Seat {
        final int rank;
        final Endpoint endpoint;
        private final Execution execution;
        private final PlanExchange exchange;
        private final Call call;
        private @Nullable PlanContext context;

        Seat(int rank, int size, Endpoint endpoint, Duration timeout) {
            this.rank = rank;
            this.endpoint = endpoint;
            this.execution = new Execution(
                    endpoint,
                    asked -> Algorithms.find(asked.collective(), "one-shot", Protocol.SIMPLE)
                            .orElseThrow()
                            .plan(size, 0, 1));
            this.exchange = new PlanExchange(execution, size, timeout.toNanos());
            this.call = new Call().of(Collective.BARRIER, DataType.INT8, null, 0, 0);
            this.call.timeoutNanos(timeout.toNanos());
        }

        PlanContext context() {
            return Objects.requireNonNull(context);
        }

        /** Waits for all other ranks. */
        void meet() {
            exchange.allGather(0);
        }

        /** Runs one launch. */
        void launch(long[] inputs, long[] outputs) {
            execution.announce(call);
            context().run(inputs, outputs);
        }
    }

    /** What a rank does. */
    interface Body {
        void run(Seat seat) throws Exception;
    }

    final List<Seat> seats = new ArrayList<>();
    private final String name;

    TrialRanks(Plan plan, Duration timeout) {
        int size = plan.ranks();
        this.name = plan.name();
        LocalTransport transport = new LocalTransport(size);
        RegionLayout layout = new RegionLayout(size, 1, SCRATCH, SCRATCH * Math.max(1, size / 8));
        int[] everybody = IntStream.range(0, size).toArray();
        for (int rank = 0; rank < size; rank++) {
            Endpoint endpoint =
                    new Endpoint(transport.join(1, rank, everybody, layout), name, rank, size, 0, Long.MAX_VALUE);
            seats.add(new Seat(rank, size, endpoint, timeout));
        }
        run(seat -> seat.context = new PlanContext(
                plan,
                seat.endpoint,
                bytes -> transport.allocate(seat.rank, bytes),
                seat.exchange,
                PlanContext.SCRATCH_BYTES));
    }

    /** Runs a body on every rank, each in its own thread; throws what the first to fail threw. */
    void run(Body body) {
        ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
        List<Thread> threads = new ArrayList<>();
        for (Seat seat : seats) {
            threads.add(Thread.ofPlatform()
                    .name(name + "-" + seat.rank)
                    .daemon()
                    .start(() -> {
                        try {
                            body.run(seat);
                        } catch (Throwable thrown) {
                            failures.add(thrown);
                            seat.endpoint
                                    .board()
                                    .abort(Board.Reason.ABORTED, "rank " + seat.rank + " failed: " + thrown, thrown);
                        }
                    }));
        }
        for (Thread thread : threads) {
            join(thread);
        }
        Throwable first = failures.peek();
        if (first instanceof RuntimeException unchecked) {
            throw unchecked;
        }
        if (first instanceof Error error) {
            throw error;
        }
        if (first != null) {
            throw new AbortedException("a rank failed: " + first, first);
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new AbortedException("interrupted", interrupted);
        }
    }
}
