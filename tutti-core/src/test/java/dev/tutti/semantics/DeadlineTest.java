package dev.tutti.semantics;

import static dev.tutti.semantics.Outcomes.config;
import static dev.tutti.semantics.Outcomes.thrownBy;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.AbortedException;
import dev.tutti.Buffer;
import dev.tutti.CollectiveTimeoutException;
import dev.tutti.Communicator;
import dev.tutti.Config;
import dev.tutti.DataType;
import dev.tutti.Group;
import dev.tutti.ReduceOp;
import dev.tutti.TuttiException;
import dev.tutti.World;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A deadline for some calls only, and calls that are refused half-way. */
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class DeadlineTest {
    private static final Config PATIENT = config(Config.Key.TIMEOUT, "20s");
    private static final Duration SHORT = Duration.ofMillis(300);

    private enum Way {
        BLOCKING,
        STARTED,
        PREPARED,
        MESSAGE,
        STARTED_MESSAGE
    }

    private static void call(Communicator comm, Way way) {
        float[] x = {1};
        switch (way) {
            case BLOCKING -> comm.allReduce(x, ReduceOp.SUM);
            case STARTED -> comm.allReduceAsync(Buffer.of(x), ReduceOp.SUM).await();
            case PREPARED -> comm.prepareAllReduce(Buffer.of(x), ReduceOp.SUM).run();
            case MESSAGE -> comm.recv(Buffer.of(x), 1, 0);
            case STARTED_MESSAGE -> comm.recvAsync(Buffer.of(x), 1, 0).await();
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldTimeOutSoonerWhenCalledThroughAnImpatientView(Way way) {
        CountDownLatch over = new CountDownLatch(1);
        Outcomes outcomes = Outcomes.of(2, PATIENT, comm -> {
            comm.barrier();
            if (comm.rank() == 0) {
                try {
                    call(comm.withTimeout(SHORT), way);
                } finally {
                    over.countDown();
                }
            } else {
                over.await();
                comm.barrier();
            }
        });
        outcomes.assertAll(CollectiveTimeoutException.class, "timed out after 300 ms");
    }

    @Test
    void shouldWaitLongerWhenCalledThroughAPatientView() {
        CountDownLatch late = new CountDownLatch(1);
        World.local(2).config(config(Config.Key.TIMEOUT, "200ms")).run(comm -> {
            Communicator patient = comm.withTimeout(Duration.ofSeconds(20));
            if (comm.rank() == 1) {
                late.await(700, TimeUnit.MILLISECONDS);
            }
            patient.barrier();
            float[] x = {comm.rank()};
            if (comm.rank() == 0) {
                patient.recv(Buffer.of(x), 1, 3);
                assertThat(x).containsExactly(1);
            } else {
                late.await(700, TimeUnit.MILLISECONDS);
                patient.send(Buffer.of(x), 0, 3);
            }
            comm.barrier();
        });
    }

    @Test
    void shouldStandForTheSameCommunicatorWhenViewed() {
        World.local(2).run(comm -> {
            Communicator view = comm.withTimeout(SHORT);
            assertThat(view.rank()).isEqualTo(comm.rank());
            assertThat(view.name()).isEqualTo(comm.name());
            view.barrier();
            comm.barrier();
            view.close();
            assertThat(thrownBy(() -> {
                        comm.barrier();
                        return null;
                    }))
                    .isInstanceOf(TuttiException.class)
                    .hasMessageContaining("closed");
            assertThat(thrownBy(() -> comm.withTimeout(Duration.ZERO))).isInstanceOf(IllegalArgumentException.class);
        });
    }

    @Test
    void shouldRefuseTheCommunicatorOfARankWhenAskedForTwice() {
        try (World world = World.local(2).open()) {
            world.communicator(0);
            assertThat(thrownBy(() -> world.communicator(0)))
                    .isInstanceOf(TuttiException.class)
                    .hasMessageContaining("rank 0")
                    .hasMessageContaining("dup()");
            world.communicator(1);
        }
    }

    /** What was started before the operation that is refused must not go on unseen, nor leave peers waiting. */
    @Test
    void shouldEndWhatWasStartedWhenALaterOperationOfAGroupIsRefused() {
        Outcomes outcomes = Outcomes.of(2, PATIENT, comm -> {
            Communicator other = comm.dup();
            Buffer closed = comm.allocate(DataType.FLOAT32, 4);
            if (comm.rank() == 0) {
                closed.close();
                Group group = comm.world().group();
                group.recv(comm, Buffer.of(new float[4]), 1);
                group.send(other, closed, 1);
                Throwable refused = thrownBy(group::start);
                assertThat(refused).isInstanceOf(IllegalStateException.class).hasMessageContaining("closed");
                assertThat(refused.getSuppressed()).hasSize(1);
                other.barrier();
                comm.barrier();
            } else {
                other.barrier();
                comm.barrier();
            }
        });
        outcomes.assertAll(AbortedException.class, "an operation of the same group was refused");
    }
}
