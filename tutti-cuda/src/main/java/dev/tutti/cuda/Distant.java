package dev.tutti.cuda;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Ranks that are not all in one launch: what a world of theirs does for a call. One thread at a time is inside. */
interface Distant extends AutoCloseable {
    /** How they reach each other. */
    CudaPath path();

    /** This rank. */
    int rank();

    /** New memory that the others reach where it lies. */
    CudaMemory allocate(long bytes);

    /** What is remembered of a call that all ranks make again and again: they need not tell each other anew. */
    final class Memo {
        @Nullable
        Fused launch;
    }

    /**
     * Makes a collective call, which has been checked.
     *
     * @param memo of this call, if all ranks have one for it; else null
     */
    CudaWork start(CudaCall call, CudaStream on, long number, @Nullable Memo memo);

    /** Makes a collective call and notes no end. */
    void enqueue(CudaCall call, CudaStream on, long number, @Nullable Memo memo);

    /** Makes sends and receives together. */
    CudaWork exchange(List<CudaCall> messages, CudaStream on);

    /** Ends what waits, here and on the other ranks. */
    void abort(RuntimeException cause);

    /** Seeds delays on the device from now on; 0 for none. */
    void delay(int seed);

    @Override
    void close();
}
