package dev.tutti;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Collectives of byte arrays whose lengths the receivers do not know; together they may be longer than an array can be. */
abstract sealed class ByteCollectives extends BlockingCollectives permits Messages {
    ByteCollectives(World world, Member member, long timeoutNanos) {
        super(world, member, timeoutNanos);
    }

    /**
     * Copies the root's bytes to every rank; only the root needs to know how many there are.
     *
     * {@snippet :
     * byte[] config = comm.broadcastBytes(comm.rank() == 0 ? serialised : null, 0);
     * }
     *
     * @param bytes what to send; needed at the root only
     * @param root the rank that has them
     * @return the root's bytes
     */
    public byte[] broadcastBytes(byte @Nullable [] bytes, int root) {
        member.arguments().requireRank(root, "root");
        boolean isRoot = member.rank() == root;
        if (isRoot && bytes == null) {
            throw member.arguments().wrong("the root needs bytes");
        }
        long[] length = {isRoot ? Objects.requireNonNull(bytes).length : 0};
        broadcast(length, root);
        byte[] result = isRoot ? Objects.requireNonNull(bytes).clone() : new byte[(int) length[0]];
        broadcast(Buffer.of(result, DataType.INT8), root);
        return result;
    }

    /**
     * Gives every rank everybody's bytes, of any lengths.
     *
     * {@snippet :
     * List<byte[]> names = comm.allGatherBytes(hostName.getBytes(UTF_8));
     * }
     *
     * @param bytes this rank's
     * @return everybody's, in rank order
     */
    public List<byte[]> allGatherBytes(byte[] bytes) {
        long[] counts = new long[member.size()];
        allGather(new long[] {bytes.length}, counts);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocate(Arrays.stream(counts).sum());
            allGatherV(Buffer.of(bytes, DataType.INT8), Buffer.of(all, DataType.INT8), counts, null);
            return cut(all, counts);
        }
    }

    /**
     * Gives the root everybody's bytes, of any lengths.
     *
     * {@snippet :
     * List<byte[]> results = comm.gatherBytes(mine, 0);
     * }
     *
     * @param bytes this rank's
     * @param root the rank that gets them
     * @return everybody's, in rank order, at the root; an empty list elsewhere
     */
    public List<byte[]> gatherBytes(byte[] bytes, int root) {
        member.arguments().requireRank(root, "root");
        Buffer own = Buffer.of(bytes, DataType.INT8);
        long[] counts = new long[member.size()];
        gather(Buffer.of(new long[] {bytes.length}), member.rank() == root ? Buffer.of(counts) : null, root);
        if (member.rank() != root) {
            gatherV(own, null, null, null, root);
            return List.of();
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocate(Arrays.stream(counts).sum());
            gatherV(own, Buffer.of(all, DataType.INT8), counts, null, root);
            return cut(all, counts);
        }
    }

    /**
     * Gives rank r the root's bytes number r, of any lengths.
     *
     * {@snippet :
     * byte[] mine = comm.scatterBytes(comm.rank() == 0 ? parts : null, 0);
     * }
     *
     * @param parts one for each rank; needed at the root only
     * @param root the rank that has them
     * @return this rank's
     */
    public byte[] scatterBytes(@Nullable List<byte[]> parts, int root) {
        member.arguments().requireRank(root, "root");
        if (member.rank() != root) {
            long[] length = new long[1];
            scatter(null, Buffer.of(length), root);
            byte[] own = new byte[(int) length[0]];
            scatterV(null, null, null, Buffer.of(own, DataType.INT8), root);
            return own;
        }
        if (parts == null || parts.size() != member.size()) {
            throw member.arguments().wrong("the root needs " + member.size() + " parts");
        }
        long[] counts = parts.stream().mapToLong(part -> part.length).toArray();
        scatter(Buffer.of(counts), Buffer.of(new long[1]), root);
        byte[] own = new byte[(int) counts[root]];
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocate(Arrays.stream(counts).sum());
            long from = 0;
            for (byte[] part : parts) {
                MemorySegment.copy(part, 0, all, ValueLayout.JAVA_BYTE, from, part.length);
                from += part.length;
            }
            scatterV(Buffer.of(all, DataType.INT8), counts, null, Buffer.of(own, DataType.INT8), root);
        }
        return own;
    }

    private static List<byte[]> cut(MemorySegment all, long[] counts) {
        List<byte[]> parts = new ArrayList<>();
        long from = 0;
        for (long count : counts) {
            parts.add(all.asSlice(from, count).toArray(ValueLayout.JAVA_BYTE));
            from += count;
        }
        return parts;
    }
}
