package dev.tutti.channel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tutti.spi.RegionLayout;
import dev.tutti.transport.local.LocalTransport;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What a rank tells its peer about the calls that it has made. */
class BoardTest {
    private static final RegionLayout LAYOUT = new RegionLayout(2, 1, 4096, 4096);

    private final LocalTransport transport = new LocalTransport(2);
    private final Board own = new Board(transport.join(1, 0, new int[] {0, 1}, LAYOUT), 0, 2);
    private final Board peer = new Board(transport.join(1, 1, new int[] {0, 1}, LAYOUT), 1, 2);
    private final long[] read = new long[3];

    @Test
    void shouldTellNothingBeforeTheFirstOperation() {
        assertEquals(0, peer.position(0));
        assertFalse(peer.readOperation(0, 1, read));
    }

    @Test
    void shouldTellOfEveryOperationOfARun() {
        for (long number = 1; number <= 10_000; number++) {
            own.publishOperation(number, 0, 0, 0);
        }

        assertTrue(peer.readOperation(0, 1, read));
        assertTrue(peer.readOperation(0, 10_000, read));
        assertFalse(peer.readOperation(0, 10_001, read), "not called yet");
        assertEquals(1, peer.runStart(0, 0));
    }

    @Test
    void shouldTellWhatWasCalledWhenCallsChange() {
        long seed = Long.getLong("tutti.seed", System.nanoTime());
        System.out.println("board: -Dtutti.seed=" + seed);
        Random random = new Random(seed);
        int operations = 5_000;
        long[][] called = new long[operations + 1][3];
        int[] run = new int[operations + 1];
        for (int number = 1; number <= operations; number++) {
            for (int i = 0; i < 3; i++) {
                called[number][i] = number > 1 && random.nextInt(4) != 0 ? called[number - 1][i] : random.nextInt(3);
            }
            boolean same = number > 1 && java.util.Arrays.equals(called[number], called[number - 1]);
            run[number] = run[number - 1] + (same ? 0 : 1);
            own.publishOperation(number, called[number][0], called[number][1], called[number][2]);
        }

        for (int number = 1; number <= operations; number++) {
            boolean kept = run[number] > run[operations] - Board.HISTORY;
            assertEquals(kept, peer.readOperation(0, number, read), "operation " + number);
            if (kept) {
                assertArrayEquals(called[number], read, "operation " + number);
            }
        }
    }
}
