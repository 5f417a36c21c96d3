package dev.tutti.exec;

import dev.tutti.memory.Memory;
import dev.tutti.memory.Operand;
import dev.tutti.plan.Reach;
import dev.tutti.spi.Allocation;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Memory of the library's own in the place of users': for lists of buffers, and where the input must outlive the output or be
 * where peers can reach it. A launch's window of every block is copied in before the launch, and what the launch has written is
 * copied out after it.
 */
final class Staging {
    /** No copy is longer, so that none holds up a safepoint. */
    private static final long PIECE = 256 << 10;

    private final LongFunction<Allocation> registered;
    private MemorySegment input = MemorySegment.NULL;
    private MemorySegment output = MemorySegment.NULL;
    private @Nullable Allocation reachable;

    /** Staging with memory that peers can reach from {@code registered}, where a plan needs that. */
    Staging(LongFunction<Allocation> registered) {
        this.registered = registered;
    }

    /** Copies a piece of the input in, and says where it is. */
    long load(Call call, Shape shape, long piece) {
        Operand operand = call.input();
        Geometry blocks = call.geometry();
        long stride = shape.stageStride();
        long stage = inputStage(shape, stride * blocks.inputBlocks());
        long start = piece * shape.window;
        for (int block = 0; block < blocks.inputBlocks(); block++) {
            long bytes = Math.clamp(blocks.inputBytes(block) - start, 0, shape.window);
            long from = blocks.inputOffset(block) + start;
            for (long done = 0; done < bytes; done += PIECE) {
                operand.load(from + done, stage + block * stride + done, Math.min(PIECE, bytes - done));
            }
        }
        return stage;
    }

    /** Where a launch is to write the window of the output. */
    long output(Call call, Shape shape) {
        output = grow(output, shape.stageStride() * call.geometry().outputBlocks());
        return output.address();
    }

    /** Copies what a launch has written out to a piece of the output. */
    void store(Call call, Shape shape, Program program, long piece, long stage) {
        Operand operand = call.output();
        Geometry blocks = call.geometry();
        long stride = shape.stageStride();
        long start = piece * shape.window;
        for (int block = 0; block < blocks.outputBlocks(); block++) {
            if (program.writesOutput[block]) {
                long bytes = Math.clamp(blocks.outputBytes(block) - start, 0, shape.window);
                long to = blocks.outputOffset(block) + start;
                for (long done = 0; done < bytes; done += PIECE) {
                    operand.store(to + done, stage + block * stride + done, Math.min(PIECE, bytes - done));
                }
            }
        }
    }

    /** Staged input is what peers reach, too: an all-to-all in place must not have its input overwritten before all have read it. */
    private long inputStage(Shape shape, long bytes) {
        if (shape.plan.reach() == Reach.OWN) {
            input = grow(input, bytes);
            return input.address();
        }
        Allocation stage = reachable;
        if (stage == null || stage.memory().byteSize() < bytes) {
            close();
            stage = registered.apply(Memory.roundUp(Math.max(bytes, 4096), 4096));
            reachable = stage;
        }
        return stage.memory().address();
    }

    private static MemorySegment grow(MemorySegment stage, long bytes) {
        if (stage.byteSize() >= bytes && stage.address() != 0) {
            return stage;
        }
        return Arena.ofAuto().allocate(Memory.roundUp(Math.max(bytes, 4096), 4096), 4096);
    }

    /** Frees memory that peers can reach, when none does. */
    void close() {
        Allocation stage = reachable;
        reachable = null;
        if (stage != null) {
            stage.free();
        }
    }
}
