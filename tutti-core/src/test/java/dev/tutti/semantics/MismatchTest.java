package dev.tutti.semantics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.MismatchException;
import dev.tutti.RankBody;
import dev.tutti.ReduceFunction;
import dev.tutti.ReduceOp;
import dev.tutti.processes.TestWorld;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * One rank calls something else than the others. Whoever is inside, or calls anything later, gets the same exception,
 * whose text says who called what; whoever got through has the right result.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class MismatchTest {
    /** Packets, slots, several windows. */
    private static final int[] COUNTS = {3, 2_000, 100_000};

    private static final int VALUE = 7;

    /** What the others call, what the odd one calls, and how the text names both. */
    record Case(String name, RankBody usual, RankBody odd, String usualText, String oddText) {
        @Override
        public String toString() {
            return name;
        }
    }

    /** Calls that need something of every rank: here nobody can be done before the odd one has been heard. */
    static List<Case> mutualCases() {
        List<Case> cases = new ArrayList<>();
        for (int count : COUNTS) {
            String n = " of " + count + " int32";
            String more = " of " + (count + 1) + " int32";
            cases.add(new Case(
                    "allReduce vs barrier" + n,
                    c -> sum(c, count),
                    Communicator::barrier,
                    "allReduce" + n + " sum",
                    "barrier"));
            cases.add(new Case(
                    "barrier vs allReduce" + n,
                    Communicator::barrier,
                    c -> sum(c, count),
                    "barrier",
                    "allReduce" + n + " sum"));
            cases.add(new Case(
                    "allReduce count" + n,
                    c -> sum(c, count),
                    c -> sum(c, count + 1),
                    "allReduce" + n,
                    "allReduce" + more));
            cases.add(new Case(
                    "allGather count" + n,
                    c -> c.allGather(ints(count), ints(count * c.size())),
                    c -> c.allGather(ints(count + 1), ints((count + 1) * c.size())),
                    "allGather" + n,
                    "allGather" + more));
            cases.add(new Case(
                    "reduceScatter count" + n,
                    c -> c.reduceScatter(ints(count * c.size()), ReduceOp.SUM),
                    c -> c.reduceScatter(ints((count + 1) * c.size()), ReduceOp.SUM),
                    "reduceScatter" + n,
                    "reduceScatter" + more));
            cases.add(new Case(
                    "allToAll count" + n,
                    c -> c.allToAll(ints(count * c.size()), ints(count * c.size())),
                    c -> c.allToAll(ints((count + 1) * c.size()), ints((count + 1) * c.size())),
                    "allToAll" + n,
                    "allToAll" + more));
            cases.add(new Case(
                    "type of the same width" + n,
                    c -> sum(c, count),
                    c -> c.allReduce(new float[count], ReduceOp.SUM),
                    "allReduce of " + count + " int32 sum",
                    "allReduce of " + count + " float32 sum"));
            cases.add(new Case(
                    "type of another width" + n,
                    c -> sum(c, count),
                    c -> c.allReduce(new long[count], ReduceOp.SUM),
                    "allReduce of " + count + " int32 sum",
                    "allReduce of " + count + " int64 sum"));
            cases.add(new Case(
                    "operator" + n,
                    c -> sum(c, count),
                    c -> c.allReduce(ints(count), ReduceOp.MAX),
                    "allReduce of " + count + " int32 sum",
                    "allReduce of " + count + " int32 max"));
            cases.add(new Case(
                    "started" + n,
                    c -> c.allReduceAsync(ints(count), ReduceOp.SUM).await(),
                    c -> c.allReduceAsync(ints(count), ReduceOp.MIN).await(),
                    "allReduce of " + count + " int32 sum",
                    "allReduce of " + count + " int32 min"));
            cases.add(new Case(
                    "counts of allGatherV" + n,
                    c -> gatherAllV(c, count, 0),
                    c -> gatherAllV(c, count, 1),
                    "allGather",
                    "counts"));
            cases.add(new Case(
                    "counts of reduceScatterV" + n,
                    c -> reduceScatterV(c, count, 0),
                    c -> reduceScatterV(c, count, 1),
                    "reduceScatter",
                    "counts"));
        }
        cases.add(new Case(
                "function",
                c -> c.allReduce(ints(5), function("first")),
                c -> c.allReduce(ints(5), function("second")),
                "allReduce of 5 int32 user function",
                "allReduce of 5 int32 user function"));
        cases.add(new Case(
                "function with the same hash code",
                c -> c.allReduce(ints(5), function("Aa")),
                c -> c.allReduce(ints(5), function("BB")),
                "allReduce of 5 int32 user function",
                "allReduce of 5 int32 user function"));
        return cases;
    }

    static List<Case> cases() {
        List<Case> cases = mutualCases();
        for (int count : COUNTS) {
            String n = " of " + count + " int32";
            String more = " of " + (count + 1) + " int32";
            cases.add(new Case(
                    "allReduce vs broadcast" + n,
                    c -> sum(c, count),
                    c -> c.broadcast(ints(count), 0),
                    "allReduce" + n + " sum",
                    "broadcast" + n + " root 0"));
            cases.add(new Case(
                    "scan vs exscan" + n,
                    c -> c.scan(ints(count), ints(count), ReduceOp.SUM),
                    c -> c.exscan(ints(count), ints(count), ReduceOp.SUM),
                    "scan" + n,
                    "exscan" + n));
            cases.add(new Case(
                    "reduce count" + n,
                    c -> c.reduce(ints(count), ReduceOp.SUM, 0),
                    c -> c.reduce(ints(count + 1), ReduceOp.SUM, 0),
                    "reduce" + n,
                    "reduce" + more));
            cases.add(new Case(
                    "scan count" + n,
                    c -> c.scan(ints(count), ints(count), ReduceOp.SUM),
                    c -> c.scan(ints(count + 1), ints(count + 1), ReduceOp.SUM),
                    "scan" + n,
                    "scan" + more));
            cases.add(new Case(
                    "order" + n,
                    c -> {
                        sum(c, count);
                        c.broadcast(ints(count), 0);
                    },
                    c -> {
                        c.broadcast(ints(count), 0);
                        sum(c, count);
                    },
                    "allReduce" + n + " sum",
                    "broadcast" + n + " root 0"));
            cases.add(new Case(
                    "one operation more" + n,
                    c -> sum(c, count),
                    c -> {
                        sum(c, count);
                        c.allReduce(ints(count), ReduceOp.PROD);
                    },
                    "barrier",
                    "allReduce" + n + " prod"));
        }
        cases.add(new Case(
                "split vs barrier", c -> c.split(0, 0), Communicator::barrier, "allGather of 2 int64", "barrier"));
        return cases;
    }

    private static Buffer ints(int count) {
        int[] values = new int[count];
        Arrays.fill(values, VALUE);
        return Buffer.of(values);
    }

    private static void sum(Communicator comm, int count) {
        comm.allReduce(ints(count), ReduceOp.SUM);
    }

    private static ReduceOp function(String name) {
        return ReduceOp.of(new ReduceFunction(name, DataType.INT32, true, (_, _, _) -> {}));
    }

    /** The total is the same, but {@code shift} elements belong to another rank. */
    private static long[] counts(Communicator comm, int count, int shift) {
        long[] counts = new long[comm.size()];
        Arrays.fill(counts, count);
        counts[0] -= shift;
        counts[comm.size() - 1] += shift;
        return counts;
    }

    private static void gatherAllV(Communicator comm, int count, int shift) {
        long[] counts = counts(comm, count, shift);
        comm.allGatherV(ints((int) counts[comm.rank()]), ints(count * comm.size()), counts, null);
    }

    private static void reduceScatterV(Communicator comm, int count, int shift) {
        long[] counts = counts(comm, count, shift);
        comm.reduceScatterV(ints(count * comm.size()), ints((int) counts[comm.rank()]), counts, ReduceOp.SUM);
    }

    @ParameterizedTest
    @MethodSource("cases")
    void shouldTellEveryRankWhoCalledWhat(Case each) {
        for (int ranks : new int[] {2, 3, 5}) {
            int odd = ranks / 2;
            Outcomes outcomes = Outcomes.of(ranks, comm -> {
                (comm.rank() == odd ? each.odd : each.usual).run(comm);
                comm.barrier();
                comm.barrier();
            });
            outcomes.assertAll(
                    MismatchException.class,
                    "rank " + odd + " called " + (each.oddText.equals("counts") ? each.usualText : each.oddText),
                    each.usualText,
                    each.oddText,
                    "'world'");
        }
    }

    @ParameterizedTest
    @MethodSource("mutualCases")
    void shouldReturnFromNoCallThatNeedsEveryRank(Case each) {
        for (int ranks : new int[] {2, 3, 5}) {
            int odd = ranks / 2;
            Outcomes outcomes = Outcomes.of(ranks, comm -> (comm.rank() == odd ? each.odd : each.usual).run(comm));
            outcomes.assertAll(MismatchException.class, "rank " + odd);
        }
    }

    @Test
    void shouldLetScalarsOfPreMulSumDiffer() {
        TestWorld.of(5).run(comm -> {
            for (int count : COUNTS) {
                int[] values = new int[count];
                Arrays.fill(values, 1);
                comm.allReduce(values, ReduceOp.preMulSum(comm.rank() + 1));
                assertThat(values).containsOnly(15);
            }
        });
    }
}
