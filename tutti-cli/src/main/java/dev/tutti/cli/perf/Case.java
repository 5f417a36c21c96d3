package dev.tutti.cli.perf;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.cli.common.CommandException;
import dev.tutti.cli.common.Names;
import java.util.ArrayList;
import java.util.List;

/** One program with one type, operator and root: a series of rows. */
record Case(Program program, DataType type, ReduceOp.Kind operator, int root) {
    /** Types first, then operators, then roots, as nccl-tests orders them. */
    static List<Case> all(Program program, List<DataType> types, List<ReduceOp.Kind> operators, List<Integer> roots) {
        boolean several = operators.size() > 1;
        List<ReduceOp.Kind> chosen = program.hasOperators() ? operators : List.of(ReduceOp.Kind.SUM);
        List<Case> cases = new ArrayList<>();
        for (DataType type : types) {
            for (ReduceOp.Kind operator : chosen) {
                boolean possible = program.accepts(operator) && accepts(type, operator);
                if (!possible && !several && types.size() == 1) {
                    throw CommandException.usage(
                            program.label() + " has no " + Names.of(operator) + " of " + Names.of(type));
                }
                if (possible) {
                    roots.forEach(root -> cases.add(new Case(program, type, operator, root)));
                }
            }
        }
        if (cases.isEmpty()) {
            throw CommandException.usage(program.label() + " has no such operator for any of these types");
        }
        return cases;
    }

    private static boolean accepts(DataType type, ReduceOp.Kind operator) {
        return switch (operator) {
            case AND, OR, XOR -> type.isInteger();
            default -> true;
        };
    }
}
