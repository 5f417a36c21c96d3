package dev.tutti.plan.verify;

import dev.tutti.plan.verify.Cells.Cell;
import dev.tutti.plan.verify.Script.Span;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What callers do with their buffers: fill them before a call, read the result after it, and use them for something else at
 * once, as any user may.
 */
final class Results {
    private final Run run;
    /** In a send-receive: how far the sender is from the receiver. */
    private int distance = -1;
    /** What folded the first result seen: all must be folded by the same. */
    private @Nullable String operator;
    /** For each output byte of rank 0 the order in which it was folded, to compare the others with. */
    private final TreeMap<Long, Long> shapes = new TreeMap<>();

    Results(Run run) {
        this.run = run;
    }

    void fill(int rank, int launch) {
        store(rank, run.script.outputs[rank], Value.garbage(launch));
        store(rank, run.script.inputs[rank], Value.input(launch, rank, 0));
    }

    void spoil(int rank, int launch) {
        store(rank, run.script.outputs[rank], Value.garbage(launch));
        store(rank, run.script.inputs[rank], Value.garbage(launch));
    }

    private void store(int rank, Span span, Value value) {
        if (span.bytes() == 0) {
            return;
        }
        Cells cells = run.memory[span.area()];
        cells.split(span.offset());
        cells.split(span.offset() + span.bytes());
        if (run.tracking) {
            for (Cell cell : cells.range(span.offset(), span.offset() + span.bytes())) {
                run.checkWrite(rank, null, span.area(), cell);
            }
        }
        Cell cell = new Cell(span.offset(), span.offset() + span.bytes(), value);
        if (run.tracking) {
            cell.writer = rank;
            cell.writerClock = run.clocks.own(rank);
        }
        cells.replace(cell);
    }

    void check(int rank, int launch) {
        Expectation expected = run.script.expectation;
        if (run.tracking) {
            requireOrder(rank, run.script.outputs[rank]);
            if (expected != null && run.script.guarded) {
                requireHeard(rank, launch, expected);
            }
        }
        if (expected == null || !expected.hasOutput(rank)) {
            return;
        }
        Span output = run.script.outputs[rank];
        Cells cells = run.memory[output.area()];
        for (int block = 0; block < expected.outputBytes()[rank].length; block++) {
            long start = output.offset() + expected.outputOffsets()[rank][block];
            long end = start + expected.outputBytes()[rank][block];
            for (long at = start; at < end; ) {
                Cell cell = cells.at(at);
                Value value = cell.value.shifted(at - cell.start);
                compare(expected, launch, rank, block, at - start, value);
                at = cell.end;
            }
        }
    }

    /** The caller reads its output: whatever was written there must be known to be there. */
    private void requireOrder(int rank, Span span) {
        if (span.bytes() == 0) {
            return;
        }
        Cells cells = run.memory[span.area()];
        cells.split(span.offset());
        cells.split(span.offset() + span.bytes());
        for (Cell cell : cells.range(span.offset(), span.offset() + span.bytes())) {
            if (!run.clocks.knows(rank, cell.writer, cell.writerClock)) {
                run.findings.race(
                        run,
                        rank,
                        null,
                        false,
                        cell.writer,
                        cell.writerStep,
                        cell.writerClock,
                        true,
                        span.area(),
                        cell);
            }
        }
    }

    private void requireHeard(int rank, int launch, Expectation expected) {
        boolean everybody = switch (expected.purpose()) {
            case ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL, BARRIER -> true;
            default -> false;
        };
        for (int other = 0; everybody && other < run.script.ranks; other++) {
            if (other != rank && !run.clocks.knowsEntry(rank, other, launch)) {
                run.findings.unheard(run, rank, other);
            }
        }
    }

    private void compare(Expectation expected, int launch, int rank, int block, long at, Value value) {
        int sender = 0;
        if (expected.purpose() == Expectation.Purpose.SEND_RECEIVE) {
            int ranks = run.script.ranks;
            int from = Value.rankOf(value.atoms[0]);
            if (distance < 0 && from < ranks) {
                distance = Math.floorMod(rank - from, ranks);
            }
            // Nobody sends to itself unless alone; everybody sends equally far.
            sender = distance == 0 && ranks > 1 ? (rank + 1) % ranks : Math.floorMod(rank - distance, ranks);
        }
        long[] atoms = expected.atoms(launch, rank, block, at, sender);
        boolean right = value.isSameFold(atoms) && isSameOperator(value);
        boolean finished = !expected.finishes() || value.finished == 1;
        if (!right || !finished) {
            run.findings.wrong(run, rank, block, at, value, atoms, right);
            return;
        }
        if (expected.purpose().isReducing() && run.tracking) {
            noteOrder(expected, rank, at, value);
        }
    }

    private boolean isSameOperator(Value value) {
        if (operator == null) {
            operator = value.operator;
        }
        return value.operator == null || value.operator.equals(operator);
    }

    private void noteOrder(Expectation expected, int rank, long at, Value value) {
        if (!value.isInRankOrder()) {
            run.findings.rankOrder = false;
        }
        if (expected.purpose() == Expectation.Purpose.ALL_REDUCE) {
            if (rank == 0) {
                shapes.put(at, value.shape);
            }
            Long first = shapes.containsKey(at) ? shapes.get(at) : floor(at);
            if (first != null && first != value.shape) {
                run.findings.sameBits = false;
            }
        }
    }

    private @Nullable Long floor(long at) {
        Map.Entry<Long, Long> entry = shapes.floorEntry(at);
        return entry == null ? null : entry.getValue();
    }
}
