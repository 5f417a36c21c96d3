package dev.tutti.cuda;

import dev.tutti.AbortedException;
import dev.tutti.CollectiveTimeoutException;
import dev.tutti.MismatchException;
import dev.tutti.TuttiException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The operations of a world whose ranks are all here: they come one by one, and the last one launches for all. */
final class Rounds implements AutoCloseable {
    private final CudaWorld world;
    private final int size;
    private final Launcher launcher;
    private final Map<Long, Round> rounds = new ConcurrentHashMap<>();

    Rounds(CudaWorld world, Launcher launcher) {
        this.world = world;
        this.size = world.size();
        this.launcher = launcher;
    }

    /** Brings a rank's part. The last one launches, for all; everybody then calls {@link #await}. */
    Round post(long number, Round.Post post) {
        Round round = rounds.computeIfAbsent(number, key -> new Round(key, size));
        if (round.bring(post)) {
            rounds.remove(number);
            try {
                world.requireActive();
                launch(round, post.rank());
            } catch (RuntimeException failure) {
                world.abort(failure);
                synchronized (round) {
                    round.notifyAll();
                }
                throw failure;
            }
        }
        return round;
    }

    private void launch(Round round, int last) {
        Mismatch.check(round.number, round.calls()).ifPresent(text -> {
            throw new MismatchException(text, null);
        });
        long stream = launcher.launch(round, last);
        if (round.post(last).stream().isCapturing()) {
            round.launched(stream, null, world.captureEvent(stream));
        } else {
            round.launched(stream, world.completion(stream), 0);
        }
    }

    /** Waits until a round is launched. */
    void await(Round round, int rank, CudaCall call) {
        for (int spins = 0; spins < 1000 && !round.isLaunched(); spins++) {
            Thread.onSpinWait();
        }
        if (round.isLaunched()) {
            return;
        }
        long deadline = System.nanoTime() + world.timeoutNanos();
        synchronized (round) {
            while (!round.isLaunched()) {
                world.requireActive();
                long left = deadline - System.nanoTime();
                if (left <= 0) {
                    RuntimeException late = late(round, rank, call);
                    world.abort(late);
                    throw late;
                }
                try {
                    round.wait(Math.max(1, Math.min(left / 1_000_000, 100)));
                } catch (InterruptedException interrupted) {
                    Thread.currentThread().interrupt();
                    RuntimeException cause = new AbortedException(
                            "rank " + rank + " was interrupted in " + call + " #" + round.number,
                            interrupted,
                            new TuttiException.Facts(null, call + " #" + round.number, List.of(rank)));
                    world.abort(cause);
                    throw cause;
                }
            }
        }
    }

    private RuntimeException late(Round round, int rank, CudaCall call) {
        List<Integer> here = new ArrayList<>();
        List<Integer> absent = new ArrayList<>();
        for (int each = 0; each < size; each++) {
            (round.hasCome(each) ? here : absent).add(each);
        }
        String text = "rank " + rank + " of " + size + " on " + world.device() + " waited "
                + Duration.ofNanos(world.timeoutNanos()) + " in " + call + " #" + round.number + ": ranks " + here
                + " have come, ranks " + absent + " have not; see what these are doing, or give a longer timeout";
        return new CollectiveTimeoutException(
                text, null, new TuttiException.Facts(null, call + " #" + round.number, absent));
    }

    /** Has everybody who waits look again. */
    void wake() {
        rounds.values().forEach(round -> {
            synchronized (round) {
                round.notifyAll();
            }
        });
    }

    @Override
    public void close() {
        launcher.close();
    }
}
