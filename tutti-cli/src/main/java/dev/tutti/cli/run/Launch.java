package dev.tutti.cli.run;

import dev.tutti.bootstrap.HostedJob;
import dev.tutti.health.Signals;
import dev.tutti.posix.Limits;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One run of a command as several ranks: starts them, and waits for them to end, or ends them. However it ends, no process and no
 * file of it is left behind.
 */
public final class Launch {
    /** What {@code timeout} of coreutils says. */
    private static final int TIMED_OUT = 124;

    private static final int CANNOT_START = 126;

    /** Files that the launcher has open besides while it starts a rank. */
    private static final int SPARE_DESCRIPTORS = 24;

    /**
     * What to run, and how.
     *
     * @param command the program and its arguments
     * @param ranks how many
     * @param tag whether lines get the rank before them
     * @param outputFolder where each rank's output goes, or null: to ours
     * @param timeout how long all of it may take, or null
     * @param grace how long ranks may take to end when they are told to
     * @param keepGoing whether the others go on when one fails
     * @param label whose messages they are
     * @param own whether ranks are this very program: rank 0 prints by itself, and ranks say why they fail
     */
    public record Plan(
            List<String> command,
            int ranks,
            boolean tag,
            @Nullable Path outputFolder,
            @Nullable Duration timeout,
            Duration grace,
            boolean keepGoing,
            String label,
            boolean own) {}

    private sealed interface Event {
        record Ended(int rank, long nanos) implements Event {}

        record Signalled(int signal) implements Event {}
    }

    private final Plan plan;
    private final Map<String, String> environment;
    private final PrintStream out;
    private final PrintStream err;
    private final LinkedBlockingQueue<Event> events = new LinkedBlockingQueue<>();
    private final List<Integer> failed = new ArrayList<>();
    private final List<Integer> told = new ArrayList<>();
    private final Ranks ranks;
    private final long startNanos = System.nanoTime();

    private long killAtNanos = Long.MAX_VALUE;
    private long timeoutAtNanos = Long.MAX_VALUE;
    private long firstFailureNanos;
    private int signal;
    private boolean timedOut;

    /**
     * Makes one.
     *
     * @param plan what to run
     * @param environment of this process
     * @param out where output of ranks goes
     * @param err where error output of ranks, and messages, go
     */
    public Launch(Plan plan, Map<String, String> environment, PrintStream out, PrintStream err) {
        this.plan = plan;
        this.environment = environment;
        this.out = out;
        this.err = err;
        this.ranks = new Ranks(out, err, plan.tag, plan.outputFolder, plan.own && out == System.out);
    }

    /**
     * Runs a part of this program as several ranks.
     *
     * @param label whose messages they are
     * @param main the part's class
     * @param arguments of its main method
     * @param ranks how many
     * @param environment of this process
     * @param out where output of ranks goes
     * @param err where error output of ranks, and messages, go
     * @return the exit status, as of {@link #run}
     */
    public static int again(
            String label,
            Class<?> main,
            List<String> arguments,
            int ranks,
            Map<String, String> environment,
            PrintStream out,
            PrintStream err) {
        List<String> command = new ArrayList<>(Relaunch.command(main));
        command.addAll(arguments);
        Plan plan = new Plan(command, ranks, false, null, null, Duration.ofSeconds(2), false, label, true);
        return new Launch(plan, environment, out, err).run(null);
    }

    /**
     * Runs it to the end. The thread that calls this must not be interrupted.
     *
     * @param input for rank 0, or null for none
     * @return the exit status: that of the first rank that failed, 128 and the signal that ended us, or 124 after a timeout
     */
    public int run(@Nullable InputStream input) {
        try (HostedJob job = HostedJob.create(environment);
                Watchdog watchdog = Watchdog.start(job.folder());
                Interrupts _ = Interrupts.handle(
                        List.of("INT", "TERM", "HUP"), number -> events.add(new Event.Signalled(number)))) {
            try {
                startAll(job, watchdog, input);
                awaitAll(job, watchdog);
            } finally {
                // What ranks have left in their groups goes, too; whatever happened, nothing stays.
                ranks.signalAll(Signals.KILL);
                ranks.finishOutput();
            }
            return finish();
        } catch (IOException cannotStart) {
            say("cannot start " + plan.command.getFirst() + ": " + cannotStart.getMessage());
            return CANNOT_START;
        }
    }

    /** Asked before the first rank is there: whoever runs out of them on the way can neither start the rest nor say so clearly. */
    private void requireDescriptors() throws IOException {
        long needed = (plan.outputFolder == null ? 2L : 4L) * plan.ranks + SPARE_DESCRIPTORS;
        long free = new Limits().freeDescriptors();
        if (free < needed) {
            throw new IOException("the launcher may open " + Math.max(0, free) + " more files, and for the output of "
                    + plan.ranks + " ranks it needs " + needed + "; raise the limit of open files (ulimit -n)");
        }
    }

    private void startAll(HostedJob job, Watchdog watchdog, @Nullable InputStream input) throws IOException {
        requireDescriptors();
        for (int rank = 0; rank < plan.ranks; rank++) {
            int number = rank;
            Process process = ranks.start(plan.command, job, rank, plan.ranks, rank == 0 ? input : null);
            watchdog.started(process.pid());
            var _ = process.onExit().thenRun(() -> events.add(new Event.Ended(number, System.nanoTime())));
        }
        if (plan.timeout != null) {
            timeoutAtNanos = startNanos + plan.timeout.toNanos();
        }
    }

    private void awaitAll(HostedJob job, Watchdog watchdog) {
        int running = plan.ranks;
        while (running > 0) {
            Event event = next();
            long now = System.nanoTime();
            if (event instanceof Event.Ended ended) {
                running--;
                job.ended(ended.rank);
                Process process = ranks.processes().get(ended.rank);
                if (Groups.isEmpty(process)) {
                    watchdog.ended(process.pid());
                }
                ended(ended, process.exitValue());
            } else if (event instanceof Event.Signalled signalled) {
                signalled(signalled.signal);
            } else if (now - timeoutAtNanos >= 0 && timeoutAtNanos != Long.MAX_VALUE) {
                timeoutAtNanos = Long.MAX_VALUE;
                timedOut = true;
                end(Signals.TERM);
            }
            if (killAtNanos != Long.MAX_VALUE && now - killAtNanos >= 0) {
                killAtNanos = Long.MAX_VALUE;
                ranks.signalAll(Signals.KILL);
            }
            if (out.checkError()) {
                // Nobody reads what the ranks print.
                signalled(13);
            }
        }
    }

    private @Nullable Event next() {
        long until = Math.min(killAtNanos, timeoutAtNanos);
        try {
            return until == Long.MAX_VALUE
                    ? events.take()
                    : events.poll(Math.max(1, until - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (InterruptedException interrupted) {
            return new Event.Signalled(Signals.TERM);
        }
    }

    private void ended(Event.Ended ended, int status) {
        if (status == 0) {
            return;
        }
        if (isEnding()) {
            told.add(ended.rank);
            return;
        }
        failed.add(ended.rank);
        if (failed.size() == 1) {
            firstFailureNanos = ended.nanos;
            if (!plan.keepGoing) {
                end(Signals.TERM);
            }
        }
    }

    private boolean isEnding() {
        return signal != 0 || timedOut || (!failed.isEmpty() && !plan.keepGoing);
    }

    private void signalled(int number) {
        if (signal != 0) {
            // Somebody insists.
            ranks.signalAll(Signals.KILL);
            return;
        }
        signal = number;
        end(number == 13 ? Signals.TERM : number);
    }

    private void end(int withSignal) {
        ranks.signalAll(withSignal);
        killAtNanos = Math.min(killAtNanos, System.nanoTime() + plan.grace.toNanos());
    }

    private int finish() {
        if (signal != 0) {
            return 128 + signal;
        }
        if (timedOut) {
            say("not done after " + seconds(System.nanoTime() - startNanos) + " (--timeout); ended all ranks");
            return TIMED_OUT;
        }
        if (failed.isEmpty()) {
            return 0;
        }
        int first = failed.getFirst();
        Process process = ranks.processes().get(first);
        if (plan.own && process.exitValue() < 128) {
            // It has said why.
            return process.exitValue();
        }
        say("rank " + first + " (process " + process.pid() + ") failed first: " + describe(process.exitValue()) + ", "
                + seconds(firstFailureNanos - startNanos) + " after the start");
        List<String> lines = ranks.lastLines(first);
        if (!lines.isEmpty()) {
            say("its last lines:");
            lines.forEach(line -> err.println("    " + line));
        }
        List<Integer> others = new ArrayList<>(failed.subList(1, failed.size()));
        others.addAll(told);
        others.removeIf(rank -> !plan.keepGoing && endedAsTold(rank));
        if (!others.isEmpty()) {
            say("then "
                    + others.stream()
                            .map(rank -> "rank " + rank + ": "
                                    + describe(ranks.processes().get(rank).exitValue()))
                            .collect(Collectors.joining(", ")));
        }
        err.flush();
        return process.exitValue();
    }

    private boolean endedAsTold(int rank) {
        int status = ranks.processes().get(rank).exitValue();
        return status == 128 + Signals.TERM || status == 128 + Signals.KILL;
    }

    private static String describe(int status) {
        return "exit status " + status
                + (status > 128
                        ? Signals.name(status - 128)
                                .map(name -> " (" + name + ")")
                                .orElse("")
                        : "");
    }

    private static String seconds(long nanos) {
        return String.format(Locale.ROOT, "%.1f s", nanos / 1e9);
    }

    private void say(String text) {
        err.println(plan.label + ": " + text);
    }
}
