package dev.tutti;

import dev.tutti.algorithm.Algorithms;
import dev.tutti.channel.Board;
import dev.tutti.spi.RegionLayout;
import dev.tutti.spi.Transport;
import dev.tutti.transport.local.LocalTransport;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * All ranks that were started together. {@link #local} makes a world of threads in this process:
 *
 * {@snippet :
 * World.local(8).run(comm -> {
 *     float[] x = {comm.rank()};
 *     comm.allReduce(x, ReduceOp.SUM);
 * });
 * }
 */
public final class World implements AutoCloseable {
    private final int size;
    private final String name;
    private final Config config;
    private final Transport transport;
    private final List<CopyOnWriteArrayList<Communicator>> communicators;

    World(int size, String name, Config config, Transport transport) {
        this.size = size;
        this.name = name;
        this.config = config;
        this.transport = transport;
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
     * How many ranks there are.
     *
     * @return at least 1
     */
    public int size() {
        return size;
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
     * The communicator of all ranks, for one of them; for worlds whose threads are the user's own. Call it once per rank.
     *
     * @param rank whose
     * @return its communicator
     */
    public Communicator communicator(int rank) {
        Arguments.requireRank(rank, size, "rank");
        int[] everybody = new int[size];
        java.util.Arrays.setAll(everybody, i -> i);
        return join(0, name, rank, everybody);
    }

    Communicator join(long id, String communicatorName, int rank, int[] worldRanks) {
        RegionLayout layout = new RegionLayout(
                worldRanks.length,
                (int) config.number(Config.Key.CHANNELS),
                config.number(Config.Key.PACKETS),
                config.number(Config.Key.SCRATCH));
        Member member = new Member(
                id, communicatorName, rank, worldRanks, config, transport.join(id, rank, worldRanks, layout));
        Communicator communicator = new Communicator(this, member);
        CopyOnWriteArrayList<Communicator> open = communicators.get(worldRanks[rank]);
        open.removeIf(each -> each.schedule.isClosed());
        open.add(communicator);
        return communicator;
    }

    /** A rank is gone: everybody who shares a communicator with it learns why. */
    void fail(int rank, Throwable cause) {
        for (Communicator communicator : communicators.get(rank)) {
            communicator
                    .member
                    .endpoint()
                    .board()
                    .abort(Board.Reason.PEER_FAILED, "rank " + rank + " failed: " + cause, cause);
        }
    }

    /** Closes every communicator of every rank that is still open. */
    @Override
    public void close() {
        for (List<Communicator> open : communicators) {
            open.forEach(Communicator::close);
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
            Rehearsal.ensure();
            return unrehearsed();
        }

        private World unrehearsed() {
            Algorithms.requireKnown(config.text(Config.Key.ALGO), config.text(Config.Key.PROTO));
            return new World(ranks, name, config, new LocalTransport(ranks));
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
            Rehearsal.ensure();
            return start(body);
        }

        <T> List<T> start(RankBody.Returning<T> body) {
            try (World world = unrehearsed()) {
                return new LocalRun<>(world, body, virtual).await();
            }
        }
    }

    /** The threads of one run. */
    private static final class LocalRun<T> {
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
            this.results = new ArrayList<>(Collections.nCopies(world.size, (T) null));
            for (int rank = 0; rank < world.size; rank++) {
                int number = rank;
                Thread.Builder builder = virtual ? Thread.ofVirtual() : Thread.ofPlatform();
                threads.add(builder.name(world.name + "-" + rank).unstarted(() -> runRank(number)));
            }
        }

        private void runRank(int rank) {
            try {
                results.set(rank, body.call(world.communicator(rank)));
            } catch (Throwable thrown) {
                failures.add(thrown);
                world.fail(rank, thrown);
            } finally {
                world.communicators.get(rank).forEach(Communicator::close);
            }
        }

        List<T> await() {
            threads.forEach(Thread::start);
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
                    threads.forEach(Thread::interrupt);
                    // The ranks now end with an abort; whoever interrupted us is told after they have.
                    failures.add(thrown);
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
            return first instanceof RuntimeException unchecked
                    ? unchecked
                    : new AbortedException("a rank failed: " + first, first);
        }
    }
}
