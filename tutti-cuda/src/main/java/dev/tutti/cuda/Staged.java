package dev.tutti.cuda;

import dev.tutti.Buffer;
import dev.tutti.Collective;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.Work;
import dev.tutti.cuda.driver.Memories;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Ranks that do not reach each other's device memory: a call goes piece by piece through pinned memory and the hosts' own collective.
 * There are two of every pinned buffer, so that the next piece comes down while the hosts have this one and the last one goes up.
 * Pieces are ranges of the same elements of every block, so that each is a small call of the same kind.
 */
final class Staged implements Distant {
    private static final long PIECE_BYTES = Long.getLong("tutti.cuda.piece", 4 << 20);

    private final CudaWorld world;
    private final Communicator host;
    private final CudaStream down;
    private final CudaEvent before;
    private final List<Side> sides = new ArrayList<>();

    /** One of the two: pinned memory, and what still uses it. */
    private final class Side implements AutoCloseable {
        private @Nullable CudaBuffer in;
        private @Nullable CudaBuffer out;
        private final CudaEvent came = CudaEvent.open(world.device());
        private final CudaEvent went = CudaEvent.open(world.device());

        /** Waits for what went from here, and makes room. */
        void prepare(long inBytes, long outBytes) {
            went.synchronise();
            in = grown(in, inBytes);
            out = grown(out, outBytes);
        }

        private CudaBuffer grown(@Nullable CudaBuffer known, long bytes) {
            if (known != null && known.bytes() >= bytes) {
                return known;
            }
            if (known != null) {
                known.close();
            }
            return CudaBuffer.allocatePinned(world.device(), DataType.UINT8, bytes);
        }

        Buffer in(DataType type, long count) {
            return view(Objects.requireNonNull(in), type, count);
        }

        Buffer out(DataType type, long count) {
            return view(Objects.requireNonNull(out), type, count);
        }

        private Buffer view(CudaBuffer pinned, DataType type, long count) {
            return Buffer.of(pinned.hostSegment().asSlice(0, count * type.bytes()), type);
        }

        @Override
        public void close() {
            if (in != null) {
                in.close();
            }
            if (out != null) {
                out.close();
            }
            came.close();
            went.close();
        }
    }

    Staged(CudaWorld world, Communicator host) {
        this.world = world;
        this.host = host;
        this.down = world.device().stream();
        this.before = CudaEvent.open(world.device());
        sides.add(new Side());
        sides.add(new Side());
    }

    @Override
    public CudaPath path() {
        return CudaPath.STAGED;
    }

    @Override
    public int rank() {
        return host.rank();
    }

    @Override
    public CudaMemory allocate(long bytes) {
        return CudaMemory.allocate(world.device(), bytes);
    }

    @Override
    public synchronized CudaWork start(CudaCall call, CudaStream on, long number, @Nullable Memo memo) {
        return guarded(() -> {
            begin(on);
            if (call.collective == Collective.BARRIER) {
                on.synchronise();
                host.barrier();
            } else {
                move(new StagedCall(call, host.rank(), host.size()), on);
            }
            return end(call, on);
        });
    }

    @Override
    public void enqueue(CudaCall call, CudaStream on, long number, @Nullable Memo memo) {
        start(call, on, number, memo);
    }

    private void move(StagedCall call, CudaStream on) {
        long longest = call.longest();
        if (call.hasPairCounts()) {
            long[] most = {longest};
            host.allReduce(most, ReduceOp.MAX);
            longest = most[0];
        }
        long step = Math.max(1, PIECE_BYTES / call.blocks() / call.type().bytes());
        fetch(call, 0, step, longest);
        for (long from = 0, piece = 0; from < longest; from += step, piece++) {
            Side side = sides.get((int) (piece & 1));
            long to = Math.min(longest, from + step);
            fetch(call, piece + 1, step, longest);
            side.came.synchronise();
            StagedCall.Piece part = call.piece(from, to);
            call.run(host, part, side.in(call.type(), part.inCount()), side.out(call.type(), part.outCount()));
            long at = Objects.requireNonNull(side.out).pointer();
            for (StagedCall.Run run : part.up()) {
                Memories.hostToDeviceAsync(run.device(), at + run.staged(), run.bytes(), on.handle());
            }
            side.went.record(on);
        }
    }

    /** Has a piece brought down; nothing if there is none such. */
    private void fetch(StagedCall call, long number, long step, long longest) {
        long from = number * step;
        if (from >= longest) {
            return;
        }
        Side side = sides.get((int) (number & 1));
        StagedCall.Piece piece = call.piece(from, Math.min(longest, from + step));
        long width = call.type().bytes();
        side.prepare(Math.max(1, piece.inCount() * width), Math.max(1, piece.outCount() * width));
        long at = Objects.requireNonNull(side.in).pointer();
        for (StagedCall.Run run : piece.down()) {
            Memories.deviceToHostAsync(at + run.staged(), run.device(), run.bytes(), down.handle());
        }
        side.came.record(down);
    }

    @Override
    public synchronized CudaWork exchange(List<CudaCall> messages, CudaStream on) {
        return guarded(() -> {
            begin(on);
            List<CudaBuffer> pinned = new ArrayList<>();
            try {
                pass(messages, pinned, on);
            } finally {
                on.synchronise();
                pinned.forEach(CudaBuffer::close);
            }
            return end(messages.getFirst(), on);
        });
    }

    /** Messages of one group, each through memory of its own: none may wait for another. */
    private void pass(List<CudaCall> messages, List<CudaBuffer> pinned, CudaStream on) {
        List<Work> works = new ArrayList<>();
        for (CudaCall call : messages) {
            CudaBuffer buffer = Objects.requireNonNull(call.sends ? call.in : call.out);
            CudaBuffer stage = CudaBuffer.allocatePinned(world.device(), call.type, buffer.count());
            pinned.add(stage);
            if (call.sends) {
                stage.copyFrom(buffer, on);
            }
        }
        on.synchronise();
        for (int i = 0; i < messages.size(); i++) {
            CudaCall call = messages.get(i);
            Buffer stage = Buffer.of(pinned.get(i).hostSegment(), call.type);
            works.add(call.sends ? host.sendAsync(stage, call.root, 0) : host.recvAsync(stage, call.root, 0));
        }
        works.forEach(Work::await);
        for (int i = 0; i < messages.size(); i++) {
            CudaCall call = messages.get(i);
            if (!call.sends) {
                Objects.requireNonNull(call.out).copyFrom(pinned.get(i), on);
            }
        }
    }

    private void begin(CudaStream on) {
        on.enter();
        if (on.isCapturing()) {
            throw new IllegalStateException("a graph cannot hold calls that go through the host");
        }
        before.record(on);
        down.await(before);
    }

    private CudaWork end(CudaCall call, CudaStream on) {
        return new CudaWork(
                world.completion(on.handle()), world.notice(), world.timeoutNanos(), "rank " + rank() + "'s " + call);
    }

    private interface Body {
        CudaWork run();
    }

    private CudaWork guarded(Body body) {
        try {
            return body.run();
        } catch (RuntimeException failure) {
            world.abort(failure);
            throw failure;
        }
    }

    @Override
    public void abort(RuntimeException cause) {
        host.abort(String.valueOf(cause.getMessage()));
    }

    @Override
    public void delay(int seed) {
        // Nothing waits on the device here.
    }

    @Override
    public synchronized void close() {
        sides.forEach(Side::close);
        before.close();
        down.close();
        host.close();
    }
}
