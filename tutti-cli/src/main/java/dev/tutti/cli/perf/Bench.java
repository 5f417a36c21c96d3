package dev.tutti.cli.perf;

import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.cli.perf.Operation.Setting;
import dev.tutti.data.ExactData;
import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One rank's part in all rows. Every rank goes through the same; rank 0 hands the rows on. */
final class Bench implements AutoCloseable {
    /** Without -n, iterations go on for so long. */
    private static final double TIMED_NANOS = 20e6;

    private static final int MOST_ITERATIONS = 10_000;

    /**
     * The first row has a tenth of the time to settle at most, and a hundredth at least: somebody waits for it. What is left to compile then,
     * the second one waits for.
     */
    private static final int FIRST_SHARE = 10;

    private static final int LEAST_SHARE = 100;

    /** It should have settled so soon after the start of the JVM. */
    private static final long FIRST_MILLIS = 1100;

    /** In place there is little left to settle: most of the code is the same. */
    private static final int IN_PLACE_SHARE = 5;

    /** So many different parts of the memory are used at most; more would only take memory for descriptions. */
    private static final int MOST_PLACES = 1024;

    private final Communicator everybody;
    private final Communicator comm;
    private final PerfOptions options;
    private final Traffic traffic;
    private final Hooks hooks;
    private final Consumer<String> progress;
    private final Timer timer;
    private final Settling settling;
    private @Nullable Memory send;
    private @Nullable Memory recv;
    private long seed;
    private boolean settled;

    /**
     * Makes one rank's part.
     *
     * @param everybody all ranks, who begin, settle and count together
     * @param comm those who run the program with this rank: all, or a group
     */
    Bench(
            Communicator everybody,
            Communicator comm,
            PerfOptions options,
            Traffic traffic,
            Hooks hooks,
            Consumer<String> progress) {
        this.everybody = everybody;
        this.comm = comm;
        this.options = options;
        this.traffic = traffic;
        this.hooks = hooks;
        this.progress = progress;
        this.timer = new Timer(everybody, options, hooks.nanoClock());
        this.settling = new Settling(everybody);
    }

    /** Measures a series of rows. */
    void run(Case what, Consumer<Row> rows) {
        allocate(what.type());
        ExactData data = what.program().isReducing()
                ? ExactData.reducing(what.type(), what.operator(), comm.size())
                : ExactData.moving(what.type(), comm.size());
        if (what.program() == Program.BARRIER) {
            cycles(() -> rows.accept(measure(setting(what, 0), data)));
            return;
        }
        if (options.warmupIterationsGiven != null || !settles()) {
            progress.accept("warming up");
            options.sizes()
                    .forEachDoubling(size ->
                            Timer.repeat(Operation.of(setting(what, size), false), 0, options.warmupIterations()));
        }
        int all = options.sizes().count();
        cycles(() -> {
            AtomicInteger number = new AtomicInteger();
            options.sizes().forEach(size -> {
                progress.accept(Curve.describe(what) + ", " + size + " bytes (" + number.incrementAndGet() + " of "
                        + all + ")");
                rows.accept(measure(setting(what, size), data));
            });
        });
    }

    private void cycles(Runnable allSizes) {
        long left = options.cycles;
        do {
            allSizes.run();
        } while (--left != 0);
    }

    private void allocate(DataType type) {
        if (send != null && send.whole().type() == type) {
            return;
        }
        close();
        long bytes = options.sizes().max();
        send = Memory.allocate(options.memoryKind(), comm, type, bytes, options.unaligned);
        recv = Memory.allocate(options.memoryKind(), comm, type, bytes, options.unaligned);
    }

    private Setting setting(Case what, long size) {
        Shape shape = what.program().shape(size, what.type().bytes(), comm.size(), traffic);
        long maxCount = options.sizes().max() / what.type().bytes();
        long places = shape.bytes() == 0 ? 1 : Math.max(1, maxCount / shape.largestCount());
        long repetitions = (long) options.leastIterations() * options.aggregated;
        if (send == null || recv == null) {
            throw new IllegalStateException("no memory");
        }
        int used = (int) Math.min(MOST_PLACES, Math.min(places, repetitions));
        return new Setting(comm, what, shape, traffic, send, recv, used);
    }

    private Row measure(Setting setting, ExactData data) {
        Operation outOfPlace = Operation.of(setting, false);
        Operation inPlace = Operation.of(setting, true);
        Settling.Result result = settles() ? settle(outOfPlace, inPlace) : null;
        int iterations = result == null ? options.leastIterations() : iterations(result.nanosPerOperation());
        return new Row(
                setting.what(),
                setting.shape(),
                iterations,
                result == null ? Steadiness.UNCHECKED : Steadiness.of(result.isSteady()),
                measure(setting, data, outOfPlace, false, iterations),
                measure(setting, data, inPlace, true, iterations));
    }

    /** Runs operations unseen until their times are steady, or for as long as a row may take for that. */
    private Settling.Result settle(Operation outOfPlace, Operation inPlace) {
        // Who asks for a warm-up does not mind waiting.
        boolean hasTime = settled || options.warmupIterationsGiven != null;
        long most = hasTime ? hooks.settlingNanos() : firstSettlingNanos();
        settled = true;
        return settling.settle(outOfPlace, most).and(settling.settle(inPlace, most / IN_PLACE_SHARE));
    }

    /** What is left for the first row; the same for all ranks, whenever their JVMs have started. */
    private long firstSettlingNanos() {
        long age = System.currentTimeMillis()
                - ManagementFactory.getRuntimeMXBean().getStartTime();
        long[] nanos = {
            Math.clamp(
                    (FIRST_MILLIS - age) * 1_000_000,
                    hooks.settlingNanos() / LEAST_SHARE,
                    hooks.settlingNanos() / FIRST_SHARE)
        };
        everybody.allReduce(nanos, ReduceOp.MIN);
        return nanos[0];
    }

    /** Also after so many iterations as -w says, which may be far too few for the compilers; but not after none. */
    private boolean settles() {
        return options.isWarm() && hooks.settlingNanos() != 0;
    }

    private int iterations(double nanosEach) {
        int least = options.leastIterations();
        return options.iterationsGiven != null
                ? least
                : (int) Math.clamp(TIMED_NANOS / nanosEach / options.aggregated, least, MOST_ITERATIONS);
    }

    private Row.Half measure(Setting setting, ExactData data, Operation operation, boolean inPlace, int iterations) {
        Program program = setting.what().program();
        boolean checked = options.check > 0;
        if (checked) {
            // Ordinary numbers, whatever the calls before have left there.
            new Checker(setting, data, inPlace, 99).fill();
        }
        Timer.Result time = timer.time(operation, iterations);
        long wrong =
                checked && program.isChecked(inPlace) ? check(setting, data, operation, inPlace) : Row.Half.UNCHECKED;
        double algBandwidth = setting.shape().algorithmBytes() / 1e9 / time.wallSeconds();
        return new Row.Half(
                (options.reportsCpuTime() ? time.cpuSeconds() : time.wallSeconds()) * 1e6,
                algBandwidth,
                algBandwidth * program.busFactor(comm.size()),
                wrong,
                time.iterationMicros());
    }

    private long check(Setting setting, ExactData data, Operation operation, boolean inPlace) {
        long[] wrong = {0};
        for (int i = 0; i < options.check && wrong[0] == 0; i++) {
            Checker checker = new Checker(setting, data, inPlace, seed++);
            checker.fill();
            operation.run(0);
            hooks.tamper()
                    .touch(
                            comm.rank(),
                            setting.what(),
                            inPlace,
                            setting.recv().segment(0, setting.shape().recvCount()));
            wrong[0] = checker.countWrong();
            everybody.allReduce(wrong, ReduceOp.SUM);
        }
        return wrong[0];
    }

    @Override
    public void close() {
        if (send != null) {
            send.close();
        }
        if (recv != null) {
            recv.close();
        }
    }
}
