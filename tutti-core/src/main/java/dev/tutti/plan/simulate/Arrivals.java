package dev.tutti.plan.simulate;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** Packets that are in the scratch of ranks, and lanes that wait for some. */
final class Arrivals {
    private final List<List<Arrival>> arrived = new ArrayList<>();
    private final List<List<Waiting>> waiting = new ArrayList<>();

    private record Arrival(long start, long end, long launch, double time) {}

    private record Waiting(int lane, Compiler.Packets packets, long launch) {}

    Arrivals(int ranks) {
        for (int rank = 0; rank < ranks; rank++) {
            arrived.add(new ArrayList<>());
            waiting.add(new ArrayList<>());
        }
    }

    /** When all these packets of a launch are there; -1 if some are not yet, and then the lane is told. */
    double ready(int rank, Compiler.Packets packets, long launch, int lane) {
        double time = readyTime(rank, packets, launch);
        if (time < 0) {
            waiting.get(rank).add(new Waiting(lane, packets, launch));
        }
        return time;
    }

    /** Notes packets and returns the lanes that have all they waited for. */
    List<Integer> add(int rank, long start, long end, long launch, double time) {
        List<Arrival> mine = arrived.get(rank);
        if (!mine.isEmpty() && mine.getFirst().launch < launch - 1) {
            mine.removeIf(each -> each.launch < launch - 1);
        }
        mine.add(new Arrival(start, end, launch, time));
        List<Integer> woken = new ArrayList<>();
        for (Iterator<Waiting> each = waiting.get(rank).iterator(); each.hasNext(); ) {
            Waiting candidate = each.next();
            if (readyTime(rank, candidate.packets, candidate.launch) >= 0) {
                woken.add(candidate.lane);
                each.remove();
            }
        }
        return woken;
    }

    private double readyTime(int rank, Compiler.Packets packets, long launch) {
        double latest = 0;
        for (Compiler.Range range : packets.ranges()) {
            double time = covered(arrived.get(rank), range.start(), range.end(), launch);
            if (time < 0) {
                return -1;
            }
            latest = Math.max(latest, time);
        }
        return latest;
    }

    /** When every byte of a range is there: arrivals may have been cut otherwise than what is awaited. */
    private static double covered(List<Arrival> arrivals, long start, long end, long launch) {
        long known = start;
        double latest = 0;
        boolean any = false;
        boolean further = true;
        while ((known < end || !any) && further) {
            further = false;
            for (Arrival each : arrivals) {
                boolean helps = each.start <= known && (each.end > known || (start == end && !any));
                if (each.launch == launch && helps) {
                    known = Math.max(known, each.end);
                    latest = Math.max(latest, each.time);
                    any = true;
                    further = true;
                }
            }
        }
        return known >= end && any ? latest : -1;
    }
}
