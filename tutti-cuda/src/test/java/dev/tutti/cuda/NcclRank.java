package dev.tutti.cuda;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;

/**
 * One rank of a NCCL communicator in a process of its own: {@code NcclRank RANK RANKS ID_FILE sum|late}. {@code sum} is what
 * examples/pytorch/nccl_peer.py does, so the two can be ranks of one communicator.
 */
final class NcclRank {
    private NcclRank() {}

    public static void main(String[] arguments) throws Exception {
        int rank = Integer.parseInt(arguments[0]);
        int ranks = Integer.parseInt(arguments[1]);
        CudaDevice device = Cuda.device(0);
        byte[] id = id(rank, Path.of(arguments[2]));
        if (arguments[3].equals("late")) {
            late(device, ranks, id, rank);
            return;
        }
        try (NcclCommunicator comm = NcclCommunicator.open(device, ranks, id, rank, Duration.ofSeconds(30))) {
            sum(device, comm);
        }
    }

    private static byte[] id(int rank, Path file) throws Exception {
        if (rank == 0) {
            byte[] id = NcclCommunicator.newId();
            Path part = file.resolveSibling(file.getFileName() + ".part");
            Files.write(part, id);
            Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
            return id;
        }
        long deadline = System.nanoTime() + 60_000_000_000L;
        while (!Files.exists(file)) {
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException("rank " + rank + ": no id at " + file + " after 60 s");
            }
            Thread.onSpinWait();
        }
        return Files.readAllBytes(file);
    }

    private static void sum(CudaDevice device, DeviceCommunicator comm) {
        int count = 1 << 20;
        try (CudaBuffer x = device.allocate(DataType.FLOAT32, count)) {
            float[] data = new float[count];
            java.util.Arrays.fill(data, comm.rank() + 1);
            x.copyFrom(data, comm.stream());
            comm.start(CudaCall.allReduce(x, x, ReduceOp.SUM)).await();
            x.copyTo(data, comm.stream());
            float expected = comm.size() * (comm.size() + 1) / 2f;
            boolean right = true;
            for (float each : data) {
                right &= each == expected;
            }
            System.out.println("Java " + Runtime.version() + ", rank " + comm.rank() + " of " + comm.size() + ": sum "
                    + data[0] + ", expected " + expected + ", all right: " + right);
            if (!right) {
                throw new AssertionError("wrong sum");
            }
        }
    }

    /** Nobody else comes. */
    private static void late(CudaDevice device, int ranks, byte[] id, int rank) {
        try {
            NcclCommunicator.open(device, ranks, id, rank, Duration.ofSeconds(3))
                    .close();
            throw new AssertionError("nobody was missed");
        } catch (dev.tutti.CollectiveTimeoutException expected) {
            System.out.println("as it should be: " + expected.getMessage());
        }
        try (CudaBuffer x = device.allocate(DataType.FLOAT32, 10)) {
            x.copyFrom(new float[10]);
        }
    }
}
