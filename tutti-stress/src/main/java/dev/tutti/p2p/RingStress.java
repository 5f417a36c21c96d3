package dev.tutti.p2p;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.tutti.memory.Memory;
import java.lang.foreign.Arena;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * The ring between two ranks. One ring for all states, used round and round: the writer and the reader are one thread each.
 * Frames have every length, so that they end everywhere in the ring. 0 nothing to read, 1 the next frame, whole.
 */
@JCStressTest
@Outcome(id = "0", expect = ACCEPTABLE, desc = "nothing there")
@Outcome(id = "1", expect = ACCEPTABLE, desc = "the next frame, whole")
@Outcome(expect = FORBIDDEN, desc = "a frame lost, out of order, or without its payload")
@State
public class RingStress {
    private static final int LONGEST_WORDS = 40;
    private static final long RING =
            Arena.global().allocate(RingDescriptor.BYTES, 128).address();
    private static final RingWriter WRITER = new RingWriter(RING);
    private static final RingReader READER = new RingReader(RING);

    private static int written;
    private static int read;

    @Actor
    public void write() {
        int words = 1 + written % LONGEST_WORDS;
        long frame = WRITER.claim(RingDescriptor.EAGER_PAYLOAD + 8 * words);
        if (frame != 0) {
            for (int i = 0; i < words; i++) {
                Memory.putLong(frame + RingDescriptor.EAGER_PAYLOAD + 8L * i, written + 1L);
            }
            WRITER.publish(RingDescriptor.word(RingDescriptor.EAGER, 8 * words, written));
            written++;
        }
    }

    @Actor
    public void read(I_Result result) {
        long word = READER.peek();
        if (word == 0) {
            return;
        }
        int words = 1 + read % LONGEST_WORDS;
        boolean whole = RingDescriptor.kind(word) == RingDescriptor.EAGER
                && RingDescriptor.payloadBytes(word) == 8 * words
                && RingDescriptor.tagOrSlot(word) == read;
        for (int i = 0; i < words; i++) {
            whole &= Memory.getLong(READER.address() + RingDescriptor.EAGER_PAYLOAD + 8L * i) == read + 1L;
        }
        READER.advance(RingDescriptor.frameBytes(RingDescriptor.EAGER_PAYLOAD + RingDescriptor.payloadBytes(word)));
        read++;
        result.r1 = whole ? 1 : -1;
    }
}
