package dev.tutti.semantics;

import static dev.tutti.semantics.Outcomes.thrownBy;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.AbortedException;
import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.Group;
import dev.tutti.PeerFailedException;
import dev.tutti.Prepared;
import dev.tutti.ReduceFunction;
import dev.tutti.ReduceOp;
import dev.tutti.TuttiException;
import dev.tutti.Work;
import dev.tutti.World;
import dev.tutti.processes.TestWorld;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** ACTIVE, then ABORTED with one first cause, then CLOSED. */
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class StatesTest {
    /** One of each kind of call. */
    private static Map<String, Callable<?>> calls(Communicator comm, Prepared prepared) {
        Buffer buffer = Buffer.of(new int[4]);
        Map<String, Callable<?>> calls = new LinkedHashMap<>();
        calls.put("blocking", () -> run(() -> comm.allReduce(buffer, ReduceOp.SUM)));
        calls.put("barrier", () -> run(comm::barrier));
        calls.put(
                "started",
                () -> run(() -> comm.allReduceAsync(buffer, ReduceOp.SUM).await()));
        calls.put("prepared run", () -> run(prepared::run));
        calls.put("prepared start", () -> run(() -> prepared.start().await()));
        calls.put(
                "group",
                () -> run(() -> {
                    try (Group group = comm.world().group()) {
                        group.broadcast(comm, buffer, 0);
                    }
                }));
        calls.put("split", () -> comm.split(0, 0));
        calls.put("dup", comm::dup);
        calls.put("send", () -> run(() -> comm.send(buffer, 0, 0)));
        calls.put("recv", () -> comm.recv(buffer, 0, 0));
        calls.put("bytes", () -> comm.allGatherBytes(new byte[3]));
        return calls;
    }

    private static Object run(Runnable action) {
        action.run();
        return null;
    }

    @Test
    void shouldThrowTheFirstCauseFromEveryCallAfterAnAbort() {
        TestWorld.Latch aborted = TestWorld.latch(1);
        Outcomes outcomes = Outcomes.of(3, comm -> {
            Prepared prepared = comm.prepareAllReduce(Buffer.of(new int[4]), ReduceOp.SUM);
            prepared.run();
            if (comm.rank() == 1) {
                comm.abort("loss is NaN");
                comm.abort("a second reason");
                aborted.countDown();
            }
            aborted.await();
            calls(comm, prepared)
                    .forEach((name, call) -> assertThat(thrownBy(call))
                            .as(name)
                            .isInstanceOf(AbortedException.class)
                            .hasMessageContainingAll("rank 1", "'world'", "loss is NaN"));
            comm.close();
            comm.close();
        });
        outcomes.assertNone();
    }

    @Test
    void shouldEndWaitingRanksWhenOneAborts() {
        TestWorld.Latch started = TestWorld.latch(1);
        Outcomes outcomes = Outcomes.of(3, comm -> {
            if (comm.rank() == 2) {
                started.await();
                comm.abort("enough");
                comm.barrier();
            } else {
                Work work = comm.barrierAsync();
                started.countDown();
                work.await();
            }
        });
        outcomes.assertAll(AbortedException.class, "rank 2 gave up on 'world': enough");
    }

    @Test
    void shouldRefuseUseAfterClose() {
        TestWorld.of(2).run(comm -> {
            Prepared prepared = comm.prepareAllReduce(Buffer.of(new int[4]), ReduceOp.SUM);
            comm.barrier();
            comm.close();
            comm.close();
            calls(comm, prepared).forEach((name, call) -> {
                Throwable thrown = thrownBy(call);
                assertThat(thrown).as(name).isInstanceOf(TuttiException.class).hasMessageContaining("closed");
                assertThat(((TuttiException) thrown).category()).as(name).isEqualTo(TuttiException.Category.USAGE);
            });
        });
    }

    @Test
    void shouldRefuseUseAfterCloseWhenItWasAborted() {
        TestWorld.of(1).run(comm -> {
            comm.abort("over");
            comm.close();
            Throwable thrown = thrownBy(() -> run(comm::barrier));
            assertThat(((TuttiException) thrown).category()).isEqualTo(TuttiException.Category.USAGE);
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldEndEverythingWhenClosedDuringAnOperation(boolean started) throws Exception {
        try (World world = World.local(3).open()) {
            Communicator[] comms = {world.communicator(0), world.communicator(1), world.communicator(2)};
            Blocked inside = Blocked.in(() -> {
                if (started) {
                    comms[0].barrierAsync().await();
                } else {
                    comms[0].barrier();
                }
            });
            Blocked peer = Blocked.in(comms[1]::barrier);
            comms[0].close();
            assertThat(inside.thrown()).isInstanceOf(TuttiException.class).hasMessageContaining("closed");
            assertThat(peer.thrown())
                    .isInstanceOf(AbortedException.class)
                    .hasMessageContainingAll("rank 0", "closed during an operation");
            assertThat(thrownBy(() -> run(comms[2]::barrier)))
                    .isInstanceOf(AbortedException.class)
                    .hasMessageContaining("rank 0");
        }
    }

    @Test
    void shouldNameThePeerThatClosedEarly() {
        Outcomes outcomes = Outcomes.of(3, comm -> {
            comm.barrier();
            if (comm.rank() == 1) {
                comm.close();
                return;
            }
            comm.allReduce(new int[5], ReduceOp.SUM);
        });
        outcomes.rank(1).isNull();
        for (int rank : new int[] {0, 2}) {
            outcomes.rank(rank)
                    .isInstanceOf(PeerFailedException.class)
                    .hasMessageContainingAll("rank 1 closed 'world' before allReduce of 5 int32 sum (#2)");
        }
    }

    @Test
    void shouldNameThePeerThatReturnedWithoutClosingASplit() {
        Outcomes outcomes = Outcomes.of(2, comm -> {
            Communicator copy = comm.dup();
            if (comm.rank() == 0) {
                copy.barrier();
            }
        });
        outcomes.rank(0).isInstanceOf(PeerFailedException.class).hasMessageContaining("rank 1 closed");
        outcomes.rank(1).isNull();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldLetAFasterRankCloseWhenAllAreInTheLastOperation(boolean started) {
        for (int i = 0; i < 50; i++) {
            TestWorld.of(4).run(comm -> {
                Buffer values = Buffer.of(new int[] {comm.rank()});
                if (started) {
                    comm.broadcastAsync(values, 0).await();
                    comm.allReduceAsync(values, ReduceOp.SUM).await();
                } else {
                    comm.broadcast(values, 0);
                    comm.allReduce(values, ReduceOp.SUM);
                }
                comm.close();
            });
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 5_000, 100_000})
    void shouldAbortWithWhatTheUsersFunctionThrew(int count) {
        ReduceOp bad = ReduceOp.of(new ReduceFunction("bad", DataType.INT32, true, (_, _, _) -> {
            throw new ArithmeticException("no");
        }));
        Outcomes outcomes = Outcomes.of(3, comm -> {
            comm.allReduce(new int[count], bad);
            comm.barrier();
        });
        outcomes.assertAll(AbortedException.class, "the reduce function threw on rank", "allReduce of " + count, "no");
        // Between processes only the text travels.
        assertThat(outcomes.all().stream().filter(each -> !TestWorld.isOfProcesses() || each.getCause() != null))
                .allSatisfy(each -> assertThat(each).hasRootCauseInstanceOf(ArithmeticException.class));
    }

    @Test
    void shouldRefuseToReenterFromAReduceFunction() {
        TestWorld.of(2).run(comm -> {
            Throwable[] inner = new Throwable[1];
            ReduceOp nested = ReduceOp.of(new ReduceFunction("nested", DataType.INT32, true, (_, _, _) -> {
                inner[0] = thrownBy(() -> run(comm::barrier));
            }));
            comm.allReduce(new int[3], nested);
            assertThat(inner[0]).isInstanceOf(TuttiException.class);
            assertThat(((TuttiException) inner[0]).category()).isEqualTo(TuttiException.Category.USAGE);
            comm.barrier();
        });
    }
}
