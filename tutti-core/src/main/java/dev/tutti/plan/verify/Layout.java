package dev.tutti.plan.verify;

import dev.tutti.plan.Chunk;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
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

    /**
     * Operands of one operation, and which of them carry packets.
     *
     * @param op the operation
     * @param sources its sources, or one of them
     * @param destinations its destinations, or one of them
     * @param plainSources how many of the sources, from the first, are plain data
     * @param plainDestinations how many of the destinations are plain data
     */
    record Operands(Op op, List<Chunk> sources, List<Chunk> destinations, int plainSources, int plainDestinations) {}

    /** A run of bytes of an operation that is in one piece for every operand. */
    record Piece(Region[] sources, Region[] destinations) {}

    /** One round of a loop. */
    record Loop(long iteration, long unitBytes) {}

    /** How often a loop goes round. */
    abstract long iterations(Op.Loop loop);

    /** How far a loop goes in one round. */
    abstract long unit(Op.Loop loop);

    /** The pieces of an operation of a rank, in one round of a loop if it is in one. */
    abstract List<Piece> pieces(int actor, Operands operands, @Nullable Loop loop);

    /** Length of the word before packets that carries the call's signature, or 0 if there is none. */
    long lead() {
        return 0;
    }

    /** Contents count offsets in 40 bits and ranks in 16. */
    final void requireModest() {
        for (Area area : areas) {
            if (area.bytes() < 0 || area.bytes() >= 1L << 39) {
                throw new TooLargeException(
                        area.symbol() + " of rank " + area.rank() + " has " + area.bytes() + " bytes");
            }
        }
        if (plan.ranks() >= 1 << 15) {
            throw new TooLargeException(plan.ranks() + " ranks");
        }
    }

    final Region inScratch(int rank, long offset, long bytes, boolean packet) {
        int[] halves = (packet ? packets : scratch)[rank];
        return new Region(halves[0], halves[1], offset, bytes, packet);
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
