package dev.tutti.exec;

/**
 * Runs all lanes of a rank without ever waiting: each lane is a program counter and a position inside its operation; a step
 * moves every lane until it is blocked or has moved enough. For plans of several lanes, for operations in the background, and
 * for anything that must be driven from outside.
 */
final class LaneMachine {
    /** A lane that has moved this much lets the others go on, so that producers do not run far ahead of consumers. */
    private static final long QUANTUM = 64 << 10;

    private static final int NO_LOOP = -1;

    private final Endpoint endpoint;
    private int[] pc = new int[1];
    private long[] inside = new long[1];
    private boolean[] atBarrier = new boolean[1];
    private long[] barrierTicket = new long[1];
    private long[] iteration = new long[1];
    private int[] loopAt = new int[1];
    private int running;
    private long[][] code = {};
    private int[] semaphores = {};
    private long[] arrivals = {};

    LaneMachine(Endpoint endpoint) {
        this.endpoint = endpoint;
    }

    void start(Program program, long[][] bound) {
        start(bound, program.semaphores, program.barrierArrivals);
    }

    /** Puts every lane to its beginning; semaphores and arrivals at barriers are kept from launch to launch by the caller. */
    void start(long[][] bound, int[] semaphoreValues, long[] barrierArrivals) {
        int lanes = bound.length;
        if (pc.length < lanes) {
            pc = new int[lanes];
            inside = new long[lanes];
            atBarrier = new boolean[lanes];
            barrierTicket = new long[lanes];
            iteration = new long[lanes];
            loopAt = new int[lanes];
        }
        java.util.Arrays.fill(pc, 0);
        java.util.Arrays.fill(inside, 0);
        java.util.Arrays.fill(atBarrier, false);
        java.util.Arrays.fill(loopAt, NO_LOOP);
        code = bound;
        running = lanes;
        semaphores = semaphoreValues;
        arrivals = barrierArrivals;
    }

    boolean isDone() {
        return running == 0;
    }

    boolean isDone(int lane) {
        return pc[lane] >= code[lane].length;
    }

    /** Where a lane stands: the record that it is at, or that it is inside of. */
    int position(int lane) {
        return pc[lane];
    }

    /** How far a lane is in its record: bytes moved, or channels and semaphores that it has passed. */
    long inside(int lane) {
        return inside[lane];
    }

    /** Moves every lane as far as it goes; returns whether any moved. */
    boolean step() {
        boolean moved = false;
        for (int lane = 0; lane < code.length; lane++) {
            if (pc[lane] < code[lane].length) {
                moved |= stepLane(lane, QUANTUM, Integer.MAX_VALUE);
                if (pc[lane] >= code[lane].length) {
                    running--;
                }
            } else if (code[lane].length == 0 && inside[lane] == 0) {
                inside[lane] = 1;
                running--;
                moved = true;
            }
        }
        return moved;
    }

    /**
     * Moves one lane; for whoever wants to choose the interleaving.
     *
     * @param most bytes that it may move
     * @param records that it may finish
     * @return whether it moved
     */
    boolean step(int lane, long most, int records) {
        boolean moved = stepLane(lane, most, records);
        running = 0;
        for (int each = 0; each < code.length; each++) {
            running += isDone(each) ? 0 : 1;
        }
        return moved;
    }

    private boolean stepLane(int lane, long most, int recordsLeft) {
        long[] records = code[lane];
        boolean moved = false;
        long quantum = most;
        int left = recordsLeft;
        while (pc[lane] < records.length && quantum > 0 && left-- > 0) {
            int at = pc[lane];
            long header = records[at];
            int kind = Records.kind(header);
            boolean done;
            if (kind == Records.DATA) {
                long first = 0;
                long end = records[at + 1];
                if ((Records.flags(header) & Records.LOOPED) != 0) {
                    first = clipped(lane, records, at, iteration[lane]);
                    end = clipped(lane, records, at, iteration[lane] + 1);
                }
                long from = first + inside[lane];
                long to = from + Math.min(end - from, quantum);
                Transfers.run(records, at, from, to, endpoint);
                quantum -= to - from;
                moved = true;
                inside[lane] = to - first;
                done = to == end;
            } else if (kind == Records.SIGNAL) {
                Signals.signal(records, at, endpoint);
                done = true;
            } else if (kind == Records.WAIT) {
                long before = inside[lane];
                done = stepWait(lane, records, at);
                moved |= inside[lane] > before;
            } else if (kind == Records.PACKETS) {
                long reached = Packets.run(records, at, inside[lane], endpoint);
                done = reached >= 0;
                long position = done ? reached : ~reached;
                moved |= position > inside[lane];
                quantum -= position - inside[lane];
                inside[lane] = position;
            } else if (kind == Records.POST) {
                endpoint.posts.post(records, at);
                done = true;
            } else if (kind == Records.FETCH) {
                long before = inside[lane];
                inside[lane] = endpoint.posts.arrived(records, at, (int) before);
                moved |= inside[lane] > before;
                done = inside[lane] == Records.sources(header);
                if (!done) {
                    endpoint.posts.ringOnce();
                }
            } else if (kind == Records.LOOP || kind == Records.END) {
                stepLoop(lane, records, at, kind);
                moved = true;
                continue;
            } else {
                done = stepMeeting(lane, records, at, kind);
            }
            if (!done) {
                return moved;
            }
            moved = true;
            inside[lane] = 0;
            pc[lane] = at + Records.words(header);
        }
        return moved;
    }

    /** Where iteration {@code i} of the loop that the lane is in begins in a record: the loop goes over whole regions. */
    private long clipped(int lane, long[] records, int at, long i) {
        long unit = records[loopAt[lane] + 2];
        long start = records[at + Records.words(records[at]) - 1];
        return Math.clamp(i * unit - start, 0, records[at + 1]);
    }

    private void stepLoop(int lane, long[] records, int at, int kind) {
        if (kind == Records.LOOP) {
            loopAt[lane] = at;
            iteration[lane] = 0;
            pc[lane] = at + Records.words(records[at]) + (records[at + 1] == 0 ? (int) records[at + 3] : 0);
        } else if (++iteration[lane] < records[loopAt[lane] + 1]) {
            pc[lane] = at - (int) records[at + 1];
        } else {
            pc[lane] = at + Records.words(records[at]);
        }
    }

    private boolean stepWait(int lane, long[] records, int at) {
        int channels = Records.sources(records[at]);
        while (inside[lane] < channels) {
            if (!Signals.tryWait(records, at, (int) inside[lane], endpoint)) {
                return false;
            }
            inside[lane]++;
        }
        return true;
    }

    /** Semaphores and barriers join lanes of one rank; one thread drives them all, so plain fields do. */
    private boolean stepMeeting(int lane, long[] records, int at, int kind) {
        int ids = Records.sources(records[at]);
        if (kind == Records.RELEASE) {
            for (int i = 0; i < ids; i++) {
                semaphores[(int) records[at + 1 + i]]++;
            }
            return true;
        }
        if (kind == Records.ARRIVE) {
            endpoint.peerBuffers.arrive((int) records[at + 1]);
            return true;
        }
        if (kind == Records.ACQUIRE) {
            while (inside[lane] < ids) {
                int id = (int) records[at + 1 + (int) inside[lane]];
                if (semaphores[id] == 0) {
                    return false;
                }
                semaphores[id]--;
                inside[lane]++;
            }
            return true;
        }
        int id = (int) records[at + 1];
        int lanes = (int) records[at + 2];
        if (!atBarrier[lane]) {
            barrierTicket[lane] = arrivals[id]++ / lanes;
            atBarrier[lane] = true;
        }
        if (arrivals[id] / lanes <= barrierTicket[lane]) {
            return false;
        }
        atBarrier[lane] = false;
        return true;
    }
}
