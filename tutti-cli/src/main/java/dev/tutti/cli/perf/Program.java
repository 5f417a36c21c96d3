package dev.tutti.cli.perf;

import dev.tutti.Collective;
import dev.tutti.ReduceOp;
import dev.tutti.cli.common.CommandException;
import dev.tutti.cli.common.Names;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** What can be timed, how much of it a size means, and how its bandwidth is counted. */
enum Program {
    ALL_REDUCE(Redop.CHOSEN, false),
    ALL_GATHER(Redop.NONE, false),
    REDUCE_SCATTER(Redop.CHOSEN, false),
    BROADCAST(Redop.NONE, true),
    REDUCE(Redop.CHOSEN, true),
    ALLTOALL(Redop.NONE, false),
    ALLTOALLV(Redop.NONE, false),
    GATHER(Redop.NONE, true),
    SCATTER(Redop.NONE, true),
    SENDRECV(Redop.PRINTED, false),
    HYPERCUBE(Redop.EMPTY, false),
    BARRIER(Redop.NONE, false),
    SCAN(Redop.CHOSEN, false),
    EXSCAN(Redop.CHOSEN, false);

    /** What stands in the column of the operator. */
    private enum Redop {
        /** The operator takes part. */
        CHOSEN,
        /** It does not, but nccl-tests prints it. */
        PRINTED,
        NONE,
        EMPTY
    }

    private final Redop redop;
    private final boolean rooted;

    Program(Redop redop, boolean rooted) {
        this.redop = redop;
        this.rooted = rooted;
    }

    /** By its name, with or without {@code _perf} behind it. */
    static Program named(String name) {
        String bare = name.endsWith("_perf") ? name.substring(0, name.length() - 5) : name;
        return Arrays.stream(values())
                .filter(program -> program.label().equals(bare.replace('-', '_')))
                .findFirst()
                .orElseThrow(() -> CommandException.usage("unknown program '" + name + "'; there are " + names()));
    }

    static String names() {
        return Arrays.stream(values()).map(Program::label).collect(Collectors.joining(" "));
    }

    String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The name in the first and last lines of the output. */
    String testName() {
        return label() + "_perf";
    }

    boolean isReducing() {
        return redop == Redop.CHOSEN;
    }

    boolean isRooted() {
        return rooted;
    }

    /** Whether the choice of an operator makes another row. */
    boolean hasOperators() {
        return redop == Redop.CHOSEN || redop == Redop.PRINTED;
    }

    boolean accepts(ReduceOp.Kind operator) {
        // The number of ranks in a prefix differs from rank to rank, so scans have no average.
        return !(isScan() && operator == ReduceOp.Kind.AVG);
    }

    String redopColumn(ReduceOp.Kind operator) {
        return switch (redop) {
            case CHOSEN, PRINTED -> Names.of(operator);
            case NONE -> "none";
            case EMPTY -> "";
        };
    }

    boolean isScan() {
        return this == SCAN || this == EXSCAN;
    }

    /** Whether results are compared; what overwrites its own input while sending it is not. */
    boolean isChecked(boolean inPlace) {
        return switch (this) {
            case BARRIER -> false;
            case ALLTOALL, ALLTOALLV, SENDRECV -> !inPlace;
            default -> true;
        };
    }

    /** The elements that a size in bytes means. Blocks for several ranks are cut down to whole 16 bytes, as nccl-tests does. */
    Shape shape(long bytes, int elementBytes, int ranks, Traffic traffic) {
        long count = bytes / elementBytes;
        long block = count / ranks & -(16L / elementBytes);
        long all = block * ranks;
        return switch (this) {
            case BARRIER -> new Shape(0, 0, 0, elementBytes, 0);
            case ALL_REDUCE, BROADCAST, REDUCE, SENDRECV, SCAN, EXSCAN ->
                new Shape(count, count, count, elementBytes, count * elementBytes);
            case ALL_GATHER, GATHER -> new Shape(block, all, block, elementBytes, all * elementBytes);
            case HYPERCUBE -> new Shape(block, all, block, elementBytes, (all - block) * elementBytes);
            case REDUCE_SCATTER, SCATTER -> new Shape(all, block, block, elementBytes, all * elementBytes);
            case ALLTOALL -> new Shape(all, all, block, elementBytes, all * elementBytes);
            case ALLTOALLV -> {
                long most = traffic.mostElements(all * elementBytes, elementBytes, ranks);
                long perPeer = traffic.isGenerated() ? block : 0;
                yield new Shape(most, most, perPeer, elementBytes, most * elementBytes);
            }
        };
    }

    /** What the algorithm's bandwidth is multiplied by, to be comparable with that of the wires. */
    double busFactor(int ranks) {
        double others = ranks - 1.0;
        return switch (this) {
            case ALL_REDUCE -> 2 * others / ranks;
            case ALL_GATHER, REDUCE_SCATTER, GATHER, SCATTER, ALLTOALL, ALLTOALLV -> others / ranks;
            // nccl-tests has no scans; like reduce, each element crosses to the next rank once.
            case BROADCAST, REDUCE, SENDRECV, HYPERCUBE, BARRIER, SCAN, EXSCAN -> 1;
        };
    }

    /** The collective whose algorithms can be chosen; none for what is made of messages. */
    Optional<Collective> collective() {
        return switch (this) {
            case SENDRECV, HYPERCUBE -> Optional.empty();
            case ALLTOALL, ALLTOALLV -> Optional.of(Collective.ALL_TO_ALL);
            default -> Optional.of(Collective.valueOf(name()));
        };
    }

    List<Integer> roots(int chosen, int ranks) {
        if (!rooted) {
            return List.of(-1);
        }
        return chosen == -1 ? IntStream.range(0, ranks).boxed().toList() : List.of(chosen);
    }
}
