package dev.tutti.algorithm;

import dev.tutti.Collective;
import dev.tutti.plan.Protocol;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** All built-in algorithms, by what they compute and by name. {@link Reductions} and {@link Moves} list them. */
public final class Algorithms {
    private static final Map<Collective, List<Algorithm>> ALL = all();

    private Algorithms() {}

    /**
     * The algorithms of a collective.
     *
     * @param collective what to compute
     * @return at least one
     */
    public static List<Algorithm> of(Collective collective) {
        return ALL.getOrDefault(collective, List.of());
    }

    /**
     * Checks that some collective has an algorithm of this name and protocol, so that a misspelt one is noticed.
     *
     * @param name an algorithm, or empty for any
     * @param protocol a protocol, or empty for any
     */
    public static void requireKnown(String name, String protocol) {
        if (name.isEmpty() && protocol.isEmpty()) {
            return;
        }
        boolean known = ALL.values().stream()
                .flatMap(List::stream)
                .anyMatch(each -> (name.isEmpty() || each.name().equals(name))
                        && (protocol.isEmpty() || each.protocol().toString().equals(protocol)));
        if (!known) {
            throw new IllegalArgumentException("no algorithm is called '" + name + "'"
                    + (protocol.isEmpty() ? "" : " with protocol '" + protocol + "'") + "; there are "
                    + ALL.values().stream()
                            .flatMap(List::stream)
                            .map(Algorithm::name)
                            .distinct()
                            .sorted()
                            .collect(Collectors.joining(", "))
                    + "; protocols are simple and packet");
        }
    }

    /**
     * One algorithm by its name.
     *
     * @param collective what it computes
     * @param name its name
     * @param protocol its protocol
     * @return the algorithm, if there is one
     */
    public static Optional<Algorithm> find(Collective collective, String name, Protocol protocol) {
        return of(collective).stream()
                .filter(each -> each.name().equals(name) && each.protocol() == protocol)
                .findFirst();
    }

    /**
     * What there is for a collective, for messages.
     *
     * @param collective what to compute
     * @return for example {@code one-shot (simple, packet), ring (simple)}
     */
    public static String names(Collective collective) {
        return of(collective).stream()
                .collect(Collectors.groupingBy(
                        Algorithm::name,
                        LinkedHashMap::new,
                        Collectors.mapping(each -> each.protocol().toString(), Collectors.joining(", ", " (", ")"))))
                .entrySet()
                .stream()
                .map(entry -> entry.getKey() + entry.getValue())
                .collect(Collectors.joining(", "));
    }

    /**
     * The hierarchical all-reduce for nodes of so many consecutive ranks.
     *
     * @param ranksPerNode ranks of a node, a divisor of the number of ranks; 0 for the largest up to its square root
     * @return the algorithm
     */
    public static Algorithm hierarchical(int ranksPerNode) {
        return Reductions.hierarchical(ranksPerNode);
    }

    private static Map<Collective, List<Algorithm>> all() {
        Map<Collective, List<Algorithm>> all = new EnumMap<>(Collective.class);
        for (Collective collective : Collective.values()) {
            Family family = new Family(collective);
            switch (collective) {
                case ALL_REDUCE -> Reductions.allReduce(family);
                case REDUCE -> Reductions.reduce(family);
                case BROADCAST -> Moves.broadcast(family);
                case ALL_GATHER -> Moves.allGather(family);
                case REDUCE_SCATTER -> Reductions.reduceScatter(family);
                case GATHER -> Moves.gather(family);
                case SCATTER -> Moves.scatter(family);
                case ALL_TO_ALL -> Moves.allToAll(family);
                case BARRIER -> Moves.barrier(family);
                case SCAN -> Reductions.scan(family);
                case EXSCAN -> Reductions.exscan(family);
            }
            all.put(collective, family.members());
        }
        return all;
    }
}
