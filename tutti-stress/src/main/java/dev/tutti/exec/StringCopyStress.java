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

/** All of a copy in one instruction is there when the word that is stored after it is. First number: that word; second: the sum of what was copied. */
@JCStressTest
@Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "not yet")
@Outcome(id = "1, 128", expect = ACCEPTABLE, desc = "the word and all of the copy")
@Outcome(expect = FORBIDDEN, desc = "the word before some of the copy")
@State
public class StringCopyStress {
    private static final int BYTES = 1024;
    private static final Slots SLOTS = new Slots(BYTES + 128);
    private static final long SOURCE = Arena.global().allocate(BYTES, 64).address();

    static {
        for (int at = 0; at < BYTES; at += 8) {
            Memory.putLong(SOURCE + at, 1);
        }
    }

    private final long word = SLOTS.take();
    private final long copy = word + 128;

    @Actor
    public void write() {
        Memory.copyString(SOURCE, copy, BYTES);
        Memory.putLongRelease(word, 1);
    }

    @Actor
    public void read(II_Result result) {
        if (Memory.getLongAcquire(word) == 0) {
            return;
        }
        result.r1 = 1;
        // From its end, which would come last.
        for (int at = BYTES - 8; at >= 0; at -= 8) {
            result.r2 += (int) Memory.getLong(copy + at);
        }
    }
}
