package dev.tutti.semantics;

import static dev.tutti.semantics.Outcomes.thrownBy;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.AbortedException;
import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.Prepared;
import dev.tutti.ReduceOp;
import dev.tutti.Work;
import dev.tutti.World;
import dev.tutti.processes.TestWorld;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No operation touches memory that has gone, and none keeps others from letting theirs go. */
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class MemorySafetyTest {
    private static Object run(Runnable action) {
        action.run();
        return null;
    }

    private static void assertUsable(Communicator comm) {
        int[] one = {1};
        comm.allReduce(one, ReduceOp.SUM);
        assertThat(one).containsExactly(comm.size());
    }

    @Test
    void shouldRefuseMemoryWhoseArenaHasBeenClosed() {
        TestWorld.of(2).run(comm -> {
            List<Arena> arenas = List.of(Arena.ofShared(), Arena.ofConfined());
            for (Arena arena : arenas) {
                MemorySegment segment = arena.allocate(64, 8);
                Buffer buffer = Buffer.of(segment, DataType.INT32);
                arena.close();
                assertThat(thrownBy(() -> run(() -> comm.allReduce(segment, DataType.INT32, ReduceOp.SUM))))
                        .isInstanceOf(IllegalStateException.class);
                assertThat(thrownBy(() -> run(() -> comm.allReduce(buffer, ReduceOp.SUM))))
                        .isInstanceOf(IllegalStateException.class);
                assertThat(thrownBy(() -> comm.allReduceAsync(buffer, ReduceOp.SUM)))
                        .isInstanceOf(IllegalStateException.class);
                assertThat(thrownBy(() -> run(() -> comm.send(buffer, 0, 0))))
                        .isInstanceOf(IllegalStateException.class);
            }
            assertUsable(comm);
        });
    }

    @Test
    void shouldLookAtTheArenaOfAPreparedOperationAtEachStart() {
        TestWorld.of(2).run(comm -> {
            Prepared prepared;
            try (Arena arena = Arena.ofShared()) {
                prepared = comm.prepareAllReduce(Buffer.of(arena.allocate(64, 8), DataType.INT32), ReduceOp.SUM);
                prepared.run();
                prepared.start().await();
            }
            assertThat(thrownBy(() -> run(prepared::run))).isInstanceOf(IllegalStateException.class);
            assertThat(thrownBy(prepared::start)).isInstanceOf(IllegalStateException.class);
            assertThat(thrownBy(() -> run(prepared::run))).isInstanceOf(IllegalStateException.class);
            assertUsable(comm);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"blocking", "started"})
    void shouldAbortWithTheCauseWhenAnArenaIsClosedDuringTheOperation(String form) throws Exception {
        try (World world = World.local(3).open()) {
            Communicator[] comms = {world.communicator(0), world.communicator(1), world.communicator(2)};
            Arena arena = Arena.ofShared();
            Buffer closing = Buffer.of(arena.allocate(4L << 20, 64), DataType.INT32);
            Blocked inside = Blocked.in(() -> {
                if (form.equals("blocking")) {
                    comms[0].allReduce(closing, ReduceOp.SUM);
                } else {
                    comms[0].allReduceAsync(closing, ReduceOp.SUM).await();
                }
            });
            Blocked peer = Blocked.in(() -> comms[1].allReduce(new int[1 << 20], ReduceOp.SUM));
            arena.close();
            Throwable last = thrownBy(() -> run(() -> comms[2].allReduce(new int[1 << 20], ReduceOp.SUM)));
            assertThat(inside.thrown()).isInstanceOf(IllegalStateException.class);
            for (Throwable thrown : new Throwable[] {peer.thrown(), last}) {
                assertThat(thrown)
                        .isInstanceOf(AbortedException.class)
                        .hasMessageContainingAll("operation #1 on 'world' failed on rank 0")
                        .hasRootCauseInstanceOf(IllegalStateException.class);
            }
        }
    }

    @Test
    void shouldUseConfinedMemoryOnlyInBlockingCallsOfItsOwner() throws Exception {
        TestWorld.of(2).run(comm -> {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment segment = arena.allocate(4096, 8);
                segment.setAtIndex(JAVA_INT, 7, 5);
                Buffer buffer = Buffer.of(segment, DataType.INT32);
                comm.allReduce(buffer, ReduceOp.SUM);
                assertThat(segment.getAtIndex(JAVA_INT, 7)).isEqualTo(10);
                assertThat(thrownBy(() -> comm.allReduceAsync(buffer, ReduceOp.SUM)))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("confined");
                assertThat(thrownBy(() -> comm.prepareAllReduce(buffer, ReduceOp.SUM)))
                        .isInstanceOf(IllegalArgumentException.class);
                assertThat(thrownBy(() -> comm.sendAsync(buffer, 0, 0))).isInstanceOf(IllegalArgumentException.class);
                Blocked other = Blocked.in(() -> comm.allReduce(buffer, ReduceOp.SUM));
                assertThat(other.thrown())
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("another thread");
            }
            assertUsable(comm);
        });
    }

    /**
     * What was started before runs first, on whichever thread; the confined memory of the call behind it is still its
     * owner's.
     */
    @Test
    void shouldRunConfinedMemoryBehindAStartedOperation() {
        TestWorld.of(2).run(comm -> {
            for (int i = 0; i < 200; i++) {
                try (Arena arena = Arena.ofConfined()) {
                    MemorySegment segment = arena.allocate(4096, 8);
                    segment.setAtIndex(JAVA_INT, 7, i);
                    Work before = comm.allReduceAsync(Buffer.of(new int[3_000]), ReduceOp.SUM);
                    comm.allReduce(segment, DataType.INT32, ReduceOp.SUM);
                    assertThat(segment.getAtIndex(JAVA_INT, 7)).isEqualTo(2 * i);
                    before.await();
                }
            }
        });
    }

    @Test
    void shouldRefuseToWriteReadOnlyMemory() {
        TestWorld.of(2).run(comm -> {
            MemorySegment memory = MemorySegment.ofArray(new int[] {1, 2});
            Buffer readOnly = Buffer.of(memory.asReadOnly(), DataType.INT32);
            assertThat(thrownBy(() -> run(() -> comm.allReduce(readOnly, ReduceOp.SUM))))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("read-only");
            assertThat(thrownBy(() -> run(() -> comm.allGather(readOnly))))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThat(thrownBy(() -> comm.recvAsync(readOnly, 0, 0))).isInstanceOf(IllegalArgumentException.class);
            int[] out = new int[2];
            comm.allReduce(readOnly, Buffer.of(out), ReduceOp.SUM);
            assertThat(out).containsExactly(2, 4);
        });
    }

    @Test
    void shouldWaitForStartedOperationsWhenABufferIsClosed() throws Exception {
        try (World world = World.local(2).open()) {
            Communicator comm = world.communicator(0);
            Buffer buffer = comm.allocate(DataType.INT32, 100);
            Work work = comm.allReduceAsync(buffer, ReduceOp.SUM);
            Blocked closing = Blocked.in(buffer::close);
            assertThat(closing.isAlive()).isTrue();
            assertThat(thrownBy(() -> comm.allReduceAsync(buffer, ReduceOp.SUM)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("this buffer, 400 bytes of rank 0, has been closed: take another from comm.allocate");
            Communicator other = world.communicator(1);
            other.allReduce(other.allocate(DataType.INT32, 100), ReduceOp.SUM);
            work.await();
            assertThat(closing.thrown()).isNull();
            buffer.close();
            assertThat(buffer.segment().scope().isAlive()).isFalse();
        }
    }

    @Test
    void shouldWaitForABlockingCallWhenABufferIsClosed() throws Exception {
        try (World world = World.local(2).open()) {
            Communicator comm = world.communicator(0);
            Buffer buffer = comm.allocate(DataType.INT32, 100);
            Blocked inside = Blocked.in(() -> comm.allReduce(List.of(buffer), ReduceOp.SUM));
            Blocked closing = Blocked.in(buffer.slice(3, 4)::close);
            assertThat(closing.isAlive()).isTrue();
            world.communicator(1).allReduce(new int[100], ReduceOp.SUM);
            assertThat(inside.thrown()).isNull();
            assertThat(closing.thrown()).isNull();
        }
    }

    /** Others may be waiting for the very rank that closes. */
    @Test
    void shouldNotWaitForOperationsOnOtherMemoryWhenABufferIsClosed() throws Exception {
        try (World world = World.local(2).open()) {
            Communicator[] comms = {world.communicator(0), world.communicator(1)};
            Buffer buffer = comms[1].allocate(DataType.INT32, 100);
            Blocked waiting = Blocked.in(comms[0]::barrier);
            buffer.close();
            assertThat(waiting.isAlive()).isTrue();
            comms[1].barrier();
            assertThat(waiting.thrown()).isNull();
        }
    }

    @Test
    void shouldRefuseAClosedBufferAndLeaveTheOthersOfItsListFree() {
        TestWorld.of(2).run(comm -> {
            Buffer open = comm.allocate(DataType.INT32, 4);
            Buffer closed = comm.allocate(DataType.INT32, 4);
            closed.close();
            assertThat(thrownBy(() -> comm.allReduceAsync(List.of(open, closed), ReduceOp.SUM)))
                    .isInstanceOf(IllegalStateException.class);
            assertThat(thrownBy(() -> run(() -> comm.allReduce(closed, ReduceOp.SUM))))
                    .isInstanceOf(IllegalStateException.class);
            open.close();
            assertUsable(comm);
        });
    }

    @Test
    void shouldNotMindThatAListChangesAfterTheStart() {
        TestWorld.Latch changed = TestWorld.latch(2);
        TestWorld.of(2).run(comm -> {
            Buffer buffer = comm.allocate(DataType.INT32, 4);
            List<Buffer> buffers = new ArrayList<>(List.of(buffer, Buffer.of(new int[] {1})));
            if (comm.rank() == 1) {
                changed.await();
            }
            Work work = comm.allReduceAsync(buffers, ReduceOp.SUM);
            buffers.clear();
            changed.countDown();
            changed.countDown();
            work.await();
            buffer.close();
        });
    }
}
