package dev.tutti.p2p;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.DataType;
import dev.tutti.memory.Operand;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class QueuesTest {
    private static Message message(int tag) {
        return receive(DataType.INT8, tag);
    }

    static Message receive(DataType type, int tag) {
        return new Message(null, false, 0, tag, 0, type, 0) {
            @Override
            protected void describe(Operand operand) {}
        };
    }

    @Test
    void shouldFindMessageWhenSlotsAreUsedAgain() {
        Slots slots = new Slots();
        Map<Integer, Message> model = new HashMap<>();
        Random random = new Random(1);
        for (int i = 0; i < 10_000; i++) {
            if (random.nextBoolean() || model.isEmpty()) {
                Message message = message(i);
                assertThat(model.put(slots.add(message), message)).isNull();
            } else {
                int slot = model.keySet().iterator().next();
                assertThat(slots.get(slot)).isSameAs(model.get(slot));
                assertThat(slots.remove(slot)).isSameAs(model.remove(slot));
            }
        }
    }

    @Test
    void shouldFindFirstThatTakesTagWhenAnyTakesAll() {
        MessageQueue queue = new MessageQueue();
        Message five = message(5);
        Message any = message(Message.ANY);
        Message six = message(6);
        queue.add(five);
        queue.add(any);
        queue.add(six);
        assertThat(queue.firstFor(6)).isSameAs(any);
        assertThat(queue.firstFor(5)).isSameAs(five);
        queue.remove(any);
        assertThat(queue.firstFor(6)).isSameAs(six);
        assertThat(queue.firstFor(7)).isNull();
        queue.remove(five);
        queue.remove(six);
        assertThat(queue.isEmpty()).isTrue();
    }

    @Test
    void shouldStartClocksOnceWhenSomebodyWaits() {
        Pending pending = new Pending();
        Message first = message(1);
        Message second = message(2);
        Message third = message(3);
        pending.add(first);
        pending.add(second);
        pending.arm(10);
        pending.add(third);
        pending.arm(20);
        assertThat(first.armedAtNanos).isEqualTo(10);
        assertThat(second.armedAtNanos).isEqualTo(10);
        assertThat(third.armedAtNanos).isEqualTo(20);
        pending.remove(first);
        assertThat(pending.first()).isSameAs(second);
        pending.remove(third);
        pending.remove(second);
        assertThat(pending.isEmpty()).isTrue();
        assertThat(pending.count()).isZero();
    }
}
