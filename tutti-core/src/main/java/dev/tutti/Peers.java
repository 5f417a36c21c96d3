package dev.tutti;

import dev.tutti.bootstrap.Bootstrap;
import dev.tutti.bootstrap.Card;
import dev.tutti.health.ProcessId;
import dev.tutti.health.Watcher;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;

/** The other processes of a world: who holds which rank, and which of them have ended. */
final class Peers implements AutoCloseable {
    private final int firstLocalRank;
    private final int localRanks;
    private final ProcessId[] processOfRank;
    private final Map<Integer, String> ended = new ConcurrentHashMap<>();
    private final List<Watcher.Watch> watches = new ArrayList<>();

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
     * @param onEnd is told, in words, which rank's process has ended and how
     */
    void watch(ObjIntConsumer<String> onEnd) {
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

    private void tell(int first, ProcessId process, String how, ObjIntConsumer<String> onEnd) {
        for (int rank = first; rank < processOfRank.length && processOfRank[rank].equals(process); rank++) {
            String text = "rank " + rank + " (process " + process.pid() + ") " + how + " without closing '%s'";
            // Kept first: a communicator that is made at this moment looks here after it has said that it exists.
            ended.put(rank, text);
            onEnd.accept(text, rank);
        }
    }

    /** What is known about the end of a rank's process; null: it lives, as far as is known. */
    @Nullable
    String ended(int rank) {
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
