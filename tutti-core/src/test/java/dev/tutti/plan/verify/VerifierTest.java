package dev.tutti.plan.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Collective;
import dev.tutti.algorithm.Algorithms;
import dev.tutti.plan.Chunk;
import dev.tutti.plan.Plan;
import dev.tutti.plan.Protocol;
import dev.tutti.plan.RankBuilder;
import dev.tutti.plan.verify.Finding.Kind;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The verifier has to see what is wrong with a plan: each of these breaks one rule. */
@Timeout(20)
class VerifierTest {
    private static final int RANKS = 3;

    private static Verdict check(Collective collective, Protocol protocol, Consumer<RankBuilder> author) {
        return Verifier.check(Plan.of("broken", collective, RANKS, 0, protocol, author), true);
    }

    /** Finds it, names the operation, and a replay of the schedule shows something wrong where data or time are at stake. */
    private static Finding assertRefused(Collective collective, Consumer<RankBuilder> author, Kind kind, String why) {
        return assertRefused(collective, Protocol.SIMPLE, author, kind, why);
    }

    private static Finding assertRefused(
            Collective collective, Protocol protocol, Consumer<RankBuilder> author, Kind kind, String why) {
        Verdict verdict = check(collective, protocol, author);
        assertThat(verdict.status()).as(verdict.reason()).isEqualTo(Verdict.Status.FAIL);
        assertThat(verdict.findings()).anySatisfy(finding -> {
            assertThat(finding.kind()).isEqualTo(kind);
            assertThat(finding.sentence()).contains(why);
        });
        return verdict.findings().stream()
                .filter(finding -> finding.kind() == kind && finding.sentence().contains(why))
                .findFirst()
                .orElseThrow();
    }

    private static int next(RankBuilder me) {
        return (me.rank() + 1) % RANKS;
    }

    private static int previous(RankBuilder me) {
        return (me.rank() + RANKS - 1) % RANKS;
    }

    @Test
    void shouldAcceptWhenNothingIsWrong() {
        Plan plan = Algorithms.find(Collective.ALL_REDUCE, "one-shot", Protocol.SIMPLE)
                .orElseThrow()
                .plan(RANKS, 0, 1);

        assertThat(Verifier.check(plan).status()).isEqualTo(Verdict.Status.PASS);
    }

    @Test
    void shouldSeeUnbalancedSignalsWhenOneIsNotAwaited() {
        assertRefused(
                Collective.BARRIER,
                me -> me.lane()
                        .signal(me.channel(next(me)))
                        .signal(me.channel(next(me)))
                        .signal(me.channel(previous(me)))
                        .await(me.channel(next(me)))
                        .await(me.channel(previous(me))),
                Kind.UNBALANCED,
                "gets 2 and gives 1");
    }

    @Test
    void shouldSeeADeadlockWhenEverybodyWaitsFirst() {
        Finding finding = assertRefused(
                Collective.BARRIER,
                me -> me.lane().await(me.channel(previous(me))).signal(me.channel(next(me))),
                Kind.DEADLOCK,
                "waits for ever");

        assertThat(finding.rank()).isZero();
        assertThat(finding.op()).isZero();
        assertThat(finding.counterpart()).contains("rank 2 lane 0 op 1");
    }

    @Test
    void shouldSeeThatARankWasNotHeardWhenOnlyANeighbourSignals() {
        assertRefused(
                Collective.BARRIER,
                me -> me.lane().signal(me.channel(next(me))).await(me.channel(previous(me))),
                Kind.UNHEARD,
                "without having heard");
    }

    @Test
    void shouldSeeARaceWhenASlotIsReadBeforeTheWait() {
        Consumer<RankBuilder> author = me -> {
            Chunk own = me.input(0);
            me.lane().copy(own, me.scratchOf(next(me), 0, own)).signal(me.channel(next(me)));
            me.lane().finishReduce(List.of(own, me.scratch(0, own)), me.output(0));
            me.lane().await(me.channel(previous(me)));
        };
        Finding finding = assertRefused(Collective.ALL_REDUCE, author, Kind.RACE, "nothing orders the two");

        Plan plan = Plan.of("broken", Collective.ALL_REDUCE, RANKS, 0, Protocol.SIMPLE, author);
        assertThat(Replay.run(plan, finding.sizes(), finding.schedule())).isNotEmpty();
        assertThat(Interleaving.parse(finding.schedule().toString())).isEqualTo(finding.schedule());
    }

    @Test
    void shouldSeeARaceWhenTheSignalComesBeforeTheData() {
        assertRefused(
                Collective.ALL_REDUCE,
                me -> {
                    Chunk own = me.input(0);
                    me.lane().signal(me.channel(next(me))).copy(own, me.scratchOf(next(me), 0, own));
                    me.lane().await(me.channel(previous(me)));
                    me.lane().finishReduce(List.of(own, me.scratch(0, own)), me.output(0));
                },
                Kind.RACE,
                "nothing orders the two");
    }

    @Test
    void shouldSeeARaceWhenTwoPeersShareASlot() {
        assertRefused(
                Collective.REDUCE,
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
                Kind.RACE,
                "writes it");
    }

    @Test
    void shouldSeeAMissingWaitWhenTheWriterIsHeardOnlyThroughAnother() {
        assertRefused(
                Collective.BROADCAST,
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
                Kind.RULE,
                "without a wait for rank 0 itself");
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

        Finding finding = assertRefused(Collective.EXSCAN, scan, Kind.WRONG_RESULT, "rank 2 ends");

        assertThat(finding.sizes()).contains("in place");
    }

    @Test
    void shouldSeeAMissingSpaceWhenANonRootWritesItsOutput() {
        assertRefused(
                Collective.REDUCE,
                me -> me.lane().finishReduce(List.of(me.input(0)), me.output(0)),
                Kind.RULE,
                "which has none");
    }

    @Test
    void shouldSeeDifferentScratchWhenRanksDeclareDifferentSlots() {
        assertRefused(Collective.BARRIER, me -> me.scratchSlots(me.rank()).lane(), Kind.RULE, "declares other scratch");
    }

    @Test
    void shouldSeeAWrittenInputWhenUsedAsADestination() {
        assertRefused(
                Collective.ALL_GATHER, me -> me.lane().copy(me.input(0), me.input(0)), Kind.RULE, "writes an input");
    }

    @Test
    void shouldSeeMissingPacketsWhenNobodySends() {
        assertRefused(
                Collective.ALL_REDUCE,
                Protocol.PACKET,
                me -> {
                    Chunk own = me.input(0);
                    me.packets().lane().finishReducePackets(List.of(own, me.scratch(0, own)), me.output(0));
                },
                Kind.DEADLOCK,
                "packets in its scratch, which nobody gives any more");
    }

    @Test
    void shouldSayNotProvenWhenTwoLanesWaitOnOneChannel() {
        Consumer<RankBuilder> author = me -> {
            for (int peer : me.peers()) {
                me.lane(0).signal(me.channel(peer));
                me.lane(1).signal(me.channel(peer));
            }
            for (int peer : me.peers()) {
                me.lane(0).await(me.channel(peer));
                me.lane(1).await(me.channel(peer));
            }
        };

        Verdict verdict = check(Collective.BARRIER, Protocol.SIMPLE, author);

        assertThat(verdict.status()).isEqualTo(Verdict.Status.NOT_PROVEN);
        assertThat(verdict.reason()).contains("in no order");
    }

    @Test
    void shouldShowTheSameWhenASeedIsReplayed() {
        Consumer<RankBuilder> author = me -> {
            Chunk own = me.input(0);
            me.lane().copy(own, me.scratchOf(next(me), 0, own));
            me.lane().finishReduce(List.of(own, me.scratch(0, own)), me.output(0));
            me.lane().signal(me.channel(next(me))).await(me.channel(previous(me)));
        };
        Plan plan = Plan.of("broken", Collective.ALL_REDUCE, RANKS, 0, Protocol.SIMPLE, author);
        String sizes = Replay.sizes(plan).getFirst();
        long seed = 0;
        while (Replay.run(plan, sizes, seed).isEmpty()) {
            seed++;
        }

        List<Finding> once = Replay.run(plan, sizes, seed);

        assertThat(Replay.run(plan, sizes, seed)).isEqualTo(once);
        assertThat(Replay.run(plan, sizes, once.getFirst().schedule())).isEqualTo(once);
    }
}
