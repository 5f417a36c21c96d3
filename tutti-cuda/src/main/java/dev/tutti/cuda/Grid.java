package dev.tutti.cuda;

import dev.tutti.cuda.driver.Attribute;
import dev.tutti.cuda.driver.Modules;

/** How many blocks and threads a streaming kernel gets. */
record Grid(int blocks, int threads) {
    private static final int LARGE_THREADS = 512;
    private static final int SMALL_THREADS = 128;
    private static final int VECTOR_BYTES = 16;

    /**
     * For one of several equal parts of a launch. Enough data gets more blocks than the device runs at once: each is soon done and
     * makes room for the next, which moves more bytes per second than few that go on for long.
     *
     * @param bytes that a part reads from each source
     * @param parts how many there are
     * @param vectors that a thread should have at least before there are more blocks than run at once
     */
    static Grid of(CudaDevice device, long function, long bytes, int parts, int vectors) {
        int processors = device.attribute(Attribute.MULTIPROCESSORS);
        long all = Math.max(1, (bytes + VECTOR_BYTES - 1) / VECTOR_BYTES);
        // Small blocks reach more multiprocessors with little data; large ones have less to schedule.
        int threads = all * parts < 2L * processors * LARGE_THREADS ? SMALL_THREADS : LARGE_THREADS;
        long atOnce =
                Math.max(1, (long) processors * Modules.blocksPerProcessor(function, threads, 0) / Math.max(1, parts));
        long most = Math.max(atOnce, all / ((long) vectors * threads));
        long blocks = Math.min((all + threads - 1) / threads, most);
        return new Grid((int) Math.min(blocks, Integer.MAX_VALUE), threads);
    }
}
