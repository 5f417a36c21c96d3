package dev.tutti.cli.plan;

import dev.tutti.Communicator;
import dev.tutti.World;
import dev.tutti.bootstrap.Bootstrap;
import dev.tutti.bootstrap.Job;
import dev.tutti.cli.common.ExitCode;
import dev.tutti.spi.Transport;
import dev.tutti.transport.local.LocalTransport;
import dev.tutti.transport.shm.ShmTransport;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One rank of plans that run on processes: runs one plan file after the other with its peers, and prints what is wrong for
 * {@link ProcessTrial} to read. Peers meet after each plan, outside of it, so that a plan that failed leaves nothing to the next.
 */
final class RankProcess {
    private static final Duration JOIN = Duration.ofSeconds(60);

    private final List<Path> files;
    private final TrialOptions options;
    private final PrintStream out;

    RankProcess(List<Path> files, TrialOptions options, PrintStream out) {
        this.files = files;
        this.options = options;
        this.out = out;
    }

    /** What one plan shows on this rank; null if all is well. */
    private interface Attempt {
        @Nullable
        String run(Candidate candidate, int number);
    }

    int run() throws IOException {
        Job job = Job.fromEnvironment();
        if (options.calls) {
            byCalls(job);
        } else {
            bare(job);
        }
        return ExitCode.SUCCESS.number();
    }

    private void byCalls(Job job) throws IOException {
        try (World world = World.fromEnvironment().open()) {
            Communicator everybody = world.communicator(job.process());
            each(job, everybody::barrier, (candidate, number) -> {
                try (Communicator own = everybody.dup()) {
                    return new CallTrial(own, candidate.plan(), options.launches, options.seed).run(candidate.cases());
                }
            });
        }
    }

    private void bare(Job job) throws IOException {
        int rank = job.process();
        try (Transport transport = open(job);
                TrialRanks.Seat everybody = new TrialRanks.Seat(transport, 1, "trial", rank, job.processes(), JOIN)) {
            @Nullable TrialRanks[] ranks = new TrialRanks[1];
            Runnable meet = () -> {
                everybody.meet();
                // Nobody is in the plan any more.
                if (ranks[0] != null) {
                    ranks[0].close();
                    ranks[0] = null;
                }
            };
            each(job, meet, (candidate, number) -> {
                TrialRanks own = new TrialRanks(candidate.plan(), options.timeout(), transport, number + 2L, rank);
                ranks[0] = own;
                return new Trial(candidate, options).runOn(own);
            });
        }
    }

    private static Transport open(Job job) {
        if (job.processes() == 1) {
            return new LocalTransport(1);
        }
        try (Bootstrap joined = Bootstrap.join(job, 0, 1, Map.of(), Map.of(), JOIN)) {
            int[] here = {job.process()};
            return ShmTransport.open(job.processes(), here, joined.rendezvous(), JOIN.toNanos());
        }
    }

    private void each(Job job, Runnable meet, Attempt attempt) throws IOException {
        for (int number = 0; number < files.size(); number++) {
            Candidate candidate = Candidate.load(files.get(number), options);
            meet.run();
            long start = System.nanoTime();
            try {
                String wrong = attempt.run(candidate, number);
                if (wrong != null && !wrong.equals(Trial.ELSEWHERE)) {
                    say(number, PlanStatus.FAIL, wrong);
                }
            } catch (IllegalArgumentException refused) {
                say(number, PlanStatus.REFUSED, String.valueOf(refused.getMessage()));
            } catch (RuntimeException failed) {
                // A launch that timed out says by itself who waits for what.
                say(number, PlanStatus.FAIL, String.valueOf(failed.getMessage()));
            }
            meet.run();
            if (job.process() == 0) {
                say(number, PlanStatus.RUNS, String.format(Locale.ROOT, "%.6f", (System.nanoTime() - start) / 1e9));
            }
        }
    }

    private void say(int number, PlanStatus status, String text) {
        out.println(ProcessTrial.line(number, status, text));
        out.flush();
    }
}
