package dev.tutti.exec;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.tutti.memory.Memory;
import java.lang.foreign.Arena;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** Packets: data and flag in one word. */
public final class PacketStress {
    private static final Slots SLOTS = new Slots(256);
    private static final long SOURCE = Arena.global().allocate(16, 8).address();

    static {
        Memory.putLong(SOURCE, 0x1111_1111_1111_1111L);
        Memory.putLong(SOURCE + 8, 0x2222_2222_2222_2222L);
    }

    private PacketStress() {}

    /** A message of eleven bytes, two words and a partial one: 11 when all of it has come. */
    @JCStressTest
    @Outcome(id = "0", expect = ACCEPTABLE, desc = "not there yet")
    @Outcome(id = "11", expect = ACCEPTABLE, desc = "all of it")
    @Outcome(expect = FORBIDDEN, desc = "taken before all of it had come")
    @State
    public static class WholeMessage {
        private final long packets = SLOTS.take();
        private final long destination = packets + 128;

        @Actor
        public void send() {
            Packets.pack(SOURCE, packets, 11, 5L << 32);
        }

        @Actor
        public void receive(I_Result result) {
            if (Packets.unpack(packets, destination, 11, 5)) {
                boolean whole = Memory.getLong(destination) == 0x1111_1111_1111_1111L
                        && Memory.getLong(destination + 8) == 0x22_2222L;
                result.r1 = whole ? 11 : -1;
            }
        }
    }

    /** Flag and data of one word: either both or none. */
    @JCStressTest
    @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "nothing")
    @Outcome(id = "5, 286331153", expect = ACCEPTABLE, desc = "flag and data")
    @Outcome(expect = FORBIDDEN, desc = "torn")
    @State
    public static class OneWord {
        private final long packets = SLOTS.take();

        @Actor
        public void send() {
            Packets.pack(SOURCE, packets, 4, 5L << 32);
        }

        @Actor
        public void receive(II_Result result) {
            long word = Memory.getLongAcquire(packets);
            result.r1 = (int) (word >>> 32);
            result.r2 = (int) word;
        }
    }

    /** Two launches in two halves: whoever has the second launch's packet also finds the first one's, unharmed. */
    @JCStressTest
    @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "nothing")
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "the first launch")
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "both launches")
    @Outcome(expect = FORBIDDEN, desc = "the second launch without the first")
    @State
    public static class TwoHalves {
        private final long even = SLOTS.take();
        private final long odd = even + 64;
        private final long destination = even + 128;

        @Actor
        public void send() {
            Packets.pack(SOURCE, odd, 8, 1L << 32);
            Packets.pack(SOURCE + 8, even, 8, 2L << 32);
        }

        @Actor
        public void receive(II_Result result) {
            if (Packets.unpack(even, destination, 8, 2)) {
                result.r1 = Memory.getLong(destination) == 0x2222_2222_2222_2222L ? 1 : -1;
            }
            if (Packets.unpack(odd, destination + 8, 8, 1)) {
                result.r2 = Memory.getLong(destination + 8) == 0x1111_1111_1111_1111L ? 1 : -1;
            }
        }
    }
}
