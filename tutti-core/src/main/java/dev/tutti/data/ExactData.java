package dev.tutti.data;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Inputs for all ranks of a collective, and the result that must come out of them to the last bit. For reductions the inputs
 * are such that every partial result, of any ranks in any order, can be represented in the element type: a plan may group and
 * round as it likes. Only float averages may differ, by {@value #AVG_TOLERANCE} units in the last place, for the division.
 *
 * {@snippet :
 * ExactData data = ExactData.reducing(DataType.BFLOAT16, ReduceOp.Kind.SUM, comm.size());
 * data.input(comm.rank(), seed).fill(buffer.segment(), 0);
 * comm.allReduce(buffer, data.operator(comm.rank()));
 * assert data.reduced(seed).countWrong(buffer.segment(), 0) == 0;
 * }
 *
 * <p>An element is one of {@value #PATTERNS} patterns, chosen by the hash of seed and index; a pattern is one value per rank.
 */
public final class ExactData {
    static final int PATTERNS = 1024;
    static final int AVG_TOLERANCE = 2;

    private final DataType type;
    private final ReduceOp.@Nullable Kind kind;
    private final int ranks;
    /** Bits of each rank's value, pattern by pattern; empty if nothing is reduced. */
    private final long[][] inputs;

    private ExactData(DataType type, ReduceOp.@Nullable Kind kind, int ranks, long[][] inputs) {
        this.type = type;
        this.kind = kind;
        this.ranks = ranks;
        this.inputs = inputs;
    }

    /**
     * Data to be reduced.
     *
     * @param type what the elements are
     * @param kind how they are reduced; anything but a function of the user's
     * @param ranks how many ranks contribute
     * @return inputs and results
     */
    public static ExactData reducing(DataType type, ReduceOp.Kind kind, int ranks) {
        Objects.requireNonNull(type, "type");
        if (ranks < 1) {
            throw new IllegalArgumentException("ranks must be at least 1, got " + ranks);
        }
        boolean bitwise = kind == ReduceOp.Kind.AND || kind == ReduceOp.Kind.OR || kind == ReduceOp.Kind.XOR;
        if (kind == ReduceOp.Kind.USER || (bitwise && !type.isInteger())) {
            throw new IllegalArgumentException("no exact data for " + kind + " of " + type);
        }
        return new ExactData(type, kind, ranks, new Patterns(type, kind, ranks).draw(PATTERNS));
    }

    /**
     * Data to be moved: every bit pattern of the type can occur.
     *
     * @param type what the elements are
     * @param ranks how many ranks contribute
     * @return inputs, which are also the results
     */
    public static ExactData moving(DataType type, int ranks) {
        return new ExactData(Objects.requireNonNull(type, "type"), null, ranks, new long[0][]);
    }

    /**
     * The operator to reduce with; {@code preMulSum} has the scalar 1 on even and 2 on odd ranks.
     *
     * @param rank who calls
     * @return that rank's operator
     */
    public ReduceOp operator(int rank) {
        return operator(requireReducing(), rank);
    }

    /**
     * The operator of a rank, without making data.
     *
     * @param kind how elements are reduced
     * @param rank who calls
     * @return that rank's operator
     */
    public static ReduceOp operator(ReduceOp.Kind kind, int rank) {
        return switch (kind) {
            case SUM -> ReduceOp.SUM;
            case PROD -> ReduceOp.PROD;
            case MIN -> ReduceOp.MIN;
            case MAX -> ReduceOp.MAX;
            case AVG -> ReduceOp.AVG;
            case AND -> ReduceOp.AND;
            case OR -> ReduceOp.OR;
            case XOR -> ReduceOp.XOR;
            case PRE_MUL_SUM -> ReduceOp.preMulSum(scalar(rank));
            case USER -> throw new IllegalArgumentException("no exact data for functions of the user's");
        };
    }

    /**
     * What a rank contributes.
     *
     * @param rank who
     * @param seed chooses among rows
     * @return the rank's elements
     */
    public DataStream input(int rank, long seed) {
        Objects.checkIndex(rank, ranks);
        return kind == null
                ? new DataStream(type, null, DataStream.mix(seed) + rank, 0)
                : new DataStream(type, inputs[rank], seed, 0);
    }

    /**
     * The reduction of all ranks' elements.
     *
     * @param seed as for the inputs
     * @return what must come out
     */
    public DataStream reduced(long seed) {
        return reduced(ranks, seed);
    }

    /**
     * The reduction of the first ranks' elements, as scans give it.
     *
     * @param first how many ranks, at least 1
     * @param seed as for the inputs
     * @return what must come out
     */
    public DataStream reduced(int first, long seed) {
        ReduceOp.Kind how = requireReducing();
        Objects.checkIndex(first - 1, ranks);
        Folding folding = new Folding(type, how);
        long[] results = new long[PATTERNS];
        for (int pattern = 0; pattern < PATTERNS; pattern++) {
            results[pattern] = folding.fold(inputs, pattern, first);
        }
        int tolerance = how == ReduceOp.Kind.AVG && !type.isInteger() ? AVG_TOLERANCE : 0;
        return new DataStream(type, results, seed, tolerance);
    }

    static int scalar(int rank) {
        return 1 + rank % 2;
    }

    private ReduceOp.Kind requireReducing() {
        if (kind == null) {
            throw new IllegalStateException("these elements are only moved");
        }
        return kind;
    }
}
