package dev.tutti.algorithm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.tutti.Collective;
import dev.tutti.algorithm.PlanSimulator.Fold;
import dev.tutti.algorithm.PlanSimulator.Lengths;
import dev.tutti.plan.Code;
import dev.tutti.plan.Plan;
import dev.tutti.plan.Protocol;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.Reach;
import dev.tutti.plan.Space;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every built-in algorithm, run by {@link PlanSimulator} against {@link Reference}. */
@Timeout(60)
class AlgorithmsTest {
    private static final long SEED = Long.getLong("tutti.seed", System.nanoTime());
    private static final int[] RANKS =
            IntStream.concat(IntStream.rangeClosed(1, 17), IntStream.of(32)).toArray();

    /** One way to run an algorithm. */
    private record Case(Algorithm algorithm, int ranks, int root, int lanes, boolean inPlace, boolean ragged) {
        /** The third is the first to reuse a half of the scratch. */
        int launches() {
            return ranks <= 8 ? 4 : 3;
        }

        Reference reference() {
            return new Reference(algorithm.collective(), ranks, root);
        }
    }

    static Stream<Algorithm> algorithms() {
        System.out.println("tutti.seed=" + SEED);
        return Arrays.stream(Collective.values()).flatMap(collective -> Algorithms.of(collective).stream());
    }

    static Stream<Algorithm> reducing() {
        return algorithms().filter(each -> each.collective().isReducing());
    }

    private static Stream<Case> cases(Algorithm algorithm) {
        boolean blocksPerRank = new Reference(algorithm.collective(), 2, 0).hasBlocksPerRank();
        Stream.Builder<Case> cases = Stream.builder();
        for (int ranks : RANKS) {
            for (int root : roots(algorithm, ranks)) {
                for (int lanes = 1; lanes <= 3; lanes++) {
                    cases.add(new Case(algorithm, ranks, root, lanes, false, false));
                    if (hasInPlace(algorithm.collective())) {
                        cases.add(new Case(algorithm, ranks, root, lanes, true, blocksPerRank && algorithm.ragged()));
                    }
                    if (algorithm.ragged() && blocksPerRank) {
                        cases.add(new Case(algorithm, ranks, root, lanes, false, true));
                    }
                }
            }
        }
        return cases.build();
    }

    private static boolean hasInPlace(Collective collective) {
        return collective != Collective.ALL_TO_ALL && collective != Collective.BARRIER;
    }

    private static int[] roots(Algorithm algorithm, int ranks) {
        if (!algorithm.collective().isRooted()) {
            return new int[] {0};
        }
        return ranks <= 5 ? IntStream.range(0, ranks).toArray() : new int[] {0, ranks / 2, ranks - 1};
    }

    @ParameterizedTest
    @MethodSource("algorithms")
    void shouldComputeTheCollectiveWhenInterleavedAtRandom(Algorithm algorithm) {
        cases(algorithm).forEach(each -> check(each, Fold.SUM));
    }

    @ParameterizedTest
    @ValueSource(ints = {4, 6, 8, 12, 16, 24})
    void shouldComputeTheCollectiveWhenNodesHaveAnySize(int ranks) {
        for (int perNode = 1; perNode <= ranks; perNode++) {
            Algorithm algorithm = Algorithms.hierarchical(perNode);
            if (ranks % perNode == 0) {
                check(new Case(algorithm, ranks, 0, 1, false, false), Fold.SUM);
                check(new Case(algorithm, ranks, 0, 2, true, false), Fold.SUM);
            } else {
                Plan plan = algorithm.plan(ranks, 0, 1);
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> plan.rank(0))
                        .withMessageContaining(ranks + " ranks do not divide into nodes of " + perNode);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("reducing")
    void shouldFoldFromTheLeftInRankOrderWhenItSaysSo(Algorithm algorithm) {
        if (algorithm.foldsInRankOrder()) {
            cases(algorithm).filter(each -> each.lanes() == 1).forEach(each -> check(each, Fold.ORDERED));
        } else {
            assertThat(cases(algorithm).filter(each -> each.ranks() == 5 && !foldsInRankOrder(each)))
                    .isNotEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("reducing")
    void shouldGiveTheSameBitsWhenRunAgainAndOnEveryRank(Algorithm algorithm) {
        cases(algorithm)
                .filter(each -> each.lanes() == 1 && each.ranks() % 3 == 2)
                .forEach(each -> {
                    SplittableRandom random = new SplittableRandom(SEED);
                    Lengths lengths = each.reference().lengths(2L * each.ranks() + 3, each.ragged(), random);
                    long[][][][] inputs = {each.reference().inputs(lengths, random)};
                    long[][][] once = simulate(each, lengths, Fold.ORDERED, random.split(), inputs)[0];
                    long[][][] again = simulate(each, lengths, Fold.ORDERED, random.split(), inputs)[0];
                    assertThat(Arrays.deepEquals(once, again))
                            .as("%s, seed %d", each, SEED)
                            .isTrue();
                    if (algorithm.collective() == Collective.ALL_REDUCE) {
                        assertThat(List.of(once))
                                .as("%s, seed %d", each, SEED)
                                .allMatch(output -> Arrays.deepEquals(output, once[0]));
                    }
                });
    }

    private static void check(Case each, Fold fold) {
        try {
            SplittableRandom random = new SplittableRandom(SEED ^ each.hashCode());
            Reference reference = each.reference();
            Lengths lengths = reference.lengths(longest(each, random), each.ragged(), random);
            long[][][][] inputs = new long[each.launches()][][][];
            Arrays.setAll(inputs, launch -> reference.inputs(lengths, random));
            long[][][][] outputs = simulate(each, lengths, fold, random.split(), inputs);
            for (int launch = 0; launch < each.launches(); launch++) {
                for (int rank = 0; rank < each.ranks(); rank++) {
                    compare(reference, inputs[launch], fold, rank, outputs[launch][rank]);
                }
            }
        } catch (AssertionError | RuntimeException failure) {
            throw new AssertionError(
                    each + " " + fold + ", -Dtutti.seed=" + SEED + ": " + failure.getMessage(), failure);
        }
    }

    /** Mostly some elements for every chunk, now and then too few, or none. */
    private static long longest(Case each, SplittableRandom random) {
        return switch (random.nextInt(8)) {
            case 0 -> 0;
            case 1 -> 1;
            default -> each.ranks() + random.nextInt(2 * each.ranks() + 3);
        };
    }

    private static long[][][][] simulate(
            Case each, Lengths lengths, Fold fold, SplittableRandom random, long[][][][] inputs) {
        Plan plan = each.algorithm().plan(each.ranks(), each.root(), each.lanes());
        return new PlanSimulator(plan, lengths, each.inPlace(), fold, random).run(inputs);
    }

    private static void compare(Reference reference, long[][][] inputs, Fold fold, int rank, long[][] output) {
        for (int block = 0; output != null && block < output.length; block++) {
            for (int i = 0; i < output[block].length; i++) {
                if (output[block][i] != reference.expected(inputs, fold, rank, block, i)) {
                    throw new AssertionError("rank " + rank + " has a wrong element " + i + " in block " + block);
                }
            }
        }
    }

    private static boolean foldsInRankOrder(Case each) {
        try {
            check(each, Fold.ORDERED);
            return true;
        } catch (AssertionError otherOrder) {
            return false;
        }
    }

    @Test
    void shouldHaveWhatEveryCollectiveNeedsWhenListed() {
        for (Collective collective : Collective.values()) {
            List<Algorithm> all = Algorithms.of(collective);
            assertThat(all).as(collective.name()).anyMatch(each -> each.protocol() == Protocol.SIMPLE && each.ragged());
            assertThat(all).as(collective.name()).anyMatch(each -> !each.readsPeers() && each.foldsInRankOrder());
            assertThat(all.stream().map(Algorithm::toString)).doesNotHaveDuplicates();
            assertThat(all)
                    .allSatisfy(each -> assertThat(Algorithms.find(collective, each.name(), each.protocol()))
                            .contains(each));
        }
        assertThat(Algorithms.find(Collective.BARRIER, "ring", Protocol.SIMPLE)).isEmpty();
        assertThat(Algorithms.names(Collective.GATHER))
                .isEqualTo("linear (simple, packet), tree (simple), direct (simple), direct-read (simple)");
    }

    @Test
    void shouldTakeFourOperationsWhenOneShotAllReduceUsesSlots() {
        RankPlan part = Algorithms.find(Collective.ALL_REDUCE, "one-shot", Protocol.SIMPLE)
                .orElseThrow()
                .plan(8, 0, 1)
                .rank(3);

        assertThat(part.lanes().getFirst())
                .extracting(op -> op.code())
                .containsExactly(Code.PUT, Code.SIGNAL, Code.WAIT, Code.REDUCE);
    }

    @Test
    void shouldTakeTwoOperationsWhenOneShotAllReduceUsesPackets() {
        RankPlan part = Algorithms.find(Collective.ALL_REDUCE, "one-shot", Protocol.PACKET)
                .orElseThrow()
                .plan(8, 0, 1)
                .rank(3);

        assertThat(part.lanes().getFirst())
                .extracting(op -> op.code())
                .containsExactly(Code.PUT_PACKETS, Code.REDUCE_PACKETS);
    }

    @ParameterizedTest
    @MethodSource("algorithms")
    void shouldUseNoSignalsWhenPackets(Algorithm algorithm) {
        boolean signals = algorithm.plan(4, 0, 1).all().stream()
                .flatMap(part -> part.lanes().stream())
                .flatMap(List::stream)
                .anyMatch(op -> !op.channels().isEmpty());

        assertThat(signals).isEqualTo(algorithm.protocol() == Protocol.SIMPLE);
    }

    @ParameterizedTest
    @MethodSource("algorithms")
    void shouldReadOnlyOwnScratchWhenItSaysSo(Algorithm algorithm) {
        boolean reads = algorithm.plan(5, 0, 1).all().stream()
                .anyMatch(part -> part.lanes().stream()
                        .flatMap(List::stream)
                        .flatMap(op -> op.sources().stream())
                        .anyMatch(chunk -> chunk.rank() != part.rank()));

        assertThat(reads && !algorithm.direct()).isEqualTo(algorithm.readsPeers());
    }

    @ParameterizedTest
    @MethodSource("algorithms")
    void shouldTouchOnlyOwnInputAndOutputUnlessDirect(Algorithm algorithm) {
        Plan plan = algorithm.plan(5, 0, 1);
        boolean reaches = plan.all().stream()
                .anyMatch(part -> part.lanes().stream()
                        .flatMap(List::stream)
                        .flatMap(op -> Stream.concat(op.sources().stream(), op.destinations().stream()))
                        .anyMatch(chunk -> chunk.rank() != part.rank() && chunk.space() != Space.SCRATCH));

        assertThat(reaches).isEqualTo(algorithm.direct());
        assertThat(plan.reach()).isEqualTo(algorithm.direct() ? Reach.GUARDED : Reach.OWN);
    }
}
