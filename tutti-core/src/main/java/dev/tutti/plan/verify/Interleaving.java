package dev.tutti.plan.verify;

import java.util.ArrayList;
import java.util.List;

/**
 * An order in which the lanes of all ranks take their steps: first the runs listed, then every lane in turn as far as it goes.
 * As text, {@code r1.0*4} is four steps of lane 0 of rank 1, {@code r1*2} two of its caller (entering and leaving a call are steps).
 *
 * @param runs steps of one lane after the other
 */
public record Interleaving(List<Turn> runs) {
    /** Every lane in turn as far as it goes. */
    public static final Interleaving IN_TURN = new Interleaving(List.of());

    /**
     * Steps of one lane.
     *
     * @param rank whose lane
     * @param lane which lane; -1 for the caller
     * @param steps how many steps
     */
    public record Turn(int rank, int lane, int steps) {
        @Override
        public String toString() {
            return "r" + rank + (lane < 0 ? "" : "." + lane) + "*" + steps;
        }
    }

    /** Keeps its own copy of the list. */
    public Interleaving {
        runs = List.copyOf(runs);
    }

    /**
     * Reads what {@link #toString} wrote.
     *
     * @param text turns separated by blanks
     * @return the order
     */
    public static Interleaving parse(String text) {
        List<Turn> turns = new ArrayList<>();
        for (String word : text.strip().split("\\s+", -1)) {
            if (word.isEmpty() || word.equals("in-turn")) {
                continue;
            }
            int star = word.indexOf('*');
            int dot = word.indexOf('.');
            if (!word.startsWith("r") || star < 0) {
                throw new IllegalArgumentException("'" + word + "' is no turn: write r<rank>.<lane>*<steps>");
            }
            int rank = Integer.parseInt(word.substring(1, dot < 0 ? star : dot));
            int lane = dot < 0 ? -1 : Integer.parseInt(word.substring(dot + 1, star));
            turns.add(new Turn(rank, lane, Integer.parseInt(word.substring(star + 1))));
        }
        return new Interleaving(turns);
    }

    @Override
    public String toString() {
        if (runs.isEmpty()) {
            return "in-turn";
        }
        StringBuilder text = new StringBuilder();
        for (Turn turn : runs) {
            text.append(text.isEmpty() ? "" : " ").append(turn);
        }
        return text.toString();
    }
}
