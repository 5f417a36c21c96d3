package dev.tutti.plan.verify;

import dev.tutti.plan.Chunk;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
import dev.tutti.plan.Space;
import dev.tutti.plan.verify.Script.Area;
import dev.tutti.plan.verify.Script.Span;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One choice of sizes and placement: where every chunk lies and how long it is. */
abstract class Layout {
    final Plan plan;
    final String label;
    final List<Area> areas = new ArrayList<>();
    final Span[] inputs;
    final Span[] outputs;
    /** Areas of plain scratch and of packets: [rank][parity]. */
    final int[][] scratch;

    final int[][] packets;
    final @Nullable Expectation expectation;

    Layout(Plan plan, String label, @Nullable Expectation expectation) {
        this.plan = plan;
        this.label = label;
        this.expectation = expectation;
        this.inputs = new Span[plan.ranks()];
        this.outputs = new Span[plan.ranks()];
        this.scratch = new int[plan.ranks()][];
        this.packets = new int[plan.ranks()][];
    }

    /** How often a loop of a rank goes round. */
    abstract long iterations(int rank, Op.Loop loop);

    /** Chunks and slices begin at multiples of this many bytes. */
    abstract long granule();

    /** First byte and length of a chunk as an operand of a rank's operation, before slices and loops. */
    abstract Span place(int actor, Chunk chunk, boolean packet);

    /** Length of the ring that loops go round in scratch, or 0 if they do not: then what is found holds for such long messages only. */
    long ring() {
        return 0;
    }

    /** Length of the word before packets that carries the call's signature, or 0 if there is none. */
    long lead() {
        return 0;
    }

    /** Where an operand lies in both parities. */
    final Region region(int actor, Op op, Chunk chunk, boolean packet, @Nullable Loop loop) {
        Span whole = place(actor, chunk, packet);
        long offset = whole.offset();
        long bytes = whole.bytes();
        Op.Slice slice = op.slice();
        if (slice != null) {
            long from = cut(bytes, slice.index(), slice.of());
            bytes = cut(bytes, slice.index() + 1, slice.of()) - from;
            offset += from;
        }
        if (loop != null && !packet) {
            long along = loop.iteration() * loop.unitBytes();
            bytes = Math.clamp(bytes - along, 0, loop.unitBytes());
            offset += chunk.space() == Space.SCRATCH && ring() > 0 ? along % ring() : along;
        }
        int even = whole.area();
        int odd = even;
        if (chunk.space() == Space.SCRATCH) {
            int[] halves = (packet ? packets : scratch)[chunk.rank()];
            even = halves[0];
            odd = halves[1];
        }
        return new Region(even, odd, offset, bytes, packet);
    }

    /** One round of a loop. */
    record Loop(long iteration, long unitBytes) {}

    /** Where part {@code index} of {@code of} begins: on whole granules, the remainder going to the first parts. */
    final long cut(long bytes, long index, long of) {
        long granules = (bytes + granule() - 1) / granule();
        long each = granules / of;
        long rest = granules % of;
        return Math.min(bytes, (index * each + Math.min(index, rest)) * granule());
    }

    /** Adds both halves of a rank's scratch, or one area that serves as both. */
    final int[] halves(int rank, String symbol, long bytes, boolean twice) {
        int even = area(rank, symbol, bytes);
        return new int[] {even, twice ? area(rank, symbol, bytes) : even};
    }

    final int area(int rank, String symbol, long bytes) {
        areas.add(new Area(rank, symbol, bytes));
        return areas.size() - 1;
    }
}
