package dev.tutti.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Collective;
import dev.tutti.plan.Code;
import dev.tutti.plan.Plan;
import dev.tutti.plan.Protocol;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.Reach;
import dev.tutti.plan.Space;
import dev.tutti.plan.verify.Verdict;
import dev.tutti.plan.verify.Verifier;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every built-in algorithm, proven by {@link Verifier} for many rank counts, roots and lanes. */
@Timeout(120)
class AlgorithmsTest {
    private static final int[] RANKS = IntStream.concat(IntStream.rangeClosed(1, 9), IntStream.of(12, 16, 17))
            .toArray();

    static Stream<Algorithm> algorithms() {
        return Arrays.stream(Collective.values()).flatMap(collective -> Algorithms.of(collective).stream());
    }

    static Stream<Algorithm> reducing() {
        return algorithms().filter(each -> each.collective().isReducing());
    }

    private static int[] roots(Algorithm algorithm, int ranks) {
        if (!algorithm.collective().isRooted()) {
            return new int[] {0};
        }
        return ranks <= 5
                ? IntStream.range(0, ranks).toArray()
                : IntStream.of(0, ranks / 2, ranks - 1).distinct().toArray();
    }

    private static Verdict check(Algorithm algorithm, int ranks, int root, int lanes) {
        Verdict verdict = Verifier.check(algorithm.plan(ranks, root, lanes), algorithm.ragged());
        assertThat(verdict.findings())
                .as("%s %s of %d ranks, root %d, %d lanes", algorithm.collective(), algorithm, ranks, root, lanes)
                .isEmpty();
        assertThat(verdict.status()).as(verdict.reason()).isEqualTo(Verdict.Status.PASS);
        return verdict;
    }

    /** Where a launch's slots lie depends on how many there are, and every rank must look in the same place. */
    @ParameterizedTest
    @MethodSource("algorithms")
    void shouldTakeAsManySlotsOnEveryRank(Algorithm algorithm) {
        for (int ranks : RANKS) {
            for (int root : roots(algorithm, ranks)) {
                Plan plan = algorithm.plan(ranks, root, 1);
                assertThat(IntStream.range(0, ranks).mapToObj(plan::rank))
                        .as("%d ranks, root %d", ranks, root)
                        .extracting(RankPlan::scratchChunks, RankPlan::packetChunks, RankPlan::chunksPerBlock)
                        .containsOnly(org.assertj.core.groups.Tuple.tuple(
                                plan.rank(0).scratchChunks(),
                                plan.rank(0).packetChunks(),
                                plan.rank(0).chunksPerBlock()));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("algorithms")
    void shouldBeProvenWhenOfAnySize(Algorithm algorithm) {
        for (int ranks : RANKS) {
            for (int root : roots(algorithm, ranks)) {
                for (int lanes = 1; lanes <= (ranks <= 5 ? 3 : 1); lanes++) {
                    check(algorithm, ranks, root, lanes);
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("reducing")
    void shouldFoldFromTheLeftInRankOrderWhenItSaysSo(Algorithm algorithm) {
        boolean inRankOrder = true;
        for (int ranks = 2; ranks <= 9; ranks++) {
            for (int root : roots(algorithm, ranks)) {
                inRankOrder &= check(algorithm, ranks, root, 1).rankOrder();
            }
        }
        assertThat(inRankOrder).isEqualTo(algorithm.foldsInRankOrder());
    }

    @ParameterizedTest
    @MethodSource("reducing")
    void shouldGiveTheSameBitsOnEveryRankWhenReducingForAll(Algorithm algorithm) {
        for (int ranks : RANKS) {
            assertThat(check(algorithm, ranks, 0, 1).sameBits())
                    .as("%s of %d ranks", algorithm, ranks)
                    .isTrue();
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
                .isEqualTo("linear (simple, packet), linear-read (simple), tree (simple), direct (simple), "
                        + "direct-read (simple)");
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
