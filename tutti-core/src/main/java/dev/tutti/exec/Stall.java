package dev.tutti.exec;

import dev.tutti.AbortedException;
import dev.tutti.Collective;
import dev.tutti.CollectiveTimeoutException;
import dev.tutti.MismatchException;
import dev.tutti.PeerFailedException;
import dev.tutti.TuttiException;
import dev.tutti.channel.Board;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a wait does when it is not over at once: pass the time at the rank's {@link Pace}, sleep, and meanwhile find out whether
 * there is still something to wait for. The clock is first read here, so an operation that goes well never reads it.
 */
public final class Stall {
    private static final Logger LOG = System.getLogger("dev.tutti");
    private static final long DIAGNOSE_EVERY_NANOS = 1_000_000;
    /** When a wait that looks all right first makes us look at earlier operations; then after twice as long, and so on. */
    private static final long LOOK_BACK_AFTER_NANOS = 50_000_000;

    private static final Call NONE = new Call();

    private final Endpoint endpoint;
    private final Board board;
    private final long[] announced = new long[3];
    private final long[] own = new long[3];

    private final long warnNanos;
    private final Pace pace;

    private long operation;
    private Call call = NONE;
    private long meta;
    private long count;
    private long extra;
    private long timeoutNanos;

    private @Nullable Supplier<String> detail;
    private long armedAt;
    private long diagnosedAt;
    private boolean armed;
    private long lookBackNanos;
    private boolean warned;
    private long waitingSince;
    private boolean sleepAnnounced;
    private int shown;

    Stall(Endpoint endpoint, long warnNanos) {
        this.warnNanos = warnNanos;
        this.pace = endpoint.pace;
        this.endpoint = endpoint;
        this.board = endpoint.board;
    }

    long warnNanos() {
        return warnNanos;
    }

    /** Tells which operation is waited for from now on. Details are looked up when somebody has to wait for long. */
    void begin(long number, Call current) {
        operation = number;
        if (call != current) {
            call = current;
        }
        armed = false;
    }

    /** Nothing is waited for any more that {@link #begin} has told of. */
    void forget() {
        call = NONE;
    }

    /** Has something say in messages, until told otherwise, where exactly this rank is. */
    void describe(@Nullable Supplier<String> position) {
        detail = position;
    }

    private void arm(long now) {
        armed = true;
        armedAt = now;
        diagnosedAt = now;
        warned = false;
        lookBackNanos = LOOK_BACK_AFTER_NANOS;
        lookUp();
    }

    private void lookUp() {
        meta = Signature.meta(call);
        count = call.count();
        extra = call.extra();
        timeoutNanos = call.timeoutNanos();
    }

    /**
     * Waits a little; throws when there is nothing left to wait for.
     *
     * @param turns how often this wait has been here already
     * @return one more
     */
    int pause(int turns) {
        if (!look(turns)) {
            pause(turns, true);
        }
        return turns + 1;
    }

    /**
     * Lets a moment pass in which nothing can have gone wrong yet.
     *
     * @param turns how often this wait has been here already
     * @return false, and nothing has been done, if there were enough of these
     */
    boolean look(int turns) {
        boolean young = turns < pace.turns();
        if (young) {
            Thread.onSpinWait();
        }
        return young;
    }

    /**
     * Waits a little after {@link #look} has said no; throws when there is nothing left to wait for.
     *
     * @param coreWanted whether somebody who has still to come may need this rank's core for it
     */
    void pause(int turns, boolean coreWanted) {
        boolean first = turns == pace.turns();
        long now = check();
        if (pace.isShared()) {
            endpoint.neighbours.look(now);
        }
        if (first) {
            waitingSince = now;
            sleepAnnounced = false;
        }
        if (Thread.currentThread().isInterrupted()) {
            board.abort(
                    Board.Reason.ABORTED,
                    "rank " + endpoint.rank + " was interrupted in " + what(),
                    new InterruptedException("interrupted in " + what()),
                    what(),
                    Board.only(endpoint.rank));
            throw failure();
        }
        if (sleepAnnounced) {
            // If nobody has rung, what was announced still stands, and all that is left is to sleep on.
            if (endpoint.bell.sleep(shown, sliceNanos())) {
                sleepAnnounced = false;
                waitingSince = System.nanoTime();
            }
        } else if (!pace.pass(waitingSince, now, coreWanted)) {
            // The caller looks once more; if it comes back, it sleeps.
            shown = endpoint.bell.announceSleep();
            sleepAnnounced = true;
        }
    }

    private long sliceNanos() {
        long waited = diagnosedAt - armedAt;
        return Math.clamp(timeoutNanos - waited, DIAGNOSE_EVERY_NANOS / 10, Pace.sleepNanos(waited));
    }

    /**
     * Throws when there is nothing left to wait for; cheap enough to be called over and over.
     *
     * @return what the clock says
     */
    long check() {
        if (board.isAborted()) {
            throw failure();
        }
        long now = System.nanoTime();
        if (!armed) {
            arm(now);
            return now;
        }
        if (now - diagnosedAt < DIAGNOSE_EVERY_NANOS) {
            return now;
        }
        diagnosedAt = now;
        diagnose();
        if (now - armedAt >= lookBackNanos) {
            lookBackNanos *= 2;
            lookBack();
        }
        if (now - armedAt >= timeoutNanos) {
            String text = what() + " on '" + endpoint.name + "' timed out after " + seconds(timeoutNanos) + " on rank "
                    + endpoint.rank + ": " + whereEverybodyIs();
            board.abort(Board.Reason.TIMEOUT, text, null, what(), missing());
            throw failure();
        }
        if (!warned && now - armedAt >= warnNanos) {
            warned = true;
            LOG.log(
                    Level.WARNING,
                    "{0} on ''{1}'': rank {2} has waited {3}: {4}",
                    what(),
                    endpoint.name,
                    endpoint.rank,
                    seconds(warnNanos),
                    whereEverybodyIs());
        }
        return now;
    }

    /** What everybody throws after an abort: the first cause, wherever it was. */
    public TuttiException failure() {
        String text = board.abortText();
        Throwable cause = board.abortCause();
        TuttiException.Facts facts = board.abortFacts(endpoint.name);
        return switch (board.abortReason()) {
            case MISMATCH -> new MismatchException(text, cause, facts);
            case TIMEOUT -> new CollectiveTimeoutException(text, cause, facts);
            case PEER_FAILED -> new PeerFailedException(text, cause, facts);
            case NONE, ABORTED -> new AbortedException(text, cause, facts);
        };
    }

    /** Aborts the communicator from outside an operation. */
    void abort(String text, boolean timedOut) {
        board.abort(
                timedOut ? Board.Reason.TIMEOUT : Board.Reason.ABORTED,
                text,
                null,
                null,
                timedOut ? Board.only() : Board.only(endpoint.rank));
    }

    /** Aborts the communicator from outside, inside the gate, because nobody wants to wait for this operation any longer. */
    void giveUp(String text, boolean timedOut) {
        lookUp();
        board.abort(
                timedOut ? Board.Reason.TIMEOUT : Board.Reason.ABORTED,
                text + "; " + what() + ": " + whereEverybodyIs(),
                null,
                what(),
                timedOut ? missing() : Board.only(endpoint.rank));
    }

    /** A signature was not the expected one: says who called what, aborts, and returns what to throw. */
    TuttiException mismatch() {
        if (!board.isAborted()) {
            lookUp();
            diagnose();
            lookBack();
            board.abort(
                    Board.Reason.MISMATCH,
                    "ranks disagree at " + what() + " on '" + endpoint.name
                            + "', or longer before it than they can tell; all ranks must make the same calls in the same order",
                    null,
                    what(),
                    new BitSet());
        }
        return failure();
    }

    TuttiException pairMismatch(int peer, long theirs) {
        if (!board.isAborted()) {
            lookUp();
            diagnose();
            board.abort(
                    Board.Reason.MISMATCH,
                    "ranks disagree at " + what() + " on '" + endpoint.name + "': rank " + peer + " sends " + theirs
                            + " elements to rank " + endpoint.rank + ", which expects "
                            + java.util.Objects.requireNonNull(endpoint.pairs).received(peer),
                    null,
                    what(),
                    Board.only(peer, endpoint.rank));
        }
        return failure();
    }

    /** A plan reaches for memory that a peer does not have, or that cannot be reached from here. */
    TuttiException unreachable(int peer, String memory) {
        lookUp();
        board.abort(
                Board.Reason.ABORTED,
                "the plan of " + what() + " on '" + endpoint.name + "' lets rank " + endpoint.rank + " reach into the "
                        + memory + " of rank " + peer + ", which has none or none that others can reach; "
                        + "take the memory from comm.allocate on every rank",
                null,
                what(),
                Board.only(endpoint.rank));
        return failure();
    }

    TuttiException userFunctionThrew(Throwable thrown) {
        lookUp();
        board.abort(
                Board.Reason.ABORTED,
                "the reduce function threw on rank " + endpoint.rank + " in " + what() + ": " + thrown,
                thrown,
                what(),
                Board.only(endpoint.rank));
        return failure();
    }

    /**
     * At the end of an operation in which this rank did not hear from everybody. A rank that disagrees may have written where others
     * expect what a third one sends, and signatures tell only who has signalled. It announced its operation before it wrote: whoever
     * has read what it wrote finds that too.
     */
    void requireAgreement(long ownMeta, long ownCount, long ownExtra) {
        VarHandle.loadLoadFence();
        meta = ownMeta;
        count = ownCount;
        extra = ownExtra;
        compare();
    }

    private void compare() {
        for (int peer = 0; peer < endpoint.size; peer++) {
            if (peer != endpoint.rank
                    && board.readOperation(peer, operation, announced)
                    && (announced[0] != meta || announced[1] != count || announced[2] != extra)) {
                throw disagreement(operation);
            }
        }
    }

    /** Looks whether some rank can never answer: it called something else, or has gone. */
    private void diagnose() {
        compare();
        for (int peer = 0; peer < endpoint.size; peer++) {
            if (board.isClosed(peer) && board.position(peer) < operation) {
                board.abort(
                        Board.Reason.PEER_FAILED,
                        "rank " + peer + " closed '" + endpoint.name + "' before " + what() + ", which rank "
                                + endpoint.rank + " is in",
                        null,
                        what(),
                        Board.only(peer));
                throw failure();
            }
        }
    }

    /**
     * Looks for an earlier operation about which a peer and this rank disagree and in which neither had to wait for the other. This
     * operation may then be the same for both, and yet they will never meet in it.
     */
    private void lookBack() {
        long first = operation;
        for (int peer = 0; peer < endpoint.size; peer++) {
            // Where two begin to disagree, one of them began something else.
            for (int ago = 0; ago < Board.HISTORY; ago++) {
                first = earlierDisagreement(board.runStart(peer, ago), peer, first);
                first = earlierDisagreement(board.runStart(endpoint.rank, ago), peer, first);
            }
        }
        if (first < operation) {
            throw disagreement(first);
        }
    }

    private long earlierDisagreement(long number, int peer, long first) {
        return number > 0
                        && number < first
                        && board.readOperation(endpoint.rank, number, own)
                        && board.readOperation(peer, number, announced)
                        && !Arrays.equals(announced, own)
                ? number
                : first;
    }

    private TuttiException disagreement(long number) {
        Map<List<Long>, BitSet> callers = new LinkedHashMap<>();
        StringBuilder text =
                new StringBuilder("ranks disagree at operation #" + number + " on '" + endpoint.name + "': ");
        String separator = "";
        int registered = 0;
        int announcing = 0;
        String own = null;
        for (int peer = 0; peer < endpoint.size; peer++) {
            if (board.readOperation(peer, number, announced)) {
                String called = describe(announced[0], announced[1], announced[2]);
                text.append(separator)
                        .append("rank ")
                        .append(peer)
                        .append(" called ")
                        .append(called);
                callers.computeIfAbsent(List.of(announced[0], announced[1], announced[2]), any -> new BitSet())
                        .set(peer);
                own = peer == endpoint.rank ? called + " (#" + number + ")" : own;
                registered += Signature.isRegistered(announced[0]) ? 1 : 0;
                announcing++;
                separator = ", ";
            }
        }
        if (registered > 0 && registered < announcing) {
            text.append("; in one call either all ranks pass memory from comm.allocate or none does");
        }
        text.append("; all ranks must make the same calls in the same order");
        board.abort(Board.Reason.MISMATCH, text.toString(), null, own, others(callers.values()));
        return failure();
    }

    /** All that are not in the largest of these sets, or the first of the largest. */
    private static BitSet others(Collection<BitSet> sets) {
        BitSet most = new BitSet();
        BitSet all = new BitSet();
        for (BitSet set : sets) {
            most = set.cardinality() > most.cardinality() ? set : most;
            all.or(set);
        }
        all.andNot(most);
        return all;
    }

    private String whereEverybodyIs() {
        return (detail == null ? "" : detail.get() + "; ") + whoIsMissing();
    }

    private String whoIsMissing() {
        List<String> arrived = new ArrayList<>();
        List<String> missing = new ArrayList<>();
        for (int peer = 0; peer < endpoint.size; peer++) {
            long position = board.position(peer);
            if (position >= operation) {
                arrived.add("" + peer);
            } else if (position == 0) {
                missing.add(peer + " (has called nothing yet)");
            } else {
                String last = board.readOperation(peer, position, announced)
                        ? describe(announced[0], announced[1], announced[2])
                        : "?";
                missing.add(peer + " (last called #" + position + " " + last + ")");
            }
        }
        return "arrived: " + String.join(", ", arrived) + "; missing: "
                + (missing.isEmpty() ? "none, all are inside" : String.join(", ", missing));
    }

    /** Those who have not come to this operation. */
    private BitSet missing() {
        BitSet missing = new BitSet();
        for (int peer = 0; peer < endpoint.size; peer++) {
            missing.set(peer, board.position(peer) < operation);
        }
        return missing;
    }

    private String what() {
        if (detail != null && call.collective() == Collective.BARRIER) {
            return "a plan's launch (#" + operation + ")";
        }
        return describe(meta, count, extra) + " (#" + operation + ")";
    }

    private static String describe(long meta, long count, long extra) {
        String text = Signature.describe(meta, extra == Call.PAIRWISE ? -1 : count);
        if (extra == 0 || extra == Call.PAIRWISE) {
            return text;
        }
        return text
                + (extra >>> 32 == 0
                        ? " (by plan " + Long.toHexString(extra) + ")"
                        : " (counts " + Long.toHexString(extra >>> 32) + ")");
    }

    private static String seconds(long nanos) {
        return Duration.ofNanos(nanos).toString().substring(2).toLowerCase(java.util.Locale.ROOT);
    }
}
