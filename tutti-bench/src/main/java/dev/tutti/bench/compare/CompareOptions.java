package dev.tutti.bench.compare;

import dev.tutti.Collective;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/** What the command line asked for. */
final class CompareOptions {
    static final String USAGE = """
            usage: .ci/bench compare [options]
              --ranks 2,4,8            ranks of each contestant (2)
              --collectives a,b        allReduce allGather reduceScatter broadcast allToAll barrier (all)
              --sizes 8,32,...,64M     bytes as nccl-tests counts them (8 to 32M by factors of 4, and 64M)
              --memory a,b             native registered array (all)
              --types a,b              float16 bfloat16: Tutti's own all-reduce and reduce-scatter beside its float32 (none)
              --variants a,b           rewritten unchanged: inputs written anew before each operation or not (both)
              --rounds N               how often every contestant takes its turn (5)
              --batches N              batches of a turn (5)
              --batch-micros N         how long a batch should take (2000)
              --natives a,b            openmpi openmpi-sm mpich (all that are found)
              --by-hand a,b            loops in C between two ranks: string ordinary direct (none; docs/race.md)
              --threads                Tutti's ranks as threads of one process, not as processes
              --out DIR                writes race-<ranks>.json and one chart per collective there
              --quick                  few sizes, 3 rounds, rewritten inputs only""";

    List<Integer> ranks = List.of(2);
    List<Collective> collectives = Row.COLLECTIVES;
    List<Long> sizes = defaultSizes();
    List<String> memories = List.of("native", "registered", "array");
    List<String> types = List.of();
    List<String> variants = List.of("rewritten", "unchanged");
    List<String> natives = List.of("openmpi", "openmpi-sm", "mpich");
    List<String> byHand = List.of();
    int rounds = 5;
    int batches = 5;
    int batchMicros = 2000;
    boolean threads;
    Path out = Path.of("");

    static CompareOptions parse(String[] arguments) {
        CompareOptions options = new CompareOptions();
        for (int i = 0; i < arguments.length; i++) {
            String name = arguments[i];
            switch (name) {
                case "--threads" -> options.threads = true;
                case "--quick" -> options.quick();
                default -> options.set(name, value(arguments, ++i));
            }
        }
        return options;
    }

    private void quick() {
        sizes = Stream.of(8L, 512L, 8L << 10, 128L << 10, 2L << 20).toList();
        rounds = 3;
        variants = List.of("rewritten");
    }

    private void set(String name, String value) {
        switch (name) {
            case "--ranks" -> ranks = list(value, Integer::valueOf);
            case "--collectives" -> collectives = list(value, Row::collective);
            case "--sizes" -> sizes = list(value, CompareOptions::bytes);
            case "--memory" -> memories = among(value, List.of("native", "registered", "array"));
            case "--types" -> types = among(value, List.of("float16", "bfloat16"));
            case "--variants" -> variants = among(value, List.of("rewritten", "unchanged"));
            case "--natives" -> natives = among(value, List.of("openmpi", "openmpi-sm", "mpich", "none"));
            case "--by-hand" -> byHand = among(value, List.of("string", "ordinary", "direct"));
            case "--rounds" -> rounds = Integer.parseInt(value);
            case "--batches" -> batches = Math.min(64, Integer.parseInt(value));
            case "--batch-micros" -> batchMicros = Integer.parseInt(value);
            case "--out" -> out = Path.of(value);
            default -> throw new IllegalArgumentException("no option " + name + "\n" + USAGE);
        }
    }

    private static String value(String[] arguments, int at) {
        if (at >= arguments.length) {
            throw new IllegalArgumentException(arguments[at - 1] + " needs a value\n" + USAGE);
        }
        return arguments[at];
    }

    private static <T> List<T> list(String value, Function<String, T> element) {
        return Stream.of(value.split(",")).map(element).toList();
    }

    private static List<String> among(String value, List<String> known) {
        return list(value, each -> {
            if (!known.contains(each)) {
                throw new IllegalArgumentException("'" + each + "' is none of " + known);
            }
            return each;
        });
    }

    private static Long bytes(String text) {
        int shift = text.endsWith("K") ? 10 : text.endsWith("M") ? 20 : 0;
        long bytes = Long.parseLong(shift == 0 ? text : text.substring(0, text.length() - 1)) << shift;
        if (bytes < 4 || bytes > 1 << 30 || bytes % 4 != 0) {
            throw new IllegalArgumentException("size " + text + " is not a multiple of 4 up to 1024M");
        }
        return bytes;
    }

    private static List<Long> defaultSizes() {
        List<Long> sizes = new ArrayList<>();
        for (long bytes = 8; bytes <= 32 << 20; bytes *= 4) {
            sizes.add(bytes);
        }
        sizes.add(64L << 20);
        return sizes;
    }
}
