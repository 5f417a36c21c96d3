package dev.tutti.channel;

import dev.tutti.memory.Memory;
import dev.tutti.posix.Futex;
import dev.tutti.posix.Membarrier;
import dev.tutti.spi.Fabric;
import dev.tutti.spi.RegionLayout;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * Where threads of a rank sleep until a peer has written something to its memory, and how peers wake them. A peer that finds
 * nobody asleep pays for one load of a line that seldom changes.
 *
 * <pre>
 *   sleeper                                     whoever writes
 *   -------                                     --------------
 *   s = bell                                    write what the sleeper waits for      (release)
 *   sleeping = 1                                if (sleeping != 0)
 *   fence, on all cores                             if (swap(sleeping, 0) != 0)
 *   look once more at what it waits for                 bell++
 *   futex: sleep while bell == s                        futex: wake all
 * </pre>
 *
 * Of "sleeping = 1, look" and "write, look at sleeping" at least one sees the other's write, if a fence stands between the two
 * halves of both. The writer's is the one that would cost something at every signal; so the sleeper makes it for the writer, by
 * a barrier on all cores that run any of these processes. Where the kernel has none, writers fence
 * ({@link Fabric#mustFenceToSignal}). Between the bell that was read and the sleep nothing can be lost: whoever wakes changes the bell
 * first. Waking somebody who did not need it does no harm.
 *
 * <p>Sleeps are short enough to look at deadlines, aborts and interrupts, so even a wake-up that never came would only cost
 * time.
 */
public final class Bell {
    private static final boolean CAN_SLEEP = Futex.isAvailable();
    private static final long PARK_NANOS = 200_000;

    private final long[] bells;
    private final int rank;
    private final boolean mustFence;

    Bell(Fabric fabric, int rank, int size) {
        this.rank = rank;
        this.mustFence = fabric.mustFenceToSignal();
        this.bells = new long[size];
        for (int peer = 0; peer < size; peer++) {
            bells[peer] = fabric.region(peer) + RegionLayout.BELL;
        }
    }

    /** This rank has written something that a peer may wait for. */
    public void ring(int peer) {
        if (mustFence) {
            VarHandle.fullFence();
        }
        if (Memory.getIntOpaque(bells[peer] + RegionLayout.SLEEPING) != 0) {
            wake(bells[peer]);
        }
    }

    /** Where a peer's flag is that has to be looked at before it is rung, if nobody has to fence. */
    public long sleeping(int peer) {
        return bells[peer] + RegionLayout.SLEEPING;
    }

    /** This rank has written something that any peer may wait for. */
    public void ringOthers() {
        if (mustFence) {
            VarHandle.fullFence();
        }
        for (int peer = 0; peer < bells.length; peer++) {
            if (peer != rank && Memory.getIntOpaque(bells[peer] + RegionLayout.SLEEPING) != 0) {
                wake(bells[peer]);
            }
        }
    }

    /** Something happened that another thread of this rank may wait for. */
    public void ringOwn() {
        ring(rank);
    }

    private static void wake(long bell) {
        if (Memory.getAndSetInt(bell + RegionLayout.SLEEPING, 0) != 0) {
            Memory.getAndAddInt(bell, 1);
            Futex.wake(bell);
        }
    }

    /**
     * Says that the calling thread is about to sleep. It must look once more whether it has to before it does.
     *
     * @return what {@link #sleep} has to be given
     */
    public int announceSleep() {
        long bell = bells[rank];
        int shown = Memory.getIntAcquire(bell);
        if (CAN_SLEEP) {
            Memory.putIntVolatile(bell + RegionLayout.SLEEPING, 1);
            if (!mustFence) {
                Membarrier.everywhere();
            }
        }
        return shown;
    }

    /**
     * Sleeps until somebody rings, the time is over, or for no reason at all.
     *
     * @return whether somebody has rung
     */
    public boolean sleep(int shown, long nanos) {
        if (CAN_SLEEP && !Thread.currentThread().isVirtual()) {
            Futex.await(bells[rank], shown, nanos);
        } else {
            LockSupport.parkNanos(this, Math.min(nanos, PARK_NANOS));
        }
        return Memory.getIntAcquire(bells[rank]) != shown;
    }

    /** For whoever sleeps on several. */
    public long address() {
        return bells[rank];
    }
}
