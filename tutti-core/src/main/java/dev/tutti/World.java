package dev.tutti;

import dev.tutti.algorithm.Algorithms;
import dev.tutti.bootstrap.Job;
import dev.tutti.spi.Fabric;
import dev.tutti.spi.RegionLayout;
import dev.tutti.spi.Transport;
import dev.tutti.transport.local.LocalTransport;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/**
 * All ranks that were started together. {@link #local} makes a world of threads in this process:
 *
 * {@snippet :
 * World.local(8).run(comm -> {
 *     float[] x = {comm.rank()};
 *     comm.allReduce(x, ReduceOp.SUM);
 * });
 * }
 *
 * {@link #fromEnvironment} joins one of processes that {@code tutti run}, torchrun, mpirun, srun or Kubernetes has started.
 * When one of them ends without closing, those who share a communicator with its ranks get a {@link PeerFailedException}.
 */
public final class World implements AutoCloseable {
    /** Of the communicator that has all ranks. */
    private static final long WORLD_ID = 0;

    private final int size;
    private final String name;
    private final Config config;
    private final Transport transport;
    private final ConcurrentHashMap<Integer, Boolean> handedOut = new ConcurrentHashMap<>();
    private final Peers peers;
    private final int cores;
    /** By rank; those of other processes stay empty. */
    private final List<CopyOnWriteArrayList<Communicator>> communicators;
    /** Ranks of this process that have failed, and with what. */
    private final Map<Integer, Throwable> failures = new ConcurrentHashMap<>();

    /** All ranks are here; for whoever brings a transport of its own. */
    World(int size, String name, Config config, Transport transport) {
        this(
                size,
                name,
                config,
                transport,
                Peers.none(size),
                Runtime.getRuntime().availableProcessors());
    }

    World(int size, String name, Config config, Transport transport, Peers peers, int cores) {
        this.size = size;
        this.name = name;
        this.config = config;
        this.transport = transport;
        this.peers = peers;
        this.cores = cores;
        this.communicators = new ArrayList<>();
        for (int rank = 0; rank < size; rank++) {
            communicators.add(new CopyOnWriteArrayList<>());
        }
    }

    /**
     * A world of threads in this process.
     *
     * @param ranks how many
     * @return what to run
     */
    public static Local local(int ranks) {
        if (ranks < 1 || ranks > 0xFFFF) {
            throw new IllegalArgumentException("ranks must be in 1..65535, got " + ranks);
        }
        return new Local(ranks, "world", Config.fromEnvironment(), false);
    }

    /**
     * The world that this process was started for, as the variables of {@code tutti run}, torchrun, Open MPI, MPICH, Slurm or
     * Kubernetes say; without any of them, a world of this process alone.
     *
     * {@snippet :
     * World.fromEnvironment().run(comm -> comm.barrier());
     * }
     *
     * @return what to join
     * @throws IllegalArgumentException if a variable is missing or makes no sense; the text names it
     */
    public static Joining fromEnvironment() {
        return new Joining(Job.fromEnvironment(), 1, "world", Config.fromEnvironment());
    }

    /**
     * How many ranks there are.
     *
     * @return at least 1
     */
    public int size() {
        return size;
    }

    /**
     * How many of them are in this process.
     *
     * @return at least 1
     */
    public int localRanks() {
        return peers.localRanks();
    }

    /**
     * The lowest rank of this process; the others follow it.
     *
     * @return 0 to size-1
     */
    public int firstLocalRank() {
        return peers.firstLocalRank();
    }

    /**
     * The process that a rank is in.
     *
     * @param rank whose
     * @return its number as the operating system counts
     */
    public long processId(int rank) {
        requireRank(rank);
        return peers.processId(rank);
    }

    private void requireRank(int rank) {
        if (rank < 0 || rank >= size) {
            throw new IllegalArgumentException("rank " + rank + " is outside 0.." + (size - 1) + " of '" + name + "'");
        }
    }

    /** What messages and threads are named after. */
    String name() {
        return name;
    }

    /** The cores that costs are reckoned with: process 0's, so that all ranks choose alike. */
    int cores() {
        return cores;
    }

    /**
     * The settings of this world.
     *
     * @return the settings
     */
    public Config config() {
        return config;
    }

    /**
     * Operations, on any communicators of this world, that run together: none waits for another of the same group.
     *
     * {@snippet :
     * try (Group group = comm.world().group()) {
     *     group.send(comm, mine, next, 0);
     *     group.recv(comm, theirs, previous, 0);
     * }
     * }
     *
     * @return a new group; closing it runs it
     */
    public Group group() {
        return new Group(this);
    }

    /**
     * The communicator of all ranks, for one of them; for worlds whose threads are the user's own. There is one per rank; asking for it twice is refused.
     *
     * @param rank whose
     * @return its communicator
     */
    public Communicator communicator(int rank) {
        requireRank(rank);
        if (!peers.isLocal(rank)) {
            throw new IllegalArgumentException("rank " + rank + " is in another process; here are " + firstLocalRank()
                    + ".." + (firstLocalRank() + localRanks() - 1));
        }
        if (handedOut.putIfAbsent(rank, Boolean.TRUE) != null) {
            throw new TuttiException(
                    TuttiException.Category.USAGE,
                    "the communicator of rank " + rank + " of '" + name
                            + "' has been handed out already: keep it, or call dup() on all ranks for another",
                    null);
        }
        int[] everybody = new int[size];
        for (int each = 0; each < size; each++) {
            everybody[each] = each;
        }
        return join(WORLD_ID, name, rank, everybody, () -> {});
    }

    /** Makes one more communicator; {@code stillWanted} throws if there is no use in waiting for the others any longer. */
    Communicator join(long id, String communicatorName, int rank, int[] worldRanks, Runnable stillWanted) {
        RegionLayout layout = new RegionLayout(
                worldRanks.length,
                (int) config.number(Config.Key.CHANNELS),
                config.number(Config.Key.PACKETS),
                config.number(Config.Key.SCRATCH));
        Fabric fabric = transport.join(id, rank, worldRanks, layout, stillWanted);
        if (id == WORLD_ID) {
            // Few worlds do without it, and the first call that needs it would wait for a thousand pages.
            fabric.scratch(rank);
        }
        Member member = new Member(id, communicatorName, rank, worldRanks, config, cores, transport, fabric);
        Communicator communicator = new Communicator(this, member);
        CopyOnWriteArrayList<Communicator> open = communicators.get(worldRanks[rank]);
        open.removeIf(each -> each.schedule.isClosed());
        open.add(communicator);
        for (int worldRank : worldRanks) {
            Peers.End ended = peers.ended(worldRank);
            if (ended != null) {
                tellOfEnd(communicator, ended);
            }
            Throwable failure = failures.get(worldRank);
            if (failure != null) {
                tellOfFailure(communicator, worldRank, failure);
            }
        }
        return communicator;
    }

    /** Another process has ended; runs on the watcher's thread. */
    private void peerEnded(Peers.End end) {
        forEachCommunicator(communicator -> tellOfEnd(communicator, end));
    }

    private void forEachCommunicator(Consumer<Communicator> action) {
        communicators.forEach(ofRank -> ofRank.forEach(action));
    }

    /** Whoever closes before it ends has done its part. */
    private static void tellOfEnd(Communicator communicator, Peers.End end) {
        Member member = communicator.member;
        int rank = member.rankOfWorldRank(end.worldRank());
        if (rank >= 0 && !communicator.schedule.isClosed()) {
            member.endpoint().board().abortUnlessClosed(rank, end.text(rank, member.name()));
        }
    }

    /** Whether the process of some rank has ended. */
    boolean hasLostPeer() {
        return peers.hasEnded();
    }

    void watchPeers() {
        peers.watch(this::peerEnded);
    }

    void closeCommunicators(int rank) {
        for (Communicator open : communicators.get(rank)) {
            open.close();
        }
    }

    Transport transport() {
        return transport;
    }

    /**
     * A rank is gone: everybody who shares a communicator with it learns why, also where it has not come to yet. One that fails while a
     * communicator is split may be waited for in the new one.
     */
    void fail(int worldRank, Throwable cause) {
        failures.put(worldRank, cause);
        forEachCommunicator(communicator -> tellOfFailure(communicator, worldRank, cause));
    }

    private static void tellOfFailure(Communicator communicator, int worldRank, Throwable cause) {
        Member member = communicator.member;
        int rank = member.rankOfWorldRank(worldRank);
        if (rank >= 0 && !communicator.schedule.isClosed()) {
            String alias = rank == worldRank ? "" : " (rank " + worldRank + " of the world)";
            member.endpoint().board().abortUnlessClosed(rank, "rank " + rank + alias + " failed: " + cause, cause);
        }
    }

    /** Closes every communicator of every rank of this process that is still open. */
    @Override
    public void close() {
        peers.close();
        for (int rank = 0; rank < size; rank++) {
            closeCommunicators(rank);
        }
        transport.close();
    }

    /** A world of threads that has not been started. Immutable; each method gives a changed copy. */
    public static final class Local {
        private final int ranks;
        private final String name;
        private final Config config;
        private final boolean virtual;

        Local(int ranks, String name, Config config, boolean virtual) {
            this.ranks = ranks;
            this.name = name;
            this.config = config;
            this.virtual = virtual;
        }

        /**
         * With these settings instead of the environment's.
         *
         * @param settings all settings
         * @return the changed world
         */
        public Local config(Config settings) {
            return new Local(ranks, name, Objects.requireNonNull(settings, "settings"), virtual);
        }

        /**
         * With another name for messages.
         *
         * @param worldName the name
         * @return the changed world
         */
        public Local named(String worldName) {
            return new Local(ranks, Objects.requireNonNull(worldName, "worldName"), config, virtual);
        }

        /**
         * With virtual threads as ranks: they never spin, and leave the work to one platform thread.
         *
         * @return the changed world
         */
        public Local virtualThreads() {
            return new Local(ranks, name, config, true);
        }

        /**
         * Makes the world without starting threads.
         *
         * @return the world; {@link World#communicator} gives each rank's part
         */
        public World open() {
            Algorithms.requireKnown(config.text(Config.Key.ALGO), config.text(Config.Key.PROTO));
            Rehearsal.await(() -> false);
            int cores = Runtime.getRuntime().availableProcessors();
            return new World(ranks, name, config, new LocalTransport(ranks), Peers.none(ranks), cores);
        }

        /**
         * Runs every rank in a thread of its own and waits for all. If a rank throws, the others end at once with that as
         * their cause, and this throws what the first one threw.
         *
         * {@snippet :
         * World.local(4).run(comm -> comm.barrier());
         * }
         *
         * @param body what each rank does
         */
        public void run(RankBody body) {
            call(comm -> {
                body.run(comm);
                return Boolean.TRUE;
            });
        }

        /**
         * Like {@link #run}, with results.
         *
         * {@snippet :
         * List<Integer> ranks = World.local(4).call(Communicator::rank);
         * }
         *
         * @param <T> the result
         * @param body what each rank computes
         * @return the ranks' results, in rank order
         */
        public <T> List<T> call(RankBody.Returning<T> body) {
            try (World world = open()) {
                return new LocalRun<>(world, body, virtual).await();
            }
        }
    }
}
