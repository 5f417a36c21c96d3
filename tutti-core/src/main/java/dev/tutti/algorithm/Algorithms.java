package dev.tutti.algorithm;

import static dev.tutti.plan.Protocol.PACKET;
import static dev.tutti.plan.Protocol.SIMPLE;

import dev.tutti.Collective;
import dev.tutti.plan.Protocol;
import dev.tutti.plan.RankBuilder;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** All built-in algorithms, those that are preferred among equals first. */
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
        return of(collective).stream().map(Algorithm::name).distinct().map(name -> name + of(collective).stream()
                        .filter(each -> each.name().equals(name))
                        .map(each -> each.protocol().toString())
                        .collect(Collectors.joining(", ", " (", ")")))
                .collect(Collectors.joining(", "));
    }

    private static Map<Collective, List<Algorithm>> all() {
        Map<Collective, List<Algorithm>> all = new EnumMap<>(Collective.class);
        for (Collective collective : Collective.values()) {
            Family family = new Family(collective);
            switch (collective) {
                case ALL_REDUCE -> allReduce(family);
                case REDUCE -> reduce(family);
                case BROADCAST -> broadcast(family);
                case ALL_GATHER -> allGather(family);
                case REDUCE_SCATTER -> reduceScatter(family);
                case ALL_TO_ALL -> allToAll(family);
                case BARRIER -> barrier(family);
                case SCAN -> scan(family);
                case EXSCAN -> exscan(family);
                case GATHER, SCATTER -> {}
            }
            all.put(collective, List.copyOf(family.members));
        }
        return all;
    }

    private static void allReduce(Family family) {
        family.inOrder("one-shot", SIMPLE, AllPairs::oneShotAllReduce,
                (n, b, c) -> c.plain(n, 1, 4, 4 * n, (n - 1.0) * b, (double) n * b));
        family.inOrder("one-shot", PACKET, AllPairsPackets::oneShotAllReduce,
                (n, b, c) -> c.packets(n, 1, 2, 2 * n, (n - 1.0) * b, (double) n * b));
        family.inOrder("two-shot", SIMPLE, AllPairs::twoShotAllReduce,
                (n, b, c) -> c.plain(n, 2, 2 * n + 3, 9 * n, 3.0 * (n - 1) / n * b, b));
        family.inOrder("two-shot", PACKET, AllPairsPackets::twoShotAllReduce,
                (n, b, c) -> c.packets(n, 2, 2 * n, 4 * n, 2.0 * (n - 1) / n * b, b));
    }

    private static void reduce(Family family) {
        family.inOrder("one-shot", SIMPLE, AllPairs::oneShotReduce,
                (n, b, c) -> c.plain(n, 1, 3, 2 * n, b, b) + (n - 1.0) * b * c.foldNanosPerByte());
        family.inOrder("one-shot", PACKET, AllPairsPackets::oneShotReduce,
                (n, b, c) -> c.packets(n, 1, 2, 2 * n, b, b) + (n - 1.0) * b * c.foldNanosPerByte());
    }

    private static void broadcast(Family family) {
        family.inOrder("one-shot", SIMPLE, AllPairs::oneShotBroadcast,
                (n, b, c) -> c.plain(n, 1, 2, 2 * n, 2.0 * b, 0) + (n - 1.0) * b * c.copyNanosPerByte());
        family.inOrder("one-shot", PACKET, AllPairsPackets::oneShotBroadcast,
                (n, b, c) -> c.packets(n, 1, 2, n, (n - 1.0) * b, 0));
    }

    private static void allGather(Family family) {
        family.inOrder("one-shot", SIMPLE, AllPairs::oneShotAllGather,
                (n, b, c) -> c.plain(n, 1, n + 2, 4 * n, 2.0 * n * b, 0));
        family.inOrder("one-shot", PACKET, AllPairsPackets::oneShotAllGather,
                (n, b, c) -> c.packets(n, 1, n + 1, 2 * n, (double) n * b, 0));
    }

    private static void reduceScatter(Family family) {
        family.inOrder("one-shot", SIMPLE, AllPairs::oneShotReduceScatter,
                (n, b, c) -> c.plain(n, 1, n + 2, 4 * n, (n - 1.0) * b, (double) n * b));
        family.inOrder("one-shot", PACKET, AllPairsPackets::oneShotReduceScatter,
                (n, b, c) -> c.packets(n, 1, n, 2 * n, (n - 1.0) * b, (double) n * b));
    }

    private static void allToAll(Family family) {
        family.inOrder("one-shot", SIMPLE, AllPairs::oneShotAllToAll,
                (n, b, c) -> c.plain(n, 1, 2 * n + 1, 5 * n, 2.0 * n * b, 0));
        family.inOrder("one-shot", PACKET, AllPairsPackets::oneShotAllToAll,
                (n, b, c) -> c.packets(n, 1, 2 * n, 2 * n, (double) n * b, 0));
    }

    private static void barrier(Family family) {
        family.inOrder("flat", SIMPLE, Barriers::flat, (n, b, c) -> c.plain(n, 1, 2, 2 * n, 0, 0));
        family.inOrder("dissemination", SIMPLE, Barriers::dissemination,
                (n, b, c) -> c.plain(n, log2(n), 2 * log2(n), 2 * log2(n), 0, 0));
    }

    private static void scan(Family family) {
        family.inOrder("one-shot", SIMPLE, AllPairs::oneShotScan,
                (n, b, c) -> c.plain(n, 1, 4, 2 * n, (n - 1.0) / 2 * b, (n + 1.0) / 2 * b));
        family.inOrder("one-shot", PACKET, AllPairsPackets::oneShotScan,
                (n, b, c) -> c.packets(n, 1, 2, n, (n - 1.0) / 2 * b, (n + 1.0) / 2 * b));
    }

    private static void exscan(Family family) {
        family.inOrder("one-shot", SIMPLE, AllPairs::oneShotExscan,
                (n, b, c) -> c.plain(n, 1, 4, 2 * n, (n - 1.0) / 2 * b, (n + 1.0) / 2 * b));
        family.inOrder("one-shot", PACKET, AllPairsPackets::oneShotExscan,
                (n, b, c) -> c.packets(n, 1, 2, n, (n - 1.0) / 2 * b, (n + 1.0) / 2 * b));
    }

    /** Steps of an algorithm that doubles what it knows in each; 0 for one rank. */
    static int log2(int ranks) {
        return 32 - Integer.numberOfLeadingZeros(ranks - 1);
    }

    private record Family(Collective collective, List<Algorithm> members) {
        Family(Collective collective) {
            this(collective, new ArrayList<>());
        }

        void inOrder(String name, Protocol protocol, Consumer<RankBuilder> author, Cost cost) {
            members.add(new Algorithm(name, collective, protocol, true, protocol == SIMPLE, author, cost));
        }
    }
}
