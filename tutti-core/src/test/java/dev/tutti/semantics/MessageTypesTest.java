package dev.tutti.semantics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.Group;
import dev.tutti.MismatchException;
import dev.tutti.Received;
import dev.tutti.processes.TestWorld;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Elements of one type are not received as another, whichever way they go; bytes are the way around that. */
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class MessageTypesTest {
    /** In one frame, and after a request. */
    private static final int[] COUNTS = {0, 5, 50_000};

    /** How rank 1 receives what rank 0 has sent, or sends. */
    enum Way {
        POSTED {
            @Override
            void exchange(Communicator comm, Buffer sent, Buffer received) {
                if (comm.rank() == 0) {
                    comm.recv(Buffer.of(new int[1]), 1, 1);
                    comm.send(sent, 1, 0);
                } else {
                    var work = comm.recvAsync(received, 0, 0);
                    comm.send(Buffer.of(new int[1]), 0, 1);
                    work.await();
                }
            }
        },
        ARRIVED {
            @Override
            void exchange(Communicator comm, Buffer sent, Buffer received) {
                if (comm.rank() == 0) {
                    var work = comm.sendAsync(sent, 1, 0);
                    comm.send(Buffer.of(new int[1]), 1, 1);
                    work.await();
                } else {
                    comm.recv(Buffer.of(new int[1]), 0, 1);
                    comm.recv(received, 0, 0);
                }
            }
        },
        ANY_SOURCE {
            @Override
            void exchange(Communicator comm, Buffer sent, Buffer received) {
                if (comm.rank() == 0) {
                    comm.send(sent, 1, 3);
                } else {
                    comm.recv(received, Communicator.ANY_SOURCE, Communicator.ANY_TAG);
                }
            }
        },
        PREPARED {
            @Override
            void exchange(Communicator comm, Buffer sent, Buffer received) {
                if (comm.rank() == 0) {
                    comm.prepareSend(sent, 1, 0).run();
                } else {
                    comm.prepareRecv(received, 0, 0).run();
                }
            }
        },
        GROUP {
            @Override
            void exchange(Communicator comm, Buffer sent, Buffer received) {
                try (Group group = comm.world().group()) {
                    if (comm.rank() == 0) {
                        group.send(comm, sent, 1);
                    } else {
                        group.recv(comm, received, 0);
                    }
                }
            }
        },
        SEND_RECV {
            @Override
            void exchange(Communicator comm, Buffer sent, Buffer received) {
                Buffer fitting = received.type() == DataType.INT32
                        ? Buffer.of(new int[(int) received.count()])
                        : Buffer.of(new float[(int) received.count()]);
                if (comm.rank() == 0) {
                    comm.sendRecv(sent, 1, 0, fitting, 1, 0);
                } else {
                    comm.sendRecv(fitting, 0, 0, received, 0, 0);
                }
            }
        };

        abstract void exchange(Communicator comm, Buffer sent, Buffer received);
    }

    static List<Object[]> ways() {
        List<Object[]> ways = new ArrayList<>();
        for (Way way : Way.values()) {
            for (int count : COUNTS) {
                ways.add(new Object[] {way, count});
            }
        }
        return ways;
    }

    @ParameterizedTest
    @MethodSource("ways")
    void shouldTellTheReceiverWhoSentWhatWhenTypesDiffer(Way way, int count) {
        TestWorld.of(2).run(comm -> {
            Buffer sent = Buffer.of(new float[count]);
            int[] values = new int[count];
            Buffer received = Buffer.of(values);
            if (comm.rank() == 0) {
                way.exchange(comm, sent, received);
            } else {
                assertMistaken(() -> way.exchange(comm, sent, received), 0, count);
                assertThat(values).containsOnly(count == 0 ? new int[0] : new int[] {0});
            }
            // It goes on.
            Buffer more = Buffer.of(new int[] {comm.rank()});
            Buffer other = Buffer.of(new int[1]);
            int peer = 1 - comm.rank();
            assertThat(comm.sendRecv(more, peer, 0, other, peer, 0)).isEqualTo(new Received(peer, 0, 1));
        });
    }

    @ParameterizedTest
    @CsvSource({"5", "50000"})
    void shouldTellWhenARankSendsItselfAnotherType(int count) {
        TestWorld.of(2).run(comm -> {
            int self = comm.rank();
            assertMistaken(
                    () -> comm.sendRecv(Buffer.of(new float[count]), self, 0, Buffer.of(new int[count]), self, 0),
                    self,
                    count);
            var work = comm.sendAsync(Buffer.of(new float[count]), self, 0);
            assertMistaken(() -> comm.recv(Buffer.of(new int[count]), self, 0), self, count);
            work.await();
        });
    }

    private static void assertMistaken(ThrowingCallable receive, int source, int count) {
        assertThatThrownBy(receive)
                .isInstanceOfSatisfying(
                        MismatchException.class,
                        thrown -> assertThat(thrown.ranks()).containsExactly(source))
                .hasMessageContainingAll(
                        4 * count + " bytes of float32", "from rank " + source, "received as int32", "'world'");
    }

    @Test
    void shouldPassBytesWhenOneSideNamesNoOtherType() {
        for (int count : COUNTS) {
            TestWorld.of(2).run(comm -> {
                float[] floats = new float[count];
                java.util.Arrays.fill(floats, 1.5f);
                byte[] bytes = new byte[4 * count];
                float[] back = new float[count];
                if (comm.rank() == 0) {
                    comm.send(Buffer.of(floats), 1, 0);
                    assertThat(comm.recv(Buffer.of(back), 1, 0).count()).isEqualTo(count);
                    assertThat(back).isEqualTo(floats);
                } else {
                    assertThat(comm.recv(Buffer.of(bytes, DataType.UINT8), 0, 0).count())
                            .isEqualTo(4L * count);
                    comm.send(Buffer.of(bytes, DataType.INT8), 0, 0);
                }
            });
        }
    }
}
