package dev.tutti;

import dev.tutti.exec.Call;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Collectives of byte arrays whose lengths the receivers do not know; together they may be longer than an array can be. Each blocks or is
 * started. None is prepared: lengths, and arrays for them, are what is new each time. In a group they are not needed: what is started
 * waits for nothing.
 */
abstract sealed class ByteCollectives extends BlockingReductions permits Messages {
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
        return finish(broadcastBytesAsync(bytes, root));
    }

    /**
     * Starts {@link #broadcastBytes}.
     *
     * {@snippet :
     * ResultWork<byte[]> config = comm.broadcastBytesAsync(comm.rank() == 0 ? serialised : null, 0);
     * }
     *
     * @param bytes what to send; needed at the root only
     * @param root the rank that has them
     * @return what to wait for; then it has the root's bytes
     */
    public ResultWork<byte[]> broadcastBytesAsync(byte @Nullable [] bytes, int root) {
        member.arguments().requireRank(root, "root");
        boolean isRoot = member.rank() == root;
        if (isRoot && bytes == null) {
            throw member.arguments().wrong("the root needs bytes");
        }
        byte[] own = isRoot ? Objects.requireNonNull(bytes).clone() : new byte[0];
        long[] length = {own.length};
        Parts parts = new Parts();
        Call lengths = take();
        requests.broadcast(lengths, DataType.INT64, length, length, root, true);
        return startBytes(
                lengths,
                () -> {
                    byte[] all = isRoot ? own : new byte[(int) length[0]];
                    parts.one = all;
                    Call data = take();
                    requests.broadcast(data, DataType.INT8, all, all, root, true);
                    return data;
                },
                parts::one);
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
        return finish(allGatherBytesAsync(bytes));
    }

    /**
     * Starts {@link #allGatherBytes}.
     *
     * {@snippet :
     * ResultWork<List<byte[]>> names = comm.allGatherBytesAsync(hostName.getBytes(UTF_8));
     * }
     *
     * @param bytes this rank's; not to be changed before the end
     * @return what to wait for; then it has everybody's, in rank order
     */
    public ResultWork<List<byte[]>> allGatherBytesAsync(byte[] bytes) {
        long[] counts = new long[member.size()];
        Parts parts = new Parts();
        Call lengths = take();
        requests.allGather(lengths, DataType.INT64, new long[] {bytes.length}, counts, true);
        return startBytes(
                lengths,
                () -> {
                    Call data = take();
                    ragged.allGather(data, DataType.INT8, bytes, parts.of(counts), counts, null, true);
                    return data;
                },
                parts::all);
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
        return finish(gatherBytesAsync(bytes, root));
    }

    /**
     * Starts {@link #gatherBytes}.
     *
     * {@snippet :
     * ResultWork<List<byte[]>> results = comm.gatherBytesAsync(mine, 0);
     * }
     *
     * @param bytes this rank's; not to be changed before the end
     * @param root the rank that gets them
     * @return what to wait for; then it has everybody's, in rank order, at the root, and an empty list elsewhere
     */
    public ResultWork<List<byte[]>> gatherBytesAsync(byte[] bytes, int root) {
        member.arguments().requireRank(root, "root");
        long @Nullable [] counts = member.rank() == root ? new long[member.size()] : null;
        Parts parts = new Parts();
        Call lengths = take();
        requests.gather(lengths, DataType.INT64, new long[] {bytes.length}, counts, root, true);
        return startBytes(
                lengths,
                () -> {
                    Call data = take();
                    MemorySegment all = counts == null ? null : parts.of(counts);
                    ragged.gather(data, DataType.INT8, bytes, all, counts, null, root, true);
                    return data;
                },
                parts::all);
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
        return finish(scatterBytesAsync(parts, root));
    }

    /**
     * Starts {@link #scatterBytes}.
     *
     * {@snippet :
     * ResultWork<byte[]> mine = comm.scatterBytesAsync(comm.rank() == 0 ? parts : null, 0);
     * }
     *
     * @param parts one for each rank; needed at the root only
     * @param root the rank that has them
     * @return what to wait for; then it has this rank's
     */
    public ResultWork<byte[]> scatterBytesAsync(@Nullable List<byte[]> parts, int root) {
        member.arguments().requireRank(root, "root");
        boolean isRoot = member.rank() == root;
        long @Nullable [] counts = isRoot ? lengths(parts, "the root needs ") : null;
        @Nullable MemorySegment all = isRoot ? join(Objects.requireNonNull(parts)) : null;
        long[] length = new long[1];
        Parts own = new Parts();
        Call lengths = take();
        requests.scatter(lengths, DataType.INT64, counts, length, root, true);
        return startBytes(
                lengths,
                () -> {
                    byte[] mine = new byte[(int) length[0]];
                    own.one = mine;
                    Call data = take();
                    ragged.scatter(data, DataType.INT8, all, counts, null, mine, root, true);
                    return data;
                },
                own::one);
    }

    /**
     * Gives rank r this rank's bytes number r, of any lengths, and gets what all ranks have for this one.
     *
     * {@snippet :
     * List<byte[]> mine = comm.allToAllBytes(recordsByOwner);
     * }
     *
     * @param parts one for each rank
     * @return one from each rank, in rank order
     */
    public List<byte[]> allToAllBytes(List<byte[]> parts) {
        return finish(allToAllBytesAsync(parts));
    }

    /**
     * Starts {@link #allToAllBytes}.
     *
     * {@snippet :
     * ResultWork<List<byte[]>> mine = comm.allToAllBytesAsync(recordsByOwner);
     * }
     *
     * @param parts one for each rank
     * @return what to wait for; then it has one from each rank, in rank order
     */
    public ResultWork<List<byte[]>> allToAllBytesAsync(List<byte[]> parts) {
        long[] sent = lengths(parts, "this rank needs ");
        MemorySegment all = join(parts);
        long[] received = new long[member.size()];
        Parts got = new Parts();
        Call lengths = take();
        requests.allToAll(lengths, DataType.INT64, sent, received, true);
        return startBytes(
                lengths,
                () -> {
                    Call data = take();
                    ragged.allToAll(data, DataType.INT8, all, sent, null, got.of(received), received, null, true);
                    return data;
                },
                got::all);
    }

    private <T> ResultWork<T> startBytes(Call lengths, Supplier<Call> data, Supplier<T> result) {
        BytesWork<T> work = new BytesWork<>(self(), lengths, data, result);
        retainBuffers(lengths);
        submit(work);
        return work;
    }

    private static <T> T finish(ResultWork<T> work) {
        work.await();
        return work.result();
    }

    private long[] lengths(@Nullable List<byte[]> parts, String who) {
        if (parts == null || parts.size() != member.size()) {
            throw member.arguments().wrong(who + member.size() + " parts");
        }
        return parts.stream().mapToLong(part -> part.length).toArray();
    }

    /** All of it in a row, in memory that any thread may read. */
    private static MemorySegment join(List<byte[]> parts) {
        MemorySegment all = Arena.ofAuto()
                .allocate(parts.stream().mapToLong(part -> part.length).sum());
        long from = 0;
        for (byte[] part : parts) {
            MemorySegment.copy(part, 0, all, ValueLayout.JAVA_BYTE, from, part.length);
            from += part.length;
        }
        return all;
    }

    /** What has been received. */
    private static final class Parts {
        private byte[] one = {};
        private MemorySegment all = MemorySegment.NULL;
        private long[] counts = {};

        /** Room for as many bytes. */
        MemorySegment of(long[] lengths) {
            counts = lengths;
            all = Arena.ofAuto().allocate(Arrays.stream(lengths).sum());
            return all;
        }

        byte[] one() {
            return one;
        }

        List<byte[]> all() {
            List<byte[]> parts = new ArrayList<>();
            long from = 0;
            for (long count : counts) {
                parts.add(all.asSlice(from, count).toArray(ValueLayout.JAVA_BYTE));
                from += count;
            }
            return parts;
        }
    }
}
