package dev.tutti.cli.perf;

import dev.tutti.Config;
import dev.tutti.cli.common.CommandException;
import dev.tutti.cli.common.ExitCode;
import dev.tutti.cli.common.SizeOptions;
import dev.tutti.cli.common.Sizes;
import dev.tutti.cuda.Cuda;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options: letters, long names, defaults and meanings of nccl-tests, then Tutti's own. */
final class PerfOptions {
    private static final int DEFAULT_RANKS = 4;
    private static final int DEFAULT_ITERATIONS = 20;

    /** A value of {@link #launched}. */
    static final String TERMINAL = "terminal";

    @Option(
            names = {"-t", "--nthreads"},
            paramLabel = "N",
            description = "ranks per process, as threads; multiplies -g, as in nccl-tests (1)")
    int threads = 1;

    @Option(
            names = {"-g", "--ngpus"},
            paramLabel = "N",
            description = "ranks, each a process of its own (4); under tutti run or mpirun: ranks per process (1)")
    @Nullable
    Integer ranksGiven;

    @Mixin
    SizeOptions sizeOptions = new SizeOptions();

    @Option(
            names = {"-n", "--iters"},
            paramLabel = "N",
            description = "timed iterations (20, or more until 20 ms are over)")
    @Nullable
    Integer iterationsGiven;

    @Option(
            names = {"-m", "--agg_iters"},
            paramLabel = "N",
            description = "operations per iteration (1)")
    int aggregated = 1;

    @Option(
            names = {"-w", "--warmup_iters"},
            paramLabel = "N",
            description = "warm-up iterations of each size, before rows run until times are steady (0: neither)")
    @Nullable
    Integer warmupIterationsGiven;

    @Option(
            names = {"-N", "--run_cycles"},
            paramLabel = "N",
            description = "how often to run all sizes (1; 0: for ever)")
    int cycles = 1;

    @Option(
            names = {"-c", "--check"},
            paramLabel = "N",
            description = "how often to check the results (1)")
    int check = 1;

    @Option(
            names = {"-o", "--op"},
            paramLabel = "OP",
            description = "sum prod min max avg mulsum and or xor all (sum)")
    String operator = "sum";

    @Option(
            names = {"-d", "--datatype"},
            paramLabel = "TYPE",
            description =
                    "int8 uint8 int16 uint16 int32 uint32 int64 uint64 half float double bfloat16 f8e4m3 f8e5m2 all (float)")
    String type = "float";

    @Option(
            names = {"-r", "--root"},
            paramLabel = "RANK",
            description = "the root; -1 for every rank in turn (0)")
    int root = 0;

    @Option(
            names = {"-z", "--blocking"},
            paramLabel = "0-3",
            description = "1: barrier after each operation, 2: none, 3: barrier after each iteration, not timed (0)")
    int blocking = 0;

    @Option(
            names = {"-T", "--timeout"},
            paramLabel = "SECONDS",
            description = "give up on an operation after so long (0: 5 minutes)")
    int timeoutSeconds = 0;

    @Option(
            names = {"-C", "--report_cputime"},
            paramLabel = "0/1",
            description = "show the CPU time of the rank's thread (0)")
    int cpuTime = 0;

    @Option(
            names = {"-S", "--report_timestamps"},
            paramLabel = "0/1",
            description = "show when each row was done (0)")
    int timestamps = 0;

    @Option(
            names = {"-J", "--json", "--output_file"},
            paramLabel = "FILE",
            description = "also write the results as JSON")
    @Nullable
    Path json;

    @Option(
            names = {"-a", "--average"},
            paramLabel = "0-3",
            description = "time of rank 0 (0), average (1), least (2), most (3) of all ranks (1)")
    int average = 1;

    @Option(
            names = {"-R", "--local_register"},
            paramLabel = "0/1",
            description = "1: memory of Tutti's own, 0: ordinary native memory (0)")
    int registered = 0;

    @Option(
            names = {"-u", "--unalign"},
            paramLabel = "N",
            description = "elements by which to misalign the memory (0)")
    int unaligned = 0;

    @Option(
            names = {"-I", "--per_iter_timing"},
            paramLabel = "0/1",
            description = "show least, most, p99, variation of the iterations (0)")
    int iterationTimes = 0;

    @Option(
            names = {"-K", "--per_iter_skip"},
            paramLabel = "N",
            description = "iterations that -I leaves out (0)")
    int skipped = 0;

    @Option(names = "--percentiles", description = "show p50 and p99 of the iterations")
    boolean percentiles;

    @Option(names = "--heap", description = "messages in arrays: float[], double[], int[], long[], short[], byte[]")
    boolean heap;

    @Option(names = "--threads", description = "ranks are threads of one process")
    boolean inOneProcess;

    @Option(names = "--virtual", description = "ranks are virtual threads of one process")
    boolean virtual;

    @Option(names = "--algo", paramLabel = "NAME", description = "algorithm, for example ring (the tuner's choice)")
    @Nullable
    String algorithm;

    @Option(names = "--proto", paramLabel = "NAME", description = "protocol: simple or packet (the tuner's choice)")
    @Nullable
    String protocol;

    @Option(names = "--lanes", paramLabel = "N", description = "lanes per rank (1)")
    @Nullable
    Integer lanes;

    @Option(
            names = "--transport",
            paramLabel = "NAME",
            description = "shm: shared memory between processes; local: as --threads (shm)")
    @Nullable
    String transport;

    /** No option: set by the command that started this process; says whether it has a terminal. */
    @Nullable
    String launched;

    @Option(
            names = "--device",
            paramLabel = "NAME",
            description = "cuda: ranks share one GPU, each call is one launch, timed by the device (host)")
    String device = "host";

    @Option(names = "--plot", paramLabel = "FILE", description = "draw latency and bus bandwidth into a PNG file")
    @Nullable
    Path plot;

    @Option(
            names = "--compare",
            paramLabel = "FILE",
            split = ",",
            description = "with --plot: also draw earlier -J results")
    List<Path> compared = new ArrayList<>();

    @Mixin
    GpuOptions gpuOptions = new GpuOptions();

    private Sizes sizes = SizeOptions.FIRST_LOOK;

    /** Whether ranks share a GPU. */
    boolean isOnDevice() {
        return device.equals("cuda");
    }

    private void validateDevice() {
        if (!isOnDevice() && !device.equals("host")) {
            throw CommandException.usage("--device is host or cuda, not '" + device + "'");
        }
        String missing = isOnDevice() ? Cuda.unavailabilityCause() : null;
        if (missing != null) {
            throw new CommandException(ExitCode.NOT_IMPLEMENTED, missing);
        }
    }

    /** Checks everything that can be checked before a rank starts. */
    void validate() {
        validateDevice();
        gpuOptions.requireDefaults();
        requireRange("-t", threads, 1, 0xFFFF);
        requireRange("-g", ranksPerThread(), 1, 0xFFFF);
        requireRange("-t times -g", ranks(), 1, 0xFFFF);
        requireRange("-n", leastIterations(), 1, Integer.MAX_VALUE);
        requireRange("-m", aggregated, 1, Integer.MAX_VALUE);
        requireRange("-w", warmupIterations(), 0, Integer.MAX_VALUE);
        requireRange("-N", cycles, 0, Integer.MAX_VALUE);
        requireRange("-c", check, 0, Integer.MAX_VALUE);
        requireRange("-r", root, -1, ranks() - 1);
        requireRange("-z", blocking, 0, 3);
        requireRange("-T", timeoutSeconds, 0, Integer.MAX_VALUE);
        requireRange("-C", cpuTime, 0, 1);
        requireRange("-S", timestamps, 0, 1);
        requireRange("-a", average, 0, 3);
        requireRange("-u", unaligned, 0, 1 << 20);
        requireRange("-I", iterationTimes, 0, 1);
        requireRange("-K", skipped, 0, leastIterations() - 1);
        if (registered == 2) {
            throw GpuOptions.notHere("-R 2 (symmetric memory)");
        }
        requireRange("-R", registered, 0, 1);
        if (skipped > 0 && !recordsIterations()) {
            throw CommandException.usage("-K needs -I 1 or --percentiles");
        }
        if (heap && registered == 1) {
            throw CommandException.usage("--heap and -R 1 exclude each other: arrays cannot be memory of Tutti's own");
        }
        if (virtual && reportsCpuTime()) {
            throw CommandException.usage(
                    "-C 1 and --virtual exclude each other: virtual threads have no CPU time of their own");
        }
        if (transport != null && !transport.equals("local") && !transport.equals("shm")) {
            throw CommandException.usage(
                    "unknown transport '" + transport + "' (--transport); there are local and shm");
        }
        if ("shm".equals(transport) && wantsThreads()) {
            throw CommandException.usage("--transport shm joins processes, " + (virtual ? "--virtual" : "--threads")
                    + " keeps the ranks in one");
        }
        if (!compared.isEmpty() && plot == null) {
            throw CommandException.usage("--compare needs --plot");
        }
        sizes = sizeOptions.read();
    }

    private static void requireRange(String option, long value, long min, long max) {
        if (value < min || value > max) {
            String range = max == Integer.MAX_VALUE ? "at least " + min : "in " + min + ".." + max;
            throw CommandException.usage(option + " must be " + range + ", got " + value);
        }
    }

    Sizes sizes() {
        return sizes;
    }

    /** There is less memory than asked for. */
    void limitSizes(long maxBytesPossible) {
        sizes = new Sizes(Math.min(sizes.min(), maxBytesPossible), maxBytesPossible, sizes.step(), sizes.factor());
    }

    /** Where the ranks are. */
    enum Placement {
        /** Threads of this process. */
        THREADS,
        /** This command starts the processes; each has -t ranks. */
        LAUNCHING,
        /** This process was started by this command. */
        LAUNCHED,
        /** Somebody else has started the processes; each has -g times -t ranks. */
        JOINED
    }

    private Placement placement = Placement.THREADS;
    private int processes = 1;

    void place(Placement where, int startedProcesses) {
        placement = where;
        processes = startedProcesses;
    }

    Placement placement() {
        return placement;
    }

    boolean wantsThreads() {
        return inOneProcess || virtual || "local".equals(transport);
    }

    int ranksPerThread() {
        return ranksGiven != null ? ranksGiven : placement == Placement.JOINED ? 1 : DEFAULT_RANKS;
    }

    /** Ranks of all processes. */
    int ranks() {
        long perProcess = (long) threads * ranksPerThread();
        return Math.toIntExact(
                Math.min(Integer.MAX_VALUE, placement == Placement.JOINED ? processes * perProcess : perProcess));
    }

    /** Ranks of each process. */
    int localRanks() {
        return switch (placement) {
            case THREADS -> ranks();
            case LAUNCHING, LAUNCHED -> threads;
            case JOINED -> threads * ranksPerThread();
        };
    }

    /** Iterations of a row, at least: without -n a row that is quick has more. */
    int leastIterations() {
        return iterationsGiven != null ? iterationsGiven : DEFAULT_ITERATIONS;
    }

    /** Whether times are to be those of compiled code: unless there is to be no warm-up at all. */
    boolean isWarm() {
        return warmupIterationsGiven == null || warmupIterationsGiven > 0;
    }

    /** Warm-up iterations of each size, before rows settle. */
    int warmupIterations() {
        return warmupIterationsGiven != null ? warmupIterationsGiven : 1;
    }

    boolean perIteration() {
        return iterationTimes == 1;
    }

    boolean recordsIterations() {
        return perIteration() || percentiles;
    }

    boolean reportsCpuTime() {
        return cpuTime == 1;
    }

    boolean reportsTimestamps() {
        return timestamps == 1;
    }

    Memory.Kind memoryKind() {
        return heap ? Memory.Kind.HEAP : registered == 1 ? Memory.Kind.REGISTERED : Memory.Kind.NATIVE;
    }

    Config config() {
        Config config = Config.fromEnvironment();
        if (timeoutSeconds > 0) {
            config = config.with(Config.Key.TIMEOUT, timeoutSeconds + "s");
        }
        if (algorithm != null) {
            config = config.with(Config.Key.ALGO, algorithm);
        }
        if (protocol != null) {
            config = config.with(Config.Key.PROTO, protocol);
        }
        return lanes == null ? config : config.with(Config.Key.LANES, lanes.toString());
    }
}
