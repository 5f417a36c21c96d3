package dev.tutti.cuda;

import dev.tutti.cuda.driver.Streams;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Recorded work of several streams that runs again as a whole, on whatever is in its buffers then.
 *
 * {@snippet :
 * try (CudaGraph graph = CudaGraph.capture(streams, () -> group.run())) {
 *     graph.launch(streams.getFirst());
 * }
 * }
 */
public final class CudaGraph implements AutoCloseable {
    private static final int RELAXED = 2;

    private final CudaDevice device;
    private final int generation;
    private final long graph;
    private final long executable;
    private final AtomicBoolean closed = new AtomicBoolean();

    private CudaGraph(CudaDevice device, long graph, long executable) {
        this.device = device;
        this.generation = device.generation();
        this.graph = graph;
        this.executable = executable;
    }

    /**
     * Records what a body puts into streams; nothing runs meanwhile. The streams of all ranks must be among them.
     *
     * @param streams of one device, at least one
     * @param body enqueues the work, on this thread
     * @return a graph, to be closed
     */
    public static CudaGraph capture(List<CudaStream> streams, Runnable body) {
        CudaStream origin = streams.getFirst();
        CudaDevice device = origin.device();
        origin.enter();
        Streams.beginCapture(origin.handle(), RELAXED);
        long graph;
        try (CudaEvent fork = CudaEvent.open(device)) {
            boolean recorded = false;
            try {
                fork.record(origin);
                for (CudaStream each : streams.subList(1, streams.size())) {
                    each.await(fork);
                }
                body.run();
                for (CudaStream each : streams.subList(1, streams.size())) {
                    fork.record(each);
                    origin.await(fork);
                }
                recorded = true;
            } finally {
                if (!recorded) {
                    abandon(origin);
                }
            }
            graph = Streams.endCapture(origin.handle());
        }
        try {
            return new CudaGraph(device, graph, Streams.instantiate(graph, 0));
        } catch (RuntimeException refused) {
            Streams.destroyGraph(graph);
            throw refused;
        }
    }

    /** Ends a capture whose body failed, so that the stream can be used again. */
    private static void abandon(CudaStream origin) {
        try {
            long half = Streams.endCapture(origin.handle());
            if (half != 0) {
                Streams.destroyGraph(half);
            }
        } catch (CudaException invalidated) {
            // what the body threw says why
        }
    }

    /**
     * Runs it.
     *
     * @param stream whose order counts
     */
    public void launch(CudaStream stream) {
        if (closed.get()) {
            throw new IllegalStateException("this graph has been closed");
        }
        device.enter(generation, "this graph");
        Streams.launchGraph(executable, stream.handle());
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true) && generation == device.generation()) {
            device.enter();
            Streams.destroyExecutable(executable);
            Streams.destroyGraph(graph);
        }
    }
}
