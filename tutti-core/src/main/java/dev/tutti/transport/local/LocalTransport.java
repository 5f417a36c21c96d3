package dev.tutti.transport.local;

import dev.tutti.TuttiException;
import dev.tutti.posix.Membarrier;
import dev.tutti.posix.PrivateMemory;
import dev.tutti.spi.Allocation;
import dev.tutti.spi.Fabric;
import dev.tutti.spi.RegionLayout;
import dev.tutti.spi.Transport;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Ranks that are threads of one process: a region is plain native memory and everybody has the same address of it. Regions
 * are freed by the collector when no member can reach them any more, so a rank that is late, or left behind by an abort, can
 * never touch memory that has gone.
 */
public final class LocalTransport implements Transport {
    private final Map<Long, Meeting> meetings = new HashMap<>();
    private final boolean oversubscribed;

    public LocalTransport(int ranks) {
        this(ranks > Runtime.getRuntime().availableProcessors());
    }

    private LocalTransport(boolean oversubscribed) {
        this.oversubscribed = oversubscribed;
    }

    /** For ranks that leave the cores to others while they wait, however many cores there are. */
    public static LocalTransport yielding() {
        return new LocalTransport(true);
    }

    @Override
    public Fabric join(long id, int rank, int[] worldRanks, RegionLayout layout, Runnable stillWanted) {
        synchronized (meetings) {
            Meeting here = meetings.get(id);
            if (here == null) {
                here = new Meeting(layout, oversubscribed);
                meetings.put(id, here);
            }
            if (++here.joined == layout.ranks()) {
                meetings.remove(id);
            }
            return here;
        }
    }

    @Override
    public Allocation allocate(int worldRank, long bytes) {
        Arena arena = Arena.ofShared();
        try {
            return new Owned(arena, arena.allocate(Math.max(1, bytes), 4096).asSlice(0, bytes));
        } catch (OutOfMemoryError full) {
            arena.close();
            throw new TuttiException(
                    TuttiException.Category.BROKEN,
                    "no memory for " + bytes + " bytes of rank " + worldRank + ": " + full.getMessage()
                            + "; allocate less, or let java have more by -XX:MaxDirectMemorySize",
                    full);
        }
    }

    @Override
    public String name() {
        return "local";
    }

    @Override
    public void close() {
        synchronized (meetings) {
            meetings.clear();
        }
    }

    /** Memory with an arena of its own. */
    private record Owned(Arena arena, MemorySegment memory) implements Allocation {
        @Override
        public void free() {
            arena.close();
        }
    }

    /** The memory of one communicator, shared by its members. */
    private static final class Meeting implements Fabric {
        private final RegionLayout layout;
        private final boolean oversubscribed;
        private final MemorySegment[] regions;
        private final AtomicReferenceArray<@Nullable MemorySegment> scratch;
        /** By receiver, then by sender. */
        private final AtomicReferenceArray<@Nullable AtomicReferenceArray<@Nullable MemorySegment>> rings;

        private final AtomicReferenceArray<@Nullable Throwable> causes;
        private int joined;

        Meeting(RegionLayout layout, boolean oversubscribed) {
            this.layout = layout;
            this.oversubscribed = oversubscribed;
            this.regions = new MemorySegment[layout.ranks()];
            for (int rank = 0; rank < regions.length; rank++) {
                regions[rank] = Arena.ofAuto().allocate(layout.bytes(), 4096);
            }
            this.scratch = new AtomicReferenceArray<>(layout.ranks());
            this.rings = new AtomicReferenceArray<>(layout.ranks());
            this.causes = new AtomicReferenceArray<>(layout.ranks());
        }

        @Override
        public RegionLayout layout() {
            return layout;
        }

        @Override
        public long region(int rank) {
            return regions[rank].address();
        }

        @Override
        public long scratch(int rank) {
            MemorySegment memory = scratch.get(rank);
            if (memory == null) {
                synchronized (scratch) {
                    memory = scratch.get(rank);
                    if (memory == null) {
                        memory = PrivateMemory.allocate(layout.wholeScratchBytes());
                        scratch.set(rank, memory);
                    }
                }
            }
            return memory.address();
        }

        @Override
        public long ring(int from, int to, long bytes) {
            synchronized (rings) {
                AtomicReferenceArray<@Nullable MemorySegment> received = rings.get(to);
                if (received == null) {
                    received = new AtomicReferenceArray<>(layout.ranks());
                    rings.set(to, received);
                }
                MemorySegment memory = received.get(from);
                if (memory == null) {
                    memory = Arena.ofAuto().allocate(bytes, 128);
                    received.set(from, memory);
                }
                return memory.address();
            }
        }

        @Override
        public long ringIfMade(int from, int to) {
            AtomicReferenceArray<@Nullable MemorySegment> received = rings.get(to);
            MemorySegment memory = received == null ? null : received.get(from);
            return memory == null ? 0 : memory.address();
        }

        @Override
        public long location(long address, long bytes) {
            return address;
        }

        @Override
        public long address(int rank, long location) {
            return location;
        }

        @Override
        public boolean mustFenceToSignal() {
            return !Membarrier.isAvailable();
        }

        @Override
        public void release() {}

        @Override
        public boolean isOversubscribed() {
            return oversubscribed;
        }

        @Override
        public void keepCause(int rank, Throwable cause) {
            causes.compareAndSet(rank, null, cause);
        }

        @Override
        public @Nullable Throwable cause(int rank) {
            return causes.get(rank);
        }
    }
}
