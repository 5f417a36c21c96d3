package dev.tutti.exec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.memory.Memory;
import dev.tutti.memory.Operand;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Timeout;

/** Whichever way is tried or chosen, the bytes are the same. */
@Timeout(30)
class StoresTest {
    private static final int MOST = 40_000;

    /** From and to arrays, or one of them and an address, while the collector moves arrays. */
    @RepeatedTest(3)
    void shouldCopyBetweenArraysThatMove() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Endpoint endpoint = endpoint();
        Stores stores = endpoint.stores;
        stores.stream(new Streamed(true, false, false));
        endpoint.input = new Operand();
        endpoint.output = new Operand();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(MOST + 128, 64);
            for (int i = 0; i < 300; i++) {
                float[] from = new float[MOST / 4 + 32];
                for (int j = 0; j < from.length; j++) {
                    from[j] = random.nextFloat();
                }
                float[] to = new float[from.length];
                int source = random.nextInt(16);
                int destination = random.nextInt(16);
                int count = random.nextInt(MOST / 4);
                if (random.nextBoolean()) {
                    endpoint.input.setSegment(MemorySegment.ofArray(from).asReadOnly(), false);
                } else {
                    endpoint.input.setArray(from, 0, 4L * from.length);
                }
                endpoint.output.setArray(to, destination, 4L * count);
                if (i % 20 == 0) {
                    System.gc();
                }
                if (random.nextBoolean()) {
                    stores.toOutput(Places.INPUT + 4L * source, Places.OUTPUT, 4L * count);
                } else {
                    long between = memory.address() + random.nextInt(64);
                    stores.toOutput(Places.INPUT + 4L * source, between, 4L * count);
                    stores.toOutput(between, Places.OUTPUT, 4L * count);
                }
                assertThat(Arrays.mismatch(to, destination, destination + count, from, source, source + count))
                        .as("%d elements from %d to %d, seed %d", count, source, destination, seed)
                        .isEqualTo(-1);
                assertThat(to[destination + count]).isZero();
                assertThat(Arrays.mismatch(to, 0, destination, new float[destination], 0, destination))
                        .isEqualTo(-1);
            }
        }
    }

    private static Endpoint endpoint() {
        return new Ranks(1, 1 << 16, 1 << 16, 0, call -> {
                    throw new IllegalStateException("no call is made");
                })
                .all.getFirst().endpoint;
    }

    @RepeatedTest(3)
    void shouldCopyTheSameBytesWhicheverWayIsTaken() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Endpoint endpoint = endpoint();
        Stores stores = endpoint.stores;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocate(MOST + 128, 64);
            MemorySegment to = arena.allocate(MOST + 128, 64);
            for (long at = 0; at < from.byteSize(); at += 8) {
                from.set(ValueLayout.JAVA_LONG, at, random.nextLong());
            }
            endpoint.input = new Operand();
            endpoint.input.setArray(from.toArray(ValueLayout.JAVA_BYTE), 0, from.byteSize());
            for (int i = 0; i < 1000; i++) {
                int source = random.nextInt(64);
                int destination = random.nextInt(64);
                int bytes = random.nextInt(MOST);
                Memory.fill(to.address(), to.byteSize(), (byte) 0);
                stores.stream(new Streamed(random.nextBoolean(), random.nextBoolean(), false));
                long start = (random.nextBoolean() ? from.address() : Places.INPUT) + source;
                long address = to.address() + destination;
                switch (random.nextInt(4)) {
                    case 0 -> stores.toOutput(start, address, bytes);
                    case 1 -> stores.toSlot(start, address, bytes);
                    case 2 -> stores.toBusyPeersSlot(start, address, bytes);
                    default -> {
                        CopyTrial.Way[] ways = CopyTrial.Way.values();
                        stores.copy(start, address, bytes, ways[random.nextInt(ways.length)]);
                    }
                }
                assertThat(to.asSlice(destination, bytes).mismatch(from.asSlice(source, bytes)))
                        .as("%d bytes from %d to %d, seed %d", bytes, source, destination, seed)
                        .isEqualTo(-1);
                assertThat(to.get(ValueLayout.JAVA_BYTE, destination + bytes)).isZero();
            }
        }
    }
}
