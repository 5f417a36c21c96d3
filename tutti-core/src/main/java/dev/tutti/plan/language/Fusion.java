package dev.tutti.plan.language;

import dev.tutti.plan.ChannelType;
import dev.tutti.plan.Chunk;
import dev.tutti.plan.Code;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Makes one operation of neighbours, from left to right:
 *
 * <pre>
 *   signal + signal, wait + wait, flush + flush, acquire + acquire, release + release      all at once
 *   put + put, get + get, packets alike                                                   pair by pair
 *   reduce into the same chunk + reduce into it                                            one fold
 *   reduce + put of its result                                                             store in two places
 *   reduce of packets + pack of its result (+ put of it)                                   the same for packets
 *   reduce over a group + store of its result to the group, at the same place              one pass through the switch
 * </pre>
 *
 * Two reduces are only one where the destination is the first source: with another destination the second would have replaced
 * the result of the first. A store to another place of the group stays by itself.
 */
final class Fusion {
    private Fusion() {}

    static List<Step> apply(List<Step> steps) {
        List<Step> fused = new ArrayList<>();
        for (Step each : steps) {
            Step step =
                    each.loop() == null ? each : each.withBody(apply(each.loop().body()));
            Step both = fused.isEmpty() ? null : join(fused.getLast(), step);
            if (both == null) {
                fused.add(step);
            } else {
                fused.set(fused.size() - 1, both);
            }
        }
        return fused;
    }

    private static @Nullable Step join(Step first, Step next) {
        if (first.code() == next.code() && first.type() == next.type()) {
            Step same = alike(first, next);
            if (same != null) {
                return same;
            }
        }
        if (!Objects.equals(first.slice(), next.slice()) || next.destinations().isEmpty()) {
            return null;
        }
        return switch (first.code()) {
            case REDUCE, REDUCE_SEND, READ_REDUCE, READ_REDUCE_SEND -> thenPut(first, next);
            case REDUCE_PACKETS, REDUCE_SEND_PACKETS, REDUCE_COPY_PACKETS, REDUCE_COPY_SEND_PACKETS ->
                thenPackets(first, next);
            case GROUP_REDUCE -> thenStore(first, next);
            default -> null;
        };
    }

    private static @Nullable Step alike(Step first, Step next) {
        return switch (first.code()) {
            case NOP -> first;
            case SIGNAL, RELAXED_SIGNAL, WAIT, RELAXED_WAIT ->
                Collections.disjoint(first.ids(), next.ids()) ? together(first, next) : null;
            case FLUSH, ACQUIRE, RELEASE -> together(first, next);
            case PUT, PUT_SIGNAL, PUT_SIGNAL_FLUSH, PUT_PACKETS, GET ->
                Objects.equals(first.slice(), next.slice()) && sameSize(first, next) && !follows(first, next)
                        ? first.with(
                                first.code(),
                                joined(first.sources(), next.sources()),
                                joined(first.destinations(), next.destinations()),
                                joined(first.ids(), next.ids()))
                        : null;
            case READ_PUT_PACKETS ->
                Objects.equals(first.slice(), next.slice()) && first.sources().equals(next.sources())
                        ? first.with(
                                first.code(),
                                first.sources(),
                                joined(first.destinations(), next.destinations()),
                                joined(first.ids(), next.ids()))
                        : null;
            case REDUCE, READ_REDUCE, REDUCE_PACKETS -> moreSources(first, next);
            default -> null;
        };
    }

    private static Step together(Step first, Step next) {
        return first.with(joined(first.ids(), next.ids()), first.sync().and(next.sync()));
    }

    private static boolean sameSize(Step first, Step next) {
        return first.sources().getFirst().count() == next.sources().getFirst().count();
    }

    /** Whether the second reads what the first writes. */
    private static boolean follows(Step first, Step next) {
        return first.destinations().stream()
                .anyMatch(written -> next.sources().stream().anyMatch(read -> overlap(written, read)));
    }

    static boolean overlap(Chunk one, Chunk other) {
        return one.rank() == other.rank()
                && one.space() == other.space()
                && one.index() < other.index() + other.count()
                && other.index() < one.index() + one.count();
    }

    private static @Nullable Step moreSources(Step first, Step next) {
        Chunk target = first.sources().getFirst();
        boolean same = Objects.equals(first.slice(), next.slice())
                && Objects.equals(first.fold(), next.fold())
                && first.destinations().equals(List.of(target))
                && next.destinations().equals(List.of(target))
                && next.sources().getFirst().equals(target);
        return same
                ? first.with(
                        first.code(),
                        joined(
                                first.sources(),
                                next.sources().subList(1, next.sources().size())),
                        first.destinations(),
                        List.of())
                : null;
    }

    private static @Nullable Step thenPut(Step first, Step next) {
        if (next.code() != Code.PUT
                || next.type() != ChannelType.MEMORY
                || !next.sources().stream().allMatch(first.destinations().getFirst()::equals)) {
            return null;
        }
        boolean reads = first.code() == Code.READ_REDUCE || first.code() == Code.READ_REDUCE_SEND;
        return first.with(
                        reads ? Code.READ_REDUCE_SEND : Code.REDUCE_SEND,
                        first.sources(),
                        joined(first.destinations(), next.destinations()),
                        List.of())
                .via(ChannelType.MEMORY);
    }

    private static @Nullable Step thenPackets(Step first, Step next) {
        Chunk result = first.destinations().getFirst();
        boolean ofResult = next.sources().stream().allMatch(result::equals);
        boolean copies = first.code() == Code.REDUCE_COPY_PACKETS || first.code() == Code.REDUCE_COPY_SEND_PACKETS;
        if (next.code() == Code.PACK && ofResult && first.code() == Code.REDUCE_PACKETS) {
            return first.with(
                    Code.REDUCE_COPY_PACKETS,
                    first.sources(),
                    joined(first.destinations(), next.destinations()),
                    List.of());
        }
        boolean puts = next.code() == Code.PUT_PACKETS && ofResult;
        boolean forwards = copies
                && next.code() == Code.READ_PUT_PACKETS
                && next.sources().equals(List.of(first.destinations().get(1)));
        if (next.type() != ChannelType.MEMORY || !(puts || forwards)) {
            return null;
        }
        return first.with(
                        copies ? Code.REDUCE_COPY_SEND_PACKETS : Code.REDUCE_SEND_PACKETS,
                        first.sources(),
                        joined(first.destinations(), next.destinations()),
                        List.of())
                .via(ChannelType.MEMORY);
    }

    private static @Nullable Step thenStore(Step first, Step next) {
        boolean same = next.code() == Code.GROUP_STORE
                && next.ids().equals(first.ids())
                && next.sources().equals(first.destinations())
                && next.destinations().equals(first.sources());
        return same ? first.with(Code.GROUP_REDUCE_STORE, first.sources(), next.destinations(), first.ids()) : null;
    }

    private static <T> List<T> joined(List<T> one, List<T> other) {
        List<T> all = new ArrayList<>(one);
        all.addAll(other);
        return all;
    }
}
