package dev.tutti.exec;

import dev.tutti.plan.trace.Timeline;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Records the launches of one rank: when each lane came to each of its operations and when it went on. Everything goes into arrays that
 * are there before; when they are full the rest is only counted. Lanes are moved one record at a time, so a recorded launch is a
 * little slower than others; launches that nobody records do not come here.
 */
public final class PlanRecorder {
    private final int[] lanes;
    private final int[] positions;
    private final int[] launches;
    private final long[] starts;
    private final long[] ends;
    private final List<PlanProgram> programs = new ArrayList<>();
    private int size;
    private long dropped;
    private int rank;
    /** By lane: when it came to the record that it is at. */
    private long[] reached = {};

    /**
     * Makes room.
     *
     * @param capacity most spans that it keeps
     */
    public PlanRecorder(int capacity) {
        this.lanes = new int[capacity];
        this.positions = new int[capacity];
        this.launches = new int[capacity];
        this.starts = new long[capacity];
        this.ends = new long[capacity];
    }

    /** A launch begins. */
    void begin(int ofRank, PlanProgram program) {
        rank = ofRank;
        programs.add(program);
        reached = new long[program.symbolic.length];
        Arrays.fill(reached, System.nanoTime());
    }

    /** Moves every lane by one record at most; returns whether any moved. */
    boolean step(LaneMachine machine) {
        boolean moved = false;
        boolean left = false;
        for (int lane = 0; lane < reached.length; lane++) {
            if (!machine.isDone(lane)) {
                left = true;
                int position = machine.position(lane);
                moved |= machine.step(lane, Long.MAX_VALUE, 1);
                if (machine.isDone(lane) || machine.position(lane) != position) {
                    long now = System.nanoTime();
                    add(lane, position, reached[lane], now);
                    reached[lane] = now;
                }
            }
        }
        // Lanes without operations are done when they have been asked.
        return left ? moved : machine.step();
    }

    private void add(int lane, int position, long start, long end) {
        int kind = Records.kind(programs.getLast().symbolic[lane][position]);
        if (kind == Records.LOOP || kind == Records.END) {
            // No operations of the plan.
            return;
        }
        if (size == starts.length) {
            dropped++;
            return;
        }
        lanes[size] = lane;
        positions[size] = position;
        launches[size] = programs.size() - 1;
        starts[size] = start;
        ends[size] = end;
        size++;
    }

    /**
     * Puts what was recorded into a timeline, and how much was not.
     *
     * @param timeline of all ranks
     * @param epochNanos what {@link System#nanoTime} said when it began
     */
    public void writeTo(Timeline timeline, long epochNanos) {
        for (int i = 0; i < size; i++) {
            PlanStep step = programs.get(launches[i]).step(lanes[i], positions[i]);
            timeline.add(
                    rank, lanes[i], step.index(), step.inner(), launches[i], (double) (starts[i] - epochNanos), (double)
                            (ends[i] - epochNanos));
        }
        timeline.drop(rank, dropped);
    }
}
