package dev.tutti.algorithm;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tutti.Collective;
import dev.tutti.algorithm.PlanSimulator.Fold;
import dev.tutti.algorithm.PlanSimulator.Lengths;
import dev.tutti.plan.Chunk;
import dev.tutti.plan.Plan;
import dev.tutti.plan.Protocol;
import dev.tutti.plan.RankBuilder;
import dev.tutti.plan.Reach;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The simulator has to see what is wrong with a plan: each of these breaks one rule. */
@Timeout(20)
class PlanSimulatorTest {
    private static final int RANKS = 3;

    /** Runs under many interleavings, so that a plan that only sometimes goes wrong is caught too. */
    private static void run(Collective collective, Protocol protocol, boolean inPlace, Consumer<RankBuilder> author) {
        run(Plan.of("broken", collective, RANKS, 0, protocol, author), inPlace);
    }

    private static void run(Plan plan, boolean inPlace) {
        Reference reference = new Reference(plan.collective(), RANKS, 0);
        for (long seed = 0; seed < 50; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            Lengths lengths = reference.lengths(7, false, random);
            long[][][][] inputs = new long[5][][][];
            Arrays.setAll(inputs, launch -> reference.inputs(lengths, random));
            new PlanSimulator(plan, lengths, inPlace, Fold.SUM, random.split()).run(inputs);
        }
    }

    private static void assertRefused(
            Collective collective, boolean inPlace, Consumer<RankBuilder> author, String why) {
        assertThatThrownBy(() -> run(collective, Protocol.SIMPLE, inPlace, author))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining(why);
    }

    private static int next(RankBuilder me) {
        return (me.rank() + 1) % RANKS;
    }

    private static int previous(RankBuilder me) {
        return (me.rank() + RANKS - 1) % RANKS;
    }

    @Test
    void shouldAcceptWhenNothingIsWrong() {
        assertThatCode(() -> run(Collective.ALL_REDUCE, Protocol.SIMPLE, true, AllPairs::oneShotAllReduce))
                .doesNotThrowAnyException();
    }

    @Test
    void shouldSeeUnbalancedSignalsWhenOneIsNotAwaited() {
        assertRefused(
                Collective.BARRIER, false, me -> me.lane().signal(me.channel(next(me))), "signals and waits differ");
    }

    @Test
    void shouldSeeADeadlockWhenEverybodyWaitsFirst() {
        assertRefused(
                Collective.BARRIER,
                false,
                me -> me.lane().await(me.channel(previous(me))).signal(me.channel(next(me))),
                "deadlock");
    }

    @Test
    void shouldSeeThatARankWasNotHeardWhenOnlyANeighbourSignals() {
        assertRefused(
                Collective.BARRIER,
                false,
                me -> me.lane().signal(me.channel(next(me))).await(me.channel(previous(me))),
                "without hearing from all");
    }

    @Test
    void shouldSeeAnUnwrittenSlotWhenReadBeforeTheWait() {
        assertRefused(
                Collective.ALL_REDUCE,
                false,
                me -> {
                    Chunk own = me.input(0);
                    me.lane().copy(own, me.scratchOf(next(me), 0, own)).signal(me.channel(next(me)));
                    me.lane().finishReduce(List.of(own, me.scratch(0, own)), me.output(0));
                    me.lane().await(me.channel(previous(me)));
                },
                "reads a slot");
    }

    @Test
    void shouldSeeAMissingWaitWhenTheSignalComesBeforeTheData() {
        assertRefused(
                Collective.ALL_REDUCE,
                false,
                me -> {
                    Chunk own = me.input(0);
                    me.lane().signal(me.channel(next(me))).copy(own, me.scratchOf(next(me), 0, own));
                    me.lane().await(me.channel(previous(me)));
                    me.lane().finishReduce(List.of(own, me.scratch(0, own)), me.output(0));
                },
                "reads a slot");
    }

    @Test
    void shouldSeeASecondWriteWhenTwoPeersShareASlot() {
        assertRefused(
                Collective.REDUCE,
                false,
                me -> {
                    Chunk own = me.input(0);
                    me.scratchSlots(1);
                    if (me.rank() == 0) {
                        me.lane().await(me.channel(1), me.channel(2));
                        me.lane().finishReduce(List.of(own, me.scratch(0, own)), me.output(0));
                    } else {
                        me.lane().copy(own, me.scratchOf(0, 0, own)).signal(me.channel(0));
                    }
                },
                "twice in a launch");
    }

    @Test
    void shouldSeeAMissingWaitWhenTheWriterIsHeardOnlyThroughAnother() {
        assertRefused(
                Collective.BROADCAST,
                false,
                me -> {
                    me.scratchSlots(1);
                    if (me.rank() == 0) {
                        me.lane()
                                .copy(me.input(0), me.scratch(0, me.input(0)), me.output(0))
                                .signal(me.channel(1));
                    } else {
                        me.lane().await(me.channel(me.rank() - 1));
                        me.lane().copy(me.scratchOf(0, 0, me.output(0)), me.output(0));
                        if (me.rank() == 1) {
                            me.lane().signal(me.channel(2));
                        }
                    }
                },
                "without a wait for its writer");
    }

    @Test
    void shouldSeeAnOverwrittenInputWhenInPlace() {
        Consumer<RankBuilder> scan = me -> {
            Chunk own = me.input(0);
            me.scratchSlots(1);
            if (me.rank() > 0) {
                me.lane().await(me.channel(me.rank() - 1));
                me.lane().finishReduce(List.of(me.scratch(0, own)), me.output(0));
            }
            if (me.rank() < RANKS - 1) {
                me.lane()
                        .reduce(
                                me.rank() == 0 ? List.of(own) : List.of(me.scratch(0, own), own),
                                me.scratchOf(me.rank() + 1, 0, own));
                me.lane().signal(me.channel(me.rank() + 1));
            }
        };

        assertThatCode(() -> run(Collective.EXSCAN, Protocol.SIMPLE, false, scan))
                .doesNotThrowAnyException();
        assertRefused(Collective.EXSCAN, true, scan, "output has overwritten");
    }

    @Test
    void shouldSeeAMissingSpaceWhenANonRootWritesItsOutput() {
        assertRefused(
                Collective.REDUCE,
                false,
                me -> me.lane().finishReduce(List.of(me.input(0)), me.output(0)),
                "has no OUTPUT");
    }

    @Test
    void shouldSeeDifferentScratchWhenRanksDeclareDifferentSlots() {
        assertRefused(
                Collective.BARRIER, false, me -> me.scratchSlots(me.rank()).lane(), "declares other scratch");
    }

    @Test
    void shouldSeeAWrittenInputWhenUsedAsADestination() {
        assertRefused(Collective.ALL_GATHER, false, me -> me.lane().copy(me.input(0), me.input(0)), "writes input");
    }

    @Test
    void shouldSeeAnEarlyReachWhenAPeerHasNotBeenHeard() {
        assertReachRefused(
                me -> {
                    Chunk result = me.output(0);
                    me.lane().copy(me.inputOf(next(me), 0, result), result);
                    meetAll(me);
                },
                "reaches into a buffer");
    }

    @Test
    void shouldSeeALateReachWhenAPeerMayHaveLeft() {
        assertReachRefused(
                me -> {
                    Chunk result = me.output(0);
                    meetAll(me);
                    me.lane().copy(me.inputOf(next(me), 0, result), result);
                },
                "reaches into a buffer");
    }

    private static void meetAll(RankBuilder me) {
        int[] channels = Peers.channels(me, me.peers());
        me.lane().signal(channels).await(channels);
    }

    private static void assertReachRefused(Consumer<RankBuilder> author, String why) {
        Plan plan = Plan.of("broken", Collective.ALL_REDUCE, RANKS, 0, Protocol.SIMPLE, author)
                .reaching(Reach.GUARDED);
        assertThatThrownBy(() -> run(plan, false))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining(why);
    }

    @Test
    void shouldSeeMissingPacketsWhenNobodySends() {
        assertThatThrownBy(() -> run(Collective.ALL_REDUCE, Protocol.PACKET, false, me -> {
                    Chunk own = me.input(0);
                    me.packets().lane().finishReducePackets(List.of(own, me.scratch(0, own)), me.output(0));
                }))
                .hasMessageContaining("deadlock");
    }
}
