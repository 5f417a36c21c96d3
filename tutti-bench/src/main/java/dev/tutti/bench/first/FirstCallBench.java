package dev.tutti.bench.first;

import dev.tutti.DataType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * First calls in fresh JVMs, for every type and operator: each runs {@link FirstCall} in a process of its own. Prints the worst
 * first; a row is over when its first call takes more than 10 times the warm one and more than 200 µs. Usage:
 * {@code FirstCallBench [bytes]}.
 */
public final class FirstCallBench {
    private static final List<String> OPERATORS =
            List.of("sum", "prod", "min", "max", "avg", "mulsum", "and", "or", "xor");

    private FirstCallBench() {}

    private record Row(DataType type, String op, double world, double first, double warm) {
        double share() {
            return first / Math.max(10 * warm, 200);
        }
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        String bytes = arguments.length > 0 ? arguments[0] : "8";
        List<Row> rows = new ArrayList<>();
        for (DataType type : DataType.values()) {
            for (String op : OPERATORS) {
                if (FirstCall.operator(op).accepts(type)) {
                    rows.add(run(type, op, bytes));
                }
            }
        }
        rows.sort(Comparator.comparingDouble(Row::share).reversed());
        System.out.println(
                "type        op      world and first call (ms)   first of its kind (us)   warm (us)   of the limit");
        for (Row row : rows) {
            System.out.println(String.format(
                    Locale.ROOT,
                    "%-11s %-7s %25.1f %24.1f %11.2f %13.2f",
                    row.type,
                    row.op,
                    row.world / 1e3,
                    row.first,
                    row.warm,
                    row.share()));
        }
        long over = rows.stream().filter(row -> row.share() > 1).count();
        System.out.println(
                over + " of " + rows.size() + " over the limit of max(10 x warm, 200 us) at " + bytes + " bytes");
    }

    private static Row run(DataType type, String op, String bytes) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElse("java"),
                "--add-modules",
                "jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                FirstCall.class.getName(),
                type.name(),
                op,
                bytes));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        if (process.waitFor() != 0) {
            throw new IOException("first call of " + type + " " + op + " failed");
        }
        String[] numbers = output.split(" ");
        return new Row(
                type,
                op,
                Double.parseDouble(numbers[0]),
                Double.parseDouble(numbers[1]),
                Double.parseDouble(numbers[2]));
    }
}
