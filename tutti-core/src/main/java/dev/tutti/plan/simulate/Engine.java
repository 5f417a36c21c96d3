package dev.tutti.plan.simulate;

import dev.tutti.plan.trace.Timeline;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Steps lanes in the order of time. A lane does one operation at a time and then goes on, or waits for a signal, a semaphore, a
 * meeting, packets; whoever provides that says when. Nothing is random: the same plan on the same topology takes the same time.
 */
final class Engine {
    private final Compiler plan;
    private final Costs costs;
    private final Wires wires;
    private final Tokens tokens;
    private final Cores cores;
    private final Arrivals arrivals;
    private final EventQueue events;
    private final Launches launches;
    private final @Nullable Timeline timeline;
    private final int period;
    private final double[] fullNanos;
    private final double[] lastNanos;
    private final double[] fullBytes;
    private final double[] lastBytes;

    private final int[] firstLane;
    private final int[] rankOf;
    private final Program[] program;
    private final int[] at;
    private final int[] inside;
    /** When everything that the lane has written is there. */
    private final double[] delivered;
    /** When the transport has read everything that the lane has put. */
    private final double[] flushed;

    private final double[] since;
    private final int[] meeting;
    private final double[] meetingTime;
    private final int[][] gathered;

    Engine(
            Compiler plan,
            Network network,
            Costs costs,
            int ranks,
            int period,
            Launches launches,
            @Nullable Timeline timeline) {
        this.plan = plan;
        this.costs = costs;
        this.period = period;
        this.launches = launches;
        this.timeline = timeline;
        this.firstLane = new int[period + 1];
        for (int rank = 0; rank < period; rank++) {
            firstLane[rank + 1] = firstLane[rank] + plan.programs.get(rank).size();
        }
        int lanes = firstLane[period];
        this.rankOf = new int[lanes];
        this.program = new Program[lanes];
        for (int rank = 0; rank < period; rank++) {
            for (int lane = firstLane[rank]; lane < firstLane[rank + 1]; lane++) {
                rankOf[lane] = rank;
                program[lane] = plan.programs.get(rank).get(lane - firstLane[rank]);
            }
        }
        this.wires = new Wires(network, ranks, period);
        this.tokens = new Tokens(plan.initialTokens, lanes);
        this.events = new EventQueue(lanes);
        this.cores = new Cores(costs, period, lanes, events);
        this.arrivals = new Arrivals(period);
        this.fullNanos =
                plan.amounts.stream().mapToDouble(Compiler.Amount::nanosFull).toArray();
        this.lastNanos =
                plan.amounts.stream().mapToDouble(Compiler.Amount::nanosLast).toArray();
        this.fullBytes =
                plan.amounts.stream().mapToDouble(Compiler.Amount::bytesFull).toArray();
        this.lastBytes =
                plan.amounts.stream().mapToDouble(Compiler.Amount::bytesLast).toArray();
        this.at = new int[lanes];
        this.inside = new int[lanes];
        this.delivered = new double[lanes];
        this.flushed = new double[lanes];
        this.since = new double[lanes];
        this.meeting = new int[plan.meetings];
        this.meetingTime = new double[plan.meetings];
        this.gathered = new int[plan.meetings][];
        Arrays.fill(gathered, new int[0]);
    }

    /** Runs everything; the launches know when each ended. */
    void run() {
        launches.begin(this::start);
        while (!events.isEmpty()) {
            double time = events.firstTime();
            int lane = events.firstLane();
            events.pop();
            double granted = cores.enter(rankOf[lane], lane, time);
            if (granted >= 0) {
                step(lane, granted);
            }
        }
        if (!launches.areDone()) {
            throw stuck();
        }
    }

    private void start(int rank, double time) {
        if (firstLane[rank] == firstLane[rank + 1]) {
            launches.laneless(rank, time, this::start);
            return;
        }
        for (int lane = firstLane[rank]; lane < firstLane[rank + 1]; lane++) {
            at[lane] = 0;
            inside[lane] = 0;
            cores.ready(rank, lane, time + costs.callNanos());
        }
    }

    private void step(int lane, double from) {
        double time = from;
        Program code = program[lane];
        while (at[lane] < code.length()) {
            int pc = at[lane];
            if (inside[lane] == 0) {
                since[lane] = time;
            }
            double end = switch (code.word(pc)) {
                case Program.WAIT -> await(lane, code, pc, time);
                case Program.SIGNAL -> signal(lane, code, pc, time);
                case Program.BARRIER -> meet(lane, code, pc, time);
                case Program.FLUSH -> Math.max(time, flushed[lane]) + costs.opNanos();
                default -> data(lane, code, pc, time);
            };
            if (end < 0) {
                cores.block(rankOf[lane], time);
                return;
            }
            record(lane, code.word(pc + 1), end);
            at[lane] = pc + Program.HEADER + code.word(pc + 2);
            inside[lane] = 0;
            time = end;
            cores.busy(rankOf[lane], time);
            if (events.firstTime() < time) {
                events.push(time, lane);
                return;
            }
        }
        finish(lane, time);
    }

    private void finish(int lane, double time) {
        int rank = rankOf[lane];
        cores.block(rank, time);
        // What a transport still reads from this rank keeps the rank busy.
        launches.laneDone(rank, Math.max(time, flushed[lane]), this::start);
    }

    private double await(int lane, Program code, int pc, double from) {
        int count = code.word(pc + 2);
        double time = from;
        while (inside[lane] < count) {
            int queue = code.word(pc + Program.HEADER + inside[lane]);
            if (!tokens.has(queue)) {
                tokens.await(queue, lane);
                return -1;
            }
            inside[lane]++;
            double there = tokens.take(queue);
            if (there > time) {
                events.push(there, lane);
                return -1;
            }
        }
        return time + costs.opNanos() + count * costs.touchNanos();
    }

    private double signal(int lane, Program code, int pc, double from) {
        int count = code.word(pc + 2) / 2;
        double time = from + costs.opNanos() + count * costs.touchNanos();
        for (int i = 0; i < count; i++) {
            int queue = code.word(pc + Program.HEADER + 2 * i);
            int peer = code.word(pc + Program.HEADER + 2 * i + 1);
            notify(queue, Math.max(time + wires.latencyNanos(rankOf[lane], peer), delivered[lane]));
        }
        return time;
    }

    private void notify(int queue, double time) {
        int waiter = tokens.give(queue, time);
        if (waiter != Tokens.NOBODY) {
            inside[waiter]++;
            cores.ready(rankOf[waiter], waiter, time);
        }
    }

    private double meet(int lane, Program code, int pc, double time) {
        int id = code.word(pc + Program.HEADER);
        int lanes = code.word(pc + Program.HEADER + 1);
        if (inside[lane] == 1) {
            return time + costs.opNanos(); // the others have come
        }
        meetingTime[id] = Math.max(meetingTime[id], time);
        meeting[id]++;
        if (meeting[id] == lanes) {
            meeting[id] = 0;
            for (int other : gathered[id]) {
                cores.ready(rankOf[other], other, meetingTime[id]);
            }
            gathered[id] = new int[0];
            return meetingTime[id] + costs.opNanos();
        }
        gathered[id] = Arrays.copyOf(gathered[id], gathered[id].length + 1);
        gathered[id][gathered[id].length - 1] = lane;
        inside[lane] = 1;
        return -1;
    }

    private double data(int lane, Program code, int pc, double from) {
        int rank = rankOf[lane];
        int words = pc + Program.HEADER;
        int awaited = code.word(words + 2);
        double start = from;
        if (awaited > 0) {
            start = arrivals.ready(rank, plan.packets.get(awaited - 1), launches.of(rank), lane);
            if (start < 0) {
                return -1;
            }
            if (start > from) {
                events.push(start, lane);
                return -1;
            }
            start = from;
        }
        boolean last = launches.isLastWindow(rank);
        int amount = code.word(words);
        double bytes = last ? lastBytes[amount] : fullBytes[amount];
        double end = start + (last ? lastNanos[amount] : fullNanos[amount]);
        int mode = code.word(words + 1);
        boolean async = (mode & Program.ASYNC) != 0;
        double there = end;
        int transfers = code.word(words + 4);
        for (int i = 0; i < transfers; i++) {
            int transfer = code.word(words + Program.DATA_WORDS + i);
            int peer = transfer / 2;
            boolean outwards = transfer % 2 == 1;
            send(rank, peer, outwards, bytes, async ? end : start, (mode & Program.GROUP) != 0, i == 0);
            there = Math.max(there, wires.arrived);
            if (async) {
                flushed[lane] = Math.max(flushed[lane], wires.left);
            } else {
                end = Math.max(end, outwards ? wires.left : wires.arrived + wires.latencyNanos(rank, peer));
            }
        }
        // The last byte leaves when the lane has written it.
        there = async || transfers == 0 ? there : Math.max(there, end + wires.latencyNanos(rank, peerOf(code, words)));
        delivered[lane] = Math.max(delivered[lane], there);
        if ((mode & Program.FLUSHES) != 0) {
            end = Math.max(end, flushed[lane]);
        }
        int sent = code.word(words + 3);
        if (sent > 0) {
            deliver(rank, plan.packets.get(sent - 1), end, there);
        }
        int signals = words + Program.DATA_WORDS + transfers;
        for (int i = 0; i < code.word(words + 5); i++) {
            notify(code.word(signals + 2 * i), delivered[lane]);
        }
        return end;
    }

    private static int peerOf(Program code, int words) {
        return code.word(words + Program.DATA_WORDS) / 2;
    }

    private void send(int rank, int peer, boolean outwards, double bytes, double at, boolean group, boolean first) {
        int from = outwards ? rank : peer;
        int to = outwards ? peer : rank;
        if (group) {
            wires.sendThroughSwitch(from, to, bytes, at, first, outwards);
        } else {
            wires.send(from, to, bytes, at);
        }
    }

    private void deliver(int rank, Compiler.Packets packets, double here, double there) {
        for (Compiler.Range range : packets.ranges()) {
            double time = range.rank() == rank ? here : there;
            for (int waiter :
                    arrivals.add(range.rank() % period, range.start(), range.end(), launches.of(rank), time)) {
                cores.ready(rankOf[waiter], waiter, time);
            }
        }
    }

    private void record(int lane, int place, double end) {
        if (timeline != null) {
            int rank = rankOf[lane];
            int op = Program.op(place);
            timeline.add(rank, lane - firstLane[rank], op, Program.inner(place), launches.of(rank), since[lane], end);
        }
    }

    private IllegalStateException stuck() {
        StringBuilder text = new StringBuilder("the plan cannot go on: ");
        int shown = 0;
        for (int lane = 0; lane < program.length && shown < 4; lane++) {
            if (at[lane] < program[lane].length()) {
                text.append(shown++ == 0 ? "" : "; ")
                        .append("rank ")
                        .append(rankOf[lane])
                        .append(" lane ")
                        .append(lane - firstLane[rankOf[lane]])
                        .append(" waits in operation ")
                        .append(Program.op(program[lane].word(at[lane] + 1)));
            }
        }
        return new IllegalStateException(text + " for what nobody sends");
    }
}
