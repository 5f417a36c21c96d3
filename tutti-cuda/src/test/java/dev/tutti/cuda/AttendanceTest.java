package dev.tutti.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tutti.AbortedException;
import dev.tutti.World;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class AttendanceTest {
    @Test
    void shouldNameThoseWhoHaveNotCome() {
        World.local(3).run(comm -> {
            try (Attendance all = Attendance.of(comm.dup())) {
                all.come(comm.rank() == 1 ? 4 : 5);
                comm.barrier();
                assertThat(all.whoIsMissing(5))
                        .isEqualTo("ranks [0, 2] have come to #5, ranks [1] have not (rank 1 at #4)");
                assertThat(all.whoIsMissing(4)).isEqualTo("all ranks have come to #4");
                comm.barrier();
            }
        });
    }

    @Test
    void shouldCountAnewForThoseWhoGoOn() {
        World.local(4).run(comm -> {
            Attendance all = Attendance.of(comm.dup());
            all.come(9);
            comm.barrier();
            if (comm.rank() != 1) {
                int[] members = {0, 2, 3};
                Attendance some = java.util.Objects.requireNonNull(all.among(members));
                // What they were made of need not live.
                all.close();
                some.come(comm.rank() == 3 ? 1 : 2);
                comm.barrier();
                some.requireAll();
                assertThat(some.whoIsMissing(2))
                        .isEqualTo("ranks [0, 1] have come to #2, ranks [2] have not (rank 2 at #1)");
                comm.barrier();
                if (comm.rank() == 2) {
                    some.abort("enough");
                }
                comm.barrier();
                if (comm.rank() != 2) {
                    assertThatThrownBy(some::requireAll)
                            .isInstanceOf(AbortedException.class)
                            .hasMessage("rank 1 gave up at #2");
                }
                assertThat(some.whoIsMissing(2)).startsWith("ranks [0, 1] have come");
                some.close();
            } else {
                all.skip();
                comm.barrier();
                comm.barrier();
                comm.barrier();
                all.close();
            }
        });
    }

    @Test
    void shouldSeeWhoCallsAnewWhereOthersRunAgain() {
        Turns.Turn told = Turns.Turn.of(Turns.Turn.word(7, 4));
        assertThat(told.isToldTo(new Turns.Turn(7, 3))).isTrue();
        assertThat(told.isToldTo(new Turns.Turn(9, 3))).isTrue();
        // Has not come yet; has told too; is ahead, having told.
        assertThat(told.isToldTo(new Turns.Turn(6, 3))).isFalse();
        assertThat(told.isToldTo(new Turns.Turn(7, 4))).isFalse();
        assertThat(told.isToldTo(new Turns.Turn(8, 4))).isFalse();
    }
}
