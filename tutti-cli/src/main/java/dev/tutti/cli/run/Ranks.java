package dev.tutti.cli.run;

import dev.tutti.bootstrap.HostedJob;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The processes of one run, and the threads that carry their output. */
final class Ranks {
    private static final long OUTPUT_MILLIS = 5_000;

    private final List<Process> processes = new ArrayList<>();
    private final List<LastLines> lastLines = new ArrayList<>();
    private final List<Thread> pumps = new ArrayList<>();
    private final List<OutputStream> files = new ArrayList<>();
    private final OutputStream out;
    private final OutputStream err;
    private final boolean tag;
    private final @Nullable Path outputFolder;

    private final boolean inherits;

    Ranks(OutputStream out, OutputStream err, boolean tag, @Nullable Path outputFolder, boolean inherits) {
        this.out = out;
        this.err = err;
        this.tag = tag;
        this.outputFolder = outputFolder;
        this.inherits = inherits;
    }

    Process start(List<String> command, HostedJob job, int rank, int size, @Nullable InputStream input)
            throws IOException {
        List<String> grouped = new ArrayList<>(Groups.prefix());
        grouped.addAll(command);
        ProcessBuilder builder = new ProcessBuilder(grouped);
        job.describe(builder.environment(), rank, size);
        if (input == null) {
            builder.redirectInput(new File("/dev/null"));
        }
        OutputStream stdout = sink(out, rank, "out");
        OutputStream stderr = sink(err, rank, "err");
        if (inherits && rank == 0) {
            builder.redirectOutput(ProcessBuilder.Redirect.INHERIT).redirectError(ProcessBuilder.Redirect.INHERIT);
        }
        Process process = builder.start();
        LastLines last = new LastLines();
        String mark = tag && outputFolder == null ? "[" + rank + "] " : "";
        pump(new LinePump(process.getInputStream(), stdout, mark, last), rank);
        pump(new LinePump(process.getErrorStream(), stderr, mark, last), rank);
        processes.add(process);
        lastLines.add(last);
        if (input != null) {
            StandardInput.carry(input, process.getOutputStream());
        }
        return process;
    }

    private OutputStream sink(OutputStream terminal, int rank, String kind) throws IOException {
        if (outputFolder == null) {
            return terminal;
        }
        OutputStream file = Files.newOutputStream(outputFolder.resolve("rank-" + rank + "." + kind));
        files.add(file);
        return file;
    }

    private void pump(LinePump pump, int rank) {
        pumps.add(Thread.ofVirtual().name("tutti-output-" + rank).start(pump));
    }

    List<Process> processes() {
        return processes;
    }

    List<String> lastLines(int rank) {
        return lastLines.get(rank).all();
    }

    void signalAll(int signal) {
        processes.forEach(process -> Groups.signal(process, signal));
    }

    /** Waits until what the ranks have printed is out. All have ended; who keeps a pipe open is somebody they left behind. */
    void finishOutput() {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(OUTPUT_MILLIS);
        try {
            for (Thread pump : pumps) {
                pump.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())));
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        for (OutputStream file : files) {
            try {
                file.close();
            } catch (IOException full) {
                // What could be written was.
            }
        }
    }
}
