package dev.tutti.cli.perf;

import dev.tutti.cli.common.CommandException;
import dev.tutti.cli.common.Json;
import dev.tutti.cli.common.Names;
import dev.tutti.cli.common.Numbers;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The results as a file with the keys of nccl-tests; {@code root} and truth values are strings there, so they are here. */
final class JsonReport {
    private static final int FORMAT_VERSION = 3;

    private final Path file;
    private final PerfOptions options;
    private final Program program;
    private final Supplier<String> clock;
    private final Map<String, @Nullable Object> report = new LinkedHashMap<>();
    private final List<@Nullable Object> results = new ArrayList<>();

    private JsonReport(Path file, PerfOptions options, Program program, Supplier<String> clock) {
        this.file = file;
        this.options = options;
        this.program = program;
        this.clock = clock;
    }

    /** Makes the file; one that exists is left alone, and a number is appended to the name, as nccl-tests does. */
    static JsonReport create(Path wanted, PerfOptions options, Program program, Supplier<String> clock) {
        Path file = wanted;
        for (int number = 0; ; number++) {
            try {
                Files.createFile(file);
                return new JsonReport(file, options, program, clock);
            } catch (FileAlreadyExistsException exists) {
                file = wanted.resolveSibling(wanted.getFileName() + "." + number);
            } catch (IOException failure) {
                throw CommandException.cannotWrite(wanted, "-J", failure);
            }
        }
    }

    Path file() {
        return file;
    }

    void begin(
            List<String> arguments, Map<String, String> environment, String version, List<Participant> participants) {
        report.put("version", FORMAT_VERSION);
        report.put("start_time", clock.get());
        List<String> command = new ArrayList<>(List.of("tutti"));
        command.addAll(arguments);
        report.put("args", command);
        // Only what can matter here, and never a secret: such files are passed around.
        report.put(
                "env",
                environment.entrySet().stream()
                        .filter(entry -> entry.getKey().matches("(NCCL|TUTTI)_.*"))
                        .filter(entry -> !entry.getKey().contains("SECRET"))
                        .map(entry -> entry.getKey() + "=" + entry.getValue())
                        .sorted()
                        .toList());
        report.put("nccl_version", 0);
        report.put("tutti_version", version);
        report.put("config", config(participants));
        report.put("results", results);
    }

    private Map<String, @Nullable Object> config(List<Participant> participants) {
        Map<String, @Nullable Object> config = new LinkedHashMap<>();
        config.put("nthreads", options.threads);
        config.put("ngpus", options.ranksPerThread());
        config.put("minimum_bytes", options.sizes().min());
        config.put("maximum_bytes", options.sizes().max());
        if (options.sizes().factor() > 1) {
            config.put("step_factor", options.sizes().factor());
        } else {
            config.put("step_bytes", options.sizes().step());
        }
        config.put("warmup_iters", options.warmupIterationsGiven == null ? -1 : options.warmupIterationsGiven);
        config.put("iterations", options.leastIterations());
        config.put("aggregated_iterations", options.aggregated);
        config.put("validation", options.check);
        config.put("graph", 0);
        config.put("blocking_collectives", text(options.blocking != 0));
        config.put("per_iter_timing", text(options.perIteration()));
        config.put("per_iter_skip", options.skipped);
        config.put("parallel_init", text(false));
        config.put("devices", participants.stream().map(JsonReport::device).toList());
        return config;
    }

    private static Map<String, @Nullable Object> device(Participant participant) {
        Map<String, @Nullable Object> device = new LinkedHashMap<>();
        device.put("rank", participant.rank());
        device.put("group", participant.group());
        device.put("pid", participant.pid());
        device.put("hostname", participant.host());
        device.put("device", participant.thread());
        device.put("device_hex", participant.threadKind());
        device.put("device_info", participant.threadName());
        return device;
    }

    void add(Row row) {
        Map<String, @Nullable Object> result = new LinkedHashMap<>();
        result.put("size", row.shape().bytes());
        result.put("count", row.shape().count());
        result.put("type", Names.of(row.what().type()));
        result.put("redop", program.redopColumn(row.what().operator()));
        result.put("root", Numbers.pad(Integer.toString(row.what().root()), 6));
        half(result, "out_of_place", row.outOfPlace());
        half(result, "in_place", row.inPlace());
        result.put("actual_iterations", row.iterations());
        result.put(
                "steady",
                switch (row.steadiness()) {
                    case STEADY -> text(true);
                    case UNSTEADY -> text(false);
                    case UNCHECKED -> "unchecked";
                });
        result.put("experiment_name", "");
        results.add(result);
    }

    private void half(Map<String, @Nullable Object> result, String key, Row.Half half) {
        Map<String, @Nullable Object> values = new LinkedHashMap<>();
        values.put(options.reportsCpuTime() ? "cpu_time" : "time", half.timeMicros());
        values.put("alg_bw", half.algBandwidth());
        values.put("bus_bw", half.busBandwidth());
        values.put("nwrong", half.isChecked() ? (double) half.wrong() : null);
        result.put(key, values);
        if (half.iterationMicros().isEmpty()) {
            return;
        }
        Row.Statistics times = Row.Statistics.of(half.iterationMicros(), options.skipped);
        Map<String, @Nullable Object> iterations = new LinkedHashMap<>();
        iterations.put("skipped_iterations", options.skipped);
        iterations.put("min_us", times.min());
        iterations.put("max_us", times.max());
        iterations.put("avg_us", times.mean());
        iterations.put("p50_us", times.p50());
        iterations.put("p95_us", times.p95());
        iterations.put("p99_us", times.p99());
        iterations.put("stdev_us", times.deviation());
        iterations.put("cv_pct", times.variation());
        iterations.put("times_us", half.iterationMicros());
        result.put(key + "_per_iter", iterations);
    }

    void end(@Nullable Summary summary, List<String> errors) {
        if (summary != null) {
            Map<String, @Nullable Object> bounds = new LinkedHashMap<>();
            bounds.put("count", summary.failedChecks());
            bounds.put("okay", text(summary.failedChecks() == 0));
            report.put("out_of_bounds", bounds);
            Map<String, @Nullable Object> bandwidth = new LinkedHashMap<>();
            bandwidth.put("bandwidth", summary.averageBusBandwidth());
            bandwidth.put(
                    "okay",
                    switch (summary.bandwidth()) {
                        case UNCHECKED -> "unchecked";
                        case OKAY -> text(true);
                        case TOO_LOW -> text(false);
                    });
            report.put("average_bus_bandwidth", bandwidth);
        }
        report.put("errors", errors);
        report.put("end_time", clock.get());
        try {
            Files.writeString(file, Json.write(report) + "\n");
        } catch (IOException failure) {
            throw CommandException.cannotWrite(file, "-J", failure);
        }
    }

    private static String text(boolean truth) {
        return truth ? "true" : "false";
    }
}
