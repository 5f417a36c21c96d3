package dev.tutti.plan.language;

import static dev.tutti.plan.language.Lanes.lane;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.tutti.Collective;
import dev.tutti.ReduceOp;
import dev.tutti.plan.Code;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
import dev.tutti.plan.PlanHeader;
import dev.tutti.plan.Space;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the passes make of programs, and what they say about wrong ones. */
@Timeout(20)
class LanguageTest {
    private final CollectiveProgram program = CollectiveProgram.of("test", PlanHeader.TEST, 2, 4, 4);
    private final ProgramRank zero = program.rank(0);
    private final ProgramRank one = program.rank(1);

    private List<Op> ops() {
        return program.build().rank(0).lanes().getFirst();
    }

    private List<Code> codes() {
        return ops().stream().map(Op::code).toList();
    }

    @Test
    void shouldFoldOnceWhenReducesHaveTheSameDestinationAndSource() {
        Chunks in = zero.input();
        zero.reduce(in.at(0), List.of(in.at(1)), ReduceOp.SUM, lane(0));
        zero.reduce(in.at(0), List.of(in.at(2)), ReduceOp.SUM, lane(0));

        assertThat(ops()).singleElement().hasToString("re [i[0]@0] <- [i[0]@0, i[1]@0, i[2]@0] sum");
    }

    @Test
    void shouldKeepBothReducesWhenTheSecondReplacesTheFirst() {
        Chunks in = zero.input();
        zero.reduce(zero.output().at(0), in.at(0), List.of(in.at(1)), ReduceOp.SUM, lane(0));
        zero.reduce(zero.output().at(0), in.at(0), List.of(in.at(2)), ReduceOp.SUM, lane(0));

        assertThat(codes()).containsExactly(Code.REDUCE, Code.NOP, Code.REDUCE);
    }

    @Test
    void shouldStoreElsewhereTooWhenAPutFollowsItsReduce() {
        Chunks in = zero.input();
        MemoryChannel channel = program.memoryChannel(1, 0);
        zero.reduce(in.at(0), List.of(in.at(1)), ReduceOp.SUM, lane(0));
        channel.put(one.input().at(0), in.at(0), lane(0));

        assertThat(ops()).singleElement().hasToString("res [i[0]@0, i[0]@1] <- [i[0]@0, i[1]@0] sum");
    }

    @Test
    void shouldDoNothingOfThatWhenThePassesAreOff() {
        program.fusion(false).autoSync(false).dataSync(false);
        Chunks in = zero.input();
        MemoryChannel channel = program.memoryChannel(1, 0);
        zero.reduce(in.at(0), List.of(in.at(1)), ReduceOp.SUM, lane(0));
        channel.put(one.input().at(0), in.at(0), lane(0));
        channel.signal(0, DataSync.BOTH);
        program.memoryChannel(0, 1).await(0, DataSync.BOTH);

        assertThat(codes()).containsExactly(Code.REDUCE, Code.PUT, Code.SIGNAL);
    }

    @Test
    void shouldJoinPutsWhenTheirSizesAreEqual() {
        MemoryChannel there = program.memoryChannel(1, 0);
        there.put(one.input().at(0), zero.input().at(0), lane(0));
        there.put(one.input().at(1), zero.input().at(1), lane(0));

        assertThat(codes()).containsExactly(Code.PUT);
        assertThat(ops().getFirst().destinations()).hasSize(2);
    }

    @Test
    void shouldPassTheSwitchOnceWhenTheStoreIsAtTheSamePlaceOnly() {
        SwitchChannel both = program.switchChannel(Space.INPUT, 0, 1);
        both.at(0).reduce(0, 1, zero.input().at(0), ReduceOp.SUM, 0);
        both.at(0).broadcast(zero.input().at(0), 0, 1, 0);
        both.at(0).reduce(1, 1, zero.output().at(0), ReduceOp.SUM, 0);
        both.at(0).broadcast(zero.output().at(0), 3, 1, 0);

        assertThat(codes().stream().filter(code -> code != Code.NOP))
                .containsExactly(Code.GROUP_REDUCE_STORE, Code.GROUP_REDUCE, Code.GROUP_STORE);
    }

    @Test
    void shouldShiftEveryOperandWhenThereAreInstances() {
        Chunks packets = zero.scratch(2);
        program.instances(2);
        zero.reducePackets(zero.input().at(0), zero.input().at(0), List.of(packets.at(0)), ReduceOp.SUM, lane(0));
        zero.copyPackets(packets.at(1), zero.input().at(0), lane(0));
        Plan plan = program.build();

        assertThat(plan.rank(0).inputChunks()).isEqualTo(8);
        assertThat(plan.rank(0).lanes()).hasSize(2);
        assertThat(plan.rank(0).lanes().get(1).getFirst())
                .hasToString("recpkt [i[1]@0, s[3]@0] <- [i[1]@0, s[1]@0] sum");
        assertThat(program.build()).isEqualTo(plan);
    }

    @Test
    void shouldCutOperandsWhenLanesAreAGroup() {
        zero.copy(zero.output().at(0), zero.input().at(0), Lanes.group(2, 0));
        List<List<Op>> lanes = program.build().rank(0).lanes();

        assertThat(lanes.get(0).getFirst().slice()).isEqualTo(new Op.Slice(1, 2));
        assertThat(lanes.get(1)).isEmpty();
        assertThat(lanes.get(2).getFirst().slice()).isEqualTo(new Op.Slice(0, 2));
    }

    @Test
    void shouldCollectOperationsOfEachLaneWhenInALoop() {
        program.loop(64, 1, () -> {
            zero.copy(zero.output().at(0), zero.input().at(0), lane(0));
            zero.copy(zero.output().at(1), zero.input().at(1), lane(1));
            zero.copy(zero.output().at(2), zero.input().at(2), lane(0));
        });
        List<List<Op>> lanes = program.build().rank(0).lanes();

        assertThat(lanes).allSatisfy(lane -> assertThat(lane).singleElement().matches(op -> op.loop() != null));
        assertThat(lanes.getFirst().getFirst().loop().body()).hasSize(2);
        assertThatIllegalStateException()
                .isThrownBy(() -> program.loop(64, 1, () -> program.loop(64, 1, () -> {})))
                .withMessage("loops cannot stand in each other");
    }

    @Test
    void shouldNumberBarriersAnewWhenTheProgramIsAnother() {
        zero.barrier(0, 1);
        zero.barrier(0, 2);
        zero.barrier(0, 1);
        zero.barrier(0);

        assertThat(ops().stream().map(Op::toString))
                .containsExactly("barrier #0 of 2", "barrier #1 of 2", "barrier #0 of 2");
    }

    @Test
    void shouldMeetWhereAskedAndNotTwiceWhenFused() {
        MemoryChannel out = program.memoryChannel(1, 0);
        MemoryChannel in = program.memoryChannel(0, 1);
        out.signal(0, DataSync.BOTH);
        out.relaxedSignal(0, DataSync.BOTH);
        in.await(0, DataSync.AFTER);
        in.relaxedAwait(0, DataSync.AFTER);

        assertThat(codes()).containsExactly(Code.NOP, Code.SIGNAL, Code.NOP, Code.RELAXED_SIGNAL, Code.NOP);
    }

    @Test
    void shouldNameTheChannelWhenASignalIsNotAwaited() {
        program.memoryChannel(1, 0);
        program.memoryChannel(1, 0).signal(0, DataSync.NONE);

        assertThatIllegalStateException()
                .isThrownBy(program::build)
                .withMessage("on memory channel 1 from rank 0 to rank 1 there are 1 signals and 0 waits:"
                        + " every signal must be awaited once");
    }

    @Test
    void shouldSayWhatIsWrongWhenArgumentsDoNotFit() {
        MemoryChannel channel = program.memoryChannel(1, 0);
        Chunks in = zero.input();

        assertThatIllegalArgumentException()
                .isThrownBy(() -> in.slice(2, 5))
                .withMessageContaining("chunks 2 to 5 of i[0..3]@0: it has 4");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> channel.put(one.input().slice(0, 2), in.at(0), lane(0)))
                .withMessage("put of rank 0: i[0..0]@0 does not fit i[0..1]@1: sizes differ");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> channel.put(in.at(1), in.at(0), lane(0)))
                .withMessageContaining("is not of rank 1, to which this channel goes");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> channel.putPackets(one.output().at(0), in.at(0), lane(0)))
                .withMessage("ppkt of rank 0: packets live in scratch only, got o[0..0]@1");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> one.copy(in.at(0), in.at(1), lane(0)))
                .withMessageContaining("copy of rank 1: i[1..1]@0 is not of this rank");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> program.memoryChannel(1, 1))
                .withMessage("rank 1 cannot have a channel to itself");
        assertThatIllegalArgumentException().isThrownBy(() -> Lanes.group(1, 1)).withMessageContaining("twice");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CollectiveProgram.of("x", Collective.ALL_REDUCE, 0, 1))
                .withMessageContaining("at least 1");
    }
}
