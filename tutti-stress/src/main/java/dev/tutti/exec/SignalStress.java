package dev.tutti.exec;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.tutti.memory.Memory;
import dev.tutti.spi.RegionLayout;
import dev.tutti.transport.local.LocalTransport;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Data and signature are there when their signal is. First number: the data; second: 1 if the signature was the expected one. */
@JCStressTest
@Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "no signal yet")
@Outcome(id = "7, 1", expect = ACCEPTABLE, desc = "signal, signature and data")
@Outcome(expect = FORBIDDEN, desc = "a signal without its signature or data")
@State
public class SignalStress {
    private static final Slots SLOTS = new Slots(256);
    private static final Endpoint SENDER;
    private static final Endpoint RECEIVER;

    static {
        LocalTransport transport = new LocalTransport(2);
        RegionLayout layout = new RegionLayout(2, 1, 4096, 4096);
        SENDER = new Endpoint(transport.join(1, 0, new int[] {0, 1}, layout), "stress", 0, 2, 0, 1_000_000_000);
        RECEIVER = new Endpoint(transport.join(1, 1, new int[] {0, 1}, layout), "stress", 1, 2, 0, 1_000_000_000);
        SENDER.signature = 42;
        RECEIVER.signature = 42;
    }

    private final long line = SLOTS.take();
    private final long data = line + 128;
    private final long[] signal = {Records.header(Records.SIGNAL, 1, 0, 0, 3), line, 1L << 32 | 1};
    private final long[] wait = {Records.header(Records.WAIT, 1, 0, 0, 3), line, Records.CHECK};

    @Actor
    public void send() {
        Memory.putLong(data, 7);
        Signals.signal(signal, 0, SENDER);
    }

    @Actor
    public void receive(II_Result result) {
        try {
            if (Signals.tryWait(wait, 0, 0, RECEIVER)) {
                result.r1 = (int) Memory.getLong(data);
                result.r2 = 1;
            }
        } catch (RuntimeException mismatch) {
            result.r2 = -1;
        }
    }
}
