package dev.tutti.matrix;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.Prepared;
import dev.tutti.ReduceOp;
import dev.tutti.Work;
import dev.tutti.matrix.Contents.Block;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Runs one cell on one rank and looks at everything that could have gone wrong. */
final class Trial {
    private record Part(Slot slot, List<Block> before, List<Block> after, String name) {}

    /** From the second time on small calls take another way, those of two ranks from the third time on yet another. */
    private static final int REPEATS = 2;

    private static final int REPEATS_OF_TWO = 4;
    private static final long MOST_REPEATED = 2048;

    private final Cell cell;
    private final Communicator comm;
    private final Memories memories;
    private final Contents contents;
    private final List<Part> parts = new ArrayList<>();

    private Work started;

    Trial(Cell cell, Communicator comm, Memories memories) {
        this.cell = cell;
        this.comm = comm;
        this.memories = memories;
        this.contents = new Contents(cell, comm.rank());
    }

    Cell cell() {
        return cell;
    }

    /** Starts an asynchronous cell; {@link #finish} must follow. */
    void start() {
        Invocation invocation = invocation();
        prepare();
        started = invocation.start();
    }

    String finish() {
        try {
            await(started);
            return check();
        } finally {
            parts.forEach(part -> part.slot.close());
        }
    }

    /** Runs the cell; says what is wrong, or null. */
    String run() {
        Invocation invocation = invocation();
        try {
            prepare();
            switch (cell.form()) {
                case BLOCKING -> {
                    return checked(invocation::block, times());
                }
                case VIRTUAL -> invocation.block();
                case ASYNC -> await(invocation.start());
                case PREPARED -> {
                    Prepared prepared = invocation.prepare();
                    String wrong = checked(prepared::run, times());
                    if (wrong != null) {
                        return wrong;
                    }
                    prepare();
                    await(prepared.start());
                }
            }
            return check();
        } finally {
            parts.forEach(part -> part.slot.close());
        }
    }

    private int times() {
        return cell.count() > MOST_REPEATED ? 1 : cell.ranks() == 2 ? REPEATS_OF_TWO : REPEATS;
    }

    private String checked(Runnable call, int times) {
        for (int time = 0; time < times; time++) {
            if (time > 0) {
                prepare();
            }
            call.run();
            String wrong = check();
            if (wrong != null) {
                return time == 0 ? wrong : wrong + ", when called for the " + (time + 1) + ". time";
            }
        }
        return null;
    }

    private void prepare() {
        parts.forEach(part -> part.slot.prepare(part.before));
    }

    private String check() {
        for (Part part : parts) {
            String wrong = part.slot.check(part.name, part.after);
            if (wrong != null) {
                return wrong;
            }
        }
        return null;
    }

    private void await(Work work) {
        switch (cell.variant() >>> 2 & 3) {
            case 0 -> work.await();
            case 1 -> work.await(Duration.ofMinutes(1));
            case 2 -> work.toCompletableFuture().join();
            default -> {
                while (!work.isDone()) {
                    Thread.yield();
                }
                work.await();
            }
        }
    }

    private Invocation invocation() {
        ReduceOp op = cell.operator() == Operator.NONE ? null : cell.operator().of(cell.type(), comm.rank());
        if (cell.operation().isList()) {
            return new Invocation(cell, contents, comm, null, null, list(), op);
        }
        if (cell.inPlace()) {
            Slot slot = memories.make(cell.in(), cell.type(), contents.inPlaceTotal(), cell.shift());
            parts.add(new Part(slot, contents.inPlaceBefore(), contents.inPlaceAfter(), "buffer"));
            return new Invocation(cell, contents, comm, slot, null, List.of(), op);
        }
        Slot in = null;
        if (contents.hasIn) {
            in = memories.make(cell.in(), cell.type(), contents.inTotal, cell.shift());
            parts.add(new Part(in, contents.in, contents.in, "input"));
        }
        Slot out = null;
        // A rank without a result may pass memory all the same; nobody may touch it.
        boolean passes = contents.hasOut || cell.operation().name().startsWith("EXSCAN") || (cell.variant() & 16) != 0;
        if (passes && cell.operation() != Operation.BARRIER) {
            out = memories.make(cell.out(), cell.type(), contents.outTotal, cell.shift() * 7 % 16);
            parts.add(new Part(out, List.of(), contents.out, "output"));
        }
        return new Invocation(cell, contents, comm, in, out, List.of(), op);
    }

    /** Cuts the block into buffers of several placements; some may be empty. All ranks cut where they like. */
    private List<Buffer> list() {
        SplittableRandom random = new SplittableRandom(31L * cell.variant() + comm.rank());
        Placement[] placements = {cell.in(), cell.out(), Placement.ARRAY_PART, Placement.AUTOMATIC};
        List<Buffer> list = new ArrayList<>();
        long done = 0;
        for (int i = 0; i < placements.length; i++) {
            boolean last = i == placements.length - 1;
            long count = last ? cell.count() - done : random.nextLong(cell.count() - done + 1);
            Slot slot = memories.make(placements[i], cell.type(), count, (cell.shift() + 5 * i) % 16);
            parts.add(new Part(
                    slot,
                    cut(contents.in, done, count),
                    cut(contents.hasOut ? contents.out : contents.in, done, count),
                    "buffer " + i));
            list.add(slot.buffer());
            done += count;
        }
        return list;
    }

    private static List<Block> cut(List<Block> whole, long from, long count) {
        return whole.isEmpty()
                ? List.of()
                : List.of(new Block(
                        0, count, whole.getFirst().row(), whole.getFirst().index() + from));
    }
}
