package dev.tutti.cuda;

import dev.tutti.cuda.driver.Attribute;
import dev.tutti.cuda.driver.Modules;

/** How many blocks and threads a streaming kernel gets. */
record Grid(int blocks, int threads) {
    private static final int LARGE_THREADS = 512;
    private static final int SMALL_THREADS = 128;
    private static final int VECTOR_BYTES = 16;

    /** Blocks that the device runs at once, times this, is the most a kernel gets; each then loops. */
    private static final int WAVES = Integer.getInteger("tutti.cuda.waves", 1);

    /**
     * For one of several equal parts of a launch.
     *
     * @param bytes that a part reads from each source
     * @param parts how many there are
     */
    static Grid of(CudaDevice device, long function, long bytes, int parts) {
        int processors = device.attribute(Attribute.MULTIPROCESSORS);
        long vectors = Math.max(1, (bytes + VECTOR_BYTES - 1) / VECTOR_BYTES);
        // Small blocks reach more multiprocessors with little data; large ones have less to schedule.
        int threads = vectors * parts < 2L * processors * LARGE_THREADS ? SMALL_THREADS : LARGE_THREADS;
        long most = Math.max(
                1, (long) processors * Modules.blocksPerProcessor(function, threads, 0) * WAVES / Math.max(1, parts));
        long blocks = Math.min((vectors + threads - 1) / threads, most);
        return new Grid((int) blocks, threads);
    }
}
