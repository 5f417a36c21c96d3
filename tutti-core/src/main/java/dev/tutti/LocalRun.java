package dev.tutti;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The threads of one run: the ranks of a world that are in this process. */
final class LocalRun<T> {
    private final World world;
    private final RankBody.Returning<T> body;
    private final List<Thread> threads = new ArrayList<>();
    private final List<T> results;
    private boolean interrupted;
    private final List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());

    @SuppressWarnings("NullAway") // every place is filled before anybody reads it, or the run throws
    LocalRun(World world, RankBody.Returning<T> body, boolean virtual) {
        this.world = world;
        this.body = body;
        this.results = new ArrayList<>(Collections.nCopies(world.localRanks(), (T) null));
        for (int i = 0; i < world.localRanks(); i++) {
            int number = world.firstLocalRank() + i;
            Thread.Builder builder = virtual ? Thread.ofVirtual() : Thread.ofPlatform();
            threads.add(builder.name(world.name() + "-" + number).unstarted(() -> runRank(number)));
        }
    }

    private void runRank(int rank) {
        try {
            results.set(rank - world.firstLocalRank(), body.call(world.communicator(rank)));
        } catch (Throwable thrown) {
            failures.add(
                    thrown instanceof RuntimeException || thrown instanceof Error
                            ? thrown
                            : new AbortedException(
                                    "rank " + rank + " of '" + world.name() + "' failed: " + thrown, thrown));
            world.fail(rank, thrown);
        } finally {
            world.closeCommunicators(rank);
        }
    }

    List<T> await() {
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            join(thread);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (!failures.isEmpty()) {
            throw first();
        }
        return results;
    }

    private void join(Thread thread) {
        while (true) {
            try {
                thread.join();
                return;
            } catch (InterruptedException thrown) {
                failures.add(new AbortedException("interrupted while the ranks of '" + world.name() + "' ran", thrown));
                // The ranks now end with an abort; whoever interrupted us is told after they have.
                threads.forEach(Thread::interrupt);
                interrupted = true;
            }
        }
    }

    private RuntimeException first() {
        Throwable first = failures.getFirst();
        failures.stream().skip(1).filter(each -> each != first).forEach(first::addSuppressed);
        if (first instanceof Error error) {
            throw error;
        }
        return (RuntimeException) first;
    }
}
