package dev.tutti.bench.first;

import dev.tutti.DataType;
import dev.tutti.bench.FreshJvm;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * First calls in fresh JVMs, for every type and operator: each runs {@link FirstCall} in a process of its own, once in every round. Prints
 * medians of all rounds, the worst first; a first call is over the limit when it takes more than 10 times the warm one and more than 200 µs. Usage:
 * {@code FirstCallBench [bytes [rounds]]}.
 */
public final class FirstCallBench {
    private static final List<String> OPERATORS =
            List.of("sum", "prod", "min", "max", "avg", "mulsum", "and", "or", "xor");

    private FirstCallBench() {}

    /** Microseconds in one JVM. */
    private record Times(double world, double first, double warm) {
        double share() {
            return first / Math.max(10 * warm, 200);
        }
    }

    /** A type and an operator in all rounds. */
    private record Kind(DataType type, String op, List<Times> rounds) {
        Kind(DataType type, String op) {
            this(type, op, new ArrayList<>());
        }

        double median(ToDoubleFunction<Times> value) {
            return quantile(rounds, value, 0.5);
        }

        double most(ToDoubleFunction<Times> value) {
            return quantile(rounds, value, 1);
        }
    }

    private static double quantile(List<Times> times, ToDoubleFunction<Times> value, double quantile) {
        double[] sorted = times.stream().mapToDouble(value).sorted().toArray();
        return sorted[(int) (quantile * (sorted.length - 1))];
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        String bytes = arguments.length > 0 ? arguments[0] : "8";
        int rounds = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 5;
        List<Kind> kinds = new ArrayList<>();
        for (DataType type : DataType.values()) {
            for (String op : OPERATORS) {
                if (FirstCall.operator(op).accepts(type)) {
                    kinds.add(new Kind(type, op));
                }
            }
        }
        for (int round = 1; round <= rounds; round++) {
            System.err.println("round " + round + " of " + rounds + ", " + kinds.size() + " JVMs ...");
            for (Kind kind : kinds) {
                kind.rounds.add(run(kind.type, kind.op, bytes));
            }
        }
        print(kinds, bytes);
    }

    private static void print(List<Kind> kinds, String bytes) {
        kinds.sort(Comparator.comparingDouble((Kind kind) -> kind.median(Times::share))
                .reversed());
        System.out.println(
                "type        op      world and first call (ms)   first of its kind (us)      most   warm (us)   of the limit");
        for (Kind kind : kinds) {
            System.out.println(String.format(
                    Locale.ROOT,
                    "%-11s %-7s %25.1f %24.1f %9.1f %11.2f %14.2f",
                    kind.type,
                    kind.op,
                    kind.median(Times::world) / 1e3,
                    kind.median(Times::first),
                    kind.most(Times::first),
                    kind.median(Times::warm),
                    kind.median(Times::share)));
        }
        List<Times> all = kinds.stream().flatMap(kind -> kind.rounds.stream()).toList();
        long kindsOver =
                kinds.stream().filter(kind -> kind.median(Times::share) > 1).count();
        long callsOver = all.stream().filter(times -> times.share() > 1).count();
        System.out.println(String.format(
                Locale.ROOT,
                "%d of %d kinds over the limit of max(10 x warm, 200 us) at %s bytes in the median of %d JVMs each; %d of all %d JVMs",
                kindsOver,
                kinds.size(),
                bytes,
                kinds.getFirst().rounds.size(),
                callsOver,
                all.size()));
        System.out.println(String.format(
                Locale.ROOT,
                "first of its kind, all JVMs: quartiles %.0f, %.0f, %.0f us, 90 %% %.0f, most %.0f; world and first call: median %.0f ms, most %.0f",
                quantile(all, Times::first, 0.25),
                quantile(all, Times::first, 0.5),
                quantile(all, Times::first, 0.75),
                quantile(all, Times::first, 0.9),
                quantile(all, Times::first, 1),
                quantile(all, Times::world, 0.5) / 1e3,
                quantile(all, Times::world, 1) / 1e3));
    }

    private static Times run(DataType type, String op, String bytes) throws IOException, InterruptedException {
        List<String> lines = FreshJvm.run(FirstCall.class, type.name(), op, bytes);
        String[] numbers = lines.getLast().split(" ");
        return new Times(
                Double.parseDouble(numbers[0]), Double.parseDouble(numbers[1]), Double.parseDouble(numbers[2]));
    }
}
