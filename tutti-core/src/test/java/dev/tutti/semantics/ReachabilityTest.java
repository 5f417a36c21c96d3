package dev.tutti.semantics;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.Prepared;
import dev.tutti.ReduceOp;
import dev.tutti.World;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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

    /** Uses memory that is larger than what may be kept until the next call, and forgets it. */
    private enum Use {
        BLOCKING {
            @Override
            Object on(Communicator comm) {
                float[] values = new float[LARGE];
                comm.allReduce(values, ReduceOp.SUM);
                return values;
            }
        },
        LIST {
            @Override
            Object on(Communicator comm) {
                float[] values = new float[LARGE];
                comm.allReduce(List.of(Buffer.of(values)), ReduceOp.SUM);
                return values;
            }
        },
        STARTED {
            @Override
            Object on(Communicator comm) {
                float[] values = new float[LARGE];
                comm.allReduceAsync(Buffer.of(values), ReduceOp.SUM).await();
                return values;
            }
        },
        PREPARED {
            @Override
            Object on(Communicator comm) {
                float[] values = new float[LARGE];
                comm.prepareAllReduce(Buffer.of(values), ReduceOp.SUM).run();
                return values;
            }
        },
        PREPARED_AND_STARTED {
            @Override
            Object on(Communicator comm) {
                float[] values = new float[LARGE];
                comm.prepareAllReduce(Buffer.of(values), ReduceOp.SUM).start().await();
                return values;
            }
        },
        SEGMENT {
            @Override
            Object on(Communicator comm) {
                MemorySegment values = Arena.ofAuto().allocate(4L * LARGE, 64);
                comm.allReduce(values, DataType.INT32, ReduceOp.SUM);
                return values;
            }
        },
        GATHERED {
            @Override
            Object on(Communicator comm) {
                float[] values = new float[LARGE];
                comm.allGather(new float[LARGE / 2], values);
                return values;
            }
        },
        RAGGED {
            @Override
            Object on(Communicator comm) {
                float[] values = new float[LARGE];
                long[] counts = {1, LARGE - 1};
                comm.allGatherV(Buffer.of(new float[(int) counts[comm.rank()]]), Buffer.of(values), counts, null);
                return values;
            }
        },
        EXCHANGED {
            @Override
            Object on(Communicator comm) {
                float[] values = new float[LARGE];
                long[] counts = {LARGE / 2, LARGE / 2};
                comm.allToAllV(Buffer.of(values), counts, null, Buffer.of(new float[LARGE]), counts, null);
                return values;
            }
        },
        SENT {
            @Override
            Object on(Communicator comm) {
                float[] values = new float[LARGE];
                if (comm.rank() == 0) {
                    comm.send(Buffer.of(values), 1, 5);
                } else {
                    comm.recv(Buffer.of(values), 0, 5);
                }
                return values;
            }
        },
        SENT_BOTH_WAYS {
            @Override
            Object on(Communicator comm) {
                float[] values = new float[LARGE];
                int other = 1 - comm.rank();
                comm.sendRecv(Buffer.of(new float[LARGE]), other, 5, Buffer.of(values), other, 5);
                return values;
            }
        };

        abstract Object on(Communicator comm);
    }

    @ParameterizedTest
    @EnumSource
    void shouldLetGoOfMemoryWhenTheOperationIsOver(Use use) {
        World.local(2)
                .run(comm -> assertThat(isCollected(new WeakReference<>(use.on(comm))))
                        .isTrue());
    }

    @ParameterizedTest
    @EnumSource
    void shouldLetGoOfMemoryOfVirtualThreads(Use use) {
        World.local(2)
                .virtualThreads()
                .run(comm -> assertThat(isCollected(new WeakReference<>(use.on(comm))))
                        .isTrue());
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
