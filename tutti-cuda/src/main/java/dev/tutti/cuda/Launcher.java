package dev.tutti.cuda;

import dev.tutti.cuda.driver.Streams;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Puts a round's launch where it belongs among the ranks' streams, and remembers the last one, as the next is often the same. */
final class Launcher implements AutoCloseable {
    private final CudaDevice device;
    private final int size;
    private final Map<String, String> functions;
    private CudaCall @Nullable [] lastCalls;
    private @Nullable Fused last;

    Launcher(CudaDevice device, int size, Map<String, String> functions) {
        this.device = device;
        this.size = size;
        this.functions = functions;
    }

    /**
     * Launches on the stream of one rank, after what is in all ranks' streams.
     *
     * @return the stream
     */
    synchronized long launch(Round round, int on) {
        device.enter();
        long stream = round.post(on).stream().handle();
        Set<Long> awaited = new LinkedHashSet<>();
        awaited.add(stream);
        for (int rank = 0; rank < size; rank++) {
            Round.Post post = round.post(rank);
            if (post.ready() != 0 && awaited.add(post.stream().handle())) {
                Streams.await(stream, post.ready(), 0);
            }
        }
        resolve(round).launch(stream);
        if (last != null && last.hasTables()) {
            // The table must not be freed or changed under the launch.
            Streams.synchronise(stream);
        }
        return stream;
    }

    private Fused resolve(Round round) {
        CudaCall[] known = lastCalls;
        Fused made = last;
        if (known != null && made != null) {
            boolean same = true;
            for (int rank = 0; rank < size && same; rank++) {
                same = known[rank] == round.post(rank).call();
            }
            if (same) {
                return made;
            }
            made.close();
        }
        CudaCall[] calls = round.calls();
        last = null;
        Fused fresh = Fused.of(device, calls, functions);
        last = fresh;
        lastCalls = calls;
        return fresh;
    }

    @Override
    public synchronized void close() {
        if (last != null) {
            last.close();
            last = null;
        }
    }
}
