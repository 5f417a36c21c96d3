package dev.tutti.exec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tutti.TuttiException;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class GateTest {
    private static final int GATES = 3000;
    private static final int PASSAGES = 200;

    private static int counter;
    private static volatile Gate gate = new Gate();

    /** The second thread takes the favour away while the first goes in and out: neither may lose what the other counted. */
    @Test
    void shouldLetOneInAtATimeWhenAnotherThreadTakesTheFavourAway() throws Exception {
        CyclicBarrier start = new CyclicBarrier(2);
        Thread other = Thread.ofPlatform().start(() -> {
            for (int i = 0; i < GATES; i++) {
                meet(start);
                for (int wait = 0; wait < i % 97; wait++) {
                    Thread.onSpinWait();
                }
                pass(gate, 3);
                meet(start);
            }
        });
        for (int i = 0; i < GATES; i++) {
            gate = new Gate();
            counter = 0;
            pass(gate, 2);
            meet(start);
            pass(gate, PASSAGES);
            meet(start);
            assertThat(counter).isEqualTo(PASSAGES + 5);
        }
        other.join();
    }

    @Test
    void shouldRefuseWhenTheFavouredThreadIsInsideAlready() {
        Gate own = new Gate();
        for (int i = 0; i < 3; i++) {
            own.enter();
            assertThatThrownBy(own::enter).isInstanceOf(TuttiException.class).hasMessageContaining("must not call");
            own.exit();
        }
        assertThat(own.isHeld()).isFalse();
    }

    /** Whoever helps a queued operation says nothing of memory, and leaves without waiting for anybody. */
    @Test
    void shouldNotCallItUsedWhenAHelperIsOnItsWayOut() throws Exception {
        for (int i = 0; i < GATES; i++) {
            Gate own = new Gate();
            CyclicBarrier inside = new CyclicBarrier(2);
            int passes = i % 97;
            Thread helper = Thread.ofPlatform().start(() -> {
                own.enter();
                meet(inside);
                for (int wait = 0; wait < passes; wait++) {
                    Thread.onSpinWait();
                }
                own.exit();
            });
            meet(inside);
            assertThat(own.isUsed()).isFalse();
            helper.join();
        }
    }

    @Test
    void shouldCallItUsedWhenAnOperationHasSaidWhatItUses() throws Exception {
        Gate own = new Gate();
        CyclicBarrier meeting = new CyclicBarrier(2);
        Thread other = Thread.ofPlatform().start(() -> {
            own.enter();
            own.uses(0, 0);
            meet(meeting);
            meet(meeting);
            own.exit();
        });
        meet(meeting);
        assertThat(own.isUsed()).isTrue();
        meet(meeting);
        other.join();
        assertThat(own.isUsed()).isFalse();
        own.enter();
        assertThat(own.isUsed()).as("by the thread that asks").isTrue();
        own.exit();
    }

    private static void pass(Gate through, int times) {
        for (int i = 0; i < times; i++) {
            through.enter();
            counter++;
            through.exit();
        }
    }

    private static void meet(CyclicBarrier where) {
        try {
            where.await();
        } catch (Exception broken) {
            throw new IllegalStateException(broken);
        }
    }
}
