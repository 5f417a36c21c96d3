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
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Different plans one after the other on the same scratch, packets and counters, while ranks run at different speeds: whoever
 * reads a slot too late or writes it too early gets a wrong number here. {@code -Dtutti.seed} repeats a run.
 */
@Timeout(120)
class PlanSequenceTest {
    private static final int STEPS = 200;
    private static final int[] COUNTS = {0, 1, 2, 7, 16, 33, 64, 100, 257, 1000, 3000, 20_000};
    private static final Collective[] COLLECTIVES = Collective.values();

    private record Step(int context, Collective collective, ReduceOp op, int root, int count, boolean inPlace) {
        /** An element of a rank's input; the block matters where there is one per rank. */
        int value(int number, int rank, int block, int i) {
            return (int) Signature.mix(((long) number << 40) + ((long) rank << 34) + ((long) block << 28) + i);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5, 6, 7, 8})
    void shouldGiveExactResultsWhenPlansFollowEachOther(int size) throws InterruptedException {
        long seed = Long.getLong("tutti.seed", System.nanoTime());
        System.out.println("plan sequence: ranks " + size + ", -Dtutti.seed=" + seed);
        SplittableRandom random = new SplittableRandom(seed + size);
        int lanes = 1 + random.nextInt(3);
        // Half of the runs begin shortly before the flag of packets wraps.
        long firstLaunch = random.nextBoolean() ? 0 : 0xFFFF_FFFFL - 20 - random.nextInt(40);
        List<Ranks> contexts = new ArrayList<>();
        for (int i = 0; i <= random.nextInt(3); i++) {
            int scratchBytes = (random.nextBoolean() ? 48 : 2048) << 10;
            contexts.add(new Ranks(size, scratchBytes, 48 << 10, firstLaunch, call -> plan(call, size, lanes, seed)));
        }
        List<Step> steps = new ArrayList<>();
        for (int i = 0; i < STEPS; i++) {
            steps.add(step(random, contexts.size(), size));
        }
        contexts.getFirst().run(first -> {
            SplittableRandom own = new SplittableRandom(seed + 1000L * first.rank);
            for (Ranks context : contexts) {
                Endpoint endpoint = context.all.get(first.rank).endpoint;
                endpoint.usesTemplates = own.nextInt(3) > 0;
                endpoint.usesInterpreter = own.nextInt(3) > 0;
            }
            for (int number = 0; number < STEPS; number++) {
                delay(own);
                Step step = steps.get(number);
                run(contexts.get(step.context).all.get(first.rank), step, number, size, own.nextBoolean());
            }
        });
    }

    /** A function of what shapes are kept by, so that a kept shape has the plan that this would choose. */
    private static Plan plan(Call call, int size, int lanes, long seed) {
        List<Algorithm> algorithms = Algorithms.of(call.collective());
        long hash = Signature.mix(seed ^ Signature.mix(call.count() * 64 + call.root()));
        return algorithms
                .get((int) Long.remainderUnsigned(hash, algorithms.size()))
                .plan(size, call.root(), lanes);
    }

    private static Step step(SplittableRandom random, int contexts, int size) {
        Collective collective = COLLECTIVES[random.nextInt(COLLECTIVES.length)];
        ReduceOp op = !collective.isReducing() ? null : random.nextBoolean() ? ReduceOp.SUM : ReduceOp.XOR;
        int count = collective == Collective.BARRIER ? 0 : COUNTS[random.nextInt(COUNTS.length)] + random.nextInt(8);
        boolean blocks = collective.inputBlocks(size) != collective.outputBlocks(size);
        boolean inPlace = !blocks && collective != Collective.ALL_TO_ALL && random.nextBoolean();
        int root = collective.isRooted() ? random.nextInt(size) : 0;
        return new Step(random.nextInt(contexts), collective, op, root, count, inPlace);
    }

    /** Mostly nothing, at times longer than a collective takes. */
    private static void delay(SplittableRandom random) {
        int spins = random.nextInt(4) > 0 ? 0 : random.nextInt(1 << random.nextInt(14));
        for (int i = 0; i < spins; i++) {
            Thread.onSpinWait();
        }
    }

    private static void run(Ranks.Rank rank, Step step, int number, int size, boolean stepped) {
        int inBlocks = step.collective.inputBlocks(size);
        int outBlocks = step.collective.outputBlocks(size);
        Arena arena = Arena.ofAuto();
        MemorySegment in = arena.allocate(4L * step.count * inBlocks + 8, 8);
        MemorySegment out = step.inPlace ? in : arena.allocate(4L * step.count * outBlocks + 8, 8);
        out.fill((byte) 0x5A);
        for (int block = 0; block < inBlocks; block++) {
            for (int i = 0; i < step.count; i++) {
                in.setAtIndex(
                        ValueLayout.JAVA_INT, (long) block * step.count + i, step.value(number, rank.rank, block, i));
            }
        }
        Call call = new Call().of(step.collective, DataType.INT32, step.op, step.root, step.count);
        call.input().setAddress(in.address(), 4L * step.count * inBlocks);
        call.output().setAddress(out.address(), 4L * step.count * outBlocks);
        call.uniform(size);
        call.timeoutNanos(Ranks.TIMEOUT_NANOS);
        if (stepped) {
            rank.step(call);
        } else {
            rank.execution.run(call);
        }
        for (int block = 0; block < outBlocks; block++) {
            for (int i = 0; i < step.count; i++) {
                int actual = out.getAtIndex(ValueLayout.JAVA_INT, (long) block * step.count + i);
                int expected = expected(step, number, rank.rank, size, block, i, 0x5A5A5A5A);
                if (actual != expected) {
                    assertThat(Integer.toHexString(actual))
                            .as("step %d, rank %d, block %d, element %d of %s", number, rank.rank, block, i, step)
                            .isEqualTo(Integer.toHexString(expected));
                }
            }
        }
    }

    private static int expected(Step step, int number, int rank, int size, int block, int i, int untouched) {
        int before = step.inPlace ? step.value(number, rank, 0, i) : untouched;
        return switch (step.collective) {
            case ALL_REDUCE -> folded(step, number, size, 0, i);
            case REDUCE -> rank == step.root ? folded(step, number, size, 0, i) : before;
            case REDUCE_SCATTER -> folded(step, number, size, rank, i);
            case SCAN -> folded(step, number, rank + 1, 0, i);
            case EXSCAN -> rank == 0 ? before : folded(step, number, rank, 0, i);
            case BROADCAST -> step.value(number, step.root, 0, i);
            case ALL_GATHER -> step.value(number, block, 0, i);
            case GATHER -> rank == step.root ? step.value(number, block, 0, i) : untouched;
            case SCATTER -> step.value(number, step.root, rank, i);
            case ALL_TO_ALL -> step.value(number, block, rank, i);
            case BARRIER -> throw new AssertionError("a barrier has no output");
        };
    }

    private static int folded(Step step, int number, int ranks, int block, int i) {
        int value = 0;
        for (int rank = 0; rank < ranks; rank++) {
            int next = step.value(number, rank, block, i);
            value = step.op == ReduceOp.SUM ? value + next : value ^ next;
        }
        return value;
    }
}
