package dev.tutti.exec;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Ranks on cores that the test chooses, at times that the test chooses. */
@Timeout(20)
class NeighboursTest {
    private static final long MILLI = 1_000_000;

    private final MemorySegment words = Arena.ofAuto().allocate(4 * 64, 64);
    private final int[] cores;
    private final int[] moves = new int[4];
    private final Neighbours[] ranks = new Neighbours[4];
    private boolean canMove = true;

    NeighboursTest() {
        this.cores = new int[4];
        long[] places =
                LongStream.range(0, 4).map(rank -> words.address() + 64 * rank).toArray();
        for (int rank = 0; rank < 4; rank++) {
            int own = rank;
            ranks[rank] = new Neighbours(rank, places, 2, 0, () -> cores[own], full -> {
                moves[own]++;
                cores[own] = canMove ? 1 - cores[own] : cores[own];
                return canMove;
            });
        }
    }

    private void place(int... chosen) {
        System.arraycopy(chosen, 0, cores, 0, 4);
    }

    /** Everybody waits, again and again, from one time to another. */
    private void lookOn(long from, long to) {
        for (long now = from; now < to; now += MILLI / 10) {
            for (Neighbours rank : ranks) {
                rank.look(now);
            }
        }
    }

    @Test
    void shouldTakeEverybodyForANeighbourWhenNothingIsKnown() {
        place(0, 0, 1, 1);
        assertThat(ranks[0].isHere(1)).isTrue();
        assertThat(ranks[0].isHere(3)).isTrue();
        ranks[0].look(0);
        assertThat(ranks[0].isHere(3)).as("has not said where it is").isTrue();
    }

    @Test
    void shouldTellWhoIsElsewhereWhenAllHaveSaid() {
        place(0, 0, 1, 1);
        lookOn(0, MILLI);
        assertThat(ranks[0].isHere(1)).isTrue();
        assertThat(ranks[0].isHere(2)).isFalse();
        assertThat(ranks[3].isHere(0)).isFalse();
        assertThat(ranks[3].isHere(2)).isTrue();
        assertThat(moves).containsOnly(0);
    }

    @Test
    void shouldKnowSoonWhenARankHasMoved() {
        place(0, 0, 1, 1);
        lookOn(0, MILLI);
        place(0, 1, 0, 1);
        lookOn(MILLI, 2 * MILLI);
        assertThat(ranks[0].isHere(1)).isFalse();
        assertThat(ranks[0].isHere(2)).isTrue();
    }

    @Test
    void shouldMoveOneRankWhenACoreHasOneTooMany() {
        place(0, 0, 1, 0);
        lookOn(0, 10 * MILLI);
        assertThat(cores).containsExactly(0, 0, 1, 1);
        assertThat(moves).containsExactly(0, 0, 0, 1);
    }

    @Test
    void shouldEvenOutWhenAllAreOnOneCore() {
        place(1, 1, 1, 1);
        lookOn(0, 10 * MILLI);
        assertThat(cores).containsExactly(1, 1, 0, 0);
        assertThat(moves).containsExactly(0, 0, 1, 1);
    }

    @Test
    void shouldSayWhichCoresHaveTheirShareWhenOneLeaves() {
        List<BitSet> said = new ArrayList<>();
        int[] own = {0, 2, 5, 5};
        long[] places =
                LongStream.range(0, 4).map(rank -> words.address() + 64 * rank).toArray();
        for (int rank = 0; rank < 4; rank++) {
            int core = own[rank];
            new Neighbours(rank, places, 8, 0, () -> core, full -> said.add(full)).say();
        }
        new Neighbours(3, places, 8, 0, () -> 5, full -> said.add(full)).leave();
        new Neighbours(3, places, 2, 0, () -> 5, full -> said.add(full)).leave();
        assertThat(said).containsExactly(BitSet.valueOf(new long[] {0b100101}), BitSet.valueOf(new long[] {0b100000}));
    }

    @Test
    void shouldNotArgueWithTheSystemWhenItMovesRanksBack() {
        long second = 1000 * MILLI;
        for (long now = 0; now < second; now += MILLI) {
            place(0, 0, 0, 1);
            lookOn(now, now + MILLI);
        }
        assertThat(moves[2]).isBetween(1, 200);
        assertThat(Arrays.stream(moves).sum()).isEqualTo(moves[2]);
    }

    @Test
    void shouldGiveUpWhenThereIsNoOtherCore() {
        canMove = false;
        place(0, 0, 0, 0);
        lookOn(0, 100 * MILLI);
        assertThat(moves).containsExactly(0, 0, 1, 1);
    }
}
