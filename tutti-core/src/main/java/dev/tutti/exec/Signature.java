package dev.tutti.exec;

import dev.tutti.Collective;
import dev.tutti.DataType;
import dev.tutti.ReduceFunction;
import dev.tutti.ReduceOp;
import org.jspecify.annotations.Nullable;

/**
 * What ranks must agree on, packed. The meta word is readable again, for messages; the 32-bit digest travels with the first
 * transfer on each channel.
 *
 * <pre>
 *   meta   7 bits collective | 1 registered | 8 type | 8 operator | 16 root | 24 digest of a user function's name
 * </pre>
 */
public final class Signature {
    private static final Collective[] COLLECTIVES = Collective.values();
    private static final DataType[] TYPES = DataType.values();
    private static final ReduceOp.Kind[] KINDS = ReduceOp.Kind.values();
    private static final int NO_OPERATOR = 0xFF;
    private static final long REGISTERED = 0x80;

    private Signature() {}

    static long meta(Call call) {
        return meta(call.collective(), call.type(), call.op(), call.root()) | (call.isRegistered() ? REGISTERED : 0);
    }

    /** What ranks must agree on beside counts, of a call on memory that is not registered. */
    public static long meta(Collective collective, DataType type, @Nullable ReduceOp op, int root) {
        long operator = op == null ? NO_OPERATOR : op.kind().ordinal();
        long name = op == null || op.function() == null ? 0 : digest(op.function());
        return collective.ordinal()
                | ((long) type.ordinal() << 8)
                | (operator << 16)
                | ((long) (root & 0xFFFF) << 24)
                | (name << 40);
    }

    /** 24 bits of a user function's name, and of whether it commutes, as that bears on the choice of the plan. */
    private static long digest(ReduceFunction function) {
        long digest = function.commutative() ? 1 : 2;
        for (int i = 0; i < function.name().length(); i++) {
            digest = mix(digest ^ ((long) function.name().charAt(i) << 32));
        }
        return mix(digest) >>> 40;
    }

    /** 32 bits of everything; never 0, so that fresh memory matches nothing. */
    public static int digest(long meta, long count, long extra) {
        long h = mix(meta ^ mix(count ^ mix(extra + 0x9E3779B97F4A7C15L)));
        int digest = (int) (h ^ (h >>> 32));
        return digest == 0 ? 1 : digest;
    }

    /**
     * The digest of a sequence of calls from that of all but the last. Calls in which nobody waits for whom it disagrees with, such
     * as two roots that both send, show at the next transfer between the two.
     */
    static int chain(int history, int digest) {
        return history * 0x9E3779B1 + digest;
    }

    /** Folds one more value into a running digest. */
    public static long mix(long z) {
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    static boolean isRegistered(long meta) {
        return (meta & REGISTERED) != 0;
    }

    /**
     * Says in words what a rank called.
     *
     * @param count of elements; negative: every pair of ranks has its own
     */
    public static String describe(long meta, long count) {
        Collective collective = COLLECTIVES[(int) (meta & 0x7F)];
        if (collective == Collective.BARRIER) {
            return "barrier";
        }
        StringBuilder text = new StringBuilder(collective.toString());
        text.append(count < 0 ? " of " : " of " + count + " ").append(TYPES[(int) ((meta >>> 8) & 0xFF)]);
        int operator = (int) ((meta >>> 16) & 0xFF);
        if (operator != NO_OPERATOR) {
            text.append(' ').append(KINDS[operator].name().toLowerCase(java.util.Locale.ROOT));
            if (KINDS[operator] == ReduceOp.Kind.USER) {
                text.append(" function #").append(Long.toHexString(meta >>> 40));
            }
        }
        if (collective.isRooted()) {
            text.append(" root ").append((meta >>> 24) & 0xFFFF);
        }
        text.append(isRegistered(meta) ? " on registered buffers" : "");
        return text.append(count < 0 ? " (counts by pair)" : "").toString();
    }
}
