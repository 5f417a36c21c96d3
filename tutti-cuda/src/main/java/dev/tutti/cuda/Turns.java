package dev.tutti.cuda;

import dev.tutti.Communicator;
import dev.tutti.MismatchException;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Where each of some processes is. Ranks that run a prepared call again launch at once; one that makes a new call waits on the host
 * until all have told what they call. Where some do this and some that, nobody would go on: here it is seen.
 */
final class Turns implements AutoCloseable {
    private final Attendance attendance;
    private final int rank;
    private final int size;
    private int tellings;

    /** All ranks make one together. The communicator is closed with it. */
    Turns(Communicator host) {
        this.attendance = Attendance.of(host);
        this.rank = host.rank();
        this.size = host.size();
    }

    /** How many calls a rank has made, and with how many of them it told: in one word, so that both are seen together. */
    record Turn(int number, int tellings) {
        static long word(long number, int tellings) {
            return (number & Integer.MAX_VALUE) << 32 | (tellings & 0xFFFF_FFFFL);
        }

        static Turn of(long word) {
            return new Turn((int) (word >>> 32), (int) word);
        }

        /** Whether a rank that is here tells, with the call that it is at, one that has made that call without. */
        boolean isToldTo(Turn other) {
            return tellings - other.tellings > 0 && other.number - number >= 0;
        }
    }

    /** This rank begins a call. */
    void come(long number, boolean tells) {
        if (tells) {
            tellings++;
        }
        attendance.come(Turn.word(number, tellings));
    }

    /** The word of this rank: the same as long as it begins nothing. */
    long own() {
        return attendance.number(rank);
    }

    /** Who makes a new call where others run one again, or null. */
    @Nullable
    MismatchException disagreement() {
        List<Turn> turns = IntStream.range(0, size)
                .mapToObj(each -> Turn.of(attendance.number(each)))
                .toList();
        for (int teller = 0; teller < size; teller++) {
            Turn at = turns.get(teller);
            List<Integer> again = IntStream.range(0, size)
                    .filter(each -> at.isToldTo(turns.get(each)))
                    .boxed()
                    .toList();
            if (!again.isEmpty()) {
                return new MismatchException(
                        "ranks disagree in operation #" + at.number + ": rank " + teller
                                + " makes a new call, ranks " + again
                                + " run a prepared call or a group again; either all ranks do that or none",
                        null);
            }
        }
        return null;
    }

    @Override
    public void close() {
        attendance.close();
    }
}
