package dev.tutti.cli.plan;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.cuda.CudaBuffer;
import dev.tutti.cuda.CudaDevice;
import dev.tutti.cuda.CudaPlan;
import dev.tutti.cuda.CudaStream;
import dev.tutti.plan.Plan;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Runs one plan on a device. Memory is filled and compared on the host; guards travel along. */
final class CudaTrial implements AutoCloseable {
    private final CudaDevice device;
    private final Duration timeout;
    private final CudaStream stream;
    private final CudaPlan run;

    CudaTrial(CudaDevice device, Plan plan, Duration timeout) {
        this.device = device;
        this.timeout = timeout;
        this.stream = device.stream();
        this.run = CudaPlan.open(device, plan);
    }

    /** All launches of a case, one behind the other; what is wrong, or null. */
    @Nullable
    String run(List<TrialMemory> memories, TrialCase each, int delays) {
        int launches = memories.getFirst().launches();
        List<CudaBuffer> buffers = new ArrayList<>();
        try {
            List<List<CudaBuffer>> inputs = new ArrayList<>();
            List<List<CudaBuffer>> outputs = new ArrayList<>();
            for (int launch = 0; launch < launches; launch++) {
                inputs.add(new ArrayList<>());
                outputs.add(new ArrayList<>());
            }
            for (TrialMemory memory : memories) {
                memory.fill();
                for (int launch = 0; launch < launches; launch++) {
                    MemorySegment whole = memory.whole(launch);
                    CudaBuffer buffer = device.allocate(DataType.UINT8, whole.byteSize());
                    buffers.add(buffer);
                    buffer.copyFrom(whole, stream);
                    inputs.get(launch).add(part(buffer, whole, memory.input(launch)));
                    outputs.get(launch).add(part(buffer, whole, memory.output(launch)));
                }
            }
            run.delays(delays);
            for (int launch = 0; launch < launches; launch++) {
                launch(each, inputs.get(launch), outputs.get(launch));
            }
            run.await(timeout);
            int next = 0;
            for (TrialMemory memory : memories) {
                for (int launch = 0; launch < launches; launch++) {
                    buffers.get(next++).copyTo(memory.whole(launch), stream);
                }
                String wrong = memory.check();
                if (wrong != null) {
                    return wrong;
                }
            }
            return null;
        } finally {
            buffers.forEach(CudaBuffer::close);
        }
    }

    private void launch(TrialCase each, List<CudaBuffer> inputs, List<CudaBuffer> outputs) {
        ReduceOp first = Trial.operator(each, 0);
        if (first == null || first.kind() != ReduceOp.Kind.PRE_MUL_SUM) {
            run.launch(stream, each.type(), each.count(), first, inputs, outputs);
            return;
        }
        List<ReduceOp> operators = new ArrayList<>();
        for (int rank = 0; rank < inputs.size(); rank++) {
            operators.add(Objects.requireNonNull(Trial.operator(each, rank)));
        }
        run.launchEach(stream, each.type(), each.count(), operators, inputs, outputs);
    }

    private static CudaBuffer part(CudaBuffer buffer, MemorySegment whole, MemorySegment part) {
        return buffer.slice(part.address() - whole.address(), part.byteSize());
    }

    @Override
    public void close() {
        run.close();
        stream.close();
    }
}
