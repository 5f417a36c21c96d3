package dev.tutti.p2p;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Messages by small number: what a frame calls a message that lives in another process. Numbers are used again. */
final class Slots {
    private @Nullable Message[] messages = new @Nullable Message[8];
    private int[] free = new int[8];
    private int freeCount;
    private int used;

    int add(Message message) {
        int slot = freeCount > 0 ? free[--freeCount] : used++;
        if (slot == messages.length) {
            messages = Arrays.copyOf(messages, 2 * slot);
            free = Arrays.copyOf(free, 2 * slot);
        }
        messages[slot] = message;
        return slot;
    }

    Message get(int slot) {
        return Objects.requireNonNull(messages[slot], "no message in slot");
    }

    Message remove(int slot) {
        Message message = get(slot);
        messages[slot] = null;
        free[freeCount++] = slot;
        return message;
    }
}
