package dev.tutti.tune;

import dev.tutti.Collective;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.algorithm.Algorithm;
import dev.tutti.algorithm.Algorithms;
import dev.tutti.algorithm.Constants;
import dev.tutti.plan.Protocol;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the algorithm of a call: of those that can run it, the one whose cost is least. A pure function: ranks that give the
 * same arguments and have the same constants choose alike.
 */
public final class Tuner {
    /** Packets longer than this lose to slots on every machine seen; it also bounds the packet area that plans need. */
    static final long PACKET_LIMIT_BYTES = 1 << 10;

    /** With more ranks than this a rank's packet area has no room for a slot from each. */
    static final int PACKET_LIMIT_RANKS = 256;

    private final Constants constants;
    private final boolean addressable;

    /**
     * A tuner with this table, for ranks that can read each other's memory.
     *
     * @param constants costs that all ranks agree on
     */
    public Tuner(Constants constants) {
        this(constants, true);
    }

    /**
     * A tuner with this table.
     *
     * @param constants costs that all ranks agree on
     * @param addressable whether every rank can read every other's memory
     */
    public Tuner(Constants constants, boolean addressable) {
        this.constants = Objects.requireNonNull(constants, "constants");
        this.addressable = addressable;
    }

    /**
     * The algorithm to run a call with.
     *
     * @param collective what to compute
     * @param type the elements
     * @param op how they are reduced, or null
     * @param count elements per block
     * @param bytesPerBlock bytes of the longest block
     * @param ranks how many ranks take part
     * @param ragged whether blocks have different lengths
     * @param registered whether every rank can reach every other's input and output
     * @param forcedName the algorithm that the user asked for, or null
     * @param forcedProtocol the protocol that the user asked for, or null
     * @return the cheapest algorithm that can do it
     * @throws IllegalArgumentException if what was asked for does not exist or cannot run this call
     */
    public Algorithm choose(
            Collective collective,
            DataType type,
            @Nullable ReduceOp op,
            long count,
            long bytesPerBlock,
            int ranks,
            boolean ragged,
            boolean registered,
            @Nullable String forcedName,
            @Nullable Protocol forcedProtocol) {
        boolean packetsFit = forcedProtocol == Protocol.PACKET
                || (bytesPerBlock <= PACKET_LIMIT_BYTES && ranks <= PACKET_LIMIT_RANKS);
        boolean exists = false;
        boolean direct = false;
        Algorithm best = null;
        double least = Double.POSITIVE_INFINITY;
        // A loop, not a stream: the first call of every kind comes here before anything is compiled.
        for (Algorithm each : Algorithms.of(collective)) {
            if ((forcedName == null || each.name().equals(forcedName))
                    && (forcedProtocol == null || each.protocol() == forcedProtocol)) {
                exists = true;
                direct |= each.direct();
                if (canRun(each, op, ragged, registered) && (each.protocol() == Protocol.SIMPLE || packetsFit)) {
                    double nanos = each.cost().nanos(ranks, (double) bytesPerBlock, constants);
                    if (best == null || nanos < least) {
                        best = each;
                        least = nanos;
                    }
                }
            }
        }
        if (!exists) {
            throw new IllegalArgumentException("no algorithm " + asked(forcedName, forcedProtocol) + " for "
                    + collective + "; there are " + Algorithms.names(collective));
        }
        if (best == null) {
            throw new IllegalArgumentException(
                    asked(forcedName, forcedProtocol) + " cannot run " + collective + " of " + count + " " + type
                            + (ragged ? " with counts that differ" : "")
                            + (registered || !direct ? "" : " on memory that is not registered")
                            + (op == null ? "" : " with " + op)
                            + "; choose another of " + Algorithms.names(collective));
        }
        return best;
    }

    private boolean canRun(Algorithm algorithm, @Nullable ReduceOp op, boolean ragged, boolean registered) {
        boolean userFunction = op != null && op.kind() == ReduceOp.Kind.USER;
        boolean inOrder = op != null && !op.isCommutative();
        return (!ragged || algorithm.ragged())
                && (!algorithm.direct() || registered)
                && (addressable || !algorithm.readsPeers())
                && (!userFunction || algorithm.protocol() == Protocol.SIMPLE)
                && (!inOrder || algorithm.foldsInRankOrder());
    }

    private static String asked(@Nullable String name, @Nullable Protocol protocol) {
        String algorithm = name == null ? "" : "'" + name + "'";
        return protocol == null
                ? algorithm
                : algorithm + (algorithm.isEmpty() ? "" : " ") + "with protocol " + protocol;
    }
}
