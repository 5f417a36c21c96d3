package dev.tutti.bench.compare;

import dev.tutti.Collective;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.World;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Locale;

/**
 * Tutti's side of the race: what race.c does, through the API as users have it, with mismatch detection and deadlines on. Reads
 * commands from {@code DIR/<rank>.in}; rank 0 answers to {@code DIR/out}. Beside {@code run} there is {@code warm}, as the JIT
 * compiler needs more than a few calls. Usage: {@code TuttiRank DIR} for
 * a rank that is a process, {@code TuttiRank DIR N} for ranks that are threads.
 */
public final class TuttiRank {
    private static final int MOST_ITERATIONS = 20_000;
    private static final List<Long> WARM_SIZES = List.of(8L, 32L, 128L, 512L, 2048L, 8192L, 32768L, 131072L, 524288L);
    /** What takes several launches, and what goes past the caches. */
    private static final List<Long> WARM_LONG_SIZES = List.of(2L << 20, 8L << 20, 20L << 20);
    /** Long messages take so long that only one pass in so many has some. */
    private static final int LONG_EVERY = 8;

    private final Communicator comm;
    private final Path directory;
    private final Memories.Pool memories;
    private final double[] slowest = new double[1];

    private TuttiRank(Communicator comm, Path directory) {
        this.comm = comm;
        this.directory = directory;
        this.memories = new Memories.Pool(comm);
    }

    public static void main(String[] arguments) {
        Path directory = Path.of(arguments[0]);
        if (arguments.length > 1) {
            World.local(Integer.parseInt(arguments[1])).run(comm -> new TuttiRank(comm, directory).obey());
        } else {
            World.fromEnvironment().run(comm -> new TuttiRank(comm, directory).obey());
        }
    }

    private void obey() {
        try (BufferedReader commands = Files.newBufferedReader(directory.resolve(comm.rank() + ".in"))) {
            for (String line = commands.readLine(); line != null && !line.equals("quit"); line = commands.readLine()) {
                String[] words = line.split(" ");
                String answer = words[0].equals("warm") ? warm(words) : measure(words);
                if (comm.rank() == 0) {
                    Files.writeString(
                            directory.resolve("out"),
                            answer + "\n",
                            StandardCharsets.US_ASCII,
                            StandardOpenOption.WRITE);
                }
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** {@code run COLLECTIVE BYTES REWRITE TYPE MEMORY BATCHES BATCH_MICROS}. */
    private String measure(String[] words) {
        Exchange exchange = exchange(Row.collective(words[1]), Long.parseLong(words[2]), words[4], words[5]);
        boolean rewriting = words[3].equals("1");
        int batches = Integer.parseInt(words[6]);
        double targetNanos = 1e3 * Double.parseDouble(words[7]);
        boolean wrong = slowest(exchange.isWrong() ? 1 : 0) != 0;
        int iterations = 1;
        double took = batch(exchange, iterations, rewriting);
        while (took < targetNanos && iterations < MOST_ITERATIONS) {
            iterations *= took * 8 < targetNanos ? 8 : 2;
            took = batch(exchange, iterations, rewriting);
        }
        if (took > targetNanos) {
            iterations = Math.max(1, (int) (iterations * targetNanos / took));
        }
        StringBuilder answer =
                new StringBuilder(wrong ? "wrong" : "ok").append(' ').append(iterations);
        for (int i = 0; i < batches; i++) {
            double nanos = batch(exchange, iterations, rewriting);
            if (rewriting) {
                // The first rewrite finds the input where an operation left it; it counts there, not here.
                exchange.runRewrites(1);
                comm.barrier();
                nanos -= slowest(exchange.runRewrites(iterations));
            }
            answer.append(String.format(Locale.ROOT, " %.6f", nanos / iterations / 1e3));
        }
        return answer.toString();
    }

    /** An operation that does not count comes first: the first rewrite is to find the input where an operation leaves it. */
    private double batch(Exchange exchange, int iterations, boolean rewriting) {
        if (rewriting) {
            exchange.run(1, false);
        }
        comm.barrier();
        return slowest(exchange.run(iterations, rewriting));
    }

    /**
     * {@code warm SECONDS TYPES MEMORIES}: every collective, size and memory in turn, a few calls each, for so long at least and until
     * the compiler of no rank has much left to do.
     */
    private String warm(String[] words) {
        double nanos = 1e9 * Double.parseDouble(words[1]);
        long start = System.nanoTime();
        long compiled = 0;
        int calls = 2;
        double compiling = 1;
        for (int pass = 0; ; pass++) {
            List<Long> sizes = pass % LONG_EVERY == 0 ? WARM_LONG_SIZES : WARM_SIZES;
            long before = System.nanoTime();
            for (String memory : words[3].split(",")) {
                for (String type : words[2].split(",")) {
                    if (!memory.equals("array") || type.equals("float32")) {
                        warmOnce(type, memory, sizes, calls);
                    }
                }
            }
            calls = Math.min(60, calls + 2);
            long now = System.nanoTime();
            long total = 1_000_000 * ManagementFactory.getCompilationMXBean().getTotalCompilationTime();
            // Smoothed: a pass takes some tens of milliseconds.
            compiling = 0.9 * compiling + 0.1 * (total - compiled) / (now - before);
            compiled = total;
            double elapsed = slowest(now - start);
            if ((elapsed > nanos && slowest(compiling) < 0.02) || elapsed > 5 * nanos) {
                return "ok " + calls;
            }
        }
    }

    private void warmOnce(String type, String memory, List<Long> sizes, int calls) {
        for (Collective collective : Row.COLLECTIVES) {
            for (long bytes : sizes) {
                int several = bytes > 65536 ? 2 : calls;
                Exchange exchange = exchange(collective, bytes, type, memory);
                exchange.run(several, true);
                exchange.run(several, false);
                exchange.runRewrites(several);
                measure(turn(collective, bytes, type, memory));
            }
        }
    }

    /** A short turn. With it all that turns do besides is compiled, above all the check of the result, before the first that counts. */
    private static String[] turn(Collective collective, long bytes, String type, String memory) {
        return new String[] {"run", Row.name(collective), "" + bytes, "1", type, memory, "1", "50"};
    }

    private Exchange exchange(Collective collective, long bytes, String typeName, String memory) {
        DataType type = DataType.valueOf(typeName.toUpperCase(Locale.ROOT));
        // One element more for each rank: a share is never empty.
        long room = Math.max(bytes, 1 << 20) / type.bytes() + comm.size();
        return new Exchange(comm, collective, type, bytes, memories.of(memory, type, room));
    }

    private double slowest(double mine) {
        slowest[0] = mine;
        comm.allReduce(slowest, ReduceOp.MAX);
        return slowest[0];
    }
}
