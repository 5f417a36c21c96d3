package dev.tutti.plan.simulate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.within;

import dev.tutti.Collective;
import dev.tutti.algorithm.Algorithm;
import dev.tutti.algorithm.Algorithms;
import dev.tutti.plan.Plan;
import dev.tutti.plan.Protocol;
import dev.tutti.plan.RankBuilder;
import dev.tutti.plan.trace.Timeline;
import java.util.Arrays;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Times that can be worked out by hand, and what must hold for every plan. */
@Timeout(60)
class SimulationTest {
    /** Nothing costs but links: 1 µs, 1 GB/s, so that a byte takes a nanosecond. */
    private static final Topology LINKS = Topology.parse("""
            name links
            chunk 1 GiB
            level switch * latency 1 us bandwidth 1 GB/s port rank
            """);

    private static final Topology TREE = Topology.parse("""
            name tree
            op 10 ns
            touch 3 ns
            read 10 GB/s
            fold 9 GB/s
            write 8 GB/s
            level node 2 latency 1 us bandwidth 4 GB/s port rank
            level pod  2 latency 2 us bandwidth 2 GB/s port group
            level hall * latency 5 us bandwidth 3 GB/s port group
            """);

    /** Like the tree, but every rank has ports of its own. */
    private static final Topology RAILS = Topology.parse("""
            name rails
            op 10 ns
            touch 3 ns
            read 10 GB/s
            fold 9 GB/s
            write 8 GB/s
            level node 2 latency 1 us bandwidth 4 GB/s port rank
            level pod  2 latency 2 us bandwidth 2 GB/s port rank
            level hall * latency 5 us bandwidth 3 GB/s port rank
            """);

    /** Where several transfers come to a port at the same time, fewer ranks serve them in another order. */
    private static final double SHARED_PORTS = 0.12;

    static Stream<Algorithm> algorithms() {
        return Arrays.stream(Collective.values()).flatMap(collective -> Algorithms.of(collective).stream());
    }

    private static Plan plan(int ranks, Consumer<RankBuilder> author) {
        return Plan.of("mine", Collective.ALL_REDUCE, ranks, 0, Protocol.SIMPLE, author);
    }

    private static double nanos(Plan plan, Topology topology, long bytes) {
        return Simulation.of(plan, topology).bytes(bytes).run().nanos();
    }

    private static Plan builtIn(String name, int ranks) {
        return Algorithms.find(Collective.ALL_REDUCE, name, Protocol.SIMPLE)
                .orElseThrow()
                .plan(ranks, 0, 1);
    }

    @Test
    void shouldTakeLatencyAndBytesWhenOneSends() {
        Plan plan = plan(2, me -> {
            if (me.rank() == 0) {
                me.lane().copy(me.input(0), me.scratchOf(1, 0, me.input(0))).signal(me.channel(1));
            } else {
                me.scratchSlots(1).lane().await(me.channel(0));
            }
        });

        assertThat(nanos(plan, LINKS, 5_000)).isEqualTo(1_000 + 5_000);
        assertThat(nanos(plan, LINKS, 0)).isEqualTo(1_000);
    }

    @Test
    void shouldShareThePortWhenTwoSendToOne() {
        Plan plan = plan(3, me -> {
            if (me.rank() > 0) {
                me.lane()
                        .copy(me.input(0), me.scratchOf(0, me.rank(), me.input(0)))
                        .signal(me.channel(0));
            } else {
                me.scratchSlots(3).lane().await(me.channel(1), me.channel(2));
            }
        });

        assertThat(nanos(plan, LINKS, 5_000)).isEqualTo(1_000 + 2 * 5_000);
    }

    @Test
    void shouldUseBothDirectionsAtOnceWhenTwoExchange() {
        Plan plan = plan(2, me -> {
            int peer = 1 - me.rank();
            me.lane().copy(me.input(0), me.scratchOf(peer, 0, me.input(0))).signal(me.channel(peer));
            me.lane().await(me.channel(peer));
        });

        assertThat(nanos(plan, LINKS, 5_000)).isEqualTo(1_000 + 5_000);
    }

    @Test
    void shouldWaitForTheAnswerWhenReadingAPeer() {
        Plan plan = plan(2, me -> {
            me.scratchSlots(1);
            if (me.rank() == 0) {
                me.lane().copy(me.scratchOf(1, 0, me.output(0)), me.output(0));
            }
        });

        assertThat(nanos(plan, LINKS, 5_000)).isEqualTo(2 * 1_000 + 5_000);
    }

    @Test
    void shouldTakeTwiceNMinusOneStepsWhenRing() {
        double chunk = 8_000.0 / 8;

        assertThat(nanos(builtIn("ring", 8), LINKS, 8_000)).isCloseTo(14 * (1_000 + chunk), within(14 * 16.0));
    }

    @Test
    void shouldMeetThePortOfTheGroupWhenNodesShareIt() {
        Topology shared = Topology.parse("""
                name shared
                chunk 1 GiB
                level node 2 latency 0 ns bandwidth 0 GB/s port rank
                level net  * latency 0 ns bandwidth 1 GB/s port group
                """);
        Plan pairs = plan(4, me -> {
            int peer = (me.rank() + 2) % 4;
            me.lane().copy(me.input(0), me.scratchOf(peer, 0, me.input(0))).signal(me.channel(peer));
            me.lane().await(me.channel(peer));
        });

        assertThat(nanos(pairs, shared, 1_000)).isEqualTo(2_000);
    }

    @Test
    void shouldRunRanksInTurnWhenThereIsOneCore() {
        Topology core = Topology.parse("""
                name core
                cores 1
                read 1 GB/s
                switch 100 ns
                chunk 1 GiB
                level memory * latency 0 ns bandwidth 0 GB/s port rank
                """);
        Plan alone = plan(3, me -> me.lane().copy(me.input(0), me.output(0)));

        assertThat(nanos(alone, core, 1_000)).isEqualTo(3 * 1_000 + 2 * 100);
    }

    @Test
    void shouldNameWhoWaitsWhenNobodySends() {
        Plan plan = plan(2, me -> {
            if (me.rank() == 0) {
                me.lane().copy(me.input(0), me.output(0)).await(me.channel(1));
            }
        });

        assertThatIllegalStateException()
                .isThrownBy(() -> nanos(plan, LINKS, 100))
                .withMessage("the plan cannot go on: rank 0 lane 0 waits in operation 1 for what nobody sends");
    }

    @ParameterizedTest
    @MethodSource("algorithms")
    void shouldEndAndRepeatItselfWhenAnyBuiltInPlanRuns(Algorithm algorithm) {
        for (String preset : Topology.presets()) {
            Topology topology = Topology.preset(preset);
            for (int ranks : preset.equals("dgx-h100") ? new int[] {1, 2, 3, 8} : new int[] {1, 2, 3, 8, 17}) {
                for (int lanes = 1; lanes <= 2; lanes++) {
                    Plan plan = algorithm.plan(
                            ranks, ranks / 2 * (algorithm.collective().isRooted() ? 1 : 0), lanes);
                    double once = Simulation.of(plan, topology)
                            .bytes(100_000)
                            .calls(2)
                            .run()
                            .nanos();
                    assertThat(once)
                            .as("%s on %s, %d ranks", algorithm, preset, ranks)
                            .isNotNegative()
                            .isFinite();
                    assertThat(Simulation.of(plan, topology)
                                    .bytes(100_000)
                                    .calls(2)
                                    .run()
                                    .nanos())
                            .isEqualTo(once);
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"ring, 32, 4", "ring, 24, 4", "halving-doubling, 32, 4", "halving-doubling, 20, 4", "tree, 32, 32"})
    void shouldTakeAsLongWhenRanksStandForOthers(String name, int ranks, int stepped) {
        Plan plan = builtIn(name, ranks);
        for (long bytes : new long[] {0, 16L * ranks, 1024L * ranks, 400_000L * ranks}) {
            Simulation.Result folded = Simulation.of(plan, TREE).bytes(bytes).run();
            Simulation.Result whole =
                    Simulation.of(plan, TREE).bytes(bytes).folded(false).run();

            assertThat(folded.ranksSimulated()).isEqualTo(stepped);
            assertThat(whole.ranksSimulated()).isEqualTo(ranks);
            assertThat(folded.nanos())
                    .as("%d bytes", bytes)
                    .isCloseTo(whole.nanos(), within(SHARED_PORTS * whole.nanos()));
            double rails =
                    Simulation.of(plan, RAILS).bytes(bytes).folded(false).run().nanos();
            assertThat(nanos(plan, RAILS, bytes))
                    .as("%d bytes, own ports", bytes)
                    .isCloseTo(rails, within((name.equals("ring") ? 1e-9 : SHARED_PORTS) * rails));
        }
    }

    @Test
    void shouldTakeAsLongWhenRanksOfATorusStandForOthers() {
        Topology torus = Topology.preset("torus");
        Plan plan = builtIn("ring", 64);
        Simulation.Result folded = Simulation.of(plan, torus).bytes(64 << 10).run();

        assertThat(folded.ranksSimulated()).isEqualTo(16);
        assertThat(folded.nanos())
                .isCloseTo(
                        Simulation.of(plan, torus)
                                .bytes(64 << 10)
                                .folded(false)
                                .run()
                                .nanos(),
                        within(1e-6 * folded.nanos()));
    }

    @Test
    void shouldHaveASpanForEveryOperationWhenRecorded() {
        Plan plan = builtIn("two-shot", 4);
        Timeline timeline =
                Simulation.of(plan, TREE).bytes(1 << 20).recorded().run().timeline();

        long ops =
                plan.all().stream().mapToLong(part -> part.operations().count()).sum();
        assertThat(timeline).isNotNull();
        assertThat(timeline.size()).isEqualTo((int) (2 * ops));
        for (int i = 0; i < timeline.size(); i++) {
            assertThat(timeline.span(i).endNanos())
                    .isGreaterThanOrEqualTo(timeline.span(i).startNanos());
        }
    }

    @Test
    void shouldSayWhichLineIsWrongWhenATopologyIsMalformed() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Topology.parse("name x\nlevel node 8 latency 1 parsec bandwidth 1 GB/s port rank"))
                .withMessage("topology, line 2 (level node 8 latency 1 parsec bandwidth 1 GB/s port rank):"
                        + " 'parsec' is no unit of time: ns, us or ms");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Topology.parse("name x"))
                .withMessageContaining("needs lines 'level'");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Topology.preset("moon"))
                .withMessageContaining("dgx-h100-128");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> nanos(builtIn("ring", 9), Topology.preset("dgx-h100"), 1))
                .withMessageContaining("room for 8 ranks, not for 9");
    }
}
