package dev.tutti.bench.processes;

import dev.tutti.Communicator;
import dev.tutti.ReduceOp;
import dev.tutti.World;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Many worlds one after the other in the same two processes, each with a collective, a message and a split, and many splits in one
 * world: what is left of them. Usage: {@code soak [worlds] [splits]}.
 */
public final class SoakBench {
    private SoakBench() {}

    public static void main(String[] arguments) throws Exception {
        String worlds = arguments.length > 0 ? arguments[0] : "1000";
        String splits = arguments.length > 1 ? arguments[1] : "5000";
        try (RankProcesses ranks = new RankProcesses(2, Rank.class, worlds, splits)) {
            if (!ranks.await()) {
                System.exit(1);
            }
        }
    }

    /** One of the two. */
    public static final class Rank {
        private Rank() {}

        public static void main(String[] arguments) throws Exception {
            int worlds = Integer.parseInt(arguments[0]);
            int splits = Integer.parseInt(arguments[1]);
            for (int world = 1; world <= worlds; world++) {
                World.fromEnvironment().run(SoakBench::play);
                if (world == 1 || world == 10 || world == 100 || world == worlds) {
                    report("after " + world + " worlds");
                }
            }
            World.fromEnvironment().run(comm -> {
                for (int split = 1; split <= splits; split++) {
                    try (Communicator half = comm.dup()) {
                        half.barrier();
                    }
                    if (split == 10 || split == splits / 10 || split == splits) {
                        comm.barrier();
                        if (comm.rank() == 0) {
                            report("after " + split + " splits");
                        }
                    }
                }
            });
        }

        private static void report(String when) throws IOException {
            if (System.getenv("TUTTI_RANK").equals("0")) {
                System.gc();
                System.out.printf(
                        "%-20s %4d descriptors %4d mappings (%d of regions) %3d threads %7d kB resident %7d kB shared%n",
                        when,
                        count("fd"),
                        lines("maps", ""),
                        lines("maps", "tutti-rank"),
                        count("task"),
                        status("VmRSS"),
                        status("RssShmem"));
            }
        }

        private static long count(String folder) throws IOException {
            try (Stream<Path> files = Files.list(Path.of("/proc/self/" + folder))) {
                return files.count();
            }
        }

        private static long lines(String file, String with) throws IOException {
            try (Stream<String> lines = Files.lines(Path.of("/proc/self/" + file))) {
                return lines.filter(line -> line.contains(with)).count();
            }
        }

        private static long status(String name) throws IOException {
            try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
                return lines.filter(line -> line.startsWith(name + ":"))
                        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                        .sum();
            }
        }
    }

    private static void play(Communicator comm) {
        float[] large = new float[100_000];
        comm.allReduce(large, ReduceOp.SUM);
        int other = 1 - comm.rank();
        dev.tutti.Buffer one = dev.tutti.Buffer.of(new int[1]);
        comm.sendRecv(one, other, 0, dev.tutti.Buffer.of(new int[1]), other, 0);
        try (Communicator second = comm.dup()) {
            second.barrier();
        }
    }
}
