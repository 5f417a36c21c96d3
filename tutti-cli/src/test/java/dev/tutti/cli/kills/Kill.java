package dev.tutti.cli.kills;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * What is killed, and when.
 *
 * @param phase what the ranks do then
 * @param ranks how many there are
 * @param victims who is killed; none: the launcher
 * @param delayMillis how long after all are in the phase
 * @param seed what else is random
 */
record Kill(Phase phase, int ranks, List<Integer> victims, long delayMillis, long seed) {
    private static final int BOOTSTRAP_MILLIS = 600;
    private static final int DELAY_MILLIS = 150;

    /** What ranks may be doing. */
    enum Phase {
        BOOTSTRAP,
        ALL_REDUCE,
        BROADCAST,
        REDUCE,
        ALL_GATHER,
        REDUCE_SCATTER,
        GATHER,
        SCATTER,
        ALL_TO_ALL,
        BARRIER,
        SCAN,
        SEND_RECV,
        BETWEEN,
        CLOSE
    }

    static Kill draw(Random random, Phase... phases) {
        Phase phase = phases[random.nextInt(phases.length)];
        int ranks = 2 + random.nextInt(3);
        List<Integer> victims = switch (random.nextInt(4)) {
            case 0 -> List.of(0);
            case 1 -> List.of(random.nextInt(ranks));
            case 2 -> two(ranks, random);
            default -> List.of();
        };
        long delay = random.nextInt(phase == Phase.BOOTSTRAP ? BOOTSTRAP_MILLIS : DELAY_MILLIS);
        return new Kill(phase, ranks, victims, delay, random.nextLong());
    }

    /** Two of them, unless that would leave nobody. */
    private static List<Integer> two(int ranks, Random random) {
        List<Integer> all = new ArrayList<>(IntStream.range(0, ranks).boxed().toList());
        Collections.shuffle(all, random);
        return all.stream().limit(Math.min(2, ranks - 1)).sorted().toList();
    }

    boolean isOfLauncher() {
        return victims.isEmpty();
    }

    String who() {
        return isOfLauncher() ? "the launcher" : "rank " + victims;
    }
}
