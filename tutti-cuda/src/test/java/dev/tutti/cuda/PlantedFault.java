package dev.tutti.cuda;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;

/** Writes outside of its memory on purpose: a checker that finds nothing here is not looking. Not a test. */
final class PlantedFault {
    private PlantedFault() {}

    public static void main(String[] arguments) {
        CudaDevice device = Cuda.device(0);
        CudaBuffer small = device.allocate(DataType.FLOAT32, 8);
        CudaBuffer lie = CudaBuffer.external(device, small.pointer(), DataType.FLOAT32, 1 << 12);
        CudaWorld world = CudaWorld.open(device, 2);
        CudaGroup group = world.group();
        group.add(world.communicator(0), CudaCall.allReduce(lie, lie, ReduceOp.SUM));
        group.add(world.communicator(1), CudaCall.allReduce(lie, lie, ReduceOp.SUM));
        group.run().await();
        System.out.println("nobody noticed");
    }
}
