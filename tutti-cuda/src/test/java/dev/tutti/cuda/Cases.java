package dev.tutti.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.IntFunction;

/** One call of every collective on integers, with memory of its own that was poisoned, and what must come out on each rank. */
final class Cases implements AutoCloseable {
    private static final int POISON = 0x5A5A5A5A;

    private final Allocator allocator;
    private final int ranks;
    private final int count;
    private final List<Case> all = new ArrayList<>();
    private final List<CudaBuffer> buffers = new ArrayList<>();
    private final Random random;

    /** Where the memory of the calls comes from. */
    interface Allocator {
        CudaBuffer allocate(DataType type, long count);
    }

    /** A collective: each rank's call, where its result is, and what it must be. */
    record Case(String name, CudaCall[] calls, CudaBuffer[] results, int[][] expected) {
        CudaCall call(int rank) {
            return calls[rank];
        }

        void check(String where) {
            for (int rank = 0; rank < calls.length; rank++) {
                check(where, rank);
            }
        }

        void check(String where, int rank) {
            if (results[rank] != null) {
                int[] got = new int[expected[rank].length];
                results[rank].copyTo(got);
                assertThat(java.util.Arrays.equals(got, expected[rank]))
                        .as("%s: %s, rank %d: %s", where, name, rank, firstWrong(got, expected[rank]))
                        .isTrue();
            }
        }

        private static String firstWrong(int[] got, int[] wanted) {
            int at = java.util.Arrays.mismatch(got, wanted);
            return at < 0 ? "" : "element " + at + " is " + got[at] + ", wanted " + wanted[at];
        }
    }

    Cases(CudaDevice device, int ranks, int count, long seed) {
        this(device, device::allocate, ranks, count, seed);
    }

    Cases(CudaDevice device, Allocator allocator, int ranks, int count, long seed) {
        this.allocator = allocator;
        this.ranks = ranks;
        this.count = count;
        this.random = new Random(seed);
        for (boolean inPlace : new boolean[] {false, true}) {
            allReduce(inPlace);
            reduce(inPlace, ranks - 1);
            scan(inPlace, false);
            scan(inPlace, true);
            allGather(inPlace);
            reduceScatter(inPlace);
            allToAll(inPlace);
        }
        broadcast(ranks / 2);
        gather(0);
        scatter(ranks - 1);
        ragged();
        all.add(new Case("barrier", filled(rank -> CudaCall.barrier()), new CudaBuffer[ranks], new int[ranks][]));
        device.synchronise();
    }

    List<Case> all() {
        return all;
    }

    void check(String where) {
        all.forEach(each -> each.check(where));
    }

    @Override
    public void close() {
        buffers.forEach(CudaBuffer::close);
    }

    private void allReduce(boolean inPlace) {
        int[][] data = data(count);
        int[] sum = sum(data, ranks);
        add(
                "allReduce" + named(inPlace),
                data,
                count,
                inPlace,
                rank -> sum,
                (rank, in, out) -> CudaCall.allReduce(in, out, ReduceOp.SUM));
    }

    private void reduce(boolean inPlace, int root) {
        int[][] data = data(count);
        int[] sum = sum(data, ranks);
        add(
                "reduce" + named(inPlace),
                data,
                count,
                inPlace,
                rank -> rank == root ? sum : inPlace ? data[rank] : poison(count),
                (rank, in, out) -> CudaCall.reduce(in, out, ReduceOp.SUM, root));
    }

    private void scan(boolean inPlace, boolean exclusive) {
        int[][] data = data(count);
        add(
                (exclusive ? "exscan" : "scan") + named(inPlace),
                data,
                count,
                inPlace,
                rank -> exclusive && rank == 0
                        ? inPlace ? data[0] : poison(count)
                        : sum(data, exclusive ? rank : rank + 1),
                (rank, in, out) ->
                        exclusive ? CudaCall.exscan(in, out, ReduceOp.SUM) : CudaCall.scan(in, out, ReduceOp.SUM));
    }

    private void broadcast(int root) {
        int[][] data = data(count);
        add("broadcast", data, count, true, rank -> data[root], (rank, in, out) -> CudaCall.broadcast(in, root));
    }

    private void allGather(boolean inPlace) {
        int[][] data = data(count);
        int[] joined = joined(data);
        CudaCall[] calls = new CudaCall[ranks];
        CudaBuffer[] results = new CudaBuffer[ranks];
        for (int rank = 0; rank < ranks; rank++) {
            results[rank] = buffer(poison(count * ranks));
            CudaBuffer in = inPlace ? results[rank].slice((long) rank * count, count) : buffer(data[rank]);
            if (inPlace) {
                in.copyFrom(data[rank]);
            }
            calls[rank] = CudaCall.allGather(in, results[rank]);
        }
        all.add(new Case("allGather" + named(inPlace), calls, results, filled(ranks, rank -> joined)));
    }

    private void reduceScatter(boolean inPlace) {
        int[][] data = data(count * ranks);
        int[] sum = sum(data, ranks);
        CudaCall[] calls = new CudaCall[ranks];
        CudaBuffer[] results = new CudaBuffer[ranks];
        for (int rank = 0; rank < ranks; rank++) {
            CudaBuffer in = buffer(data[rank]);
            results[rank] = inPlace ? in.slice((long) rank * count, count) : buffer(poison(count));
            calls[rank] = CudaCall.reduceScatter(in, results[rank], ReduceOp.SUM);
        }
        all.add(new Case(
                "reduceScatter" + named(inPlace),
                calls,
                results,
                filled(ranks, rank -> java.util.Arrays.copyOfRange(sum, rank * count, (rank + 1) * count))));
    }

    private void allToAll(boolean inPlace) {
        int[][] data = data(count * ranks);
        add(
                "allToAll" + named(inPlace),
                data,
                count * ranks,
                inPlace,
                rank -> {
                    int[] expected = new int[count * ranks];
                    for (int from = 0; from < ranks; from++) {
                        System.arraycopy(data[from], rank * count, expected, from * count, count);
                    }
                    return expected;
                },
                (rank, in, out) -> CudaCall.allToAll(in, out));
    }

    private void gather(int root) {
        int[][] data = data(count);
        int[] joined = joined(data);
        CudaCall[] calls = new CudaCall[ranks];
        CudaBuffer[] results = new CudaBuffer[ranks];
        results[root] = buffer(poison(count * ranks));
        for (int rank = 0; rank < ranks; rank++) {
            calls[rank] = CudaCall.gather(buffer(data[rank]), results[rank], root);
        }
        all.add(new Case("gather", calls, results, filled(ranks, rank -> joined)));
    }

    private void scatter(int root) {
        int[] data = data(count * ranks)[0];
        CudaBuffer from = buffer(data);
        CudaCall[] calls = new CudaCall[ranks];
        CudaBuffer[] results = new CudaBuffer[ranks];
        for (int rank = 0; rank < ranks; rank++) {
            results[rank] = buffer(poison(count));
            calls[rank] = CudaCall.scatter(rank == root ? from : null, results[rank], root);
        }
        all.add(new Case(
                "scatter",
                calls,
                results,
                filled(ranks, rank -> java.util.Arrays.copyOfRange(data, rank * count, (rank + 1) * count))));
    }

    /** Blocks of different lengths, some empty. */
    private void ragged() {
        long[][] counts = new long[ranks][ranks];
        for (long[] row : counts) {
            java.util.Arrays.setAll(row, i -> random.nextInt(3) == 0 ? 0 : random.nextInt(count + 1));
        }
        long[] own = counts[0];
        int total = (int) java.util.Arrays.stream(own).sum();
        long[] offsets = CudaCall.offsets(own);
        int[][] data = new int[ranks][];
        java.util.Arrays.setAll(data, rank -> random.ints((int) own[rank]).toArray());
        int[] joined = joined(data);
        CudaCall[] gathers = new CudaCall[ranks];
        CudaBuffer[] gathered = new CudaBuffer[ranks];
        CudaCall[] toRoot = new CudaCall[ranks];
        CudaBuffer[] atRoot = new CudaBuffer[ranks];
        CudaCall[] fromRoot = new CudaCall[ranks];
        CudaBuffer[] scattered = new CudaBuffer[ranks];
        CudaCall[] reduces = new CudaCall[ranks];
        CudaBuffer[] reduced = new CudaBuffer[ranks];
        int[][] terms = data(total);
        int[] sum = sum(terms, ranks);
        atRoot[0] = buffer(poison(total));
        CudaBuffer source = buffer(joined);
        for (int rank = 0; rank < ranks; rank++) {
            gathered[rank] = buffer(poison(total));
            gathers[rank] = CudaCall.allGatherV(buffer(data[rank]), gathered[rank], own);
            toRoot[rank] = CudaCall.gatherV(buffer(data[rank]), atRoot[rank], rank == 0 ? own : null, 0);
            scattered[rank] = buffer(poison((int) own[rank]));
            fromRoot[rank] = CudaCall.scatterV(rank == 0 ? source : null, rank == 0 ? own : null, scattered[rank], 0);
            reduced[rank] = buffer(poison((int) own[rank]));
            reduces[rank] = CudaCall.reduceScatterV(buffer(terms[rank]), reduced[rank], own, ReduceOp.SUM);
        }
        all.add(new Case("allGatherV", gathers, gathered, filled(ranks, rank -> joined)));
        all.add(new Case("gatherV", toRoot, atRoot, filled(ranks, rank -> joined)));
        all.add(new Case("scatterV", fromRoot, scattered, data));
        all.add(new Case(
                "reduceScatterV",
                reduces,
                reduced,
                filled(
                        ranks,
                        rank -> java.util.Arrays.copyOfRange(
                                sum, (int) offsets[rank], (int) (offsets[rank] + own[rank])))));
        allToAllV(counts);
    }

    private void allToAllV(long[][] counts) {
        int[][] data = new int[ranks][];
        java.util.Arrays.setAll(
                data,
                rank -> random.ints(java.util.Arrays.stream(counts[rank]).sum()).toArray());
        CudaCall[] calls = new CudaCall[ranks];
        CudaBuffer[] results = new CudaBuffer[ranks];
        int[][] expected = new int[ranks][];
        for (int rank = 0; rank < ranks; rank++) {
            long[] receives = new long[ranks];
            List<int[]> parts = new ArrayList<>();
            for (int from = 0; from < ranks; from++) {
                receives[from] = counts[from][rank];
                int at = (int) CudaCall.offsets(counts[from])[rank];
                parts.add(java.util.Arrays.copyOfRange(data[from], at, at + (int) receives[from]));
            }
            expected[rank] = joined(parts.toArray(int[][]::new));
            results[rank] = buffer(poison(expected[rank].length));
            calls[rank] = CudaCall.allToAllV(buffer(data[rank]), counts[rank], results[rank], receives);
        }
        all.add(new Case("allToAllV", calls, results, expected));
    }

    private interface Maker {
        CudaCall make(int rank, CudaBuffer in, CudaBuffer out);
    }

    private void add(String name, int[][] data, int length, boolean inPlace, IntFunction<int[]> result, Maker maker) {
        CudaCall[] calls = new CudaCall[ranks];
        CudaBuffer[] results = new CudaBuffer[ranks];
        for (int rank = 0; rank < ranks; rank++) {
            CudaBuffer in = buffer(data[rank]);
            results[rank] = inPlace ? in : buffer(poison(length));
            calls[rank] = maker.make(rank, in, results[rank]);
        }
        all.add(new Case(name, calls, results, filled(ranks, result)));
    }

    private CudaBuffer buffer(int[] data) {
        CudaBuffer buffer = allocator.allocate(DataType.INT32, data.length);
        buffer.copyFrom(data);
        buffers.add(buffer);
        return buffer;
    }

    private int[][] data(int length) {
        int[][] data = new int[ranks][];
        java.util.Arrays.setAll(data, rank -> random.ints(length).toArray());
        return data;
    }

    private static int[] sum(int[][] data, int first) {
        int[] sum = data[0].clone();
        for (int rank = 1; rank < first; rank++) {
            for (int i = 0; i < sum.length; i++) {
                sum[i] += data[rank][i];
            }
        }
        return sum;
    }

    private static int[] joined(int[][] parts) {
        return java.util.Arrays.stream(parts)
                .flatMapToInt(java.util.Arrays::stream)
                .toArray();
    }

    private static int[] poison(int length) {
        int[] poison = new int[length];
        java.util.Arrays.fill(poison, POISON);
        return poison;
    }

    private CudaCall[] filled(IntFunction<CudaCall> maker) {
        CudaCall[] calls = new CudaCall[ranks];
        java.util.Arrays.setAll(calls, maker);
        return calls;
    }

    private static int[][] filled(int ranks, IntFunction<int[]> maker) {
        int[][] all = new int[ranks][];
        java.util.Arrays.setAll(all, maker);
        return all;
    }

    private static String named(boolean inPlace) {
        return inPlace ? " in place" : "";
    }
}
