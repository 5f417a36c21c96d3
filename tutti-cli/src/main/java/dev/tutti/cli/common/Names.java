package dev.tutti.cli.common;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Types and operators by the names of nccl-tests, or by Tutti's. */
public final class Names {
    /** The order of nccl-tests, then what it does not have. */
    private static final List<ReduceOp.Kind> OPERATORS = List.of(
            ReduceOp.Kind.SUM,
            ReduceOp.Kind.PROD,
            ReduceOp.Kind.MAX,
            ReduceOp.Kind.MIN,
            ReduceOp.Kind.AVG,
            ReduceOp.Kind.PRE_MUL_SUM,
            ReduceOp.Kind.AND,
            ReduceOp.Kind.OR,
            ReduceOp.Kind.XOR);

    private Names() {}

    public static String of(DataType type) {
        return switch (type) {
            case FLOAT16 -> "half";
            case FLOAT32 -> "float";
            case FLOAT64 -> "double";
            case FLOAT8E4M3 -> "f8e4m3";
            case FLOAT8E5M2 -> "f8e5m2";
            default -> type.toString();
        };
    }

    public static String of(ReduceOp.Kind operator) {
        return operator == ReduceOp.Kind.PRE_MUL_SUM
                ? "mulsum"
                : operator.name().toLowerCase(Locale.ROOT);
    }

    /** The types that a name stands for: one, or every one for {@code all}. */
    public static List<DataType> types(String name) {
        if (name.equals("all")) {
            return List.of(DataType.values());
        }
        return Arrays.stream(DataType.values())
                .filter(type -> name.equals(of(type)) || name.equals(type.toString()))
                .findFirst()
                .map(List::of)
                .orElseThrow(() -> CommandException.usage("unknown type '" + name + "' (-d); there are "
                        + Arrays.stream(DataType.values()).map(Names::of).collect(Collectors.joining(" ")) + " all"));
    }

    /** The operators that a name stands for: one, or every one for {@code all}. */
    public static List<ReduceOp.Kind> operators(String name) {
        if (name.equals("all")) {
            return OPERATORS;
        }
        return OPERATORS.stream()
                .filter(operator -> name.equals(of(operator)))
                .findFirst()
                .map(List::of)
                .orElseThrow(() -> CommandException.usage("unknown operator '" + name + "' (-o); there are "
                        + OPERATORS.stream().map(Names::of).collect(Collectors.joining(" ")) + " all"));
    }
}
