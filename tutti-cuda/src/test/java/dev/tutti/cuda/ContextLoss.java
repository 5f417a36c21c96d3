package dev.tutti.cuda;

import dev.tutti.DataType;
import dev.tutti.ReduceFunction;
import dev.tutti.ReduceOp;
import java.util.Arrays;

/** A kernel that fails takes the context with it; a process of its own, as others on the device might suffer. */
final class ContextLoss {
    private ContextLoss() {}

    public static void main(String[] arguments) {
        CudaDevice device = Cuda.device(0);
        int generation = device.generation();
        CudaWorld world = CudaWorld.open(device, 2);
        CudaBuffer x = device.allocate(DataType.FLOAT32, 1000);
        CudaBuffer y = device.allocate(DataType.FLOAT32, 1000);
        CudaStream stream = device.stream();
        ReduceFunction trap = new ReduceFunction("trap", DataType.FLOAT32, true, (a, b, n) -> {});
        world.define(trap, "__device__ A user(A a, A x) { asm(\"trap;\"); return a; }");
        expect("the operation", CudaException.class, () -> {
            CudaGroup group = world.group();
            group.add(world.communicator(0).useStream(stream), CudaCall.allReduce(x, x, ReduceOp.of(trap)));
            group.add(world.communicator(1).useStream(stream), CudaCall.allReduce(y, y, ReduceOp.of(trap)));
            group.run().await();
        });
        expect("the buffer", StaleException.class, x::pointer);
        expect("the world", StaleException.class, () -> world.communicator(0).barrier());
        expect("the stream", StaleException.class, stream::synchronise);
        expect("new memory", StaleException.class, () -> device.allocate(DataType.INT8, 1));
        world.close();
        x.close();
        y.close();
        stream.close();
        device.rebuild();
        if (device.generation() == generation) {
            throw new AssertionError("still generation " + generation);
        }
        expect("the buffer after the rebuild", StaleException.class, x::pointer);
        try (CudaWorld fresh = CudaWorld.open(device, 2);
                CudaBuffer a = device.allocate(DataType.FLOAT32, 1000);
                CudaBuffer b = device.allocate(DataType.FLOAT32, 1000)) {
            float[] data = new float[1000];
            Arrays.fill(data, 2);
            a.copyFrom(data);
            b.copyFrom(data);
            try (CudaGroup group = fresh.group()) {
                group.add(fresh.communicator(0), CudaCall.allReduce(a, a, ReduceOp.SUM));
                group.add(fresh.communicator(1), CudaCall.allReduce(b, b, ReduceOp.SUM));
            }
            b.copyTo(data);
            for (float each : data) {
                if (each != 4) {
                    throw new AssertionError("after the rebuild 2 + 2 is " + each);
                }
            }
        }
        System.out.println("after the rebuild the device works");
    }

    private static void expect(String what, Class<? extends RuntimeException> kind, Runnable body) {
        try {
            body.run();
        } catch (RuntimeException thrown) {
            if (!kind.isInstance(thrown)) {
                throw thrown;
            }
            System.out.println(what + ": " + thrown.getMessage());
            return;
        }
        throw new AssertionError(what + " was not refused");
    }
}
