package dev.tutti.cuda;

import org.jspecify.annotations.Nullable;

/**
 * Memory that others can map, for operands that they cannot: these are copied there before a call and back after it, in the order
 * of the call's stream.
 */
final class Bounce implements AutoCloseable {
    private static final long LEAST_BYTES = 1 << 20;

    private final CudaDevice device;
    private final Exports exports;
    private @Nullable CudaMemory in;
    private @Nullable CudaMemory out;

    Bounce(CudaDevice device, Exports exports) {
        this.device = device;
        this.exports = exports;
    }

    /** The call on memory that others can map; the call itself if its memory is such. */
    CudaCall in(CudaCall call, CudaStream on) {
        boolean inMapped = isMapped(call.in);
        boolean outMapped = isMapped(call.out);
        if (inMapped && outMapped) {
            return call;
        }
        CudaBuffer from = call.in;
        CudaBuffer to = call.out;
        if (!inMapped && call.in != null) {
            in = grown(in, call.in.bytes());
            from = CudaBuffer.of(in, call.type, call.in.count());
            from.copyFrom(call.in, on);
        }
        if (!outMapped && call.out != null) {
            if (call.out == call.in) {
                to = from;
            } else {
                out = grown(out, call.out.bytes());
                to = CudaBuffer.of(out, call.type, call.out.count());
                // Not every call writes all of its output.
                to.copyFrom(call.out, on);
            }
        }
        return call.by(call.op, from, to, call.inCounts, call.outCounts);
    }

    /** Copies the result to where it belongs. */
    void out(CudaCall call, CudaCall mine, CudaStream on) {
        if (call.out != null && mine.out != null && mine.out != call.out) {
            call.out.copyFrom(mine.out, on);
        }
    }

    private boolean isMapped(@Nullable CudaBuffer buffer) {
        return buffer == null || buffer.bytes() == 0 || exports.of(buffer) != null;
    }

    private CudaMemory grown(@Nullable CudaMemory known, long bytes) {
        if (known != null && known.bytes() >= bytes) {
            return known;
        }
        if (known != null) {
            device.synchronise();
            known.close();
        }
        return exports.allocate(device, Math.max(LEAST_BYTES, Long.highestOneBit(Math.max(1, bytes - 1)) << 1));
    }

    @Override
    public void close() {
        if (in != null) {
            in.close();
        }
        if (out != null) {
            out.close();
        }
    }
}
