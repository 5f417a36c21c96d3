package dev.tutti.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class HandoverTest {
    private static PerfOptions parsed(String... arguments) {
        PerfCommand command = new PerfCommand(
                new PrintStream(PrintStream.nullOutputStream()),
                new PrintStream(PrintStream.nullOutputStream()),
                Map.of(),
                List.of(arguments));
        new CommandLine(command).parseArgs(arguments);
        return command.options;
    }

    @Test
    void shouldSayNothingWhenNothingWasGiven() {
        assertThat(Handover.words(parsed("all_reduce"))).isEmpty();
    }

    @Test
    void shouldReadBackWhatWasGiven() {
        PerfOptions given = parsed(
                "all_reduce",
                "-g",
                "3",
                "-t",
                "2",
                "-b",
                "8",
                "-e",
                "1M",
                "-f",
                "4",
                "-n",
                "7",
                "-w",
                "5",
                "-r",
                "-1",
                "-d",
                "bfloat16",
                "-J",
                "a b=c.json",
                "--plot",
                "p.png",
                "--compare",
                "x.json,y.json",
                "--heap",
                "--algo",
                "ring");
        given.launched = PerfOptions.TERMINAL;
        List<String> words = Handover.words(given);
        PerfOptions read = new PerfOptions();
        Handover.read(words, read);

        assertThat(Handover.words(read)).containsExactlyElementsOf(words);
        assertThat(read).usingRecursiveComparison().isEqualTo(given);
        assertThat(read.json).isEqualTo(Path.of("a b=c.json"));
        assertThat(read.compared).containsExactly(Path.of("x.json"), Path.of("y.json"));
        assertThat(words).contains("minBytes=8", "stepFactor=4", "root=-1", "heap=true", "launched=terminal");
    }
}
