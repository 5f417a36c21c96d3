package dev.tutti.cli.plan;

import dev.tutti.Collective;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.exec.PlanContext;
import dev.tutti.plan.Plan;
import dev.tutti.plan.PlanSizes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * The truth about a plan: runs it on the executor, all lanes and callers on one thread, under many seeded schedules, launches back to back
 * on the same buffers. Callers fill their input when they enter, compare and spoil everything when they leave, as any user may.
 */
final class MutantTrial {
    private static final int POISON = 0xA5A5A5A5;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

    private final Plan plan;
    private final int ranks;
    private final long blockBytes;
    private final @Nullable Collective collective;
    private final ReduceOp.@Nullable Kind operator;
    private final TrialRanks trial;
    private final MemorySegment[] inputs;
    private final MemorySegment[] outputs;
    private final long[] inputAddresses;
    private final long[] outputAddresses;
    private final int[] entered;
    private final int[] left;
    private final int[] rankOf;
    private final int[] laneOf;
    /** How far the sender is from the receiver, in a plan that sends and receives. */
    private final int distance;

    private int base;

    MutantTrial(Plan plan, long blockBytes, ReduceOp.@Nullable Kind operator, int distance) {
        this.plan = plan;
        this.ranks = plan.ranks();
        this.blockBytes = blockBytes;
        this.distance = distance;
        this.collective = plan.header().collective();
        this.operator = operator;
        this.trial = new TrialRanks(plan, Duration.ofSeconds(10));
        this.inputs = new MemorySegment[ranks];
        this.outputs = new MemorySegment[ranks];
        this.inputAddresses = new long[ranks];
        this.outputAddresses = new long[ranks];
        this.entered = new int[ranks];
        this.left = new int[ranks];
        PlanSizes sizes = PlanSizes.of(plan, blockBytes, 4);
        for (int rank = 0; rank < ranks; rank++) {
            place(rank, sizes.inputBytes(), sizes.outputBytes());
            inputAddresses[rank] = inputs[rank].address();
            outputAddresses[rank] = outputs[rank].address();
        }
        trial.run(seat -> seat.context().prepare(blockBytes, blockBytes, DataType.INT32, null));
        int lanes =
                trial.seats.stream().mapToInt(seat -> seat.context().lanes()).sum();
        this.rankOf = new int[lanes + ranks];
        this.laneOf = new int[lanes + ranks];
        int at = 0;
        for (TrialRanks.Seat seat : trial.seats) {
            for (int lane = -1; lane < seat.context().lanes(); lane++) {
                rankOf[at] = seat.rank;
                laneOf[at++] = lane;
            }
        }
    }

    private void place(int rank, long inputBytes, long outputBytes) {
        boolean inPlace = plan.header().inPlace() && collective != null;
        MemorySegment memory = Arena.ofAuto().allocate(inputBytes + outputBytes + 64, 64);
        if (!inPlace) {
            inputs[rank] = memory.asSlice(0, inputBytes);
            outputs[rank] = memory.asSlice((inputBytes + 15) / 16 * 16, outputBytes);
        } else if (inputBytes == outputBytes) {
            inputs[rank] = memory.asSlice(0, inputBytes);
            outputs[rank] = inputs[rank];
        } else {
            long share = rank * blockBytes;
            inputs[rank] = memory.asSlice(inputBytes < outputBytes ? share : 0, inputBytes);
            outputs[rank] = memory.asSlice(outputBytes < inputBytes ? share : 0, outputBytes);
        }
    }

    /** Runs all schedules; what went wrong first, or null. */
    @Nullable
    String run(int schedules, int launches, long seed) {
        for (int i = 0; i < schedules; i++) {
            String wrong;
            try {
                wrong = runOne(launches, seed + i);
            } catch (RuntimeException thrown) {
                wrong = "threw " + thrown;
            }
            if (wrong != null) {
                return "schedule " + i + " (seed " + (seed + i) + "), blocks of " + blockBytes + " bytes: " + wrong;
            }
            base += launches;
        }
        return null;
    }

    private @Nullable String runOne(int launches, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        java.util.Arrays.fill(entered, 0);
        java.util.Arrays.fill(left, 0);
        int actors = rankOf.length;
        int manner = (int) Math.floorMod(seed, 4L);
        int[] order = new int[actors];
        for (int i = 0; i < actors; i++) {
            order[i] = i;
        }
        shuffle(order, random, manner);
        int changeEvery = manner == 0 ? 1 : manner == 1 ? 8 : 60;
        while (true) {
            if (random.nextInt(changeEvery) == 0) {
                shuffle(order, random, manner);
            }
            boolean moved = false;
            for (int actor : order) {
                PlanContext context = trial.seats.get(rankOf[actor]).context();
                if (laneOf[actor] >= 0) {
                    moved = entered[rankOf[actor]] > left[rankOf[actor]]
                            && !context.isDone(laneOf[actor])
                            && context.step(laneOf[actor], 16, 1);
                } else {
                    String wrong = call(rankOf[actor], context, launches);
                    if (wrong != null && !wrong.isEmpty()) {
                        return wrong;
                    }
                    moved = wrong != null;
                }
                if (moved) {
                    break;
                }
            }
            if (!moved) {
                break;
            }
        }
        for (int rank = 0; rank < ranks; rank++) {
            if (left[rank] < launches) {
                return "nobody can move; rank " + rank + " has left " + left[rank] + " of " + launches + " launches";
            }
        }
        for (int rank = 0; rank < ranks; rank++) {
            if (!isPoison(inputs[rank]) || !isPoison(outputs[rank])) {
                return "rank " + rank + "'s buffers were written after it had left";
            }
        }
        return null;
    }

    private void shuffle(int[] order, SplittableRandom random, int manner) {
        if (manner == 3) {
            // Whole ranks before or behind each other: one far ahead, one starved.
            int[] precedence = random.ints(ranks, 0, 1 << 20).toArray();
            for (int i = 1; i < order.length; i++) {
                for (int j = i; j > 0 && precedence[rankOf[order[j]]] > precedence[rankOf[order[j - 1]]]; j--) {
                    swap(order, j, j - 1);
                }
            }
            return;
        }
        for (int i = order.length - 1; i > 0; i--) {
            swap(order, i, random.nextInt(i + 1));
        }
    }

    private static void swap(int[] order, int i, int j) {
        int swapped = order[i];
        order[i] = order[j];
        order[j] = swapped;
    }

    /** Enters or leaves if it can: null if it cannot, empty if it did, else what is wrong with the result. */
    private @Nullable String call(int rank, PlanContext context, int launches) {
        if (entered[rank] == left[rank]) {
            if (left[rank] == launches) {
                return null;
            }
            poison(outputs[rank]);
            fill(rank, base + entered[rank]);
            context.start(inputAddresses, outputAddresses);
            entered[rank]++;
            return "";
        }
        if (!context.isDone()) {
            for (int lane = 0; lane < context.lanes(); lane++) {
                if (!context.isDone(lane)) {
                    return null;
                }
            }
        }
        // Lanes without operations are only seen to be done by a step.
        context.step();
        String wrong = compare(rank, base + left[rank]);
        poison(inputs[rank]);
        poison(outputs[rank]);
        left[rank]++;
        return wrong == null ? "" : wrong;
    }

    private static int value(int launch, int rank, long i) {
        long mixed = (launch * 0x9E3779B97F4A7C15L + rank * 0xC2B2AE3D27D4EB4FL + i * 0x165667B19E3779F9L);
        mixed = (mixed ^ (mixed >>> 29)) * 0xBF58476D1CE4E5B9L;
        return (int) (mixed >>> 34);
    }

    private void fill(int rank, int launch) {
        for (long i = 0; i < inputs[rank].byteSize() / 4; i++) {
            inputs[rank].set(INT, 4 * i, value(launch, rank, i));
        }
    }

    private static void poison(MemorySegment memory) {
        for (long i = 0; i < memory.byteSize() / 4; i++) {
            memory.set(INT, 4 * i, POISON);
        }
    }

    private static boolean isPoison(MemorySegment memory) {
        for (long i = 0; i < memory.byteSize() / 4; i++) {
            if (memory.get(INT, 4 * i) != POISON) {
                return false;
            }
        }
        return true;
    }

    private @Nullable String compare(int rank, int launch) {
        long perBlock = blockBytes / 4;
        int blocks = collective == null ? 1 : collective.outputBlocks(ranks);
        for (int block = 0; block < blocks; block++) {
            for (long i = 0; i < perBlock; i++) {
                int actual = outputs[rank].get(INT, 4 * (block * perBlock + i));
                int expected = expected(rank, launch, block, i, perBlock);
                if (actual != expected) {
                    return "rank " + rank + " has a wrong element " + i + " in block " + block + " in launch " + launch;
                }
            }
        }
        return null;
    }

    private int expected(int rank, int launch, int block, long i, long perBlock) {
        if (collective == null) {
            return value(launch, Math.floorMod(rank - distance, ranks), i);
        }
        return switch (collective) {
            case ALL_REDUCE -> folded(launch, i);
            case REDUCE_SCATTER -> folded(launch, rank * perBlock + i);
            case ALL_GATHER -> value(launch, block, i);
            case ALL_TO_ALL -> value(launch, block, rank * perBlock + i);
            default -> throw new IllegalArgumentException("no expectation for " + collective);
        };
    }

    private int folded(int launch, long i) {
        int folded = value(launch, 0, i);
        for (int rank = 1; rank < ranks; rank++) {
            int next = value(launch, rank, i);
            folded = operator == ReduceOp.Kind.MAX
                    ? Math.max(folded, next)
                    : operator == ReduceOp.Kind.MIN ? Math.min(folded, next) : folded + next;
        }
        return folded;
    }
}
