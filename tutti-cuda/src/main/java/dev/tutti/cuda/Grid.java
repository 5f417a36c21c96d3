package dev.tutti.cuda;

import dev.tutti.cuda.driver.Attribute;
import dev.tutti.cuda.driver.Modules;

/** How many blocks and threads a streaming kernel gets for each of its equal cells. */
record Grid(int blocks, int threads) {
    static final int LARGE_THREADS = 512;
    private static final int SMALL_THREADS = 128;
    private static final int VECTOR_BYTES = 16;

    /**
     * For one launch of all ranks. Enough data gets more blocks than the device runs at once: each is soon done and makes room for
     * the next, which moves more bytes per second than few that go on for long.
     *
     * @param bytes that a cell reads from each source
     * @param cells how many there are
     * @param vectors that a thread should have at least before there are more blocks than run at once
     */
    static Grid of(CudaDevice device, long function, long bytes, int cells, int vectors) {
        int processors = device.attribute(Attribute.MULTIPROCESSORS);
        int threads = threads(bytes, cells, 2L * processors);
        return of(bytes, cells, vectors, threads, (long) processors * Modules.blocksPerProcessor(function, threads, 0));
    }

    /**
     * The same for ranks that share the cells: what they divide must not depend on who asks.
     *
     * @param atOnce blocks that all ranks together run at once
     */
    static Grid shared(long bytes, int cells, int vectors, long atOnce) {
        return of(bytes, cells, vectors, threads(bytes, cells, atOnce / 2), atOnce);
    }

    /** Small blocks reach more multiprocessors with little data; large ones have less to schedule. */
    private static int threads(long bytes, int cells, long enough) {
        return vectors(bytes) * cells < enough * LARGE_THREADS ? SMALL_THREADS : LARGE_THREADS;
    }

    private static Grid of(long bytes, int cells, int vectors, int threads, long atOnce) {
        long all = vectors(bytes);
        long most = Math.max(Math.max(1, atOnce / cells), all / ((long) vectors * threads));
        long blocks = Math.min((all + threads - 1) / threads, most);
        return new Grid((int) Math.min(blocks, Integer.MAX_VALUE / 2 / cells), threads);
    }

    private static long vectors(long bytes) {
        return Math.max(1, (bytes + VECTOR_BYTES - 1) / VECTOR_BYTES);
    }
}
