package dev.tutti.exec;

import static dev.tutti.plan.language.Lanes.lane;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Collective;
import dev.tutti.DataType;
import dev.tutti.algorithm.Algorithms;
import dev.tutti.plan.Plan;
import dev.tutti.plan.Protocol;
import dev.tutti.plan.language.CollectiveProgram;
import dev.tutti.plan.language.ProgramRank;
import dev.tutti.plan.trace.ChromeTrace;
import dev.tutti.plan.trace.Timeline;
import dev.tutti.transport.local.LocalTransport;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PlanRecorderTest {
    private static final int SIZE = 2;
    private static final int LAUNCHES = 2;
    private static final int PIECES = 10;
    private static final long PIECE_BYTES = 16;
    private static final Plan PLAN = copying();

    /** Every rank copies its input, piece by piece. */
    private static Plan copying() {
        CollectiveProgram program = CollectiveProgram.of("copying", Collective.ALL_GATHER, SIZE, 1);
        program.loop(PIECE_BYTES, 1, () -> {
            for (int rank = 0; rank < SIZE; rank++) {
                ProgramRank me = program.rank(rank);
                me.copy(me.output().at(rank), me.input().at(0), lane(0));
            }
        });
        return program.build();
    }

    /** Records launches; ranks have room for so many spans each. */
    private static Timeline record(int... capacities) throws InterruptedException {
        LocalTransport transport = new LocalTransport(SIZE);
        Ranks ranks = new Ranks(
                SIZE,
                16 << 10,
                16 << 10,
                0,
                call -> Algorithms.find(call.collective(), "one-shot", Protocol.SIMPLE)
                        .orElseThrow()
                        .plan(SIZE, call.root(), 1));
        List<PlanRecorder> recorders =
                IntStream.of(capacities).mapToObj(PlanRecorder::new).toList();
        ranks.run(rank -> {
            PlanContext context = new PlanContext(
                    PLAN,
                    rank.endpoint,
                    bytes -> transport.allocate(rank.rank, bytes),
                    new PlanExchange(rank.execution, SIZE, Ranks.TIMEOUT_NANOS),
                    PlanContext.SCRATCH_BYTES);
            long bytes = PIECES * PIECE_BYTES;
            try (Arena arena = Arena.ofConfined()) {
                long[] inputs = new long[SIZE];
                long[] outputs = new long[SIZE];
                inputs[rank.rank] = arena.allocate(bytes, 16).address();
                outputs[rank.rank] = arena.allocate(SIZE * bytes, 16).address();
                context.prepare(bytes, bytes, DataType.INT8, null);
                context.record(recorders.get(rank.rank));
                for (int launch = 0; launch < LAUNCHES; launch++) {
                    context.run(inputs, outputs);
                }
            }
        });
        Timeline timeline = new Timeline();
        recorders.forEach(recorder -> recorder.writeTo(timeline, 0));
        return timeline;
    }

    private static String written(Timeline timeline) throws IOException {
        StringBuilder text = new StringBuilder();
        ChromeTrace.write(PLAN, timeline, text);
        return text.toString();
    }

    @Test
    void shouldKeepEverythingWhenThereIsJustEnoughRoom() throws Exception {
        int spans = LAUNCHES * PIECES;
        Timeline timeline = record(spans, spans);
        assertThat(timeline.size()).isEqualTo(SIZE * spans);
        assertThat(timeline.dropped()).isEmpty();
        assertThat(written(timeline)).startsWith("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"plan\":\"copying\"},");
    }

    @Test
    void shouldKeepTheFirstSpansAndCountTheOthersWhenFull() throws Exception {
        int spans = LAUNCHES * PIECES;
        Timeline timeline = record(spans, PIECES + 3);
        assertThat(timeline.dropped()).isEqualTo(Map.of(1, PIECES - 3L));
        assertThat(IntStream.range(spans, timeline.size()).mapToObj(timeline::span))
                .hasSize(PIECES + 3)
                .allMatch(span -> span.rank() == 1)
                .filteredOn(span -> span.launch() == 0)
                .hasSize(PIECES);
        assertThat(written(timeline)).contains("\"otherData\":{\"plan\":\"copying\",\"droppedSpans\":7},");
    }
}
