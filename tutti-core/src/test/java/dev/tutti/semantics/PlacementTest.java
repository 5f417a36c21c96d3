package dev.tutti.semantics;

import dev.tutti.Collective;
import dev.tutti.processes.TestWorld;
import dev.tutti.semantics.Exchange.Form;
import dev.tutti.semantics.Guarded.Placement;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every collective, in place and not, blocking, started and prepared, on every kind of memory and for every root. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class PlacementTest {
    /** One packet, several; slots; more than one window of three ranks. */
    private static final int[] COUNTS = {1, 13, 600, 5_003};

    @ParameterizedTest
    @EnumSource(Collective.class)
    void shouldGiveTheResultAndTouchNothingElse(Collective collective) {
        TestWorld.of(3).run(comm -> {
            int seed = 1;
            for (int count : COUNTS) {
                for (int root = 0; root < (collective.isRooted() ? 3 : 1); root++) {
                    for (Form form : Form.values()) {
                        new Exchange(comm, collective, count, root, false, seed++).run(form, Placement.ARRAY);
                        new Exchange(comm, collective, count, root, true, seed++).run(form, Placement.ARRAY);
                    }
                }
            }
        });
    }

    @ParameterizedTest
    @EnumSource(Placement.class)
    void shouldTakeMemoryOfAnyKind(Placement placement) {
        TestWorld.of(2).run(comm -> {
            int seed = 100;
            for (Collective collective : Collective.values()) {
                for (int count : COUNTS) {
                    for (Form form : Form.values()) {
                        if (placement == Placement.CONFINED && form != Form.BLOCKING) {
                            continue;
                        }
                        new Exchange(comm, collective, count, 1, false, seed++).run(form, placement);
                        new Exchange(comm, collective, count, 0, true, seed++).run(form, placement);
                    }
                }
            }
        });
    }

    @ParameterizedTest
    @EnumSource(Collective.class)
    void shouldTakeDifferentMemoryOnEachRank(Collective collective) {
        TestWorld.of(5).run(comm -> {
            for (int count : COUNTS) {
                Placement placement = Placement.values()[(comm.rank() + count) % Placement.values().length];
                new Exchange(comm, collective, count, 4, false, count).run(Form.BLOCKING, placement);
                new Exchange(comm, collective, count, 2, true, count).run(Form.BLOCKING, placement);
            }
        });
    }

    @ParameterizedTest
    @EnumSource(Collective.class)
    void shouldMoveMoreThanOneWindow(Collective collective) {
        TestWorld.of(3).run(comm -> {
            int count = 100_003;
            new Exchange(comm, collective, count, 1, false, 7).run(Form.BLOCKING, Placement.AUTOMATIC);
            new Exchange(comm, collective, count, 2, true, 8).run(Form.BLOCKING, Placement.ARRAY);
            new Exchange(comm, collective, count, 0, true, 9).run(Form.STARTED, Placement.AUTOMATIC);
        });
    }

    @ParameterizedTest
    @EnumSource(Collective.class)
    void shouldCopyWhenAlone(Collective collective) {
        TestWorld.of(1).run(comm -> {
            for (int count : COUNTS) {
                for (Form form : Form.values()) {
                    new Exchange(comm, collective, count, 0, false, count).run(form, Placement.ARRAY);
                    new Exchange(comm, collective, count, 0, true, count).run(form, Placement.AUTOMATIC);
                }
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5, 8})
    void shouldMoveNothingThenSomethingWhenCountIsZero(int ranks) {
        TestWorld.of(ranks).run(comm -> {
            for (Collective collective : Collective.values()) {
                for (Form form : Form.values()) {
                    new Exchange(comm, collective, 0, 0, false, 1).run(form, Placement.ARRAY);
                    new Exchange(comm, collective, 5, 0, false, 2).run(form, Placement.ARRAY);
                    new Exchange(comm, collective, 0, ranks - 1, true, 3).run(form, Placement.OWN);
                    new Exchange(comm, collective, 1, ranks - 1, true, 4).run(form, Placement.OWN);
                }
            }
        });
    }
}
