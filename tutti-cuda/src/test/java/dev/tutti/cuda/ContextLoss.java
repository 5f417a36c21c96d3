package dev.tutti.cuda;

import dev.tutti.DataType;
import dev.tutti.ReduceFunction;
import dev.tutti.ReduceOp;

/** A kernel that fails takes the context with it, and the process gets no other; so it is one of its own. */
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
        expect("rebuilding", StaleException.class, device::rebuild);
        expect("new memory after that", StaleException.class, () -> device.allocate(DataType.INT8, 1));
        if (device.generation() == generation) {
            throw new AssertionError("still generation " + generation);
        }
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
