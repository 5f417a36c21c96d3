package dev.tutti.bench.compare;

import dev.tutti.Collective;
import java.util.List;

/**
 * What is measured: a collective at a size, with inputs written anew before each operation or left as they are.
 *
 * @param collective what
 * @param bytes the longer of a rank's two buffers, as nccl-tests counts; 0 for a barrier
 * @param rewriting whether each operation finds fresh inputs
 */
record Row(Collective collective, long bytes, boolean rewriting) {
    /** The collectives of the race, in the order of the tables. */
    static final List<Collective> COLLECTIVES = List.of(
            Collective.ALL_REDUCE,
            Collective.ALL_GATHER,
            Collective.REDUCE_SCATTER,
            Collective.BROADCAST,
            Collective.ALL_TO_ALL,
            Collective.BARRIER);

    /** As contestants know it: allReduce. */
    static String name(Collective collective) {
        StringBuilder name = new StringBuilder();
        for (String word : collective.name().toLowerCase(java.util.Locale.ROOT).split("_")) {
            name.append(name.isEmpty() ? word : Character.toUpperCase(word.charAt(0)) + word.substring(1));
        }
        return name.toString();
    }

    static Collective collective(String name) {
        return COLLECTIVES.stream()
                .filter(each -> name(each).equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no collective '" + name + "' in the race; there are "
                        + COLLECTIVES.stream().map(Row::name).toList()));
    }

    /** Whether elements are folded, so that their type matters. */
    boolean isReducing() {
        return collective == Collective.ALL_REDUCE || collective == Collective.REDUCE_SCATTER;
    }

    /** The size as people write it: 8, 2K, 64M. */
    String size() {
        if (collective == Collective.BARRIER) {
            return "-";
        }
        return bytes >= 1 << 20 && bytes % (1 << 20) == 0
                ? (bytes >> 20) + "M"
                : bytes >= 1 << 10 && bytes % (1 << 10) == 0 ? (bytes >> 10) + "K" : "" + bytes;
    }
}
