package dev.tutti.cuda;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.plan.Plan;
import dev.tutti.plan.json.PlanFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each kernel once, on little data, with odd sizes: what compute-sanitizer is to look at. */
@Timeout(600)
class EveryKernelTest {
    @Test
    void shouldTouchOnlyItsOwnMemory() {
        CudaDevice device = Gpu.device();
        for (int ranks : new int[] {2, 3, 4, 8}) {
            try (CudaWorld world = CudaWorld.open(device, ranks)) {
                Cases cases = new Cases(device, ranks, 333, ranks);
                for (Cases.Case each : cases.all()) {
                    try (CudaGroup group = world.group()) {
                        for (int rank = 0; rank < ranks; rank++) {
                            group.add(world.communicator(rank), each.call(rank));
                        }
                    }
                }
                cases.check(ranks + " ranks");
                cases.close();
            }
        }
        for (DataType type : DataType.values()) {
            try (CudaWorld world = CudaWorld.open(device, 3)) {
                List<CudaBuffer> buffers = new ArrayList<>();
                try (CudaGroup group = world.group()) {
                    for (int rank = 0; rank < 3; rank++) {
                        CudaBuffer x = device.allocate(type, 77);
                        x.fill(rank, device.defaultStream());
                        buffers.add(x);
                        group.add(world.communicator(rank), CudaCall.allReduce(x, x, ReduceOp.MAX));
                    }
                    device.synchronise();
                }
                buffers.forEach(CudaBuffer::close);
            }
        }
    }

    @Test
    void shouldRunPlansInTheirOwnMemory() throws Exception {
        CudaDevice device = Gpu.device();
        Path folder = Path.of(System.getProperty("tutti.plans", "../../shared/plans"));
        if (!Files.isDirectory(folder)) {
            System.out.println("no plan files at " + folder.toAbsolutePath() + ": none was run");
            return;
        }
        List<Path> files;
        try (var all = Files.walk(folder)) {
            files = all.filter(file ->
                            file.toString().matches(".*(allreduce_naivy_4r|allgather_ring|nvls|pipeline).*json"))
                    .sorted()
                    .toList();
        }
        for (Path file : files) {
            Plan plan = PlanFile.load(file);
            if (plan.ranks() > 8
                    || plan.header().collective() == null
                    || !plan.header().admits(4096L * plan.ranks())) {
                continue;
            }
            System.out.println(file.getFileName());
            long blocks = Math.max(
                    plan.collective().inputBlocks(plan.ranks()),
                    plan.collective().outputBlocks(plan.ranks()));
            long count = 1024L * plan.ranks() / blocks;
            List<CudaBuffer> buffers = new ArrayList<>();
            for (int rank = 0; rank < plan.ranks(); rank++) {
                CudaBuffer x = device.allocate(DataType.INT32, count * blocks);
                x.fill(0, device.defaultStream());
                buffers.add(x);
            }
            device.synchronise();
            try (CudaPlan run = CudaPlan.open(device, plan);
                    CudaStream stream = device.stream()) {
                run.launch(stream, DataType.INT32, count, null, buffers, buffers);
                run.launch(stream, DataType.INT32, count, null, buffers, buffers);
                run.await(Duration.ofSeconds(60));
            }
            buffers.forEach(CudaBuffer::close);
        }
    }
}
