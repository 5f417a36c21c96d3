package dev.tutti.cuda;

import dev.tutti.Buffer;
import dev.tutti.CollectiveTimeoutException;
import dev.tutti.Communicator;
import dev.tutti.ReduceOp;
import dev.tutti.TuttiException;
import java.time.Duration;

/**
 * One rank in a process of its own, for {@code tutti run}: {@code DeviceRank BACKEND all|missing|killed|shrunk}. For NCCL with all ranks on
 * one device each needs another NCCL_HOSTID.
 */
final class DeviceRank {
    private DeviceRank() {}

    public static void main(String[] arguments) {
        try (Communicator comm = Communicator.fromEnvironment();
                DeviceCommunicator gpu = DeviceCommunicator.open(comm, Cuda.device(0), Backend.valueOf(arguments[0]))) {
            switch (arguments[1]) {
                case "all" -> all(gpu);
                case "missing" -> missing(comm, gpu);
                case "killed" -> killed(gpu);
                case "shrunk" -> shrunk(comm, (NcclCommunicator) gpu);
                default -> throw new IllegalArgumentException(arguments[1]);
            }
        }
    }

    private static void all(DeviceCommunicator gpu) {
        DeviceChecks.all(gpu);
        DeviceChecks.splits(gpu);
        if (gpu instanceof NcclCommunicator nccl && nccl.size() > 2) {
            int leaver = nccl.size() - 1;
            nccl.barrier().await();
            if (nccl.rank() != leaver) {
                try (NcclCommunicator fewer = nccl.shrink(leaver)) {
                    DeviceChecks.all(fewer);
                }
            }
        }
        System.out.println(gpu + ": every collective is right");
    }

    /** The last rank makes one call less and lives on. */
    private static void missing(Communicator comm, DeviceCommunicator gpu) {
        gpu.allReduce(Buffer.of(new float[] {1}), ReduceOp.SUM);
        if (gpu.rank() < gpu.size() - 1) {
            long start = System.nanoTime();
            try {
                gpu.allReduce(Buffer.of(new float[1000]), ReduceOp.SUM);
                throw new AssertionError("nobody was missed");
            } catch (CollectiveTimeoutException | dev.tutti.AbortedException expected) {
                say(start, expected);
            }
        }
        comm.withTimeout(Duration.ofMinutes(1)).barrier();
    }

    /** The last rank leaves; of the others the first makes one call less. */
    private static void shrunk(Communicator comm, NcclCommunicator gpu) {
        int leaver = gpu.size() - 1;
        gpu.barrier().await();
        if (gpu.rank() != leaver) {
            try (NcclCommunicator fewer = gpu.shrink(leaver)) {
                fewer.allReduce(Buffer.of(new float[] {1}), ReduceOp.SUM);
                if (fewer.rank() > 0) {
                    long start = System.nanoTime();
                    try {
                        fewer.allReduce(Buffer.of(new float[1000]), ReduceOp.SUM);
                        throw new AssertionError("nobody was missed");
                    } catch (CollectiveTimeoutException | dev.tutti.AbortedException expected) {
                        say(start, expected);
                    }
                }
                comm.withTimeout(Duration.ofMinutes(1)).barrier();
            }
        } else {
            comm.withTimeout(Duration.ofMinutes(1)).barrier();
        }
    }

    /** The last rank's process ends in the middle. */
    private static void killed(DeviceCommunicator gpu) {
        gpu.allReduce(Buffer.of(new float[] {1}), ReduceOp.SUM);
        if (gpu.rank() == gpu.size() - 1) {
            Runtime.getRuntime().halt(9);
        }
        long start = System.nanoTime();
        try {
            gpu.allReduce(Buffer.of(new float[1000]), ReduceOp.SUM);
            throw new AssertionError("nobody was missed");
        } catch (TuttiException expected) {
            say(start, expected);
        }
    }

    private static void say(long start, Exception expected) {
        System.out.printf(
                "as it should be, after %.2f s: %s: %s%n",
                (System.nanoTime() - start) / 1e9, expected.getClass().getSimpleName(), expected.getMessage());
    }
}
