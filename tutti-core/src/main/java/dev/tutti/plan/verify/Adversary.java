package dev.tutti.plan.verify;

import java.util.SplittableRandom;

/**
 * Chooses who moves next, from a seed: at random, in bursts, by fixed priorities that change a few times, or with one rank held back
 * or sent ahead as far as it goes. The same seed makes the same choices.
 */
final class Adversary {
    private final SplittableRandom random;
    private final int manner;
    private final int[] priority;
    private final Script script;
    private int burst;
    private int last;

    Adversary(Script script, long seed) {
        this.script = script;
        this.random = new SplittableRandom(seed);
        this.manner = (int) Math.floorMod(seed, 5L);
        this.priority = new int[script.threads()];
        shuffle();
    }

    private void shuffle() {
        int[] ofRank = random.ints(script.ranks, 0, 1 << 20).toArray();
        for (int thread = 0; thread < priority.length; thread++) {
            // Whole ranks before or behind each other, or every lane by itself.
            priority[thread] = manner == 3 ? ofRank[script.rankOf(thread)] : random.nextInt(1 << 20);
        }
    }

    /** Moves somebody; false if nobody can. */
    boolean move(Run run) {
        int threads = priority.length;
        if (manner < 2) {
            if (manner == 1 && burst > 0 && run.step(last)) {
                burst--;
                return true;
            }
            burst = 1 << random.nextInt(7);
            int first = random.nextInt(threads);
            for (int i = 0; i < threads; i++) {
                last = (first + i) % threads;
                if (run.step(last)) {
                    return true;
                }
            }
            return false;
        }
        if (manner == 4) {
            for (int i = 1; i <= threads; i++) {
                int thread = Math.floorMod(last - i, threads);
                if (run.step(thread)) {
                    last = thread;
                    return true;
                }
            }
            return false;
        }
        if (random.nextInt(40) == 0) {
            if (manner == 2) {
                priority[random.nextInt(threads)] = random.nextInt(1 << 20);
            } else if (random.nextInt(4) == 0) {
                shuffle();
            }
        }
        return moveByPriority(run);
    }

    private boolean moveByPriority(Run run) {
        boolean[] tried = new boolean[priority.length];
        for (int i = 0; i < priority.length; i++) {
            int best = -1;
            for (int thread = 0; thread < priority.length; thread++) {
                if (!tried[thread] && (best < 0 || priority[thread] > priority[best])) {
                    best = thread;
                }
            }
            if (run.step(best)) {
                return true;
            }
            tried[best] = true;
        }
        return false;
    }
}
