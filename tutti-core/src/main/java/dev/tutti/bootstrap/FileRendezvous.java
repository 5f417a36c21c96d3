package dev.tutti.bootstrap;

import dev.tutti.PeerFailedException;
import dev.tutti.TuttiException;
import dev.tutti.health.ProcessId;
import dev.tutti.spi.Rendezvous;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Notes as files of a {@link JobFolder}. A note appears by linking a file that has been written to the end to its name: whole,
 * and once.
 */
final class FileRendezvous implements Rendezvous {
    private static final long FIRST_PAUSE_NANOS = 200_000;
    private static final long LONGEST_PAUSE_NANOS = 8_000_000;
    private static final long LOOK_FOR_DEAD_EVERY_NANOS = 100_000_000;

    private final JobFolder folder;
    private final String member;
    private final AtomicInteger notes = new AtomicInteger();
    private boolean closed;

    private FileRendezvous(JobFolder folder, String member) {
        this.folder = folder;
        this.member = member;
    }

    /** In a folder that is found by the job's id. */
    static FileRendezvous forJob(PrivateFolder user, String id, int process, ProcessId self) {
        return new FileRendezvous(JobFolder.enter(user, id, "" + process, self), "" + process);
    }

    /** In a folder that whoever started the job has made. */
    static FileRendezvous in(Path path, int world, int process, ProcessId self) {
        JobFolder folder = JobFolder.existing(path);
        String member = world + "." + process;
        try {
            folder.enter(member, self);
        } catch (IOException unwritable) {
            throw PrivateFolder.cannotMeet(path, unwritable);
        }
        return new FileRendezvous(folder, member);
    }

    @Override
    public void put(String key, byte[] value) {
        Keys.check(key, value);
        Path file = file(key);
        try {
            Path written = folder.path().resolve(".note-" + member + "-" + notes.incrementAndGet());
            try {
                Files.write(written, value);
                Files.createLink(file, written);
            } finally {
                Files.deleteIfExists(written);
            }
        } catch (FileAlreadyExistsException there) {
            requireSame(key, file, value);
        } catch (IOException unwritable) {
            throw Files.isDirectory(folder.path())
                    ? PrivateFolder.cannotMeet(folder.path(), unwritable)
                    : broken("cannot put " + key, unwritable);
        }
    }

    private void requireSame(String key, Path file, byte[] value) {
        try {
            if (!Arrays.equals(Files.readAllBytes(file), value)) {
                throw Keys.taken(key);
            }
        } catch (IOException unreadable) {
            throw broken("cannot read " + key, unreadable);
        }
    }

    @Override
    public byte[] await(String key, long deadlineNanos) {
        Keys.check(key);
        Path file = file(key);
        long pause = FIRST_PAUSE_NANOS;
        long looked = System.nanoTime();
        while (true) {
            try {
                if (Files.size(file) > MAX_VALUE_BYTES) {
                    throw broken(key + " is too long", new IOException(Files.size(file) + " bytes"));
                }
                return Files.readAllBytes(file);
            } catch (NoSuchFileException notYet) {
                // Again, after a pause.
            } catch (IOException unreadable) {
                throw broken("cannot read " + key, unreadable);
            }
            long now = System.nanoTime();
            if (now - deadlineNanos >= 0) {
                requireEverybody();
                throw Keys.late(key, "in " + folder.path());
            }
            if (now - looked >= LOOK_FOR_DEAD_EVERY_NANOS) {
                looked = now;
                requireEverybody();
            }
            if (Thread.currentThread().isInterrupted()) {
                throw new TuttiException(TuttiException.Category.BROKEN, "interrupted while waiting for " + key, null);
            }
            LockSupport.parkNanos(this, Math.min(pause, deadlineNanos - now));
            pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS);
        }
    }

    @Override
    public void requireEverybody() {
        // Read before the dead are counted: whoever gives up because of one of them does so after its end.
        Map<String, String> gaveUp = whoGaveUp();
        List<String> died = folder.died(member.substring(0, member.indexOf('.') + 1)).stream()
                .filter(each -> !gaveUp.containsKey(process(each)))
                .map(FileRendezvous::name)
                .toList();
        if (!died.isEmpty()) {
            throw new PeerFailedException(String.join(", ", died) + " ended while the ranks were joining", null);
        }
        if (!gaveUp.isEmpty()) {
            Map.Entry<String, String> first = gaveUp.entrySet().iterator().next();
            throw Bootstrap.gaveUp(first.getKey(), first.getValue());
        }
        if (!Files.isDirectory(folder.path())) {
            throw new PeerFailedException(
                    "the folder where the ranks meet, " + folder.path() + ", has gone: the job was ended", null);
        }
    }

    /** The processes that could not join, and why; the first to say so comes first. */
    private Map<String, String> whoGaveUp() {
        int dot = member.indexOf('.');
        // As Bootstrap names the notes of one of several worlds.
        String world = dot < 0 ? "" : "world" + member.substring(0, dot) + "/";
        return folder.notes(world + Bootstrap.GAVE_UP);
    }

    /** What messages call a member. */
    static String name(String member) {
        return member.equals("launcher") ? "the launcher" : "process " + process(member);
    }

    /** A member's number in its world. */
    private static String process(String member) {
        return member.substring(member.indexOf('.') + 1);
    }

    private Path file(String key) {
        return folder.note(key);
    }

    private TuttiException broken(String what, IOException cause) {
        return Files.isDirectory(folder.path())
                ? new TuttiException(TuttiException.Category.BROKEN, what + ": " + cause, cause)
                : new PeerFailedException(
                        what + ": the folder where the ranks meet, " + folder.path() + ", has gone: the job was ended",
                        cause);
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            folder.leave(member);
        }
    }
}
