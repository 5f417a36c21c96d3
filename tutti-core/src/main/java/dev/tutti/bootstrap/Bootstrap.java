package dev.tutti.bootstrap;

import dev.tutti.PeerFailedException;
import dev.tutti.TuttiException;
import dev.tutti.health.ProcessId;
import dev.tutti.spi.Rendezvous;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Brings the processes of a job together: everybody puts a card, reads everybody's, and finds out whether they fit. What stands in
 * between, folder or server, is needed only while a world is made.
 */
public final class Bootstrap implements AutoCloseable {
    /** A note with such a key ends every wait; the rest of the key is the process. */
    static final String GAVE_UP = "gave-up/";

    private static final int MOST_TEXT_BYTES = 2_000;
    private static final long LOOK_EVERY_NANOS = 200_000_000;

    /** Who was who in the last world of this process: one that has ended since will not come to the next. */
    private static final Map<Integer, ProcessId> LAST_SEEN = new ConcurrentHashMap<>();

    private final Job job;
    private final Rendezvous rendezvous;
    private final List<Card> cards;

    private Bootstrap(Job job, Rendezvous rendezvous, List<Card> cards) {
        this.job = job;
        this.rendezvous = rendezvous;
        this.cards = cards;
    }

    /**
     * Meets the other processes.
     *
     * @param job who we are; more than one process
     * @param world counts the worlds that this process has joined before; the same everywhere
     * @param ranks how many ranks this process has
     * @param settings what must be the same everywhere
     * @param facts what the others may want to know
     * @param timeout how long the others may take
     */
    public static Bootstrap join(
            Job job, int world, int ranks, Map<String, String> settings, Map<String, String> facts, Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        ProcessId self = ProcessId.self();
        Rendezvous rendezvous = open(job, world, self, deadline);
        try {
            Map<String, String> compared = new TreeMap<>(settings);
            compared.put("wire version", "" + Wire.VERSION);
            Card own = new Card(
                    job.process(),
                    self,
                    PrivateFolder.userId(),
                    Card.thisHost(),
                    ranks,
                    compared,
                    new TreeMap<>(facts));
            List<Card> cards;
            try {
                rendezvous.put("card/" + job.process(), own.encode());
                cards = collect(job, rendezvous, ranks, deadline, timeout);
            } catch (PeerFailedException known) {
                throw known;
            } catch (TuttiException failed) {
                // Whoever comes later would find the card of a process that is no longer there.
                giveUp(rendezvous, job, failed);
                throw failed;
            }
            cards.forEach(card -> requireFitting(own, card));
            return new Bootstrap(job, rendezvous, cards);
        } catch (RuntimeException failed) {
            rendezvous.close();
            throw failed;
        }
    }

    /** Comes only to say that this process will not take part, and why. */
    public static void decline(Job job, int world, Throwable cause, Duration timeout) {
        try (Rendezvous rendezvous = open(job, world, ProcessId.self(), System.nanoTime() + timeout.toNanos())) {
            giveUp(rendezvous, job, cause);
        } catch (TuttiException unreachable) {
            // They will find out when their time is over.
        }
    }

    private static Rendezvous open(Job job, int world, ProcessId self, long deadline) {
        return switch (job.venue()) {
            case Venue.Alone alone -> throw new IllegalArgumentException("one process needs nobody");
            case Venue.Folder folder -> inFolder(folder, job, world, self);
            case Venue.Server server ->
                TcpRendezvous.join(server, job.id(), world, job.process(), job.processes(), deadline);
        };
    }

    private static Rendezvous inFolder(Venue.Folder folder, Job job, int world, ProcessId self) {
        Path given = folder.given();
        if (given != null) {
            return new Prefixed(FileRendezvous.in(given, world, job.process(), self), world);
        }
        PrivateFolder user = PrivateFolder.ofUser(folder.runtimeFolder());
        return FileRendezvous.forJob(user, job.id() + " world " + world, job.process(), self);
    }

    private static List<Card> collect(Job job, Rendezvous rendezvous, int ranks, long deadline, Duration timeout) {
        List<Card> cards = new ArrayList<>();
        List<String> missing = new ArrayList<>();
        for (int process = 0; process < job.processes(); process++) {
            try {
                Card card = Card.decode(await(rendezvous, process, deadline));
                cards.add(card);
                LAST_SEEN.put(process, card.id());
            } catch (TuttiException failed) {
                if (failed.category() != TuttiException.Category.TIMEOUT) {
                    throw failed;
                }
                missing.add("" + process);
            }
        }
        if (!missing.isEmpty()) {
            String what = ranks == 1 ? "rank " : "process ";
            throw new TuttiException(
                    TuttiException.Category.TIMEOUT,
                    what + job.process() + " of " + job.processes() + " (" + job.launcher() + ") waited "
                            + timeout.toSeconds() + " s for the others; missing: " + what
                            + String.join(", ", missing)
                            + "; do all of them run, and call fromEnvironment equally often? TUTTI_JOIN_TIMEOUT allows"
                            + " more time; ranks on several hosts need TUTTI_RENDEZVOUS",
                    null);
        }
        return cards;
    }

    private static byte[] await(Rendezvous rendezvous, int process, long deadline) {
        ProcessId before = LAST_SEEN.get(process);
        if (before == null) {
            return rendezvous.await("card/" + process, deadline);
        }
        while (true) {
            long slice = System.nanoTime() + LOOK_EVERY_NANOS;
            try {
                return rendezvous.await("card/" + process, slice - deadline < 0 ? slice : deadline);
            } catch (TuttiException late) {
                if (late.category() != TuttiException.Category.TIMEOUT || slice - deadline >= 0) {
                    throw late;
                }
            }
            if (!before.isAlive()) {
                throw new PeerFailedException(
                        "process " + process + " (" + before.pid() + ") ended before it joined this world", null);
            }
        }
    }

    private static void requireFitting(Card own, Card other) {
        String both = "process " + own.process() + " and process " + other.process();
        if (own.user() != other.user()) {
            throw refuse(both + " run as different users, " + own.user() + " and " + other.user());
        }
        if (!own.host().equals(other.host())) {
            throw refuse(
                    both + " are on different hosts, or in containers that cannot see each other's processes; ranks of"
                            + " one world must share a host's memory");
        }
        TreeSet<String> names = new TreeSet<>(own.settings().keySet());
        names.addAll(other.settings().keySet());
        for (String name : names) {
            String mine = own.settings().getOrDefault(name, "unknown");
            String theirs = other.settings().getOrDefault(name, "unknown");
            if (!mine.equals(theirs)) {
                throw refuse(both + " differ in " + name + ": '" + mine + "' and '" + theirs
                        + "'; it must be the same for all ranks");
            }
        }
    }

    /** What those who wait throw when a process has given up. */
    static PeerFailedException gaveUp(String process, String why) {
        String text = why.isEmpty()
                ? "no room is left to say why where the ranks meet; set XDG_RUNTIME_DIR to a folder of yours that has some"
                : why;
        return new PeerFailedException("process " + process + " could not join: " + text, null);
    }

    private static TuttiException refuse(String why) {
        return new TuttiException(TuttiException.Category.USAGE, why, null);
    }

    /** Who we are. */
    public Job job() {
        return job;
    }

    /** For what transports have to tell each other. */
    public Rendezvous rendezvous() {
        return rendezvous;
    }

    /** Everybody's card, in order. */
    public List<Card> cards() {
        return cards;
    }

    /** The ranks of all processes together. */
    public int size() {
        return cards.stream().mapToInt(Card::ranks).sum();
    }

    /** The lowest rank of a process; its others follow. */
    public int firstRank(int process) {
        return cards.stream().limit(process).mapToInt(Card::ranks).sum();
    }

    /** Tells those who still wait that this process will not be there, and why. */
    public void giveUp(Throwable cause) {
        giveUp(rendezvous, job, cause);
    }

    private static void giveUp(Rendezvous rendezvous, Job job, Throwable cause) {
        byte[] why = String.valueOf(cause.getMessage()).getBytes(StandardCharsets.UTF_8);
        // The name alone needs no room, should that be the reason.
        for (int most : new int[] {MOST_TEXT_BYTES, 0}) {
            try {
                rendezvous.put(GAVE_UP + job.process(), Arrays.copyOf(why, Math.min(why.length, most)));
                return;
            } catch (TuttiException failed) {
                // Once more with less, or nobody waits.
            }
        }
    }

    /** Leaves the rendezvous. */
    @Override
    public void close() {
        rendezvous.close();
    }

    /** Several worlds in one folder: each has its own names. */
    private record Prefixed(FileRendezvous folder, int world) implements Rendezvous {
        @Override
        public void put(String key, byte[] value) {
            folder.put("world" + world + "/" + key, value);
        }

        @Override
        public byte[] await(String key, long deadlineNanos) {
            return folder.await("world" + world + "/" + key, deadlineNanos);
        }

        @Override
        public void requireEverybody() {
            folder.requireEverybody();
        }

        @Override
        public void close() {
            folder.close();
        }
    }
}
