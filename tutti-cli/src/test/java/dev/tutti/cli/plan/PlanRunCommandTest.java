package dev.tutti.cli.plan;

import static dev.tutti.plan.language.Lanes.lane;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.Collective;
import dev.tutti.cli.common.Json;
import dev.tutti.plan.Plan;
import dev.tutti.plan.json.PlanFile;
import dev.tutti.plan.language.CollectiveProgram;
import dev.tutti.plan.language.DataSync;
import dev.tutti.plan.language.MemoryChannel;
import dev.tutti.plan.language.ProgramRank;
import dev.tutti.plan.trace.Timeline;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What {@code tutti plan run} does besides running: processes, calls, traces, mistakes. */
@Timeout(120)
final class PlanRunCommandTest {
    @TempDir
    Path folder = Path.of("");

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private Path file = Path.of("");

    @BeforeEach
    void writePlan() throws IOException {
        file = folder.resolve("exchange.json");
        Files.writeString(file, PlanFile.write(exchange()));
    }

    /** Two ranks give each other their input, when both are there. */
    private static Plan exchange() {
        CollectiveProgram program = CollectiveProgram.of("exchange", Collective.ALL_GATHER, 2, 1);
        for (int rank = 0; rank < 2; rank++) {
            int peer = 1 - rank;
            ProgramRank me = program.rank(rank);
            MemoryChannel channel = program.memoryChannel(peer, rank);
            channel.signal(0, DataSync.NONE);
            me.copy(me.output().at(rank), me.input().at(0), lane(1));
            channel.await(0, DataSync.NONE);
            channel.put(program.rank(peer).output().at(rank), me.input().at(0), lane(0));
            channel.signal(0, DataSync.BEFORE);
            channel.await(0, DataSync.AFTER);
        }
        return program.build();
    }

    private int run(String... words) {
        PrintStream printed = new PrintStream(out, true, StandardCharsets.UTF_8);
        PrintStream complained = new PrintStream(err, true, StandardCharsets.UTF_8);
        return new CommandLine(new PlanRunCommand(printed, complained)).execute(words);
    }

    private String printed() {
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void shouldRunBareAndByCallsOnProcesses() {
        Path other = folder.resolve("missing.json");
        assertThat(run("--transport", "shm", "--launches", "2", file.toString(), other.toString()))
                .isEqualTo(1);
        assertThat(printed())
                .contains("PASS            " + file)
                .contains("2 ranks, 7 cases, 2 launches each, on processes")
                .containsPattern("REFUSED         " + other + " .*cannot be read: there is no such file");
        assertThat(run("--transport", "shm", "--calls", file.toString())).isZero();
        assertThat(printed()).contains("on processes, by ordinary calls");
    }

    @Test
    @SuppressWarnings("unchecked")
    void shouldWriteWhatEveryLaneDidWhenTraced() throws IOException {
        Path trace = folder.resolve("trace.json");
        assertThat(run("--launches", "2", "--schedules", "0", "--trace", trace.toString(), file.toString()))
                .as(printed())
                .isZero();
        Map<String, Object> read = (Map<String, Object>) Json.read(Files.readString(trace));
        List<Map<String, Object>> events = (List<Map<String, Object>>) read.get("traceEvents");
        Map<String, Double> end = new HashMap<>();
        Map<String, Integer> spans = new HashMap<>();
        for (Map<String, Object> event : events) {
            if (event.get("ph").equals("X")) {
                String track = number(event, "pid").intValue() + "."
                        + number(event, "tid").intValue();
                double start = number(event, "ts").doubleValue();
                double duration = number(event, "dur").doubleValue();
                assertThat(start).as(track).isGreaterThanOrEqualTo(end.getOrDefault(track, 0.0) - 0.002);
                assertThat(duration).isNotNegative();
                end.put(track, start + duration);
                spans.merge(track, 1, Integer::sum);
            }
        }
        // Lane 0 signals, waits, puts, signals and waits; lane 1 copies; nothing is done where threads meet. Twice.
        assertThat(spans).isEqualTo(Map.of("0.0", 10, "0.1", 2, "1.0", 10, "1.1", 2));
    }

    /** A launch has six spans of each rank: five of lane 0, one of lane 1. */
    @Test
    @SuppressWarnings("unchecked")
    void shouldSayHowMuchATraceLacks() throws IOException {
        Path trace = folder.resolve("trace.json");
        String[] words = {"-b", "16", "-e", "16", "-d", "int8", "--schedules", "0", "--no-check", "--trace", "" + trace
        };
        int launches = Trial.SPANS_PER_RANK / 6 + 2;
        long dropped = 2L * (6 * launches - Trial.SPANS_PER_RANK);
        assertThat(run(with(words, "--launches", "" + launches, file.toString())))
                .as(printed())
                .isZero();
        assertThat(err.toString(StandardCharsets.UTF_8))
                .isEqualTo("tutti plan run: " + trace + " lacks the last " + dropped
                        + " spans, of 2 of 2 ranks, as there is room for 65536 of each; fewer --launches than "
                        + launches + " leaves out less\n");
        Map<String, Object> read = (Map<String, Object>) Json.read(Files.readString(trace));
        assertThat((Map<String, Object>) read.get("otherData")).containsEntry("droppedSpans", (double) dropped);
        err.reset();
        assertThat(run(with(words, "--launches", "2", file.toString()))).isZero();
        assertThat(err.toString(StandardCharsets.UTF_8)).isEmpty();
        assertThat(Files.readString(trace)).doesNotContain("droppedSpans");
    }

    private static String[] with(String[] words, String... more) {
        return Stream.concat(Stream.of(words), Stream.of(more)).toArray(String[]::new);
    }

    @Test
    void shouldOnlyRecommendWhatHelps() {
        Timeline timeline = new Timeline();
        timeline.drop(0, 0);
        assertThat(PlanRunCommand.missing(timeline, exchange(), 3)).isEmpty();
        timeline.drop(1, 7);
        assertThat(PlanRunCommand.missing(timeline, exchange(), 1))
                .contains(" lacks the last 7 spans, of 1 of 2 ranks, as there is room for 65536 of each");
        assertThat(PlanRunCommand.missing(timeline, looping(), 3))
                .get()
                .asString()
                .endsWith("; fewer --launches than 3 or a smaller message (-b, -e) leaves out less");
    }

    private static Plan looping() {
        CollectiveProgram program = CollectiveProgram.of("looping", Collective.ALL_GATHER, 2, 1);
        ProgramRank me = program.rank(0);
        return program.loop(16, 1, () -> me.copy(me.output().at(0), me.input().at(0), lane(0)))
                .build();
    }

    private static Number number(Map<String, Object> event, String key) {
        return (Number) event.get(key);
    }

    @Test
    void shouldSayWhatMakesNoSense() {
        for (List<String> words : List.of(
                List.of("--transport", "carrier-pigeon"),
                List.of("--device", "abacus"),
                List.of("--launches", "0"),
                List.of("--transport", "shm", "--trace", "t.json"),
                List.of("-b", "2M", "-e", "1M"))) {
            err.reset();
            String[] all =
                    Stream.concat(words.stream(), Stream.of(file.toString())).toArray(String[]::new);
            assertThat(run(all)).as("" + words).isEqualTo(6);
            assertThat(err.toString(StandardCharsets.UTF_8)).startsWith("tutti plan run: ");
        }
    }
}
