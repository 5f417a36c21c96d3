package dev.tutti.p2p;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.DataType;
import dev.tutti.memory.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RingTest {
    private final MemorySegment memory = Arena.ofAuto().allocate(RingDescriptor.BYTES, 128);
    private final RingWriter writer = new RingWriter(memory.address());
    private final RingReader reader = new RingReader(memory.address());

    private boolean write(int bytes, int tag) {
        long frame = writer.claim(RingDescriptor.EAGER_PAYLOAD + bytes);
        if (frame == 0) {
            return false;
        }
        for (int i = 0; i < bytes; i++) {
            // Old payload must never be taken for a word, so it looks like one.
            Memory.ALL.set(ValueLayout.JAVA_BYTE, frame + RingDescriptor.EAGER_PAYLOAD + i, (byte) (tag | 1));
        }
        writer.publish(RingDescriptor.word(RingDescriptor.EAGER, bytes, tag));
        return true;
    }

    private boolean read(int bytes, int tag) {
        long word = reader.peek();
        if (word == 0) {
            return false;
        }
        assertThat(word).isEqualTo(RingDescriptor.word(RingDescriptor.EAGER, bytes, tag));
        long payload = reader.address() + RingDescriptor.EAGER_PAYLOAD;
        for (int i = 0; i < bytes; i++) {
            if (Memory.ALL.get(ValueLayout.JAVA_BYTE, payload + i) != (byte) (tag | 1)) {
                assertThat(Memory.ALL.get(ValueLayout.JAVA_BYTE, payload + i)).isEqualTo((byte) (tag | 1));
            }
        }
        reader.advance(RingDescriptor.frameBytes(RingDescriptor.EAGER_PAYLOAD + bytes));
        return true;
    }

    @Test
    void shouldKeepFieldsApartWhenPackedIntoOneWord() {
        long word = RingDescriptor.word(RingDescriptor.PADDING, 0xFFFF, Integer.MAX_VALUE);
        assertThat(RingDescriptor.kind(word)).isEqualTo(RingDescriptor.PADDING);
        assertThat(RingDescriptor.payloadBytes(word)).isEqualTo(0xFFFF);
        assertThat(RingDescriptor.tagOrSlot(word)).isEqualTo(Integer.MAX_VALUE);
        for (DataType type : DataType.values()) {
            long first = RingDescriptor.word(RingDescriptor.EAGER, 0xFFFF, QueuesTest.receive(type, 7));
            assertThat(RingDescriptor.type(first)).isEqualTo(type);
            assertThat(RingDescriptor.payloadBytes(first)).isEqualTo(0xFFFF);
            assertThat(RingDescriptor.tagOrSlot(first)).isEqualTo(7);
        }
    }

    @Test
    void shouldShowNothingWhenNothingWasPublished() {
        assertThat(reader.peek()).isZero();
        assertThat(writer.claim(100)).isNotZero();
        assertThat(reader.peek()).isZero();
    }

    @Test
    void shouldRefuseFrameWhenRingIsFullAndTakeItAfterRoomWasMade() {
        int written = 0;
        while (write(1000, written)) {
            written++;
        }
        assertThat(written).isEqualTo(RingDescriptor.CAPACITY / 1024 - 1);
        assertThat(read(1000, 0)).isTrue();
        assertThat(write(1000, written)).isTrue();
        assertThat(write(1000, written)).isFalse();
        for (int i = 1; i <= written; i++) {
            assertThat(read(1000, i)).isTrue();
        }
        assertThat(reader.peek()).isZero();
    }

    @Test
    void shouldReadWhatWasWrittenWhenFramesHaveAnySize() {
        long seed = System.nanoTime();
        System.out.println("RingTest seed " + seed);
        Random random = new Random(seed);
        ArrayDeque<int[]> inside = new ArrayDeque<>();
        for (int i = 0; i < 50_000; i++) {
            if (random.nextInt(3) > 0) {
                int bytes = random.nextInt(random.nextBoolean() ? 100 : RingDescriptor.EAGER_LIMIT + 1);
                if (write(bytes, i)) {
                    inside.add(new int[] {bytes, i});
                } else {
                    assertThat(inside).isNotEmpty();
                }
            } else if (inside.isEmpty()) {
                assertThat(reader.peek()).isZero();
            } else {
                int[] frame = inside.poll();
                assertThat(read(frame[0], frame[1])).isTrue();
            }
        }
    }

    @Test
    void shouldHaveRoomForClaimWhenItSaysSoForData() {
        Random random = new Random(3);
        long unread = 0;
        for (int i = 0; i < 20_000; i++) {
            int room = writer.roomForData(random.nextInt(40_000));
            if (room >= 0) {
                assertThat(room).isLessThanOrEqualTo(RingDescriptor.PIECE);
                assertThat(writer.claim(RingDescriptor.DATA_PAYLOAD + room)).isNotZero();
                writer.publish(RingDescriptor.word(RingDescriptor.DATA, room, 1));
                unread += room;
            } else {
                long word = reader.peek();
                assertThat(word).isNotZero();
                unread -= RingDescriptor.payloadBytes(word);
                reader.advance(
                        RingDescriptor.frameBytes(RingDescriptor.DATA_PAYLOAD + RingDescriptor.payloadBytes(word)));
            }
            assertThat(unread).isBetween(0L, (long) RingDescriptor.CAPACITY);
        }
    }

    @Test
    void shouldReadInOrderWhenWriterIsAnotherThread() {
        int frames = 200_000;
        CompletableFuture<Void> writing = CompletableFuture.runAsync(() -> {
            Random sizes = new Random(1);
            for (int i = 0; i < frames; i++) {
                int bytes = sizes.nextInt(200);
                while (!write(bytes, i)) {
                    Thread.yield();
                }
            }
        });
        Random sizes = new Random(1);
        for (int i = 0; i < frames; i++) {
            int bytes = sizes.nextInt(200);
            while (!read(bytes, i)) {
                Thread.yield();
            }
        }
        writing.join();
    }

    @Test
    void shouldAskWhenTooMuchWaitsAtTheReceiver() {
        int sent = 0;
        while (writer.mayBeEager(RingDescriptor.EAGER_LIMIT)) {
            writer.countEager(RingDescriptor.EAGER_LIMIT);
            sent++;
        }
        assertThat((long) sent * RingDescriptor.eagerCharge(RingDescriptor.EAGER_LIMIT))
                .isLessThanOrEqualTo(RingDescriptor.EAGER_WINDOW);
        reader.handedOver(RingDescriptor.EAGER_LIMIT);
        assertThat(writer.mayBeEager(RingDescriptor.EAGER_LIMIT)).isTrue();
        assertThat(writer.mayBeEager(RingDescriptor.EAGER_LIMIT + 1)).isFalse();
    }
}
