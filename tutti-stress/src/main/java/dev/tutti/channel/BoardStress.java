package dev.tutti.channel;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.tutti.memory.Memory;
import dev.tutti.spi.RegionLayout;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** What ranks write on their boards. */
public final class BoardStress {
    private BoardStress() {}

    /** A run of operations whose place in the history is being taken by another: 0 not found, 1 found whole, -1 mixed. */
    @JCStressTest
    @Outcome(id = "0", expect = ACCEPTABLE, desc = "not there, or being replaced")
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "whole")
    @Outcome(expect = FORBIDDEN, desc = "parts of two operations taken for one")
    @State
    public static class Operations {
        private static final long NUMBER = 5;

        private final Regions regions = new Regions();
        private final Board own = new Board(regions, 0, 2);
        private final Board peer = new Board(regions, 1, 2);
        private final long[] read = new long[3];

        @Actor
        public void publish() {
            for (int later = 0; later <= Board.HISTORY; later++) {
                own.publishOperation(NUMBER + later, 11 + 10 * later, 12 + 10 * later, 13 + 10 * later);
            }
        }

        @Actor
        public void read(I_Result result) {
            if (peer.readOperation(0, NUMBER, read)) {
                result.r1 = read[0] == 11 && read[1] == 12 && read[2] == 13 ? 1 : -1;
            }
        }
    }

    /** Whoever sees that a peer has finished may write what it read: the peer has read it before. */
    @JCStressTest
    @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "not finished yet: left alone")
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "read, finished, then written anew")
    @Outcome(expect = FORBIDDEN, desc = "written anew before it was read")
    @State
    public static class Finished {
        private final Regions regions = new Regions();
        private final Board writer = new Board(regions, 0, 2);
        private final Board reader = new Board(regions, 1, 2);
        private final long shown = regions.region(0) + RegionLayout.HISTORY;

        @Actor
        public void write(II_Result result) {
            if (writer.finished(1) >= 1) {
                Memory.putLong(shown, 8);
                result.r1 = 1;
            }
        }

        @Actor
        public void read(II_Result result) {
            result.r2 = (int) Memory.getLong(shown);
            reader.publishFinished(1);
        }
    }

    /** Two ranks abort: both must read the same decision and its whole text. */
    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "rank 0 was first")
    @Outcome(id = "2, 2", expect = ACCEPTABLE, desc = "rank 1 was first")
    @Outcome(expect = FORBIDDEN, desc = "two decisions, or a decision without its text")
    @State
    public static class AbortOfTwoRanks {
        private final Regions regions = new Regions();
        private final Board first = new Board(regions, 0, 2);
        private final Board second = new Board(regions, 1, 2);

        @Actor
        public void one(II_Result result) {
            first.abort(Board.Reason.MISMATCH, "rank 0 says so", null);
            result.r1 = decision(first);
        }

        @Actor
        public void other(II_Result result) {
            second.abort(Board.Reason.TIMEOUT, "rank 1 thinks otherwise", null);
            result.r2 = decision(second);
        }

        private static int decision(Board board) {
            return switch (board.abortReason()) {
                case MISMATCH -> board.abortRank() == 0 && board.abortText().equals("rank 0 says so") ? 1 : -1;
                case TIMEOUT -> board.abortRank() == 1 && board.abortText().equals("rank 1 thinks otherwise") ? 2 : -2;
                default -> -3;
            };
        }
    }

    /** Two threads of one rank abort, say its caller and the one that moves its operations. */
    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "the first thread was first")
    @Outcome(id = "2, 2", expect = ACCEPTABLE, desc = "the second thread was first")
    @Outcome(expect = FORBIDDEN, desc = "two decisions, or a decision with the other's text")
    @State
    public static class AbortOfTwoThreads {
        private final Board board = new Board(new Regions(), 0, 2);

        @Actor
        public void one(II_Result result) {
            board.abort(Board.Reason.MISMATCH, "one thread says so", null);
            result.r1 = decision();
        }

        @Actor
        public void other(II_Result result) {
            board.abort(Board.Reason.TIMEOUT, "another thread thinks otherwise", null);
            result.r2 = decision();
        }

        private int decision() {
            return switch (board.abortReason()) {
                case MISMATCH -> board.abortText().equals("one thread says so") ? 1 : -1;
                case TIMEOUT -> board.abortText().equals("another thread thinks otherwise") ? 2 : -2;
                default -> -3;
            };
        }
    }

    /** One aborts while a peer polls: whoever sees the abort finds its text. */
    @JCStressTest
    @Outcome(id = "0", expect = ACCEPTABLE, desc = "not aborted yet")
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "aborted, with its text")
    @Outcome(expect = FORBIDDEN, desc = "aborted without its text")
    @State
    public static class AbortSeen {
        private final Regions regions = new Regions();
        private final Board first = new Board(regions, 0, 2);
        private final Board second = new Board(regions, 1, 2);

        @Actor
        public void abort() {
            first.abort(Board.Reason.ABORTED, "enough", null);
        }

        @Actor
        public void poll(I_Result result) {
            if (second.isAborted()) {
                result.r1 = second.abortReason() == Board.Reason.ABORTED
                                && second.abortText().equals("enough")
                        ? 1
                        : -1;
            }
        }
    }
}
