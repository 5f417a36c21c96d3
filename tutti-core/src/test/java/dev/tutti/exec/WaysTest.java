package dev.tutti.exec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Collective;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.algorithm.Algorithm;
import dev.tutti.algorithm.Algorithms;
import dev.tutti.plan.Plan;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Templates, interpreter and lane machine must do the same, to the last bit, with data that no order sums alike. */
@Timeout(60)
class WaysTest {
    private static final int MOST_RANKS = 8;
    /** Elements: nothing, less than a granule, tiny plans that have templates, more than they take; the last is more than a window. */
    private static final int[] COUNTS = {0, 1, 16, 50, 2500};

    /** From the third time on a small call of two ranks is made in one piece. */
    private static final int TIMES = 4;

    /** Where no rank writes, whichever way, this is left. */
    private static final byte POISON = 0x5A;

    private static final Set<Class<?>> IN_ONE_PIECE = ConcurrentHashMap.newKeySet();

    private enum Way {
        TEMPLATES,
        AGAIN,
        INTERPRETER,
        LANES,
        STEPPED
    }

    private record Case(Collective collective, DataType type, ReduceOp op, int root, int count) {}

    @ParameterizedTest
    @EnumSource
    void shouldGiveTheSameBitsWhicheverWayAPlanIsRun(Collective collective) throws InterruptedException {
        for (int size = 1; size <= MOST_RANKS; size++) {
            Map<String, byte[]> expected = run(collective, size, Way.TEMPLATES);
            for (Way way : List.of(Way.AGAIN, Way.INTERPRETER, Way.LANES, Way.STEPPED)) {
                Map<String, byte[]> actual = run(collective, size, way);
                assertThat(actual.keySet()).isEqualTo(expected.keySet());
                actual.forEach(
                        (name, bits) -> assertThat(bits).as(way + " " + name).isEqualTo(expected.get(name)));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldMakeSmallCallsOfTwoRanksInOnePiece(Collective collective) throws InterruptedException {
        IN_ONE_PIECE.clear();
        run(collective, 2, Way.AGAIN);
        Class<?>[] expected = collective == Collective.BARRIER
                ? new Class<?>[] {Meeting.class}
                : !collective.hearsFromAll()
                        ? new Class<?>[] {Handover.class, PostHandover.class}
                        : new Class<?>[] {PostExchange.class, SlotExchange.class, DirectExchange.class};
        assertThat(IN_ONE_PIECE).contains(expected);
    }

    /** Outputs of all ranks by name. Counts are such that each algorithm has its own: programs are kept by count. */
    private static Map<String, byte[]> run(Collective collective, int size, Way way) throws InterruptedException {
        List<Algorithm> algorithms = Algorithms.of(collective);
        Ranks ranks = new Ranks(size, 64 << 10, 64 << 10, 0, call -> plan(algorithms, call, size));
        Map<String, byte[]> outputs = new ConcurrentHashMap<>();
        ranks.run(rank -> {
            rank.endpoint.usesTemplates = way == Way.TEMPLATES || way == Way.AGAIN;
            rank.endpoint.usesInterpreter = way != Way.LANES && way != Way.STEPPED;
            for (int base : COUNTS) {
                for (int number = 0; number < algorithms.size(); number++) {
                    for (Case each : cases(collective, size, base * algorithms.size() + number)) {
                        byte[] output = run(rank, each, size, way);
                        outputs.put(algorithms.get(number) + " n=" + size + " rank " + rank.rank + " " + each, output);
                    }
                }
            }
        });
        return outputs;
    }

    private static Plan plan(List<Algorithm> algorithms, Call call, int size) {
        return algorithms.get((int) (call.count() % algorithms.size())).plan(size, call.root(), 1);
    }

    private static List<Case> cases(Collective collective, int size, int count) {
        int last = collective.isRooted() ? size - 1 : 0;
        return collective.isReducing()
                ? List.of(
                        new Case(collective, DataType.FLOAT32, ReduceOp.SUM, 0, count),
                        new Case(collective, DataType.BFLOAT16, ReduceOp.preMulSum(1.7), last, count))
                : List.of(
                        new Case(collective, DataType.FLOAT32, null, 0, count),
                        new Case(collective, DataType.INT8, null, last, count));
    }

    private static byte[] run(Ranks.Rank rank, Case each, int size, Way way) {
        Arena arena = Arena.ofAuto();
        long bytes = (long) each.count * each.type.bytes();
        MemorySegment in = arena.allocate(Math.max(64, bytes * each.collective.inputBlocks(size)), 64);
        MemorySegment out = arena.allocate(Math.max(64, bytes * each.collective.outputBlocks(size)), 64);
        fill(in, each.type, rank.rank);
        out.fill(POISON);
        Call call = new Call().of(each.collective, each.type, each.op, each.root, each.count);
        call.input().setAddress(in.address(), bytes * each.collective.inputBlocks(size));
        call.output().setAddress(out.address(), bytes * each.collective.outputBlocks(size));
        call.uniform(size);
        call.timeoutNanos(Ranks.TIMEOUT_NANOS);
        if (way == Way.STEPPED) {
            rank.step(call);
        } else if (way == Way.AGAIN) {
            runAgain(rank, call, out);
        } else {
            rank.execution.run(call);
        }
        byte[] result =
                Arrays.copyOf(out.toArray(ValueLayout.JAVA_BYTE), (int) (bytes * each.collective.outputBlocks(size)));
        assertThat(in.byteSize()).isPositive();
        return result;
    }

    private static void runAgain(Ranks.Rank rank, Call call, MemorySegment out) {
        call.makeRepeatable(false);
        for (int time = 0; time < TIMES; time++) {
            out.fill(POISON);
            if (rank.execution.runAgain(call)) {
                IN_ONE_PIECE.add(call.exchange.getClass());
            } else {
                rank.execution.run(call);
            }
        }
    }

    /** Numbers of all sizes, so that every other order of addition rounds differently. */
    private static void fill(MemorySegment in, DataType type, int rank) {
        SplittableRandom random = new SplittableRandom(rank);
        ByteBuffer bytes = in.asByteBuffer().order(ByteOrder.nativeOrder());
        while (bytes.remaining() >= type.bytes()) {
            float value = (float) ((random.nextDouble() - 0.5) * (1 << random.nextInt(12)));
            switch (type) {
                case FLOAT32 -> bytes.putFloat(value);
                case BFLOAT16 -> bytes.putShort((short) (Float.floatToRawIntBits(value) >>> 16));
                default -> bytes.put((byte) random.nextInt());
            }
        }
    }
}
