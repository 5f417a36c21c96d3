package dev.tutti.exec;

/**
 * Runs all lanes of a rank without ever waiting: each lane is a program counter and a position inside its operation; a step
 * moves every lane until it is blocked or has moved enough. For plans of several lanes, for operations in the background, and
 * for anything that must be driven from outside.
 */
final class LaneMachine {
    /** A lane that has moved this much lets the others go on, so that producers do not run far ahead of consumers. */
    private static final long QUANTUM = 64 << 10;

    private final Endpoint endpoint;
    private int[] pc = new int[1];
    private long[] inside = new long[1];
    private boolean[] atBarrier = new boolean[1];
    private int[] barrierTicket = new int[1];
    private int running;
    private long[][] code = {};
    private int[] semaphores = {};
    private int[] arrivals = {};

    LaneMachine(Endpoint endpoint) {
        this.endpoint = endpoint;
    }

    void start(Program program, long[][] bound) {
        int lanes = bound.length;
        if (pc.length < lanes) {
            pc = new int[lanes];
            inside = new long[lanes];
            atBarrier = new boolean[lanes];
            barrierTicket = new int[lanes];
        }
        java.util.Arrays.fill(pc, 0);
        java.util.Arrays.fill(inside, 0);
        java.util.Arrays.fill(atBarrier, false);
        code = bound;
        running = lanes;
        semaphores = program.semaphores;
        arrivals = program.barrierArrivals;
    }

    boolean isDone() {
        return running == 0;
    }

    /** Moves every lane as far as it goes; returns whether any moved. */
    boolean step() {
        boolean moved = false;
        for (int lane = 0; lane < code.length; lane++) {
            if (pc[lane] < code[lane].length) {
                moved |= stepLane(lane);
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

    private boolean stepLane(int lane) {
        long[] records = code[lane];
        boolean moved = false;
        long quantum = QUANTUM;
        while (pc[lane] < records.length && quantum > 0) {
            int at = pc[lane];
            long header = records[at];
            int kind = Records.kind(header);
            boolean done;
            if (kind == Records.DATA) {
                long from = inside[lane];
                long to = Math.min(records[at + 1], from + quantum);
                Transfers.run(records, at, from, to, endpoint);
                quantum -= to - from;
                moved = true;
                inside[lane] = to;
                done = to == records[at + 1];
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
