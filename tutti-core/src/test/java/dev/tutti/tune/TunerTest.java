package dev.tutti.tune;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.tutti.Collective;
import dev.tutti.DataType;
import dev.tutti.ReduceFunction;
import dev.tutti.ReduceOp;
import dev.tutti.algorithm.Algorithm;
import dev.tutti.algorithm.Algorithms;
import dev.tutti.algorithm.Constants;
import dev.tutti.plan.Protocol;
import dev.tutti.spi.RegionLayout;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(20)
class TunerTest {
    private static final int CORES = 2;
    private static final long[] SIZES = LongStream.iterate(8, bytes -> bytes <= 64 << 20, bytes -> 4 * bytes)
            .toArray();
    private static final ReduceOp COMMUTATIVE = userOp(true);
    private static final ReduceOp ORDERED = userOp(false);

    private static ReduceOp userOp(boolean commutative) {
        return ReduceOp.of(new ReduceFunction("mine", DataType.FLOAT32, commutative, (left, right, count) -> {}));
    }

    private static Tuner tuner(int ranks) {
        return new Tuner(Constants.of(ranks, CORES));
    }

    private static Algorithm choose(
            Collective collective, @Nullable ReduceOp op, long bytes, int ranks, boolean ragged) {
        return tuner(ranks)
                .choose(collective, DataType.FLOAT32, op, bytes / 4, bytes, ranks, ragged, false, null, null);
    }

    private static Algorithm forced(
            Collective collective, long bytes, @Nullable String name, @Nullable Protocol protocol) {
        return tuner(4).choose(
                        collective, DataType.FLOAT32, ReduceOp.SUM, bytes / 4, bytes, 4, false, false, name, protocol);
    }

    /** Whether two ranks share a cache is not known, and if they do not, reading takes several times as long. */
    @Test
    void shouldReadPeersMemoryOnlyWhenThatGainsMuch() {
        assertThat(registered(2, Collective.BROADCAST, 8 << 20).name()).isEqualTo("direct-write");
        assertThat(registered(2, Collective.BROADCAST, 32 << 20).name()).isEqualTo("direct");
        assertThat(registered(2, Collective.REDUCE_SCATTER, 4 << 20).direct()).isFalse();
        assertThat(registered(2, Collective.ALL_REDUCE, 32 << 10).name()).isEqualTo("one-shot");
        assertThat(registered(2, Collective.ALL_REDUCE, 128 << 10).name()).isEqualTo("direct-write");
        assertThat(registered(2, Collective.ALL_REDUCE, 2 << 20).name()).isEqualTo("direct-write");
        assertThat(registered(2, Collective.ALL_REDUCE, 8 << 20).name()).isEqualTo("direct");
        assertThat(registered(4, Collective.BROADCAST, 8 << 20).name()).isEqualTo("direct");
        assertThat(registered(4, Collective.REDUCE_SCATTER, 2 << 20).name()).isEqualTo("direct");
    }

    /** Two ranks have nobody to pass blocks on for: all plans are the same steps, and one-shot has them in the best order. */
    @Test
    void shouldNotTakeDetoursBetweenTwoRanks() {
        for (long bytes = 2 << 10; bytes <= 64 << 20; bytes *= 4) {
            assertThat(choose(Collective.ALL_TO_ALL, null, bytes, 2, false).name())
                    .isEqualTo("one-shot");
        }
    }

    /** Two ranks send each other as many bytes in one step as in two, and gain in two no more than half of the folding. */
    @Test
    void shouldFoldAllOfItBetweenTwoRanksUnlessItIsLong() {
        for (int bytes : new int[] {4 << 10, 32 << 10, 64 << 10}) {
            assertThat(choose(Collective.ALL_REDUCE, ReduceOp.SUM, bytes, 2, false)
                            .name())
                    .isEqualTo("one-shot");
        }
        for (int bytes : new int[] {128 << 10, 2 << 20, 8 << 20}) {
            assertThat(choose(Collective.ALL_REDUCE, ReduceOp.SUM, bytes, 2, false)
                            .name())
                    .isEqualTo("two-shot");
        }
    }

    /** In one step all of a result goes past the caches; in two, half of it is what the peer fetches. */
    @Test
    void shouldTakeOneStepAgainWhereNoCacheHoldsTheResult() {
        for (int bytes : new int[] {16 << 20, 64 << 20}) {
            assertThat(choose(Collective.ALL_REDUCE, ReduceOp.SUM, bytes, 2, false)
                            .name())
                    .isEqualTo("one-shot-pipelined");
        }
        assertThat(choose(Collective.ALL_REDUCE, ReduceOp.SUM, 64 << 20, 4, false)
                        .name())
                .doesNotStartWith("one-shot");
    }

    private static Algorithm registered(int ranks, Collective collective, long bytes) {
        ReduceOp op = collective.name().contains("REDUCE") ? ReduceOp.SUM : null;
        return new Tuner(Constants.of(ranks, 16))
                .choose(collective, DataType.FLOAT32, op, bytes / 4, bytes, ranks, false, true, null, null);
    }

    @Test
    void shouldPrintItsChoicesWhenAsked() {
        for (int ranks : new int[] {2, 4, 8, 32}) {
            System.out.println("choices for " + ranks + " ranks on " + CORES + " cores");
            for (Collective collective : Collective.values()) {
                StringBuilder row = new StringBuilder(String.format("  %-14s", collective));
                String last = "";
                for (long bytes : SIZES) {
                    String choice =
                            choose(collective, null, bytes, ranks, false).toString();
                    if (!choice.equals(last)) {
                        row.append(String.format("  %d: %s", bytes, choice));
                        last = choice;
                    }
                }
                System.out.println(row);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ALL_REDUCE", "ALL_GATHER", "REDUCE_SCATTER", "ALL_TO_ALL"})
    void shouldPostWhenRanksShareCoresAndHaveLittleToShow(Collective collective) {
        for (int ranks : new int[] {4, 8}) {
            for (long bytes : new long[] {4, 16, 128, 512}) {
                assertThat(choose(collective, ReduceOp.SUM, bytes, ranks, false).name())
                        .as("%d bytes on %d ranks", bytes, ranks)
                        .isEqualTo("one-shot-read");
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Collective.class)
    void shouldChooseTheSameWhenAskedAgain(Collective collective) {
        for (int ranks : new int[] {1, 2, 3, 4, 8, 32, 1000}) {
            for (long bytes : SIZES) {
                Algorithm once = choose(collective, ReduceOp.SUM, bytes, ranks, false);
                assertThat(choose(collective, ReduceOp.SUM, bytes, ranks, false))
                        .isSameAs(once);
                assertThat(once.cost().nanos(ranks, bytes, Constants.of(ranks, CORES)))
                        .isFinite()
                        .isNotNegative();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Collective.class)
    void shouldChooseSomethingWhenNothingIsSent(Collective collective) {
        assertThat(choose(collective, ReduceOp.SUM, 0, 3, false)).isNotNull();
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 4, 8, 32})
    void shouldChoosePacketsOnlyWhenSmall(int ranks) {
        Algorithm tiny = choose(Collective.ALL_REDUCE, ReduceOp.SUM, 8, ranks, false);

        // Two ranks, and ranks that share cores, rather post.
        assertThat(tiny).hasToString(ranks > 2 && ranks <= CORES ? "one-shot/packet" : "one-shot-read/simple");
        for (Collective collective : Collective.values()) {
            for (long bytes = 2048; bytes <= 64 << 20; bytes *= 2) {
                assertThat(choose(collective, ReduceOp.SUM, bytes, ranks, false).protocol())
                        .isEqualTo(Protocol.SIMPLE);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Collective.class)
    void shouldChooseSlotsWhenRanksAreTooManyForPackets(Collective collective) {
        assertThat(choose(collective, ReduceOp.SUM, 8, 1000, false).protocol()).isEqualTo(Protocol.SIMPLE);
    }

    @Test
    void shouldPostWhatAPostHasRoomForWhenTwoRanksHaveACoreEach() {
        for (long bytes : new long[] {4, 16, 32, RegionLayout.POST_ROOM, RegionLayout.MEETING_ROOM}) {
            assertThat(choose(Collective.ALL_REDUCE, ReduceOp.SUM, bytes, 2, false))
                    .hasToString("one-shot-read/simple");
        }
        assertThat(choose(Collective.ALL_REDUCE, ReduceOp.SUM, RegionLayout.MEETING_ROOM + 4, 2, false))
                .hasToString("one-shot/simple");
        assertThat(choose(Collective.ALL_REDUCE, ReduceOp.SUM, 8 << 10, 2, false))
                .hasToString("one-shot/simple");
    }

    @ParameterizedTest
    @ValueSource(ints = {4, 8, 32})
    void shouldShareTheFoldingWhenLarge(int ranks) {
        assertThat(choose(Collective.ALL_REDUCE, ReduceOp.SUM, 1 << 20, ranks, false)
                        .name())
                .isEqualTo("two-shot-read");
        assertThat(choose(Collective.BROADCAST, null, 1 << 20, ranks, false).name())
                .isEqualTo("one-shot-read");
    }

    @Test
    void shouldNotReadPeersWhenTheyAreNotAddressable() {
        Tuner tuner = new Tuner(Constants.of(8, CORES), false);
        for (Collective collective : Collective.values()) {
            for (long bytes : SIZES) {
                assertThat(tuner.choose(collective, DataType.INT8, null, bytes, bytes, 8, false, false, null, null)
                                .readsPeers())
                        .isFalse();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Collective.class)
    void shouldChooseSlotsWhenRagged(Collective collective) {
        for (long bytes : SIZES) {
            Algorithm choice = choose(collective, null, bytes, 32, true);
            assertThat(choice.protocol()).isEqualTo(Protocol.SIMPLE);
            assertThat(choice.ragged()).isTrue();
        }
    }

    @Test
    void shouldChooseSlotsWhenTheFunctionIsTheUsers() {
        assertThat(choose(Collective.ALL_REDUCE, COMMUTATIVE, 8, 2, false).protocol())
                .isEqualTo(Protocol.SIMPLE);
    }

    @Test
    void shouldFoldInRankOrderWhenTheFunctionIsNotCommutative() {
        for (Collective collective : Collective.values()) {
            for (long bytes : SIZES) {
                Algorithm choice = choose(collective, ORDERED, bytes, 32, false);
                assertThat(choice.foldsInRankOrder()).isTrue();
                assertThat(choice.protocol()).isEqualTo(Protocol.SIMPLE);
            }
        }
    }

    @Test
    void shouldDoAsToldWhenForced() {
        assertThat(forced(Collective.ALL_REDUCE, 8, "ring", null)).hasToString("ring/simple");
        assertThat(forced(Collective.ALL_REDUCE, 1 << 20, "one-shot", null)).hasToString("one-shot/simple");
        assertThat(forced(Collective.ALL_REDUCE, 1 << 20, null, Protocol.PACKET).protocol())
                .isEqualTo(Protocol.PACKET);
        assertThat(forced(Collective.ALL_REDUCE, 1 << 20, "two-shot", Protocol.PACKET))
                .hasToString("two-shot/packet");
    }

    @Test
    void shouldSayWhatExistsWhenForcedToTheUnknown() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> forced(Collective.ALL_GATHER, 8, "butterfly", null))
                .withMessage(
                        "no algorithm 'butterfly' for allGather; there are " + Algorithms.names(Collective.ALL_GATHER));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> forced(Collective.BARRIER, 8, null, Protocol.PACKET))
                .withMessageContaining("with protocol packet for barrier")
                .withMessageContaining("flat (simple)");
    }

    @Test
    void shouldSayWhyWhenForcedToWhatCannotRunTheCall() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> tuner(4).choose(
                                Collective.ALL_REDUCE, DataType.FLOAT32, ORDERED, 2, 8, 4, false, false, "ring", null))
                .withMessageContaining("'ring' cannot run allReduce of 2 float32 with mine");
    }
}
