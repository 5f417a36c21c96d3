package dev.tutti.cli.perf;

import dev.tutti.Collective;
import dev.tutti.ReduceOp;
import dev.tutti.algorithm.Algorithm;
import dev.tutti.algorithm.Algorithms;
import dev.tutti.cli.common.CommandException;
import dev.tutti.cuda.CudaBuffer;
import dev.tutti.cuda.CudaDevice;
import dev.tutti.cuda.CudaPlan;
import dev.tutti.cuda.CudaStream;
import dev.tutti.data.ExactData;
import dev.tutti.plan.Protocol;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A case by an algorithm that was named, on the device's executor of plans instead of as one fused launch. */
final class CudaPlans implements CudaRows.Launches {
    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    private final CudaPlan plan;
    private final CudaStream stream;
    private final Case what;
    private final Shape shape;
    private final List<CudaBuffer> inputs = new ArrayList<>();
    private final List<CudaBuffer> outputs = new ArrayList<>();
    private final List<ReduceOp> operators = new ArrayList<>();

    CudaPlans(CudaDevice device, CudaStream stream, PerfOptions options, Case what, Shape shape) {
        this.stream = stream;
        this.what = what;
        this.shape = shape;
        int ranks = options.ranks();
        int lanes = options.lanes != null ? options.lanes : CudaPlan.lanes(device, ranks);
        this.plan = CudaPlan.open(device, algorithm(what, options).plan(ranks, Math.max(0, what.root()), lanes));
        for (int rank = 0; what.program().isReducing() && rank < ranks; rank++) {
            operators.add(ExactData.operator(what.operator(), rank));
        }
    }

    /** Refuses names that there are not, before anything is measured. */
    static Algorithm algorithm(Case what, PerfOptions options) {
        Collective collective = what.program()
                .collective()
                .orElseThrow(
                        () -> CommandException.usage(what.program().label() + " has no algorithms to choose from"));
        String name = options.algorithm == null ? "" : options.algorithm;
        return Algorithms.of(collective).stream()
                .filter(each -> name.isEmpty() || each.name().equals(name))
                .filter(each -> options.protocol == null
                        || each.protocol() == Protocol.valueOf(options.protocol.toUpperCase(Locale.ROOT)))
                .findFirst()
                .orElseThrow(() -> CommandException.usage("no algorithm of " + collective.commandName() + " is called '"
                        + name + "'" + (options.protocol == null ? "" : " with protocol " + options.protocol)
                        + "; there are " + Algorithms.names(collective)));
    }

    /** The memory of one rank, in rank order. */
    void add(CudaBuffer in, CudaBuffer out) {
        inputs.add(in);
        outputs.add(out);
    }

    @Override
    public void enqueue() {
        if (operators.isEmpty()) {
            plan.launch(stream, what.type(), shape.count(), null, inputs, outputs);
        } else {
            plan.launchEach(stream, what.type(), shape.count(), operators, inputs, outputs);
        }
    }

    @Override
    public void await() {
        plan.await(TIMEOUT);
    }

    @Override
    public void close() {
        plan.close();
    }
}
