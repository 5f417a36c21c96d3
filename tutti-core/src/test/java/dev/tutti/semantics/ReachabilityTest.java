package dev.tutti.semantics;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.Prepared;
import dev.tutti.ReduceOp;
import dev.tutti.Work;
import dev.tutti.World;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An operation keeps its memory alive until it is over, and not longer. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ReachabilityTest {
    private static final int LARGE = 1 << 20;

    private static boolean isCollected(WeakReference<?> reference) {
        for (int i = 0; i < 50 && reference.get() != null; i++) {
            System.gc();
            Thread.yield();
        }
        return reference.get() == null;
    }

    @Test
    void shouldHoldSegmentsUntilTheWorkIsOver() {
        try (World world = World.local(2).open()) {
            Communicator first = world.communicator(0);
            Communicator second = world.communicator(1);
            WeakReference<MemorySegment> segment = startOnForgottenMemory(first);
            for (int i = 0; i < 5; i++) {
                System.gc();
                assertThat(segment.get()).isNotNull();
            }
            int[] theirs = new int[LARGE];
            second.allReduce(theirs, ReduceOp.SUM);
            assertThat(theirs[LARGE - 1]).isEqualTo(41);
        }
    }

    private static WeakReference<MemorySegment> startOnForgottenMemory(Communicator comm) {
        MemorySegment segment = Arena.ofAuto().allocate(4L * LARGE, 64);
        segment.setAtIndex(JAVA_INT, LARGE - 1, 41);
        comm.allReduceAsync(Buffer.of(segment, DataType.INT32), ReduceOp.SUM);
        return new WeakReference<>(segment);
    }

    @Test
    void shouldLetGoOfMemoryWhenTheOperationIsOver() {
        World.local(2).run(comm -> {
            List<WeakReference<?>> references = new ArrayList<>();
            references.add(blocking(comm));
            references.add(list(comm));
            references.add(started(comm));
            references.add(segment(comm));
            comm.barrier();
            for (int i = 0; i < references.size(); i++) {
                assertThat(isCollected(references.get(i)))
                        .as("memory of call %d is collected", i)
                        .isTrue();
            }
        });
    }

    @Test
    void shouldLetGoOfMemoryOfVirtualThreads() {
        World.local(2).virtualThreads().run(comm -> {
            WeakReference<?> reference = blocking(comm);
            comm.barrier();
            assertThat(isCollected(reference)).isTrue();
        });
    }

    private static WeakReference<?> blocking(Communicator comm) {
        float[] values = new float[LARGE];
        comm.allReduce(values, ReduceOp.SUM);
        return new WeakReference<>(values);
    }

    private static WeakReference<?> list(Communicator comm) {
        float[] values = new float[LARGE];
        comm.allReduce(List.of(Buffer.of(values)), ReduceOp.SUM);
        return new WeakReference<>(values);
    }

    private static WeakReference<?> started(Communicator comm) {
        float[] values = new float[LARGE];
        Work work = comm.allReduceAsync(Buffer.of(values), ReduceOp.SUM);
        work.await();
        return new WeakReference<>(values);
    }

    private static WeakReference<?> segment(Communicator comm) {
        MemorySegment values = Arena.ofAuto().allocate(4L * LARGE, 64);
        comm.allReduce(values, DataType.INT32, ReduceOp.SUM);
        return new WeakReference<>(values);
    }

    /**
     * Staging memory of a small call is replaced when a large one needs more; the small one must not go on with the
     * old.
     */
    @Test
    void shouldNotUseStagingMemoryThatWasReplaced() {
        World.local(2).run(comm -> {
            int[] small = new int[8];
            Prepared prepared = comm.prepareAllReduce(Buffer.of(small), ReduceOp.MAX);
            prepared.run();
            prepared.run();
            comm.allReduce(new int[LARGE], ReduceOp.SUM);
            List<MemorySegment> others = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                System.gc();
                for (int k = 0; k < 64; k++) {
                    others.add(Arena.ofAuto().allocate(4096, 4096).fill((byte) 0xA5));
                }
            }
            MemorySegment untouched = Arena.ofAuto().allocate(4096).fill((byte) 0xA5);
            small[3] = comm.rank() + 1;
            prepared.run();
            prepared.run();
            assertThat(small[3]).isEqualTo(2);
            for (MemorySegment other : others) {
                assertThat(other.mismatch(untouched)).isEqualTo(-1);
            }
        });
    }
}
