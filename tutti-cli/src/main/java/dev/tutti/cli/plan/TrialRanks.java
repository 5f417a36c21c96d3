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
import dev.tutti.spi.Allocation;
import dev.tutti.spi.Fabric;
import dev.tutti.spi.RegionLayout;
import dev.tutti.spi.Transport;
import dev.tutti.transport.local.LocalTransport;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Ranks with a context each of one plan, and nothing between the plan and them: threads of this process, or this process's share of ranks
 * that are processes.
 */
final class TrialRanks implements AutoCloseable {
    private static final long SCRATCH = 64 << 10;

    /** One rank of this process. */
    static final class Seat implements AutoCloseable {
        final int rank;
        final Endpoint endpoint;
        private final Transport transport;
        private final Execution execution;
        private final PlanExchange exchange;
        private final Call call;
        private final List<Allocation> memory = new ArrayList<>();
        private @Nullable PlanContext context;

        /** All ranks take their seats together; {@code id} names what they sit down to. */
        Seat(Transport transport, long id, String name, int rank, int size, Duration timeout) {
            this.rank = rank;
            this.transport = transport;
            RegionLayout layout = new RegionLayout(size, 1, SCRATCH, SCRATCH * Math.max(1, size / 8));
            int[] everybody = IntStream.range(0, size).toArray();
            this.endpoint =
                    new Endpoint(transport.join(id, rank, everybody, layout), name, rank, size, 0, Long.MAX_VALUE);
            this.execution = new Execution(
                    endpoint,
                    asked -> Algorithms.find(asked.collective(), "one-shot", Protocol.SIMPLE)
                            .orElseThrow()
                            .plan(size, 0, 1));
            // Whoever meets waits longer than whoever is stuck, so that the one that is stuck says so.
            this.exchange = new PlanExchange(execution, size, 2 * timeout.toNanos());
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

        /** Waits for all other ranks; whether any of them says so. */
        boolean anybody(boolean says) {
            for (long each : exchange.allGather(says ? 1 : 0)) {
                if (each != 0) {
                    return true;
                }
            }
            return false;
        }

        /** Memory that all ranks can reach, until it is given back. */
        MemorySegment allocate(long bytes) {
            Allocation allocation = transport.allocate(rank, bytes);
            memory.add(allocation);
            return allocation.memory();
        }

        /** Gives back what was allocated; no rank may use it any more. */
        void giveBack() {
            memory.forEach(Allocation::free);
            memory.clear();
        }

        /** Waits for all other ranks; where everybody's memory is in this process. */
        long[] everybodys(MemorySegment mine) {
            Fabric fabric = endpoint.fabric();
            long[] addresses = exchange.allGather(fabric.location(mine.address(), mine.byteSize()));
            for (int peer = 0; peer < addresses.length; peer++) {
                addresses[peer] = fabric.address(peer, addresses[peer]);
            }
            return addresses;
        }

        /** Runs one launch. */
        void launch(long[] inputs, long[] outputs) {
            execution.announce(call);
            context().run(inputs, outputs);
        }

        /** Nobody is in a launch any more. */
        @Override
        public void close() {
            giveBack();
            if (context != null) {
                context.free();
            }
            endpoint.fabric().release();
        }
    }

    /** What a rank does. */
    interface Body {
        void run(Seat seat) throws Exception;
    }

    final List<Seat> seats = new ArrayList<>();
    private final String name;

    /** All ranks are threads of this process. */
    TrialRanks(Plan plan, Duration timeout) {
        this(
                plan,
                timeout,
                new LocalTransport(plan.ranks()),
                1,
                IntStream.range(0, plan.ranks()).toArray());
    }

    /** These ranks are in this process; all processes do so together. */
    TrialRanks(Plan plan, Duration timeout, Transport transport, long id, int... here) {
        this.name = plan.name();
        for (int rank : here) {
            seats.add(new Seat(transport, id, name, rank, plan.ranks(), timeout));
        }
        run(seat -> seat.context = new PlanContext(
                plan,
                seat.endpoint,
                bytes -> transport.allocate(seat.rank, bytes),
                seat.exchange,
                PlanContext.SCRATCH_BYTES));
    }

    /** Runs a body on every rank of this process, each in its own thread; throws what the first to fail threw. */
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

    /** No rank is in a launch any more. */
    @Override
    public void close() {
        seats.forEach(Seat::close);
    }
}
