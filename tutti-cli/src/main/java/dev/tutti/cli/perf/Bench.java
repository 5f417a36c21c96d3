package dev.tutti.cli.perf;

import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.cli.perf.Operation.Setting;
import dev.tutti.data.ExactData;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One rank's part in all rows. Every rank goes through the same; rank 0 hands the rows on. */
final class Bench implements AutoCloseable {
    /** Cases after the first need less: most of the code is the same. */
    private static final int LATER_TRAINING_SHARE = 8;

    private static final long TRAINED_BYTES = 64 << 10;
    private static final int TRAINING_REPETITIONS = 4;

    /** So many different parts of the memory are used at most; more would only take memory for descriptions. */
    private static final int MOST_PLACES = 1024;

    private final Communicator comm;
    private final PerfOptions options;
    private final Traffic traffic;
    private final Hooks hooks;
    private final Consumer<String> progress;
    private final Timer timer;
    private @Nullable Memory send;
    private @Nullable Memory recv;
    private long seed;
    private boolean trained;

    Bench(Communicator comm, PerfOptions options, Traffic traffic, Hooks hooks, Consumer<String> progress) {
        this.comm = comm;
        this.options = options;
        this.traffic = traffic;
        this.hooks = hooks;
        this.progress = progress;
        this.timer = new Timer(comm, options, hooks.nanoClock());
    }

    /** Measures a series of rows. */
    void run(Case what, Consumer<Row> rows) {
        allocate(what.type());
        ExactData data = what.program().isReducing()
                ? ExactData.reducing(what.type(), what.operator(), comm.size())
                : ExactData.moving(what.type(), comm.size());
        progress.accept("warming up");
        train(what, data);
        if (what.program() == Program.BARRIER) {
            cycles(() -> rows.accept(measure(setting(what, 0), data)));
            return;
        }
        options.sizes().forEachDoubling(size -> {
            Operation operation = Operation.of(setting(what, size), false);
            for (int i = 0; i < options.warmupIterations; i++) {
                operation.run(i);
            }
        });
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
        long repetitions = (long) options.iterations * options.aggregated;
        if (send == null || recv == null) {
            throw new IllegalStateException("no memory");
        }
        int used = (int) Math.min(MOST_PLACES, Math.min(places, repetitions));
        return new Setting(comm, what, shape, traffic, send, recv, used);
    }

    /**
     * Runs small sizes in turn, in and out of place, until the time is over: otherwise the first rows would show the
     * interpreter, or share the processors with the compiler. Rank 0 has the watch.
     */
    private void train(Case what, ExactData data) {
        long nanos = trained ? hooks.trainingNanos() / LATER_TRAINING_SHARE : hooks.trainingNanos();
        trained = true;
        List<Setting> settings = new ArrayList<>();
        options.sizes().forEachDoubling(size -> {
            if (size <= TRAINED_BYTES) {
                settings.add(setting(what, size));
            }
        });
        if (settings.isEmpty()) {
            settings.add(setting(what, TRAINED_BYTES));
        }
        List<Operation> operations = settings.stream()
                .flatMap(setting -> Stream.of(Operation.of(setting, false), Operation.of(setting, true)))
                .toList();
        long end = System.nanoTime() + nanos;
        long[] goesOn = {1};
        for (int round = 0; goesOn[0] != 0; round++) {
            for (Operation operation : operations) {
                Timer.repeat(operation, 0, TRAINING_REPETITIONS);
            }
            Checker checker = new Checker(settings.get(round % settings.size()), data, round % 2 == 0, round);
            checker.fill();
            checker.countWrong();
            goesOn[0] = System.nanoTime() < end ? 1 : 0;
            comm.broadcast(goesOn, 0);
        }
    }

    private Row measure(Setting setting, ExactData data) {
        Row.Half outOfPlace = measure(setting, data, false);
        Row.Half inPlace = measure(setting, data, true);
        return new Row(setting.what(), setting.shape(), options.iterations, outOfPlace, inPlace);
    }

    private Row.Half measure(Setting setting, ExactData data, boolean inPlace) {
        Program program = setting.what().program();
        Operation operation = Operation.of(setting, inPlace);
        boolean checked = options.check > 0;
        if (checked) {
            // Ordinary numbers, whatever the calls before have left there.
            new Checker(setting, data, inPlace, 99).fill();
        }
        Timer.Result time = timer.time(operation);
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
            comm.allReduce(wrong, ReduceOp.SUM);
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
