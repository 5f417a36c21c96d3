package dev.tutti;

import dev.tutti.algorithm.Algorithms;
import dev.tutti.bootstrap.Bootstrap;
import dev.tutti.bootstrap.Job;
import dev.tutti.posix.Limits;
import dev.tutti.spi.Transport;
import dev.tutti.transport.Selector;
import dev.tutti.transport.local.LocalTransport;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A world of processes that this one has not joined yet. Immutable; each method gives a changed copy.
 *
 * {@snippet :
 * try (World world = World.fromEnvironment().ranksHere(2).open()) {
 *     Communicator first = world.communicator(world.firstLocalRank());
 * }
 * }
 *
 * <p>A process may join several worlds, one after the other or at the same time; all processes join them in the same order.
 */
public final class Joining {
    /** Ranks that differ in one of these would choose different plans or lay memory out differently. */
    private static final List<Config.Key> SAME_EVERYWHERE = List.of(
            Config.Key.ALGO,
            Config.Key.PROTO,
            Config.Key.LANES,
            Config.Key.CHANNELS,
            Config.Key.SCRATCH,
            Config.Key.PACKETS,
            Config.Key.FIRST_LAUNCH);

    private static final int SPARE_DESCRIPTORS = 16;

    private static final AtomicInteger WORLDS = new AtomicInteger();

    private final Job job;
    private final int ranks;
    private final String name;
    private final Config config;

    Joining(Job job, int ranks, String name, Config config) {
        this.job = job;
        this.ranks = ranks;
        this.name = name;
        this.config = config;
    }

    /**
     * With several ranks in this process, each for a thread of its own. Processes may have differently many; they are numbered
     * process by process.
     *
     * @param ranksInThisProcess how many, 1 or more
     * @return the changed world
     */
    public Joining ranksHere(int ranksInThisProcess) {
        if (ranksInThisProcess < 1 || ranksInThisProcess > 0xFFFF) {
            throw new IllegalArgumentException("ranks must be in 1..65535, got " + ranksInThisProcess);
        }
        return new Joining(job, ranksInThisProcess, name, config);
    }

    /**
     * With these settings instead of the environment's.
     *
     * @param settings all settings
     * @return the changed world
     */
    public Joining config(Config settings) {
        return new Joining(job, ranks, name, Objects.requireNonNull(settings, "settings"));
    }

    /**
     * With another name for messages.
     *
     * @param worldName the name
     * @return the changed world
     */
    public Joining named(String worldName) {
        return new Joining(job, ranks, Objects.requireNonNull(worldName, "worldName"), config);
    }

    /**
     * How many processes there are, as the environment says.
     *
     * @return at least 1
     */
    public int processes() {
        return job.processes();
    }

    /**
     * This process's number, as the environment says.
     *
     * @return 0 to processes-1
     */
    public int process() {
        return job.process();
    }

    /**
     * Joins: returns when all processes have.
     *
     * @return the world
     * @throws TuttiException if some do not come before {@code TUTTI_JOIN_TIMEOUT} is over (the text names them), end while they
     *     join, or do not fit: other versions, settings, users or hosts
     */
    public World open() {
        Algorithms.requireKnown(config.text(Config.Key.ALGO), config.text(Config.Key.PROTO));
        Starter.watch(job.starter());
        int cores = Runtime.getRuntime().availableProcessors();
        if (job.processes() == 1) {
            Rehearsal.await(() -> false);
            return new World(ranks, name, config, new LocalTransport(ranks), Peers.none(ranks), cores);
        }
        int number = WORLDS.getAndIncrement();
        Duration timeout = config.duration(Config.Key.JOIN_TIMEOUT);
        try {
            requireDescriptors();
        } catch (TuttiException tooFew) {
            Bootstrap.decline(job, number, tooFew, timeout);
            throw tooFew;
        }
        // Beside the meeting and not before it: whoever rehearses is nobody's peer yet, and does not notice one's end.
        Rehearsal.begin(job.processes() > cores);
        Map<String, String> same = new TreeMap<>();
        SAME_EVERYWHERE.forEach(key -> same.put(key.variable(), config.text(key)));
        Map<String, String> facts = Map.of("cores", "" + cores);
        try (Bootstrap joined = Bootstrap.join(job, number, ranks, same, facts, timeout)) {
            try {
                return join(joined, timeout);
            } catch (RuntimeException | Error failed) {
                joined.giveUp(failed);
                throw failed;
            }
        }
    }

    /** Asked before the first is opened: a JVM that has run out of them cannot even load what it would say so with. */
    private void requireDescriptors() {
        long free = new Limits().freeDescriptors();
        // For every other process its memory and its end; for each rank its own memory; and some for the meeting and
        // the JVM.
        long needed = 2L * (job.processes() - 1) + ranks + SPARE_DESCRIPTORS;
        if (free < needed) {
            throw new TuttiException(
                    TuttiException.Category.BROKEN,
                    "process " + job.process() + " cannot share memory: it may open " + Math.max(0, free)
                            + " more files, and a world of " + job.processes() + " processes needs " + needed
                            + "; raise the limit of open files (ulimit -n)",
                    null);
        }
    }

    private World join(Bootstrap joined, Duration timeout) {
        Peers peers = Peers.of(joined);
        int[] here = new int[peers.localRanks()];
        java.util.Arrays.setAll(here, i -> peers.firstLocalRank() + i);
        List<Selector.Location> locations = joined.cards().stream()
                .flatMap(card ->
                        Collections.nCopies(
                                card.ranks(),
                                new Selector.Location(card.host(), card.id().pid()))
                                .stream())
                .toList();
        Transport transport = Selector.open(locations, here, joined.rendezvous(), timeout.toNanos());
        int cores = Integer.parseInt(joined.cards().getFirst().facts().getOrDefault("cores", "1"));
        World world = new World(joined.size(), name, config, transport, peers, cores);
        world.watchPeers();
        Rehearsal.await(world::hasLostPeer);
        return world;
    }

    /**
     * Joins, runs each rank of this process in a thread of its own, and waits for them. If a rank throws, here or elsewhere, the
     * others end at once with that as their cause.
     *
     * {@snippet :
     * World.fromEnvironment().ranksHere(2).run(comm -> comm.barrier());
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
     * @param <T> the result
     * @param body what each rank computes
     * @return the results of this process's ranks, in rank order
     */
    public <T> List<T> call(RankBody.Returning<T> body) {
        try (World world = open()) {
            return new LocalRun<>(world, body, false).await();
        }
    }
}
