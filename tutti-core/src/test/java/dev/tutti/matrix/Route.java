package dev.tutti.matrix;

import dev.tutti.algorithm.Algorithm;
import dev.tutti.algorithm.Algorithms;
import java.util.ArrayList;
import java.util.List;

/** An operation and the algorithm that is forced for it. */
record Route(Operation operation, String algorithm, String protocol) {
    static final List<Route> ALL = all();

    private static List<Route> all() {
        List<Route> all = new ArrayList<>();
        for (Operation operation : Operation.values()) {
            all.add(new Route(operation, Cell.AUTO, Cell.AUTO));
            for (Algorithm algorithm : Algorithms.of(operation.collective)) {
                if (algorithm.ragged() || !operation.isRagged()) {
                    all.add(new Route(
                            operation, algorithm.name(), algorithm.protocol().toString()));
                }
            }
        }
        return List.copyOf(all);
    }

    /** Whether it runs on registered memory only. */
    boolean isDirect() {
        return Algorithms.of(operation.collective).stream()
                .anyMatch(each -> each.direct() && each.name().equals(algorithm));
    }

    @Override
    public String toString() {
        return operation + " " + algorithm + "/" + protocol;
    }
}
