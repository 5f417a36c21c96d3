package dev.tutti.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** What every {@link DeviceCommunicator} must do, whoever carries it out; exact data against a naive reference. */
final class DeviceChecks {
    private final DeviceCommunicator comm;
    private final int rank;
    private final int size;

    private DeviceChecks(DeviceCommunicator comm) {
        this.comm = comm;
        this.rank = comm.rank();
        this.size = comm.size();
    }

    static void all(DeviceCommunicator comm) {
        DeviceChecks checks = new DeviceChecks(comm);
        for (int count : new int[] {1, 1000, 33_333}) {
            checks.everyCollective(count);
        }
        checks.operators();
        for (int count : new int[] {0, 1, 777, 700_001}) {
            checks.hostMemory(count);
        }
        checks.hostMemoryWithCounts();
        checks.messagesTogether();
        checks.prepared();
    }

    private void everyCollective(int count) {
        try (Cases cases = new Cases(comm.device(), size, count, 5 + count)) {
            for (Cases.Case each : cases.all()) {
                comm.start(each.call(rank)).await();
                each.check(comm + ", " + count, rank);
            }
        }
    }

    private void operators() {
        for (ReduceOp op : new ReduceOp[] {
            ReduceOp.SUM, ReduceOp.PROD, ReduceOp.MIN, ReduceOp.MAX, ReduceOp.AVG, ReduceOp.preMulSum(rank + 1)
        }) {
            double[] data = new double[100];
            Arrays.fill(data, rank + 2);
            try (CudaBuffer x = comm.device().allocate(DataType.FLOAT64, data.length)) {
                x.copyFrom(data, comm.stream());
                comm.allReduce(x, op).await();
                x.copyTo(data, comm.stream());
            }
            // NCCL multiplies by a reciprocal where others divide.
            assertThat(data).as("%s: %s", comm, op).containsOnly(data[0]);
            assertThat(data[0]).as("%s: %s", comm, op).isCloseTo(expected(op), within(1e-14));
        }
    }

    private double expected(ReduceOp op) {
        double result = op.kind() == ReduceOp.Kind.PROD ? 1 : 0;
        for (int each = 0; each < size; each++) {
            double value = each + 2;
            result = switch (op.kind()) {
                case PROD -> result * value;
                case MIN -> 2;
                case MAX -> value;
                case PRE_MUL_SUM -> result + value * (each + 1);
                default -> result + value;
            };
        }
        return op.kind() == ReduceOp.Kind.AVG ? result / size : result;
    }

    private static int[] data(int rank, int count) {
        return new Random(31L * rank + count).ints(count, -1000, 1000).toArray();
    }

    private int[] sum(int ranks, int count) {
        int[] sum = new int[count];
        for (int each = 0; each < ranks; each++) {
            int[] term = data(each, count);
            Arrays.setAll(sum, i -> sum[i] + term[i]);
        }
        return sum;
    }

    private int[] joined(int count) {
        int[] all = new int[size * count];
        for (int each = 0; each < size; each++) {
            System.arraycopy(data(each, count), 0, all, each * count, count);
        }
        return all;
    }

    private static int[] poison(int count) {
        int[] poison = new int[count];
        Arrays.fill(poison, 0x5A5A5A5A);
        return poison;
    }

    /** Arrays as they are; longer than what is staged at once. */
    private void hostMemory(int count) {
        int root = size - 1;
        int[] own = data(rank, count);
        int[] wide = data(rank, count * size);
        int[] out = own.clone();
        comm.allReduce(Buffer.of(out), ReduceOp.SUM);
        assertThat(out).isEqualTo(sum(size, count));
        out = poison(count);
        comm.allReduce(Buffer.of(own), Buffer.of(out), ReduceOp.SUM);
        assertThat(out).isEqualTo(sum(size, count));
        out = poison(count);
        comm.reduce(Buffer.of(own), Buffer.of(out), ReduceOp.SUM, root);
        assertThat(out).isEqualTo(rank == root ? sum(size, count) : poison(count));
        out = own.clone();
        comm.broadcast(Buffer.of(out), root);
        assertThat(out).isEqualTo(data(root, count));
        out = poison(count * size);
        comm.allGather(Buffer.of(own), Buffer.of(out));
        assertThat(out).isEqualTo(joined(count));
        out = poison(count);
        comm.reduceScatter(Buffer.of(wide), Buffer.of(out), ReduceOp.SUM);
        assertThat(out).isEqualTo(Arrays.copyOfRange(sum(size, count * size), rank * count, (rank + 1) * count));
        out = poison(count * size);
        comm.gather(Buffer.of(own), rank == root ? Buffer.of(out) : null, root);
        assertThat(out).isEqualTo(rank == root ? joined(count) : poison(count * size));
        out = poison(count);
        comm.scatter(rank == root ? Buffer.of(wide) : null, Buffer.of(out), root);
        assertThat(out).isEqualTo(Arrays.copyOfRange(data(root, count * size), rank * count, (rank + 1) * count));
        out = poison(count * size);
        comm.allToAll(Buffer.of(wide), Buffer.of(out));
        for (int from = 0; from < size; from++) {
            assertThat(Arrays.copyOfRange(out, from * count, (from + 1) * count))
                    .isEqualTo(Arrays.copyOfRange(data(from, count * size), rank * count, (rank + 1) * count));
        }
        out = poison(count);
        comm.scan(Buffer.of(own), Buffer.of(out), ReduceOp.SUM);
        assertThat(out).isEqualTo(sum(rank + 1, count));
        out = poison(count);
        comm.exscan(Buffer.of(own), Buffer.of(out), ReduceOp.SUM);
        assertThat(out).isEqualTo(rank == 0 ? poison(count) : sum(rank, count));
    }

    /** Rank r has r + 1 elements; what is behind the blocks stays. */
    private void hostMemoryWithCounts() {
        long[] counts = new long[size];
        Arrays.setAll(counts, each -> each + 1);
        int total = size * (size + 1) / 2;
        int[] joined = new int[total + 3];
        Arrays.fill(joined, 0x5A5A5A5A);
        for (int each = 0, at = 0; each < size; at += each + 1, each++) {
            System.arraycopy(data(each, each + 1), 0, joined, at, each + 1);
        }
        int[] out = poison(total + 3);
        comm.allGatherV(Buffer.of(data(rank, rank + 1)), Buffer.of(out), counts);
        assertThat(out).isEqualTo(joined);
        out = poison(total + 3);
        comm.gatherV(Buffer.of(data(rank, rank + 1)), rank == 0 ? Buffer.of(out) : null, rank == 0 ? counts : null, 0);
        assertThat(out).isEqualTo(rank == 0 ? joined : poison(total + 3));
        out = poison(rank + 1);
        comm.scatterV(rank == 0 ? Buffer.of(joined) : null, rank == 0 ? counts : null, Buffer.of(out), 0);
        assertThat(out).isEqualTo(data(rank, rank + 1));
    }

    /** Everybody sends to the next and receives from the one before, which one after the other would wait for ever. */
    private void messagesTogether() {
        int next = (rank + 1) % size;
        int previous = (rank + size - 1) % size;
        try (CudaBuffer from = comm.device().allocate(DataType.INT32, 5000);
                CudaBuffer to = comm.device().allocate(DataType.INT32, 5000)) {
            from.copyFrom(data(rank, 5000), comm.stream());
            List<CudaCall> calls = new ArrayList<>();
            calls.add(CudaCall.send(from, next));
            calls.add(CudaCall.receive(to, previous));
            comm.startAll(calls).await();
            int[] got = new int[5000];
            to.copyTo(got, comm.stream());
            assertThat(got).isEqualTo(data(previous, 5000));
        }
        if (size > 1) {
            int[] got = data(0, 50);
            if (rank == 0) {
                comm.send(Buffer.of(got), 1);
            } else if (rank == 1) {
                got = poison(50);
                comm.receive(Buffer.of(got), 0);
            }
            assertThat(got).isEqualTo(data(0, 50));
        }
    }

    private void prepared() {
        try (CudaBuffer x = comm.device().allocate(DataType.INT64, 10)) {
            CudaPrepared step = comm.prepare(CudaCall.allReduce(x, x, ReduceOp.MAX));
            for (long turn = 0; turn < 5; turn++) {
                long[] data = new long[10];
                Arrays.fill(data, 100 * turn + rank);
                x.copyFrom(data, comm.stream());
                step.run();
                x.copyTo(data, comm.stream());
                assertThat(data).containsOnly(100 * turn + size - 1);
            }
        }
    }

    /** Odd and even ranks apart, in reverse order; afterwards the first rank alone stays out. */
    static void splits(DeviceCommunicator comm) {
        try (DeviceCommunicator half = comm.split(comm.rank() % 2, -comm.rank()).orElseThrow()) {
            assertThat(half.backend()).isEqualTo(comm.backend());
            int before = comm.rank() % 2 == (comm.size() - 1) % 2 ? 0 : 1;
            assertThat(half.rank()).isEqualTo((comm.size() - 1 - before - comm.rank()) / 2);
            all(half);
        }
        boolean stays = comm.rank() > 0;
        var rest = comm.split(stays ? 3 : Communicator.NO_COLOR, comm.rank());
        assertThat(rest.isPresent()).isEqualTo(stays);
        rest.ifPresent(each -> {
            int[] x = {each.rank()};
            each.allReduce(Buffer.of(x), ReduceOp.SUM);
            assertThat(x[0]).isEqualTo(each.size() * (each.size() - 1) / 2);
            each.close();
        });
    }
}
