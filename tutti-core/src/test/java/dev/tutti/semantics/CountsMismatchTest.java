package dev.tutti.semantics;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.MismatchException;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Counts that only pairs of ranks know are compared pair by pair, and the text names the pair. */
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class CountsMismatchTest {
    private static Buffer ints(long count) {
        return Buffer.of(new int[(int) count]);
    }

    private static long[] each(Communicator comm, long count) {
        long[] counts = new long[comm.size()];
        Arrays.fill(counts, count);
        return counts;
    }

    private static long sum(long[] counts) {
        return Arrays.stream(counts).sum();
    }

    @ParameterizedTest
    @CsvSource({"2, 3", "3, 3", "5, 3", "3, 5000", "3, 100000", "2, 0"})
    void shouldNameThePairWhenAllToAllVDisagrees(int ranks, int count) {
        Outcomes outcomes = Outcomes.of(ranks, comm -> {
            long[] sent = each(comm, count);
            long[] received = each(comm, count);
            if (comm.rank() == 1) {
                sent[0]++;
            }
            comm.allToAllV(ints(sum(sent)), sent, null, ints(sum(received)), received, null);
            comm.barrier();
            comm.barrier();
        });
        outcomes.assertAll(
                MismatchException.class,
                "allToAll",
                "rank 1 sends " + (count + 1) + " elements to rank 0, which expects " + count);
    }

    @ParameterizedTest
    @CsvSource({"2, 3", "3, 3", "5, 3", "3, 5000", "3, 100000", "2, 0"})
    void shouldNameThePairWhenGatherVDisagrees(int ranks, int count) {
        int root = ranks - 1;
        Outcomes outcomes = Outcomes.of(ranks, comm -> {
            long[] counts = each(comm, count);
            Buffer mine = ints(comm.rank() == 0 ? count + 2 : count);
            comm.gatherV(mine, comm.rank() == root ? ints(sum(counts)) : null, counts, null, root);
            comm.barrier();
            comm.barrier();
        });
        outcomes.assertAll(
                MismatchException.class,
                "gather",
                "rank 0 sends " + (count + 2) + " elements to rank " + root + ", which expects " + count);
    }

    @ParameterizedTest
    @CsvSource({"2, 3", "3, 3", "5, 3", "3, 5000", "3, 100000", "2, 1"})
    void shouldNameThePairWhenScatterVDisagrees(int ranks, int count) {
        Outcomes outcomes = Outcomes.of(ranks, comm -> {
            long[] counts = each(comm, count);
            Buffer mine = ints(comm.rank() == 1 ? count - 1 : count);
            comm.scatterV(comm.rank() == 0 ? ints(sum(counts)) : null, counts, null, mine, 0);
            comm.barrier();
            comm.barrier();
        });
        outcomes.assertAll(
                MismatchException.class,
                "scatter",
                "rank 0 sends " + count + " elements to rank 1, which expects " + (count - 1));
    }

    @Test
    void shouldTellACallWithCountsFromOneWithout() {
        Outcomes outcomes = Outcomes.of(3, comm -> {
            Buffer none = ints(0);
            if (comm.rank() == 1) {
                comm.gatherV(none, none, each(comm, 0), null, 0);
            } else {
                comm.gather(none, ints(0), 0);
            }
            comm.barrier();
            comm.barrier();
        });
        outcomes.assertAll(MismatchException.class, "rank 1 called gather of int32 root 0 (counts by pair)");
    }

    @Test
    void shouldCompareTypeAndRootOfCallsWithCounts() {
        Outcomes types = Outcomes.of(3, comm -> {
            long[] counts = each(comm, 2);
            Buffer in = Buffer.of(new int[6], comm.rank() == 2 ? DataType.UINT32 : DataType.INT32);
            Buffer out = Buffer.of(new int[6], comm.rank() == 2 ? DataType.UINT32 : DataType.INT32);
            comm.allToAllV(in, counts, null, out, counts, null);
        });
        types.assertAll(MismatchException.class, "rank 2 called allToAll of uint32 (counts by pair)");
        Outcomes roots = Outcomes.of(3, comm -> {
            long[] counts = each(comm, 2);
            comm.gatherV(ints(2), ints(6), counts, null, comm.rank() == 2 ? 1 : 0);
        });
        roots.assertAll(MismatchException.class, "rank 2 called gather", "root 1", "root 0");
    }
}
