package dev.tutti;

import dev.tutti.bootstrap.Bootstrap;
import dev.tutti.bootstrap.Card;
import dev.tutti.health.ProcessId;
import dev.tutti.health.Watcher;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The other processes of a world: who holds which rank, and which of them have ended. */
final class Peers implements AutoCloseable {
    private final int firstLocalRank;
    private final int localRanks;
    private final ProcessId[] processOfRank;
    private final Map<Integer, End> ended = new ConcurrentHashMap<>();
    private final List<Watcher.Watch> watches = new ArrayList<>();

    /**
     * How the process of a rank has ended.
     *
     * @param worldRank the rank, as the world counts
     * @param process which process it was
     * @param how in words
     */
    record End(int worldRank, String process, String how) {
        /** For a communicator, where the rank may have another number. */
        String text(int rank, String communicator) {
            return "rank " + rank + " (" + (rank == worldRank ? "" : "rank " + worldRank + " of the world, ") + process
                    + ") " + how + " without closing '" + communicator + "'";
        }
    }

    private Peers(int firstLocalRank, int localRanks, ProcessId[] processOfRank) {
        this.firstLocalRank = firstLocalRank;
        this.localRanks = localRanks;
        this.processOfRank = processOfRank;
    }

    /** All ranks are threads of this process. */
    static Peers none(int ranks) {
        return new Peers(0, ranks, new ProcessId[0]);
    }

    static Peers of(Bootstrap joined) {
        ProcessId[] processOfRank = new ProcessId[joined.size()];
        for (Card card : joined.cards()) {
            int first = joined.firstRank(card.process());
            java.util.Arrays.fill(processOfRank, first, first + card.ranks(), card.id());
        }
        int own = joined.job().process();
        return new Peers(joined.firstRank(own), joined.cards().get(own).ranks(), processOfRank);
    }

    int firstLocalRank() {
        return firstLocalRank;
    }

    int localRanks() {
        return localRanks;
    }

    long processId(int rank) {
        return processOfRank.length == 0 ? ProcessHandle.current().pid() : processOfRank[rank].pid();
    }

    boolean isLocal(int rank) {
        return rank >= firstLocalRank && rank < firstLocalRank + localRanks;
    }

    /**
     * Begins to watch.
     *
     * @param onEnd is told, for each of its ranks, of a process that has ended
     */
    void watch(Consumer<End> onEnd) {
        @Nullable ProcessId previous = null;
        for (int rank = 0; rank < processOfRank.length; rank++) {
            ProcessId process = processOfRank[rank];
            if (!isLocal(rank) && !process.equals(previous)) {
                int first = rank;
                watches.add(Watcher.watch(process, how -> tell(first, process, how, onEnd)));
            }
            previous = process;
        }
    }

    private void tell(int first, ProcessId process, String how, Consumer<End> onEnd) {
        int last = first;
        while (last + 1 < processOfRank.length && processOfRank[last + 1].equals(process)) {
            last++;
        }
        String which = "process " + process.pid() + (last == first ? "" : " with ranks " + first + " to " + last);
        for (int rank = first; rank <= last; rank++) {
            End end = new End(rank, which, how);
            // Kept first: a communicator that is made at this moment looks here after it has said that it exists.
            ended.put(rank, end);
            onEnd.accept(end);
        }
    }

    /** What is known about the end of a rank's process; null: it lives, as far as is known. */
    @Nullable
    End ended(int rank) {
        return ended.get(rank);
    }

    /** Whether the end of any process is known. */
    boolean hasEnded() {
        return !ended.isEmpty();
    }

    @Override
    public void close() {
        watches.forEach(Watcher.Watch::close);
        watches.clear();
    }
}
