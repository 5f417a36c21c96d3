package dev.tutti.cuda;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.exec.BlockResolver;
import dev.tutti.exec.PlanProgram;
import dev.tutti.exec.PlanResolver;
import dev.tutti.exec.PlanStep;
import dev.tutti.plan.Plan;
import dev.tutti.plan.PlanHeader;
import dev.tutti.plan.PlanSizes;
import dev.tutti.plan.RankPlan;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Where everything of a plan lies that one launch runs for all ranks: counters, semaphores, barriers and scratch, kept from
 * launch to launch, and the records of each launch. Addresses are those of whatever memory it is given.
 */
final class PlanLayout {
    private static final int LINE = 128;
    private static final int TABLE_BYTES = 48;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    /** Memory that the executor reaches. */
    interface Memory {
        /** Zeroed, aligned to 256 bytes, until the plan is closed. */
        long allocate(long bytes);

        /** Copies there. */
        void write(long address, MemorySegment data);
    }

    private final Plan plan;
    private final Memory memory;
    private final int halves;
    private final long[] counters;
    private final long[] semaphores;
    private final long[] arrivals;
    private final List<Map<Integer, Integer>> barriers = new ArrayList<>();
    private final long[] scratch;
    private final long[] packets;
    private final List<int[]> places = new ArrayList<>();
    private final PlanProgram[] programs;
    private long slotBytes;
    private int flag;
    private int version;
    private @Nullable Key prepared;

    private record Key(long blockBytes, DataType type, ReduceOp.@Nullable Kind operator) {}

    /** What tells one launch from another: its flag, and the half of scratch that it uses. */
    record Turn(int flag, int half) {}

    PlanLayout(Plan plan, Memory memory) {
        this.plan = plan;
        this.memory = memory;
        this.halves = plan.header().doubleScratch() ? 2 : 1;
        int ranks = plan.ranks();
        counters = new long[ranks];
        semaphores = new long[ranks];
        arrivals = new long[ranks];
        scratch = new long[ranks];
        packets = new long[ranks];
        programs = new PlanProgram[ranks];
        for (int rank = 0; rank < ranks; rank++) {
            RankPlan part = plan.rank(rank);
            Map<Integer, Integer> ids = new HashMap<>();
            part.operations()
                    .filter(op -> op.barrier() != null)
                    .forEach(op ->
                            ids.putIfAbsent(Objects.requireNonNull(op.barrier()).id(), ids.size()));
            barriers.add(ids);
            counters[rank] = memory.allocate((part.channels().size() + 1L) * LINE);
            arrivals[rank] = memory.allocate(8L * Math.max(1, ids.size()));
            semaphores[rank] =
                    memory.allocate(4L * Math.max(1, part.semaphores().size()));
            if (!part.semaphores().isEmpty()) {
                memory.write(
                        semaphores[rank],
                        MemorySegment.ofArray(part.semaphores().stream()
                                .mapToInt(Integer::intValue)
                                .toArray()));
            }
            for (int lane = 0; lane < part.lanes().size(); lane++) {
                places.add(new int[] {rank, lane});
            }
        }
    }

    /** Lanes of all ranks. */
    int lanes() {
        return places.size();
    }

    /** Puts sizes in; scratch grows if it must. Returns true if it did, when nothing may be running. */
    boolean prepare(long blockBytes, DataType type, @Nullable ReduceOp operator) {
        Key key = new Key(blockBytes, type, operator == null ? null : operator.kind());
        if (key.equals(prepared)) {
            return false;
        }
        long needed = slotBytes(blockBytes, type);
        boolean grows = needed > slotBytes;
        if (grows) {
            slotBytes = needed;
            freshScratch();
        }
        for (int rank = 0; rank < plan.ranks(); rank++) {
            Lines lines = new Lines(rank);
            programs[rank] = isBlocks()
                    ? BlockResolver.resolve(plan, rank, blockBytes, slotBytes, type, operator, lines)
                    : PlanResolver.resolve(
                            plan.rank(rank),
                            PlanSizes.of(plan, blockBytes, type.bytes()),
                            slotBytes,
                            type,
                            operator,
                            lines);
        }
        prepared = key;
        version++;
        return grows;
    }

    /** Whether the plan is of Tutti's own kind. */
    boolean isBlocks() {
        return plan.header().style() == PlanHeader.Style.BLOCKS;
    }

    private long slotBytes(long blockBytes, DataType type) {
        return isBlocks()
                ? BlockResolver.slotBytes(plan, blockBytes)
                : PlanSizes.of(plan, blockBytes, type.bytes()).slotBytes();
    }

    /** Whether {@link #prepare} would have to wait for what is running. */
    boolean wouldGrow(long blockBytes, DataType type) {
        return slotBytes(blockBytes, type) > slotBytes;
    }

    private void freshScratch() {
        version++;
        for (int rank = 0; rank < plan.ranks(); rank++) {
            long half = slotBytes * plan.rank(rank).scratchChunks();
            if (half > 0) {
                scratch[rank] = memory.allocate(halves * half);
            }
            half = slotBytes * plan.rank(rank).packetChunks();
            if (half > 0) {
                packets[rank] = memory.allocate(2L * halves * half);
            }
        }
    }

    /** Bytes of the next launch's image; it depends on what was prepared only. */
    long imageBytes() {
        long words = 0;
        for (PlanProgram program : programs) {
            for (long[] lane : program.bind(0, new long[4 * plan.ranks()])) {
                words += lane.length;
            }
        }
        return (long) lanes() * TABLE_BYTES + 8 * words;
    }

    /** The next launch. */
    Turn next() {
        flag++;
        if (flag == 0) {
            // After 2^32 - 1 comes 2, so that halves go on alternating; in fresh scratch no old packet is taken for a
            // new one.
            flag = 2;
            freshScratch();
        }
        return new Turn(flag, halves == 2 && (flag & 1) == 0 ? 1 : 0);
    }

    /** Changes whenever images made before are good for nothing any more. */
    int version() {
        return version;
    }

    /** The records of launches of one half, for an address where they will lie; scalars are those of preMulSum, by rank. */
    MemorySegment image(int half, long address, long[] inputs, long[] outputs, long[] scalars) {
        long[] plain = scratch.clone();
        long[] boxed = packets.clone();
        for (int rank = 0; rank < plan.ranks(); rank++) {
            plain[rank] += slotBytes * half * plan.rank(rank).scratchChunks();
            boxed[rank] += 2 * slotBytes * half * plan.rank(rank).packetChunks();
        }
        long[] bases = PlanProgram.bases(inputs, outputs, plain, boxed);
        MemorySegment bytes = Arena.ofAuto().allocate(Math.max(8, imageBytes()), 64);
        long code = (long) lanes() * TABLE_BYTES;
        int place = 0;
        for (int rank = 0; rank < plan.ranks(); rank++) {
            for (long[] lane : programs[rank].bind(half, bases)) {
                long at = (long) place++ * TABLE_BYTES;
                bytes.set(LONG, at, address + code);
                bytes.set(LONG, at + 8, lane.length);
                bytes.set(LONG, at + 16, semaphores[rank]);
                bytes.set(LONG, at + 24, arrivals[rank]);
                bytes.set(LONG, at + 32, scalars[rank]);
                bytes.set(LONG, at + 40, plan.ranks());
                MemorySegment.copy(lane, 0, bytes, LONG, code, lane.length);
                code += 8L * lane.length;
            }
        }
        return bytes;
    }

    /** Which operation a lane of the launch stands at. */
    String describe(int place, int word) {
        int rank = places.get(place)[0];
        int lane = places.get(place)[1];
        PlanStep step = programs[rank].step(lane, word);
        return "rank " + rank + " lane " + lane + " " + step;
    }

    /** Counters of one rank. */
    private final class Lines implements PlanResolver.Counters {
        private final int rank;

        Lines(int rank) {
            this.rank = rank;
        }

        @Override
        public long outbound(int channel) {
            RankPlan.Channel own = plan.rank(rank).channels().get(channel);
            List<RankPlan.Channel> theirs = plan.rank(own.peer()).channels();
            int end = theirs.indexOf(new RankPlan.Channel(own.type(), rank, own.ordinal()));
            // Where the peer has no end, its last line takes what nobody waits for.
            return counters[own.peer()] + (end < 0 ? theirs.size() : end) * (long) LINE;
        }

        @Override
        public long inbound(int channel) {
            return counters[rank] + channel * (long) LINE;
        }

        @Override
        public int barrier(int id) {
            return Objects.requireNonNull(barriers.get(rank).get(id));
        }
    }
}
