package dev.tutti.plan.verify;

import dev.tutti.plan.verify.Cells.Cell;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Takes the steps of a script in whatever order it is told to, several launches back to back, on contents without numbers.
 *
 * <p>When tracking, every thread carries a vector clock: for each thread, how much of what that one did surely happened before.
 * Program order, signals, semaphores, barriers, packets and the calls themselves pass clocks on. Two accesses to the same bytes, one
 * of them a write, must be ordered by them. When not tracking it shows what one particular order does.
 */
final class Run {
    final Script script;
    final boolean tracking;
    final Findings findings;
    private final int[] rankOf;
    /** Lanes: the next step. Callers: 0 before entering, 1 waiting for all to enter, 2 inside, 3 waiting for all to leave. */
    private final int[] pc;
    /** Launches that a thread has finished. */
    private final int[] done;
    /** Steps that a thread has taken. */
    final int[] taken;

    private final int[] begun;
    final Cells[] memory;
    final Meetings meetings;
    final Clocks clocks;
    private final Results results;

    Run(Script script, boolean tracking, Findings findings) {
        this.script = script;
        this.tracking = tracking;
        this.findings = findings;
        int threads = script.threads();
        this.rankOf = new int[threads];
        Arrays.setAll(rankOf, script::rankOf);
        this.pc = new int[threads];
        this.done = new int[threads];
        this.taken = new int[threads];
        this.begun = new int[script.ranks];
        this.memory = new Cells[script.areas.size()];
        Value garbage = Value.garbage(0);
        Arrays.setAll(memory, area -> new Cells(script.areas.get(area).bytes(), garbage));
        this.clocks = new Clocks(this, tracking ? threads : 0);
        this.meetings = new Meetings(this);
        this.results = new Results(this);
    }

    boolean isDone() {
        for (int rank = 0; rank < script.ranks; rank++) {
            if (done[rank] < script.launches) {
                return false;
            }
        }
        return true;
    }

    /** The launch that a thread is in, or would enter next. */
    int launchOf(int thread) {
        return done[thread];
    }

    /** The step that a lane takes next, if it is in a launch. */
    @Nullable
    Step next(int thread) {
        return script.isCaller(thread) || !isActive(thread) ? null : script.steps[thread][pc[thread]];
    }

    /** Whether a rank is inside the call of this launch. */
    boolean isInside(int rank, int launch) {
        return begun[rank] == launch + 1 && done[rank] == launch;
    }

    private boolean isActive(int lane) {
        return script.steps[lane].length > 0 && done[lane] < begun[rankOf[lane]];
    }

    /** Takes one step of a thread; false if it is blocked or has nothing left to do. */
    boolean step(int thread) {
        if (script.isCaller(thread)) {
            return done[thread] < script.launches && (done[thread] == begun[thread] ? enter(thread) : leave(thread));
        }
        if (!isActive(thread)) {
            return false;
        }
        Step step = script.steps[thread][pc[thread]];
        int launch = done[thread];
        boolean moved = step.kind == Step.Kind.DATA ? transfer(thread, step, launch) : meetings.step(thread, step);
        if (moved) {
            taken[thread]++;
            pc[thread]++;
            if (pc[thread] == script.steps[thread].length) {
                pc[thread] = 0;
                done[thread]++;
            }
        }
        return moved;
    }

    private boolean enter(int rank) {
        int launch = done[rank];
        if (script.guarded && script.awaitsRoom[rank] && !allReached(done, launch - 1)) {
            return false;
        }
        if (script.fenced) {
            if (pc[rank] == 0) {
                clocks.tick(rank);
                clocks.publish(rank, launch, Clocks.ENTERED);
                // The user has filled the buffers before calling.
                results.fill(rank, launch);
                pc[rank] = 1;
                taken[rank]++;
                return true;
            }
            if (!everybodyAt(1, launch)) {
                return false;
            }
        }
        clocks.tick(rank);
        if (script.guarded && script.awaitsRoom[rank] && launch >= 2) {
            clocks.joinAll(rank, launch - 2, Clocks.LEFT);
        }
        if (script.fenced) {
            clocks.joinAll(rank, launch, Clocks.ENTERED);
        } else {
            clocks.publish(rank, launch, Clocks.ENTERED);
            results.fill(rank, launch);
        }
        for (int lane = script.firstLane[rank]; lane < script.firstLane[rank + 1]; lane++) {
            clocks.join(lane, rank);
        }
        pc[rank] = 2;
        begun[rank]++;
        taken[rank]++;
        return true;
    }

    private boolean leave(int rank) {
        int launch = done[rank];
        for (int lane = script.firstLane[rank]; lane < script.firstLane[rank + 1]; lane++) {
            if (script.steps[lane].length > 0 && done[lane] <= launch) {
                return false;
            }
        }
        if (pc[rank] == 2) {
            for (int lane = script.firstLane[rank]; lane < script.firstLane[rank + 1]; lane++) {
                clocks.join(rank, lane);
            }
            clocks.tick(rank);
            clocks.publish(rank, launch, Clocks.LEFT);
            if (script.fenced) {
                pc[rank] = 3;
                taken[rank]++;
                return true;
            }
        } else {
            if (!everybodyAt(3, launch)) {
                return false;
            }
            clocks.tick(rank);
            clocks.joinAll(rank, launch, Clocks.LEFT);
        }
        results.check(rank, launch);
        results.spoil(rank, launch);
        pc[rank] = 0;
        done[rank]++;
        taken[rank]++;
        return true;
    }

    private boolean allReached(int[] counts, int least) {
        for (int rank = 0; rank < script.ranks; rank++) {
            if (counts[rank] < least) {
                return false;
            }
        }
        return true;
    }

    /** Whether every rank has come to this phase of the launch, or beyond it. */
    private boolean everybodyAt(int phase, int launch) {
        for (int rank = 0; rank < script.ranks; rank++) {
            if (done[rank] < launch || (done[rank] == launch && pc[rank] < phase)) {
                return false;
            }
        }
        return true;
    }

    private boolean transfer(int thread, Step step, int launch) {
        Region[] sources = step.sources;
        if (!step.raw) {
            for (Region source : sources) {
                if (source.packet() && !arrived(source, launch)) {
                    return false;
                }
            }
        }
        clocks.tick(thread);
        if (sources.length == 0) {
            for (Region destination : step.destinations) {
                write(thread, step, destination, 0, destination.bytes(), launch, Value.garbage(launch), launch);
            }
            return true;
        }
        long bytes = sources[0].bytes();
        Value[] values = new Value[sources.length];
        int flag = launch;
        for (long at = 0; at < bytes; ) {
            long until = bytes;
            for (Region source : sources) {
                until = Math.min(until, memory[source.area(launch)].at(source.offset() + at).end - source.offset());
            }
            if (at > 0 && sources[sources.length - 1].packet()) {
                // Whoever sees these packets knows of no later ones.
                clocks.tick(thread);
            }
            for (int i = 0; i < sources.length; i++) {
                Cell cell = read(thread, step, sources[i], at, until, launch);
                values[i] = cell.value.shifted(sources[i].offset() + at - cell.start);
                if (step.raw) {
                    flag = cell.flag;
                }
            }
            Value value = Value.fold(values, step.operator, step.finishes, 4 * script.ranks + 64);
            for (Region destination : step.destinations) {
                write(thread, step, destination, at, until, launch, value, flag);
            }
            at = until;
        }
        return true;
    }

    /** Whether all packets of a region carry this launch's flag. */
    private boolean arrived(Region region, int launch) {
        Cells cells = memory[region.area(launch)];
        for (long at = region.offset(); at < region.offset() + region.bytes(); ) {
            Cell cell = cells.at(at);
            if (cell.flag != launch) {
                return false;
            }
            at = cell.end;
        }
        return true;
    }

    private Cell read(int thread, Step step, Region region, long at, long until, int launch) {
        int area = region.area(launch);
        Cells cells = memory[area];
        long from = region.offset() + at;
        if (!tracking) {
            noteOutside(thread, step, area, launch, false);
            return cells.at(from);
        }
        cells.split(from);
        cells.split(region.offset() + until);
        Cell cell = cells.at(from);
        if (region.packet() && !step.raw && cell.announced != null) {
            clocks.join(thread, cell.announced);
        }
        if (!clocks.knows(thread, cell.writer, cell.writerClock)) {
            findings.race(this, thread, step, false, cell.writer, cell.writerStep, cell.writerClock, true, area, cell);
        } else if (script.guarded && !region.packet()) {
            meetings.requireDirectWait(thread, step, area, cell);
        }
        cell.addReader(thread, clocks.own(thread), step);
        return cell;
    }

    private void write(int thread, Step step, Region region, long at, long until, int launch, Value value, int flag) {
        int area = region.area(launch);
        Cells cells = memory[area];
        long from = region.offset() + at;
        long to = region.offset() + until;
        cells.split(from);
        cells.split(to);
        if (!tracking) {
            noteOutside(thread, step, area, launch, true);
        }
        Cell old = cells.at(from);
        int newFlag = region.packet() ? flag : Cell.PLAIN;
        boolean flagged = region.packet() && old.end >= to && old.flag == newFlag;
        if (storesNothingNew(thread, old, to, value, newFlag)) {
            old.addReader(thread, tracking ? clocks.own(thread) : 0, step);
            return;
        }
        if (tracking) {
            for (Cell cell : cells.range(from, to)) {
                checkWrite(thread, step, area, cell);
            }
        }
        Cell cell = new Cell(from, to, value);
        cell.flag = newFlag;
        if (tracking) {
            cell.writer = thread;
            cell.writerClock = clocks.own(thread);
            cell.writerStep = step;
            if (region.packet()) {
                // A second value under the same flag announces nothing: the first one already did.
                cell.announced = flagged ? old.announced : clocks.snapshot(thread);
            }
        }
        cells.replace(cell);
    }

    /**
     * Storing what is known to be there already is no race with whoever reads it; whoever overwrites it has to wait for both. The
     * same packet is there as soon as its flag is, whoever wrote it.
     */
    private boolean storesNothingNew(int thread, Cell old, long to, Value value, int flag) {
        return old.end >= to
                && old.flag == flag
                && old.value.isSame(value)
                && (flag != Cell.PLAIN
                        || (tracking && !value.isGarbage() && clocks.knows(thread, old.writer, old.writerClock)));
    }

    void checkWrite(int thread, @Nullable Step step, int area, Cell cell) {
        if (!clocks.knows(thread, cell.writer, cell.writerClock)) {
            findings.race(this, thread, step, true, cell.writer, cell.writerStep, cell.writerClock, true, area, cell);
        }
        for (int slot = 0; slot < cell.readers; slot++) {
            if (!clocks.knows(thread, cell.reader(slot), cell.readerClock(slot))) {
                findings.race(
                        this,
                        thread,
                        step,
                        true,
                        cell.reader(slot),
                        cell.readerStep(slot),
                        cell.readerClock(slot),
                        false,
                        area,
                        cell);
            }
        }
    }

    private void noteOutside(int thread, Step step, int area, int launch, boolean write) {
        Script.Area touched = script.areas.get(area);
        if (touched.symbol().startsWith("s") || touched.rank() == rankOf[thread]) {
            return;
        }
        if (!isInside(touched.rank(), launch)) {
            findings.outside(this, step, touched, write);
        }
    }
}
