package dev.tutti;

import java.util.Arrays;

/** Tells whether a thread has given its core away, in Java or in the kernel. */
public final class Asleep {
    private Asleep() {}

    public static boolean is(Thread thread) {
        Thread.State state = thread.getState();
        return state == Thread.State.TIMED_WAITING
                || state == Thread.State.WAITING
                || Arrays.stream(thread.getStackTrace())
                        .anyMatch(frame -> frame.getClassName().startsWith("dev.tutti.posix.Futex")
                                && frame.getMethodName().equals("await"));
    }
}
