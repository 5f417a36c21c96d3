package dev.tutti.plan.language;

import java.util.Arrays;
import java.util.List;

/**
 * The lane, or the group of lanes, that an operation runs on. The lanes of a group share each operation: every one does its part of
 * each operand.
 *
 * @param ids the lanes
 * @param group whether they share operations
 */
public record Lanes(List<Integer> ids, boolean group) {
    /** Checks the ids. */
    public Lanes {
        ids = List.copyOf(ids);
        if (ids.isEmpty() || ids.stream().anyMatch(id -> id < 0)) {
            throw new IllegalArgumentException("lanes must be numbers from 0 on, got " + ids);
        }
        if (ids.stream().distinct().count() < ids.size()) {
            throw new IllegalArgumentException("a lane is in the group twice: " + ids);
        }
        if (!group && ids.size() != 1) {
            throw new IllegalArgumentException("one lane, or a group; got " + ids);
        }
    }

    /**
     * One lane.
     *
     * @param id its number
     * @return the lane
     */
    public static Lanes lane(int id) {
        return new Lanes(List.of(id), false);
    }

    /**
     * A group of lanes.
     *
     * @param ids their numbers, in the order of their parts
     * @return the group
     */
    public static Lanes group(int... ids) {
        return new Lanes(Arrays.stream(ids).boxed().toList(), true);
    }
}
