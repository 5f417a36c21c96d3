package dev.tutti.bench.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Every round of every entry, for whoever wants to look closer. */
final class RawJson {
    private RawJson() {}

    static void write(Results results, Path file) throws IOException {
        List<String> names = Stream.of(results.natives, results.ours, results.byHand, results.narrow)
                .flatMap(List::stream)
                .toList();
        String rows = results.rows.entrySet().stream()
                .map(entry -> row(entry.getKey(), entry.getValue(), names))
                .collect(Collectors.joining(",\n    "));
        String text = "{\n  \"time\": \"" + Instant.now() + "\",\n  \"cores\": "
                + Runtime.getRuntime().availableProcessors() + ",\n  \"java\": \"" + Runtime.version()
                + "\",\n  \"ranks\": " + results.ranks
                + ",\n  \"unit\": \"us per operation, median batch of each round\""
                + ",\n  \"natives\": " + strings(results.natives) + ",\n  \"tutti\": " + strings(results.ours)
                + ",\n  \"byHand\": " + strings(results.byHand)
                + ",\n  \"rows\": [\n    " + rows + "\n  ]\n}\n";
        Files.writeString(file, text);
    }

    private static String row(Row row, Results.Entries entries, List<String> names) {
        return "{\"collective\": \"" + Row.name(row.collective()) + "\", \"bytes\": " + row.bytes()
                + ", \"rewritten\": " + row.rewriting() + ", \"lineNanos\": "
                + numbers(entries.rounds.stream().map(Results.Round::lineNanos).toList()) + ", \"moved\": "
                + entries.moved
                + names.stream()
                        .filter(name -> !entries.of(name).isEmpty())
                        .map(name -> ", \"" + name + "\": " + numbers(entries.of(name)))
                        .collect(Collectors.joining())
                + "}";
    }

    private static String numbers(List<Double> values) {
        return values.stream()
                .map(value -> String.format(Locale.ROOT, "%.4f", value))
                .collect(Collectors.joining(", ", "[", "]"));
    }

    private static String strings(List<String> values) {
        return values.stream().map(value -> '"' + value + '"').collect(Collectors.joining(", ", "[", "]"));
    }
}
