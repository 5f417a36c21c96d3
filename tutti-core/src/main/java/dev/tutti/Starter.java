package dev.tutti;

import dev.tutti.health.ProcessId;
import dev.tutti.health.Watcher;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/**
 * Ends this process when {@code tutti run}, which started it, is gone: nobody is left who would. The launcher leaves somebody behind who
 * kills its ranks; this is for the case that both were killed.
 */
final class Starter {
    private static final long GRACE_MILLIS = 500;
    private static final int KILLED = 128 + 9;

    private static Watcher.@Nullable Watch watch;

    private Starter() {}

    static synchronized void watch(@Nullable ProcessId starter) {
        if (starter != null && watch == null) {
            watch = Watcher.watch(
                    starter,
                    how -> Thread.ofPlatform().daemon().name("tutti-orphan").start(() -> end(starter, how)));
        }
    }

    private static void end(ProcessId starter, String how) {
        System.getLogger("dev.tutti")
                .log(Level.ERROR, "tutti run (process {0}) {1}: this rank ends too", "" + starter.pid(), how);
        try {
            // Peers see this end as they see any; a moment, so that what was said gets out.
            Thread.sleep(GRACE_MILLIS);
        } catch (InterruptedException soon) {
            Thread.currentThread().interrupt();
        }
        Runtime.getRuntime().halt(KILLED);
    }
}
