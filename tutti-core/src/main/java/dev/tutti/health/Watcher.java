package dev.tutti.health;

import dev.tutti.posix.Pidfd;
import dev.tutti.posix.PosixException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Notices when processes end: one daemon thread of this process, for as long as there is anybody to watch. It sleeps in
 * {@code poll} on descriptors of the processes and wakes when one ends; where there are no such descriptors, it looks
 * every 200 ms.
 */
public final class Watcher {
    private static final Watcher SHARED = new Watcher();
    private static final int LOOK_EVERY_MILLIS = 200;
    /** How long the parent of a process that was killed may take to ask how it ended; then nobody is told how. */
    private static final int TRIES = 10;

    private static final long TRY_NANOS = 2_000_000;
    private static final int UNWATCHED = -1;

    // Guarded by this.
    private final List<Watch> watches = new ArrayList<>();
    private @Nullable Thread thread;
    private int bell = UNWATCHED;

    private Watcher() {}

    /** One process that is watched. Closing ends that; a call that is going on has then ended, too. */
    public static final class Watch implements AutoCloseable {
        private final ProcessId process;
        private final Consumer<String> onEnd;
        private final int descriptor;
        private boolean done;

        private Watch(ProcessId process, Consumer<String> onEnd, int descriptor) {
            this.process = process;
            this.onEnd = onEnd;
            this.descriptor = descriptor;
        }

        private boolean hasEnded(boolean readable) {
            return descriptor == UNWATCHED ? !process.isAlive() : readable;
        }

        /** Runs on the watcher's thread. */
        private synchronized void end() {
            if (done) {
                return;
            }
            done = true;
            try {
                onEnd.accept(how());
            } catch (RuntimeException | Error mistake) {
                // The others still have to be told.
                System.getLogger("dev.tutti").log(Level.WARNING, "telling of the end of " + process, mistake);
            }
        }

        private String how() {
            for (int i = 0; descriptor != UNWATCHED && i < TRIES; i++) {
                OptionalInt status = Pidfd.waitStatus(descriptor);
                if (status.isPresent()) {
                    return describe(status.getAsInt());
                }
                LockSupport.parkNanos(TRY_NANOS);
            }
            return "has ended";
        }

        @Override
        public void close() {
            // First: then nobody asks the descriptor for anything any more, and it can be closed.
            synchronized (this) {
                done = true;
            }
            SHARED.remove(this);
        }
    }

    /** Says in words what {@code wait} gives. */
    static String describe(int waitStatus) {
        int signal = waitStatus & 0x7F;
        if (signal == 0) {
            return "ended with exit status " + ((waitStatus >> 8) & 0xFF);
        }
        return "was killed by signal " + signal
                + Signals.name(signal).map(name -> " (" + name + ")").orElse("");
    }

    /**
     * Watches a process.
     *
     * @param process whom
     * @param onEnd is told once, in words, how it ended; soon, if it has ended already
     * @return what ends the watch
     */
    public static Watch watch(ProcessId process, Consumer<String> onEnd) {
        Watch watch = new Watch(process, onEnd, open(process));
        SHARED.add(watch);
        return watch;
    }

    private static int open(ProcessId process) {
        if (!Pidfd.isAvailable()) {
            return UNWATCHED;
        }
        try {
            int descriptor = Pidfd.open(process.pid());
            // Opened first: now the number cannot come to mean another process between the look and the watch.
            if (process.isAlive()) {
                return descriptor;
            }
            Pidfd.close(descriptor);
        } catch (PosixException gone) {
            // Looking at it tells the same.
        }
        return UNWATCHED;
    }

    private synchronized void add(Watch watch) {
        watches.add(watch);
        if (thread == null) {
            bell = Pidfd.isAvailable() ? Pidfd.newBell() : UNWATCHED;
            thread = Thread.ofPlatform().daemon().name("tutti-health").start(this::run);
        } else {
            wake();
        }
    }

    private synchronized void remove(Watch watch) {
        if (watches.remove(watch)) {
            wake();
            if (watch.descriptor != UNWATCHED) {
                // The thread may be polling it; a closed descriptor only wakes it once more, and it has left the list.
                Pidfd.close(watch.descriptor);
            }
        }
    }

    private void wake() {
        if (bell != UNWATCHED) {
            Pidfd.ring(bell);
        }
    }

    private void run() {
        while (true) {
            List<Watch> current;
            int[] descriptors;
            boolean looks;
            synchronized (this) {
                if (watches.isEmpty()) {
                    thread = null;
                    if (bell != UNWATCHED) {
                        Pidfd.close(bell);
                    }
                    return;
                }
                current = List.copyOf(watches);
                descriptors = new int[current.size() + 1];
                descriptors[0] = bell;
                for (int i = 0; i < current.size(); i++) {
                    descriptors[i + 1] = current.get(i).descriptor;
                }
                looks = current.stream().anyMatch(watch -> watch.descriptor == UNWATCHED);
            }
            for (Watch watch : poll(current, descriptors, looks)) {
                watch.end();
                remove(watch);
            }
        }
    }

    private static List<Watch> poll(List<Watch> current, int[] descriptors, boolean looks) {
        boolean[] readable = new boolean[descriptors.length];
        if (descriptors[0] == UNWATCHED) {
            LockSupport.parkNanos(LOOK_EVERY_MILLIS * 1_000_000L);
        } else {
            readable = Pidfd.poll(descriptors, looks ? LOOK_EVERY_MILLIS : -1);
            if (readable[0]) {
                Pidfd.silence(descriptors[0]);
            }
        }
        List<Watch> ended = new ArrayList<>();
        for (int i = 0; i < current.size(); i++) {
            if (current.get(i).hasEnded(readable[i + 1])) {
                ended.add(current.get(i));
            }
        }
        return ended;
    }
}
