package dev.tutti.cuda;

import dev.tutti.cuda.driver.Modules;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** One kernel launch with its parameters, which can be made many times. */
final class Step {
    private final long function;
    private final int gridX;
    private final int gridY;
    private final int gridZ;
    private final int threads;
    private final MemorySegment parameters;
    private final MemorySegment pointers;

    Step(long function, int gridX, int gridY, int gridZ, int threads, MemorySegment parameters) {
        this.function = function;
        this.gridX = gridX;
        this.gridY = gridY;
        this.gridZ = gridZ;
        this.threads = threads;
        this.parameters = parameters;
        this.pointers = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG);
        pointers.set(ValueLayout.JAVA_LONG, 0, parameters.address());
    }

    /** Puts it into a stream; the driver copies the parameters. */
    void launch(long stream) {
        try {
            Modules.launch(function, gridX, gridY, gridZ, threads, 1, 1, 0, stream, pointers.address(), 0);
        } finally {
            java.lang.ref.Reference.reachabilityFence(parameters);
        }
    }
}
