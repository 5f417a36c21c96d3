package dev.tutti.exec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tutti.Collective;
import dev.tutti.DataType;
import dev.tutti.MismatchException;
import dev.tutti.ReduceOp;
import dev.tutti.algorithm.Algorithm;
import dev.tutti.algorithm.Algorithms;
import dev.tutti.plan.Plan;
import dev.tutti.plan.Protocol;
import dev.tutti.spi.RegionLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Ranks that are many launches apart. One thread moves all of them, step by step, in an order that the test chooses: nothing here
 * depends on how fast anybody is. {@code -Dtutti.seed} repeats a run.
 */
@Timeout(60)
class AheadTest {
    private static final Collective[] ONE_WAY = {
        Collective.BROADCAST,
        Collective.REDUCE,
        Collective.GATHER,
        Collective.SCATTER,
        Collective.SCAN,
        Collective.EXSCAN
    };
    /** Elements: in the post, around its end, in the ring, more than the ring has room for several of. */
    private static final int[] COUNTS = {0, 1, 2, 13, 14, 15, 32, 33, 129, 1000, 2048, 9000};

    private static Plan reading(Call call, int size) {
        List<Algorithm> algorithms = Algorithms.of(call.collective());
        return algorithms.stream()
                .filter(Algorithm::readsPeers)
                .findFirst()
                .orElse(algorithms.getFirst())
                .plan(size, call.root(), 1);
    }

    private static Ranks ranks(int size, long firstLaunch) {
        return new Ranks(size, 64 << 10, 64 << 10, firstLaunch, call -> reading(call, size));
    }

    /** One call of one rank, and what it must give. */
    private static final class Calling {
        final Ranks.Rank rank;
        final Call call;
        final MemorySegment out;
        private final int[] expected;

        Calling(Ranks.Rank rank, int size, Collective collective, int root, int count, int number) {
            this.rank = rank;
            Arena arena = Arena.ofAuto();
            int inBlocks = collective.inputBlocks(size);
            int outBlocks = collective.outputBlocks(size);
            MemorySegment in = arena.allocate(4L * count * inBlocks + 8, 8);
            this.out = arena.allocate(4L * count * outBlocks + 8, 8);
            out.fill((byte) 0x5A);
            for (int block = 0; block < inBlocks; block++) {
                for (int i = 0; i < count; i++) {
                    in.setAtIndex(ValueLayout.JAVA_INT, (long) block * count + i, value(number, rank.rank, block, i));
                }
            }
            this.call = new Call()
                    .of(collective, DataType.INT32, collective.isReducing() ? ReduceOp.SUM : null, root, count);
            call.input().setAddress(in.address(), 4L * count * inBlocks);
            call.output().setAddress(out.address(), 4L * count * outBlocks);
            call.uniform(size);
            call.timeoutNanos(Ranks.TIMEOUT_NANOS);
            this.expected = new int[count * outBlocks];
            for (int block = 0; block < outBlocks; block++) {
                for (int i = 0; i < count; i++) {
                    expected[block * count + i] = expected(collective, root, size, number, block, i);
                }
            }
        }

        private static int value(int number, int rank, int block, int i) {
            return (int) Signature.mix(((long) number << 40) + ((long) rank << 34) + ((long) block << 28) + i);
        }

        private int expected(Collective collective, int root, int size, int number, int block, int i) {
            boolean atRoot = rank.rank == root;
            return switch (collective) {
                case BROADCAST -> value(number, root, 0, i);
                case SCATTER -> value(number, root, rank.rank, i);
                case GATHER -> atRoot ? value(number, block, 0, i) : 0x5A5A5A5A;
                case REDUCE -> atRoot ? sum(size, number, i) : 0x5A5A5A5A;
                case SCAN -> sum(rank.rank + 1, number, i);
                case EXSCAN -> rank.rank == 0 ? 0x5A5A5A5A : sum(rank.rank, number, i);
                default -> sum(size, number, i);
            };
        }

        private static int sum(int ranks, int number, int i) {
            int sum = 0;
            for (int rank = 0; rank < ranks; rank++) {
                sum += value(number, rank, 0, i);
            }
            return sum;
        }

        void check(String where) {
            for (int i = 0; i < expected.length; i++) {
                if (out.getAtIndex(ValueLayout.JAVA_INT, i) != expected[i]) {
                    assertThat(out.getAtIndex(ValueLayout.JAVA_INT, i))
                            .as("element %d of %s on rank %d, %s", i, call.collective(), rank.rank, where)
                            .isEqualTo(expected[i]);
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"2, 1", "2, 14", "2, 15", "2, 500", "3, 1", "3, 500", "8, 2"})
    void shouldFindEverythingWhenTheRootHasLongGoneOn(int size, int count) {
        int calls = RegionLayout.POSTS;
        Ranks ranks = ranks(size, 0);
        // In one thread: the root would wait for ever if it had to wait for anybody.
        for (Ranks.Rank rank : ranks.all) {
            for (int number = 0; number < calls; number++) {
                Calling calling = new Calling(rank, size, Collective.BROADCAST, 0, count, number);
                rank.execution.run(calling.call);
                calling.check("call " + number);
            }
        }
    }

    @Test
    void shouldGoOnWhenHalfOfTheReadersHaveCome() {
        Ranks ranks = ranks(3, 0);
        Ranks.Rank root = ranks.all.getFirst();
        for (int number = 0; number < RegionLayout.POSTS; number++) {
            root.execution.run(new Calling(root, 3, Collective.BROADCAST, 0, 1, number).call);
        }
        Calling next = new Calling(root, 3, Collective.BROADCAST, 0, 1, RegionLayout.POSTS);
        root.execution.begin(next.call);
        assertThat(root.execution.advance()).isEqualTo(Execution.BLOCKED);
        for (int number = 0; number <= RegionLayout.POSTS / 2; number++) {
            assertThat(root.execution.advance()).as("after %d", number).isEqualTo(Execution.BLOCKED);
            for (Ranks.Rank reader : ranks.all.subList(1, 3)) {
                Calling calling = new Calling(reader, 3, Collective.BROADCAST, 0, 1, number);
                reader.execution.run(calling.call);
                calling.check("call " + number);
            }
        }
        assertThat(root.execution.advance()).isEqualTo(Execution.DONE);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5, 8})
    void shouldGiveExactResultsHoweverFarRanksAreApart(int size) {
        long seed = Long.getLong("tutti.seed", System.nanoTime());
        System.out.println("ahead: ranks " + size + ", -Dtutti.seed=" + seed);
        SplittableRandom random = new SplittableRandom(seed + size);
        long firstLaunch = random.nextBoolean() ? 0 : 0xFFFF_FFFFL - random.nextInt(700);
        Ranks ranks = ranks(size, firstLaunch);
        int calls = 1000;
        Collective[] collectives = new Collective[calls];
        int[] roots = new int[calls];
        int[] counts = new int[calls];
        int steady = 0;
        for (int i = 0; i < calls; i++) {
            if (steady-- <= 0) {
                // Stretches of one call, so that somebody gets far ahead, and stretches of everything.
                steady = random.nextBoolean() ? 0 : random.nextInt(300);
                collectives[i] =
                        random.nextInt(20) == 0 ? Collective.ALL_REDUCE : ONE_WAY[random.nextInt(ONE_WAY.length)];
                roots[i] = collectives[i].isRooted() ? random.nextInt(size) : 0;
                counts[i] = COUNTS[random.nextInt(COUNTS.length)];
            } else {
                collectives[i] = collectives[i - 1];
                roots[i] = roots[i - 1];
                counts[i] = counts[i - 1];
            }
        }
        int[] at = new int[size];
        List<Calling> running = new ArrayList<>();
        for (int rank = 0; rank < size; rank++) {
            running.add(null);
        }
        int farthest = 0;
        int favoured = 0;
        while (java.util.Arrays.stream(at).min().getAsInt() < calls) {
            favoured = random.nextInt(500) == 0 ? random.nextInt(size) : favoured;
            int r = random.nextInt(50) > 0 ? favoured : random.nextInt(size);
            if (at[r] == calls) {
                favoured = random.nextInt(size);
                continue;
            }
            Calling calling = running.get(r);
            if (calling == null) {
                calling = new Calling(ranks.all.get(r), size, collectives[at[r]], roots[at[r]], counts[at[r]], at[r]);
                calling.rank.execution.begin(calling.call);
                running.set(r, calling);
            }
            int moved = calling.rank.execution.advance();
            if (moved == Execution.DONE) {
                calling.check("call " + at[r] + " of " + counts[at[r]]);
                running.set(r, null);
                at[r]++;
                farthest = Math.max(
                        farthest, at[r] - java.util.Arrays.stream(at).min().getAsInt());
            } else if (moved == Execution.BLOCKED) {
                favoured = random.nextInt(size);
            }
        }
        assertThat(farthest).as("how far ranks were apart").isGreaterThan(10);
    }

    /** The readers come late and say something else; the root is through, and told at its next call. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 33, 63})
    void shouldNameBothWhenTheyDisagreeWhileOneIsAhead(int agreed) {
        Ranks ranks = ranks(2, 0);
        Ranks.Rank root = ranks.all.get(0);
        Ranks.Rank reader = ranks.all.get(1);
        for (int number = 0; number < RegionLayout.POSTS; number++) {
            root.execution.run(new Calling(root, 2, Collective.BROADCAST, 0, 3, number).call);
        }
        for (int number = 0; number < agreed; number++) {
            reader.execution.run(new Calling(reader, 2, Collective.BROADCAST, 0, 3, number).call);
        }
        Calling other = new Calling(reader, 2, Collective.BROADCAST, 0, 5, agreed);
        assertThatThrownBy(() -> reader.execution.run(other.call))
                .isInstanceOf(MismatchException.class)
                .hasMessageContaining("operation #" + (agreed + 1))
                .hasMessageContaining("rank 0 called broadcast of 3 int32 root 0")
                .hasMessageContaining("rank 1 called broadcast of 5 int32 root 0");
        assertThat(other.out.get(ValueLayout.JAVA_INT, 0)).isEqualTo(0x5A5A5A5A);
        assertThat(root.endpoint.board.isAborted()).isTrue();
    }

    /** Nobody waits for whom it disagrees with until the posts are used up. */
    @Test
    void shouldFindOutWhenTwoRootsRunAhead() {
        Ranks ranks = ranks(2, 0);
        for (Ranks.Rank rank : ranks.all) {
            for (int number = 0; number < RegionLayout.POSTS; number++) {
                int root = number < 50 ? 0 : rank.rank;
                if (rank.rank == 0 || number < 50) {
                    rank.execution.run(new Calling(rank, 2, Collective.BROADCAST, root, 3, number).call);
                }
            }
        }
        Ranks.Rank second = ranks.all.get(1);
        second.execution.run(new Calling(second, 2, Collective.BROADCAST, 1, 3, 50).call);
        Calling meeting = new Calling(second, 2, Collective.BROADCAST, 0, 3, 51);
        assertThatThrownBy(() -> second.execution.run(meeting.call))
                .isInstanceOf(MismatchException.class)
                .hasMessageContaining("operation #51")
                .hasMessageContaining("rank 0 called broadcast of 3 int32 root 0")
                .hasMessageContaining("rank 1 called broadcast of 3 int32 root 1");
    }

    @Test
    void shouldBePostingWhereEverybodyWritesOnlyItsOwnScratch() {
        for (Collective collective : Collective.values()) {
            for (Algorithm algorithm : Algorithms.of(collective)) {
                boolean posting = algorithm.plan(4, 0, 1).isPosting();
                boolean reading = algorithm.readsPeers() && !algorithm.name().startsWith("two-shot");
                boolean barrier =
                        collective == Collective.BARRIER && algorithm.name().equals("flat");
                assertThat(posting).as(collective + " " + algorithm).isEqualTo(reading || barrier);
            }
        }
        assertThat(Algorithms.find(Collective.BROADCAST, "one-shot-read", Protocol.SIMPLE)
                        .orElseThrow()
                        .plan(4, 0, 2)
                        .isPosting())
                .isFalse();
    }
}
