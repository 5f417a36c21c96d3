package dev.tutti.semantics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.Config;
import dev.tutti.MismatchException;
import dev.tutti.ReduceOp;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A rank that disagrees with two others cannot slip its data into what they exchange. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class InterferenceTest {
    private static Config forced(String algorithm, String protocol) {
        return Config.fromEnvironment().with(Config.Key.ALGO, algorithm).with(Config.Key.PROTO, protocol);
    }

    private static int[] values(Communicator comm, int count) {
        int[] values = new int[count];
        Arrays.fill(values, comm.rank() + 10);
        return values;
    }

    /** The right root sends, then the wrong one, and only then the receiver comes and looks. */
    @ParameterizedTest
    @CsvSource({
        "1, one-shot, packet",
        "100, one-shot, packet",
        "2000, one-shot, simple",
        "2000, two-shot, simple",
        "2000, tree, simple",
        "2000, chain, simple",
        "2000, one-shot-read, simple",
        "1, '', ''",
        "2000, '', ''"
    })
    void shouldNotTakeTheDataOfAnotherRoot(int count, String algorithm, String protocol) {
        CountDownLatch first = new CountDownLatch(1);
        CountDownLatch second = new CountDownLatch(1);
        Outcomes outcomes = Outcomes.of(3, forced(algorithm, protocol), comm -> {
            int[] values = values(comm, count);
            switch (comm.rank()) {
                case 0 -> {
                    comm.broadcast(values, 0);
                    first.countDown();
                }
                case 1 -> {
                    first.await();
                    comm.broadcast(values, 1);
                    second.countDown();
                }
                default -> {
                    second.await();
                    comm.broadcast(values, 0);
                    assertThat(values).containsOnly(10);
                }
            }
            comm.barrier();
        });
        outcomes.assertAll(MismatchException.class, "rank 1 called broadcast of " + count + " int32 root 1", "root 0");
    }

    /** All at once; whoever gets through has what those it agrees with gave. */
    @ParameterizedTest
    @ValueSource(strings = {"broadcast", "scatter", "scan", "exscan", "against allReduce"})
    void shouldGiveTheRightResultOrNone(String what) {
        String[] settings = {"|", "one-shot|packet", "one-shot|simple", "chain|simple"};
        for (int round = 0; round < 120; round++) {
            int count = 1 + round % 5 * 300;
            String[] setting = settings[round % settings.length].split("\\|", -1);
            CyclicBarrier together = new CyclicBarrier(4);
            Outcomes outcomes = Outcomes.of(4, forced(setting[0], setting[1]), comm -> {
                together.await();
                run(comm, what, count);
                comm.barrier();
                comm.barrier();
            });
            for (int rank = 0; rank < 4; rank++) {
                outcomes.rank(rank).isInstanceOf(MismatchException.class);
            }
        }
    }

    private static void run(Communicator comm, String what, int count) {
        int odd = what.equals("broadcast") || what.equals("scatter") ? 1 : 3;
        boolean agrees = comm.rank() != odd;
        int[] own = values(comm, count);
        int[] out = values(comm, count);
        switch (what) {
            case "broadcast" -> {
                comm.broadcast(own, agrees ? 0 : 1);
                assertOnly(own, 10, agrees);
            }
            case "scatter" -> {
                int[] blocks = values(comm, 4 * count);
                boolean root = comm.rank() == 0 || !agrees;
                comm.scatter(root ? Buffer.of(blocks) : null, Buffer.of(out), agrees ? 0 : 1);
                assertOnly(out, 10, agrees);
            }
            case "scan" -> {
                comm.scan(Buffer.of(own), Buffer.of(out), agrees ? ReduceOp.SUM : ReduceOp.MAX);
                assertOnly(out, new int[] {10, 21, 33, 0}[comm.rank()], agrees);
            }
            case "exscan" -> {
                comm.exscan(Buffer.of(own), Buffer.of(out), agrees ? ReduceOp.SUM : ReduceOp.MAX);
                assertOnly(out, new int[] {10, 10, 21, 0}[comm.rank()], agrees);
            }
            default -> {
                if (agrees) {
                    comm.broadcast(own, 0);
                    assertOnly(own, 10, true);
                } else {
                    comm.allReduce(new int[1 + count / 3], ReduceOp.SUM);
                }
            }
        }
    }

    private static void assertOnly(int[] values, int expected, boolean agrees) {
        for (int value : values) {
            if (agrees && value != expected) {
                assertThat(value).isEqualTo(expected);
            }
        }
    }
}
