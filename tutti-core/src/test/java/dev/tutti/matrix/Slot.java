package dev.tutti.matrix;

import dev.tutti.Buffer;
import dev.tutti.DataType;
import dev.tutti.matrix.Contents.Block;
import java.lang.foreign.MemorySegment;
import java.util.Comparator;
import java.util.List;

/**
 * A buffer of some placement with canaries before and after it.
 *
 * @param direct the array or segment itself, to be passed where the API takes such
 * @param whole the memory with its canaries
 * @param from where the buffer begins in it
 */
record Slot(Placement placement, Buffer buffer, Object direct, MemorySegment whole, long from)
        implements AutoCloseable {
    static final byte POISON = 0x5A;

    private MemorySegment data() {
        return whole.asSlice(from, buffer.bytes());
    }

    /** Poisons everything, then writes the blocks. */
    void prepare(List<Block> blocks) {
        whole.fill(POISON);
        int width = buffer.type().bytes();
        for (Block block : blocks) {
            block.row().fill(data().asSlice(block.offset() * width, block.count() * width), block.index());
        }
    }

    /** Says what is wrong, or null: blocks must hold their rows, everything else must be poisoned. */
    String check(String name, List<Block> blocks) {
        DataType type = buffer.type();
        int width = type.bytes();
        long next = 0;
        for (Block block :
                blocks.stream().sorted(Comparator.comparingLong(Block::offset)).toList()) {
            MemorySegment actual = data().asSlice(block.offset() * width, block.count() * width);
            long wrong = block.row().firstWrong(actual, block.index());
            if (wrong >= 0) {
                return String.format(
                        "%s[%d] of %s is %x, expected %x (element %d of %d of the block at %d)",
                        name,
                        block.offset() + wrong,
                        placement,
                        Operator.get(type, actual, wrong),
                        block.row().bits(block.index() + wrong),
                        wrong,
                        block.count(),
                        block.offset());
            }
            String gap = checkPoison(name, from + next * width, from + block.offset() * width);
            if (gap != null) {
                return gap;
            }
            next = Math.max(next, block.offset() + block.count());
        }
        String before = checkPoison(name, 0, from);
        return before != null ? before : checkPoison(name, from + next * width, whole.byteSize());
    }

    private String checkPoison(String name, long start, long end) {
        for (long at = start; at < end; at++) {
            if (whole.get(java.lang.foreign.ValueLayout.JAVA_BYTE, at) != POISON) {
                return String.format(
                        "byte %d of %s (%s, %s) was written to but is not part of the result",
                        at - from, name, buffer, placement);
            }
        }
        return null;
    }

    @Override
    public void close() {
        buffer.close();
    }
}
