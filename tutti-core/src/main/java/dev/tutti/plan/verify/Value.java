package dev.tutti.plan.verify;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What memory holds, without numbers: which bytes of whose input were folded into it, in which order. Adding to all
 * offsets moves on within it.
 */
final class Value {
    private static final int RANK_SHIFT = 40;
    private static final int LAUNCH_SHIFT = 56;
    private static final int NOBODY = 0xFFFF;
    private static final String MIXED = "mixed";

    /** Contributions in folding order: launch, rank, offset into its input. */
    final long[] atoms;
    /** What folded them; null for a plain copy. */
    final @Nullable String operator;
    /** Whether it was folded from the left, one contribution at a time. */
    final boolean left;
    /** A hash of the expression without offsets. */
    final long shape;
    /** How often it was finished; more than once is wrong. */
    final int finished;

    private Value(long[] atoms, @Nullable String operator, boolean left, long shape, int finished) {
        this.atoms = atoms;
        this.operator = operator;
        this.left = left;
        this.shape = shape;
        this.finished = finished;
    }

    static long atom(int launch, int rank, long offset) {
        return ((long) launch << LAUNCH_SHIFT) | ((long) rank << RANK_SHIFT) | offset;
    }

    static int rankOf(long atom) {
        return (int) (atom >>> RANK_SHIFT) & 0xFFFF;
    }

    static int launchOf(long atom) {
        return (int) (atom >>> LAUNCH_SHIFT);
    }

    static long offsetOf(long atom) {
        return atom & ((1L << RANK_SHIFT) - 1);
    }

    static Value input(int launch, int rank, long offset) {
        return new Value(new long[] {atom(launch, rank, offset)}, null, true, mix(rank + 1), 0);
    }

    /** Memory that nobody has written. */
    static Value garbage(int launch) {
        return new Value(new long[] {atom(launch, NOBODY, 0)}, null, true, 0, 0);
    }

    boolean isGarbage() {
        return atoms.length == 1 && rankOf(atoms[0]) == NOBODY;
    }

    Value shifted(long by) {
        if (by == 0 || isGarbage()) {
            return this;
        }
        long[] moved = new long[atoms.length];
        for (int i = 0; i < moved.length; i++) {
            moved[i] = rankOf(atoms[i]) == NOBODY ? atoms[i] : atoms[i] + by;
        }
        return new Value(moved, operator, left, shape, finished);
    }

    /** Folds in order. Values that have far too many contributions are cut: they are wrong anyway. */
    static Value fold(Value[] values, String operator, boolean finishes, int limit) {
        if (values.length == 1) {
            Value only = values[0];
            return finishes
                    ? new Value(only.atoms, only.operator, only.left, mix(only.shape + 7), only.finished + 1)
                    : only;
        }
        int length = 0;
        for (Value value : values) {
            length += value.atoms.length;
        }
        long[] atoms = new long[length];
        boolean left = values[0].left;
        String folded = operator;
        long shape = values[0].shape;
        int finished = finishes ? 1 : 0;
        int at = 0;
        for (int i = 0; i < values.length; i++) {
            Value value = values[i];
            System.arraycopy(value.atoms, 0, atoms, at, value.atoms.length);
            at += value.atoms.length;
            left &= i == 0 || value.atoms.length == 1;
            if (value.operator != null && !value.operator.equals(operator)) {
                folded = MIXED;
            }
            shape = i == 0 ? mix(value.shape) : mix(shape * 31 + value.shape);
            finished += value.finished > 0 ? 2 : 0;
        }
        return new Value(length > limit ? Arrays.copyOf(atoms, limit) : atoms, folded, left, mix(shape), finished);
    }

    /** Whether both were folded from the same contributions, whatever the order. */
    boolean isSameFold(long[] sortedAtoms) {
        if (sortedAtoms.length == 1 && atoms.length == 1) {
            return atoms[0] == sortedAtoms[0];
        }
        if (MIXED.equals(operator)) {
            return false;
        }
        long[] sorted = atoms.clone();
        Arrays.sort(sorted);
        return Arrays.equals(
                isIdempotent(operator) ? Arrays.stream(sorted).distinct().toArray() : sorted, sortedAtoms);
    }

    private static boolean isIdempotent(@Nullable String operator) {
        return operator != null
                && switch (operator) {
                    case "min", "max", "and", "or" -> true;
                    default -> false;
                };
    }

    /** Whether contributions come one after the other by rank. */
    boolean isInRankOrder() {
        for (int i = 1; i < atoms.length; i++) {
            if (rankOf(atoms[i - 1]) >= rankOf(atoms[i])) {
                return false;
            }
        }
        return left;
    }

    boolean isSame(Value other) {
        return this == other
                || (shape == other.shape && finished == other.finished && Arrays.equals(atoms, other.atoms));
    }

    private static long mix(long x) {
        long mixed = (x ^ (x >>> 33)) * 0xFF51AFD7ED558CCDL;
        return (mixed ^ (mixed >>> 33)) * 0xC4CEB9FE1A85EC53L;
    }

    /** For messages: at most a handful of contributions. */
    @Override
    public String toString() {
        if (isGarbage()) {
            return "nothing that was written";
        }
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < Math.min(6, atoms.length); i++) {
            text.append(i == 0 ? "" : operator == null || operator.isEmpty() ? " (+) " : " " + operator + " ");
            text.append(name(atoms[i]));
        }
        return text
                + (operator == null || operator.isEmpty() || atoms.length > 1 ? "" : " by " + operator)
                + (atoms.length > 6 ? " and " + (atoms.length - 6) + " more" : "");
    }

    static String name(long atom) {
        return rankOf(atom) == NOBODY
                ? "garbage"
                : "rank " + rankOf(atom) + "'s byte " + offsetOf(atom) + " of launch " + launchOf(atom);
    }
}
