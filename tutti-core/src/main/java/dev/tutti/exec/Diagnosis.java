package dev.tutti.exec;

import dev.tutti.AbortedException;
import dev.tutti.Collective;
import dev.tutti.CollectiveTimeoutException;
import dev.tutti.MismatchException;
import dev.tutti.PeerFailedException;
import dev.tutti.TuttiException;
import dev.tutti.channel.Board;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What is wrong with an operation, in words: who called something else, who has gone, where everybody is. It is read from the
 * {@link Board}, where every rank announces what it calls; whoever finds something aborts the communicator, and all throw what it found.
 */
final class Diagnosis {
    private final Endpoint endpoint;
    private final Board board;
    private final long[] announced = new long[3];
    private final long[] own = new long[3];

    private long operation;
    private long meta;
    private long count;
    private long extra;
    private boolean barrier;
    private @Nullable Supplier<String> position;

    Diagnosis(Endpoint endpoint) {
        this.endpoint = endpoint;
        this.board = endpoint.board;
    }

    /** From now on, of this operation. */
    Diagnosis of(long number, Call call) {
        operation = number;
        meta = Signature.meta(call);
        count = call.count();
        extra = call.extra();
        barrier = call.collective() == Collective.BARRIER;
        return this;
    }

    /** Has something say where exactly this rank is. */
    void describe(@Nullable Supplier<String> where) {
        position = where;
    }

    /** What to throw after an abort: the first cause, wherever it was. */
    TuttiException failure() {
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

    /** Nobody waits any longer. */
    TuttiException timedOut(long timeoutNanos) {
        String text = what() + " on '" + endpoint.name + "' timed out after " + Durations.text(timeoutNanos)
                + " on rank " + endpoint.rank + ": " + whereEverybodyIs();
        board.abort(Board.Reason.TIMEOUT, text, null, what(), missing());
        return failure();
    }

    /** Somebody outside does not want to wait any longer. */
    void giveUp(String text, boolean timedOut) {
        board.abort(
                timedOut ? Board.Reason.TIMEOUT : Board.Reason.ABORTED,
                text + "; " + what() + ": " + whereEverybodyIs(),
                null,
                what(),
                timedOut ? missing() : Board.only(endpoint.rank));
    }

    /** For whoever knows that ranks disagree: who called what, if that can still be told. */
    TuttiException mismatch() {
        requireAnswerable();
        requireSamePast();
        board.abort(
                Board.Reason.MISMATCH,
                "ranks disagree at " + what() + " on '" + endpoint.name
                        + "', or longer before it than they can tell; all ranks must make the same calls in the same order",
                null,
                what(),
                new BitSet());
        return failure();
    }

    /** A peer sends another number of elements than this rank expects. */
    TuttiException pairMismatch(int peer, long theirs) {
        requireAnswerable();
        board.abort(
                Board.Reason.MISMATCH,
                "ranks disagree at " + what() + " on '" + endpoint.name + "': rank " + peer + " sends " + theirs
                        + " elements to rank " + endpoint.rank + ", which expects "
                        + Objects.requireNonNull(endpoint.pairs).received(peer),
                null,
                what(),
                Board.only(peer, endpoint.rank));
        return failure();
    }

    /** A plan reaches for memory that a peer does not have, or that cannot be reached from here. */
    TuttiException unreachable(int peer, String memory) {
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
        board.abort(
                Board.Reason.ABORTED,
                "the reduce function threw on rank " + endpoint.rank + " in " + what() + ": " + thrown,
                thrown,
                what(),
                Board.only(endpoint.rank));
        return failure();
    }

    /** Throws if a peer that has announced this operation calls it otherwise than this rank does. */
    void requireAgreement(long number, long ownMeta, long ownCount, long ownExtra) {
        VarHandle.loadLoadFence();
        operation = number;
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

    /** Throws if some rank can never answer: it called something else, or has gone. */
    void requireAnswerable() {
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
     * Throws if a peer and this rank disagree about an earlier operation, in which neither had to wait for the other. This operation may
     * then be the same for both, and yet they will never meet in it.
     */
    void requireSamePast() {
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
        String mine = null;
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
                mine = peer == endpoint.rank ? called + " (#" + number + ")" : mine;
                registered += Signature.isRegistered(announced[0]) ? 1 : 0;
                announcing++;
                separator = ", ";
            }
        }
        if (registered > 0 && registered < announcing) {
            text.append("; in one call either all ranks pass memory from comm.allocate or none does");
        }
        text.append("; all ranks must make the same calls in the same order");
        board.abort(Board.Reason.MISMATCH, text.toString(), null, mine, others(callers.values()));
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

    String whereEverybodyIs() {
        return (position == null ? "" : position.get() + "; ") + whoIsMissing();
    }

    private String whoIsMissing() {
        List<String> arrived = new ArrayList<>();
        List<String> missing = new ArrayList<>();
        for (int peer = 0; peer < endpoint.size; peer++) {
            long at = board.position(peer);
            if (at >= operation) {
                arrived.add("" + peer);
            } else if (at == 0) {
                missing.add(peer + " (has called nothing yet)");
            } else {
                String last = board.readOperation(peer, at, announced)
                        ? describe(announced[0], announced[1], announced[2])
                        : "?";
                missing.add(peer + " (last called #" + at + " " + last + ")");
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

    String what() {
        if (position != null && barrier) {
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
}
