package dev.tutti.exec;

import dev.tutti.memory.Memory;
import dev.tutti.plan.ChannelType;
import dev.tutti.plan.Chunk;
import dev.tutti.plan.Code;
import dev.tutti.plan.Plan;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.Space;
import dev.tutti.spi.Allocation;
import dev.tutti.spi.Fabric;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;

/**
 * The memory that a plan of a file has of its own on one rank: scratch, plain and for packets, in one or two halves, and where
 * everybody's is. Made and grown by all ranks together.
 */
final class PlanMemory {
    private final Plan plan;
    private final int rank;
    private final Fabric fabric;
    private final LongFunction<Allocation> registered;
    private final PlanContext.Exchange exchange;
    private final int halves;
    private final boolean usesPlain;
    private final boolean usesPackets;
    private final int widest;

    /** Keeps peers' view of this rank's memory alive; what has been outgrown may still be in use by a slower peer. */
    private final List<Allocation> kept = new ArrayList<>();

    private long[] plain;
    private long[] packets;
    private long slotBytes;

    PlanMemory(Plan plan, int rank, Fabric fabric, LongFunction<Allocation> registered, PlanContext.Exchange exchange) {
        this.plan = plan;
        this.rank = rank;
        this.fabric = fabric;
        this.registered = registered;
        this.exchange = exchange;
        this.halves = plan.header().doubleScratch() ? 2 : 1;
        this.usesPlain = plan.all().stream().anyMatch(PlanMemory::usesPlainScratch);
        this.usesPackets = plan.all().stream().anyMatch(PlanMemory::usesPackets);
        this.widest =
                plan.all().stream().mapToInt(RankPlan::scratchChunks).max().orElse(0);
        this.plain = new long[plan.ranks()];
        this.packets = new long[plan.ranks()];
    }

    private static boolean usesPlainScratch(RankPlan each) {
        return each.operations().anyMatch(op -> {
            int sources = op.sources().size();
            int destinations = op.destinations().size();
            if (op.code().shape() == Code.Shape.PACKET) {
                boolean raw = each.via(op) == ChannelType.PORT;
                sources = op.code().folds() || op.code() == Code.PACK
                        ? 1
                        : op.code() == Code.PUT_PACKETS && !raw ? sources : 0;
                destinations = op.code().folds() || op.code() == Code.UNPACK ? 1 : 0;
            }
            return isScratch(op.sources().subList(0, sources))
                    || isScratch(op.destinations().subList(0, destinations));
        });
    }

    private static boolean isScratch(List<Chunk> chunks) {
        return chunks.stream().anyMatch(chunk -> chunk.space() == Space.SCRATCH);
    }

    private static boolean usesPackets(RankPlan each) {
        return each.operations().anyMatch(op -> op.code().shape() == Code.Shape.PACKET);
    }

    /** Allocates memory here and tells where everybody's is. */
    long[] share(long bytes) {
        long mine = 0;
        if (bytes > 0) {
            Allocation allocation = registered.apply(bytes);
            kept.add(allocation);
            mine = fabric.location(allocation.memory().address(), bytes);
        }
        long[] all = exchange.allGather(mine);
        long[] addresses = new long[all.length];
        for (int peer = 0; peer < all.length; peer++) {
            addresses[peer] = all[peer] == 0 ? 0 : fabric.address(peer, all[peer]);
        }
        return addresses;
    }

    /** How many halves of scratch launches alternate between: one or two. */
    int halves() {
        return halves;
    }

    /** Bytes of a slot of scratch; slots lie at the same place whatever the size of a launch. */
    long slotBytes() {
        return slotBytes;
    }

    /** The longest slot for which all of a rank's scratch stays within a limit, in whole granules but at least one. */
    long longestSlot(long scratchBytes, long granule) {
        long perByte = (usesPlain ? 1L : 0L) + (usesPackets ? 2L : 0L);
        long room = scratchBytes / Math.max(1L, (long) widest * halves * perByte);
        return Math.max(granule, room / granule * granule);
    }

    /** Makes room for slots of so many bytes. */
    void grow(long bytes) {
        slotBytes = bytes;
        if (usesPlain) {
            plain = share(ownBytes());
        }
        if (usesPackets) {
            packets = share(2 * ownBytes());
        }
    }

    private long ownBytes() {
        return halves * halfBytes(rank);
    }

    private long halfBytes(int of) {
        return plan.rank(of).scratchChunks() * slotBytes;
    }

    long plain(int of, int half) {
        return plain[of] + half * halfBytes(of);
    }

    long packets(int of, int half) {
        return packets[of] + 2L * half * halfBytes(of);
    }

    /** Forgets all packets that have come. */
    void clearPackets() {
        if (usesPackets && ownBytes() > 0) {
            Memory.fill(packets[rank], 2 * ownBytes(), (byte) 0);
        }
    }

    /** Gives everything back; no rank may touch any of it any more. */
    void free() {
        kept.forEach(Allocation::free);
        kept.clear();
    }
}
