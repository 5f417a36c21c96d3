package dev.tutti.cli.plan;

import dev.tutti.Collective;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.cli.common.Names;
import dev.tutti.data.ExactData;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
import dev.tutti.plan.PlanHeader;
import dev.tutti.plan.PlanSizes;
import dev.tutti.plan.RankPlan;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Which sizes, types and operators a plan is run with. */
final class TrialCases {
    /** Types that are tried where none is named: four, two, one and eight bytes, floats and integers. */
    private static final List<DataType> TYPES = List.of(
            DataType.FLOAT32, DataType.BFLOAT16, DataType.INT8, DataType.INT32, DataType.FLOAT64, DataType.UINT8);

    /** Nothing gives the plan's chunks a size. */
    static final class NotExecutable extends RuntimeException {
        private static final long serialVersionUID = 1;

        NotExecutable(String reason) {
            super(reason, null, false, false);
        }
    }

    private final Plan plan;
    private final TrialOptions options;
    private final @Nullable Collective collective;
    private final boolean folds;
    private final long blocks;

    private TrialCases(Plan plan, TrialOptions options) {
        this.plan = plan;
        this.options = options;
        this.collective = plan.header().collective();
        this.folds = collective != null
                ? collective.isReducing()
                : operations().anyMatch(op -> op.code().folds());
        this.blocks = collective == null
                ? 1
                : Math.max(1, Math.max(collective.inputBlocks(plan.ranks()), collective.outputBlocks(plan.ranks())));
    }

    /** The cases that the options mean for a plan. */
    static List<TrialCase> of(Plan plan, TrialOptions options) {
        if (plan.header().style() != PlanHeader.Style.BLOCKS) {
            try {
                PlanSizes.of(plan, 1, 1);
            } catch (IllegalArgumentException sizeless) {
                throw new NotExecutable(String.valueOf(sizeless.getMessage()));
            }
        }
        return new TrialCases(plan, options).all();
    }

    private List<TrialCase> all() {
        List<DataType> types = options.type == null ? TYPES : Names.types(options.type);
        List<TrialCase> cases = new ArrayList<>();
        int next = 0;
        for (long bytes : options.sizes.isGiven() ? options.sizes.read().all() : ownSizes()) {
            // Without a named type each size takes the next one: all types are seen, and it does not take all day.
            List<DataType> now = options.type == null ? List.of(types.get(next++ % types.size())) : types;
            for (DataType type : now) {
                for (ReduceOp.@Nullable Kind kind : operators(type)) {
                    long count = bytes / blocks / type.bytes();
                    if (plan.header().admits(count * type.bytes() * blocks)) {
                        cases.add(new TrialCase(
                                count,
                                type,
                                options.operator == null || !folds ? null : kind,
                                collective == null || !folds ? null : kind));
                    }
                }
            }
        }
        if (cases.isEmpty()) {
            throw new IllegalArgumentException("none of the sizes is within the plan's limits of "
                    + Long.toUnsignedString(plan.header().minBytes()) + " to "
                    + Long.toUnsignedString(plan.header().maxBytes()) + " bytes");
        }
        return cases;
    }

    private List<ReduceOp.@Nullable Kind> operators(DataType type) {
        List<ReduceOp.@Nullable Kind> kinds = new ArrayList<>();
        if (!folds) {
            kinds.add(null);
        } else if (options.operator == null) {
            kinds.add(Objects.requireNonNullElse(Expectation.operator(plan), ReduceOp.Kind.SUM));
        } else {
            for (ReduceOp.Kind kind : Names.operators(options.operator)) {
                if (ExactData.operator(kind, 0).accepts(type)) {
                    kinds.add(kind);
                }
            }
        }
        return kinds;
    }

    private Stream<Op> operations() {
        return plan.all().stream().flatMap(RankPlan::operations);
    }

    /** The plan's granule, larger and smaller messages, some that its chunks do not divide, and none. */
    private Set<Long> ownSizes() {
        long chunks = Math.max(plan.rank(0).inputChunks(), plan.rank(0).outputChunks());
        long granule = Math.max(1, chunks) * plan.header().alignmentBytes();
        long slices = operations()
                .mapToInt(op -> op.slice() == null ? 1 : op.slice().of())
                .max()
                .orElse(1);
        long whole = granule * slices;
        long min = plan.header().minBytes();
        long base = whole * Math.max(1, Math.ceilDiv(Math.max(0, min), whole));
        return new LinkedHashSet<>(List.of(
                base,
                base * 3 + 8 * blocks,
                base + 7 * blocks,
                base / 2 + 4 * blocks,
                blocks * 8,
                base * 17 + 3 * blocks,
                0L));
    }
}
