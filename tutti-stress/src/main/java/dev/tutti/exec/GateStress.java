package dev.tutti.exec;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** The gate before each rank's executor, and closing memory that an operation inside may use. */
public final class GateStress {
    /** One for all states: making one enters it in a list that closing goes through. */
    private static final Gate GATE = new Gate();

    private static final AtomicLong OWNERS = new AtomicLong();

    private GateStress() {}

    /** Only one inside at a time. */
    @JCStressTest
    @Outcome(id = "2", expect = ACCEPTABLE, desc = "one after the other")
    @Outcome(expect = FORBIDDEN, desc = "both at once")
    @State
    public static class OneAtATime {
        private int inside;

        @Actor
        public void one() {
            enter();
        }

        @Actor
        public void other() {
            enter();
        }

        private void enter() {
            GATE.enter();
            inside++;
            GATE.exit();
        }

        @Arbiter
        public void count(I_Result result) {
            result.r1 = inside;
        }
    }

    /** As a buffer is used and closed: 0 refused, 1 used while open, -1 used after it was freed. */
    @JCStressTest
    @Outcome(id = "0", expect = ACCEPTABLE, desc = "refused")
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "used before it was freed")
    @Outcome(expect = FORBIDDEN, desc = "used after it was freed")
    @State
    public static class UseAndClose {
        private final long owner = OWNERS.incrementAndGet();
        private volatile boolean closing;
        private boolean freed;

        @Actor
        public void use(I_Result result) {
            GATE.enter();
            if (!closing) {
                GATE.uses(owner, 0);
                // An operation takes a while.
                for (int i = 0; i < 10; i++) {
                    Thread.onSpinWait();
                }
                result.r1 = freed ? -1 : 1;
            }
            GATE.exit();
        }

        @Actor
        public void close() {
            closing = true;
            Gate.awaitPassage(owner);
            freed = true;
        }
    }
}
