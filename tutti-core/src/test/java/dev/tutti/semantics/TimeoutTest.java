package dev.tutti.semantics;

import static dev.tutti.semantics.Outcomes.config;
import static dev.tutti.semantics.Outcomes.thrownBy;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Buffer;
import dev.tutti.CollectiveTimeoutException;
import dev.tutti.Config;
import dev.tutti.RankBody;
import dev.tutti.ReduceOp;
import dev.tutti.TuttiException;
import dev.tutti.Work;
import dev.tutti.World;
import dev.tutti.processes.TestWorld;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A rank that does not come is named within the time-out, and coming late it can do no harm. */
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class TimeoutTest {
    private static final Config SHORT = config(Config.Key.TIMEOUT, "700ms");

    @ParameterizedTest
    @CsvSource({"2, 3", "3, 3", "5, 3", "3, 2000", "3, 100000"})
    void shouldNameTheMissingAndKeepItsHandsOffWhenItComesLate(int ranks, int count) {
        TestWorld.Latch over = TestWorld.latch(ranks - 1);
        TestWorld.Latch running = TestWorld.latch(ranks);
        Outcomes outcomes = Outcomes.of(ranks, SHORT, comm -> {
            running.countDown();
            running.await();
            comm.barrier();
            comm.broadcast(new float[7], 0);
            Guarded in = Guarded.of(Guarded.Placement.AUTOMATIC, count);
            Guarded out = Guarded.of(Guarded.Placement.AUTOMATIC, count);
            if (comm.rank() == ranks - 1) {
                over.await();
                Throwable late = thrownBy(() -> {
                    comm.allReduce(in.buffer(), out.buffer(), ReduceOp.SUM);
                    return null;
                });
                out.assertPoisoned("output of the late rank");
                throw (TuttiException) late;
            }
            Throwable thrown = thrownBy(() -> {
                comm.allReduce(in.buffer(), out.buffer(), ReduceOp.SUM);
                return null;
            });
            in.poison();
            out.poison();
            over.countDown();
            assertThat(thrownBy(() -> {
                        comm.barrier();
                        return null;
                    }))
                    .hasMessage(thrown.getMessage());
            in.assertPoisoned("input after the time-out");
            out.assertPoisoned("output after the time-out");
            throw (TuttiException) thrown;
        });
        outcomes.assertAll(
                CollectiveTimeoutException.class,
                "allReduce of " + count + " int32 sum (#3)",
                "'world'",
                "700 ms",
                "arrived: 0",
                "missing: " + (ranks - 1) + " (last called #2 broadcast of 7 float32 root 0)");
        outcomes.all()
                .forEach(each ->
                        assertThat(((TuttiException) each).category()).isEqualTo(TuttiException.Category.TIMEOUT));
    }

    @Test
    void shouldSayThatARankHasCalledNothingYet() {
        TestWorld.Latch over = TestWorld.latch(1);
        Outcomes outcomes = Outcomes.of(2, SHORT, comm -> {
            if (comm.rank() == 1) {
                over.await();
            }
            try {
                comm.barrier();
            } finally {
                over.countDown();
            }
        });
        outcomes.assertAll(CollectiveTimeoutException.class, "barrier (#1)", "missing: 1 (has called nothing yet)");
    }

    @Test
    void shouldEndWithinTheConfiguredTime() {
        TestWorld.Latch over = TestWorld.latch(1);
        Outcomes.of(2, config(Config.Key.TIMEOUT, "300ms"), comm -> {
                    if (comm.rank() == 0) {
                        long start = System.nanoTime();
                        assertThat(thrownBy(() -> {
                                    comm.barrier();
                                    return null;
                                }))
                                .isInstanceOf(CollectiveTimeoutException.class);
                        long millis = (System.nanoTime() - start) / 1_000_000;
                        over.countDown();
                        assertThat(millis).isBetween(299L, 5_000L);
                    } else {
                        over.await();
                    }
                })
                .assertNone();
    }

    @ParameterizedTest
    @CsvSource({"2, false", "2, true", "3, false", "3, true"})
    void shouldTimeOutWhatWasStarted(int ranks, boolean virtual) {
        Assumptions.assumeFalse(virtual && TestWorld.isOfProcesses(), "ranks of processes are platform threads");
        TestWorld.Latch over = TestWorld.latch(ranks - 1);
        RankBody body = comm -> {
            if (comm.rank() == ranks - 1) {
                over.await();
                comm.barrier();
                return;
            }
            Work first = comm.allReduceAsync(Buffer.of(new int[10]), ReduceOp.SUM);
            Work second = comm.barrierAsync();
            Throwable thrown = thrownBy(() -> {
                first.await();
                return null;
            });
            over.countDown();
            assertThat(thrownBy(() -> {
                        second.await();
                        return null;
                    }))
                    .hasMessage(thrown.getMessage());
            assertThat(first.isDone()).isTrue();
            assertThat(first.error()).isInstanceOf(CollectiveTimeoutException.class);
            throw (TuttiException) thrown;
        };
        Outcomes outcomes = virtual
                ? Outcomes.of(World.local(ranks).config(SHORT).virtualThreads(), body)
                : Outcomes.of(ranks, SHORT, body);
        outcomes.assertAll(
                CollectiveTimeoutException.class, "allReduce of 10 int32 sum (#1)", "missing: " + (ranks - 1));
    }

    @Test
    void shouldAbortEverybodyWhenAnAwaitExpires() {
        TestWorld.Latch over = TestWorld.latch(1);
        Outcomes outcomes = Outcomes.of(3, comm -> {
            if (comm.rank() == 1) {
                Work work = comm.barrierAsync();
                try {
                    work.await(Duration.ofMillis(50));
                } finally {
                    over.countDown();
                }
            } else if (comm.rank() == 2) {
                over.await();
                comm.barrier();
            } else {
                comm.barrier();
            }
        });
        outcomes.assertAll(
                CollectiveTimeoutException.class,
                "rank 1 gave up on 'world'",
                "50 ms",
                "barrier (#1): arrived: ",
                "missing: ",
                "2 (has called nothing yet)");
    }

    @Test
    void shouldReturnFromAwaitWhenDoneInTime() {
        TestWorld.of(2).run(comm -> {
            int[] values = {1};
            Work work = comm.allReduceAsync(Buffer.of(values), ReduceOp.SUM);
            work.await(Duration.ofSeconds(20));
            work.await(Duration.ZERO);
            assertThat(values).containsExactly(2);
            assertThat(work.error()).isNull();
        });
    }

    @Test
    void shouldWarnWhoIsMissingThenGoOn() {
        List<String> warnings = new CopyOnWriteArrayList<>();
        CountDownLatch warned = new CountDownLatch(1);
        Logger logger = Logger.getLogger("dev.tutti");
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord entry) {
                String text = new SimpleFormatter().formatMessage(entry);
                // On a busy machine the barrier may take long enough for a warning, too.
                if (entry.getLevel() == Level.WARNING && text.contains("allReduce")) {
                    warnings.add(text);
                    warned.countDown();
                }
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        logger.addHandler(handler);
        logger.setUseParentHandlers(false);
        try {
            World.local(3).config(config(Config.Key.WARN_AFTER, "100ms")).run(comm -> {
                comm.barrier();
                if (comm.rank() == 2) {
                    warned.await();
                }
                int[] values = {1};
                comm.allReduce(values, ReduceOp.SUM);
                assertThat(values).containsExactly(3);
            });
        } finally {
            logger.removeHandler(handler);
            logger.setUseParentHandlers(true);
        }
        assertThat(warnings.getFirst())
                .contains("allReduce of 1 int32 sum (#2)", "'world'", "100 ms", "missing: 2 (last called #1 barrier)");
    }
}
