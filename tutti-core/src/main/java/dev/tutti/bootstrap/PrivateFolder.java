package dev.tutti.bootstrap;

import dev.tutti.TuttiException;
import dev.tutti.posix.ProcessFacts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A folder that nobody but this user can look into. Each user has one, for the {@linkplain JobFolder folders of jobs}:
 *
 * <pre>
 *   $XDG_RUNTIME_DIR/tutti  or  /dev/shm/tutti-UID  or  /tmp/tutti-UID      0700, this user's
 *     lock                      held for a moment by whoever makes or removes a job's folder
 *     JOB/                      0700; a job's
 * </pre>
 */
final class PrivateFolder {
    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rwx------");
    private static final FileAttribute<?> OWNER_ONLY_ATTRIBUTE = PosixFilePermissions.asFileAttribute(OWNER_ONLY);

    private final Path path;

    private PrivateFolder(Path path) {
        this.path = path;
    }

    Path path() {
        return path;
    }

    /** The folder of this user; made if it is not there. */
    static PrivateFolder ofUser(@Nullable Path runtimeFolder) {
        List<String> refusals = new ArrayList<>();
        for (Path candidate : candidates(runtimeFolder)) {
            try {
                if (!Files.isWritable(parentOf(candidate))) {
                    throw new IOException("not writable, or not there");
                }
                return new PrivateFolder(makeOrCheck(candidate));
            } catch (IOException | TuttiException refused) {
                refusals.add(candidate + ": " + refused.getMessage());
            }
        }
        throw new TuttiException(
                TuttiException.Category.USAGE,
                "no place for a folder where ranks can meet: " + String.join("; ", refusals)
                        + "; set XDG_RUNTIME_DIR to a folder of yours",
                null);
    }

    private static List<Path> candidates(@Nullable Path runtimeFolder) {
        long uid = userId();
        List<Path> all = new ArrayList<>();
        if (runtimeFolder != null) {
            all.add(runtimeFolder.resolve("tutti"));
        }
        for (Path shared : List.of(Path.of("/dev/shm"), Path.of(System.getProperty("java.io.tmpdir")))) {
            all.add(shared.resolve("tutti-" + uid));
        }
        return all;
    }

    /** Makes a folder, or sees that the one that is there is this user's alone. */
    static Path makeOrCheck(Path path) throws IOException {
        try {
            Files.createDirectory(path, OWNER_ONLY_ATTRIBUTE);
        } catch (FileAlreadyExistsException there) {
            check(path);
        }
        return path;
    }

    /** Throws if a folder is not this user's alone. */
    static void check(Path path) throws IOException {
        PosixFileAttributes found = Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        if (!found.isDirectory()) {
            throw refuse(path + " is no folder" + (found.isSymbolicLink() ? " but a symbolic link" : ""));
        }
        long owner = ((Number) Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS)).longValue();
        if (owner != userId()) {
            throw refuse(path + " belongs to user " + owner + ", this process runs as " + userId());
        }
        Set<PosixFilePermission> extra = EnumSet.copyOf(found.permissions());
        extra.removeAll(OWNER_ONLY);
        if (!extra.isEmpty()) {
            throw refuse(path + " is open to others (" + PosixFilePermissions.toString(found.permissions())
                    + "); chmod 700 it after a look at what is in it");
        }
    }

    private static TuttiException refuse(String why) {
        return new TuttiException(TuttiException.Category.USAGE, why, null);
    }

    static long userId() {
        int uid = ProcessFacts.uid();
        return uid >= 0 ? uid : ownerOfANewFile();
    }

    private static long ownerOfANewFile() {
        try {
            Path probe = Files.createTempFile("tutti-", ".uid");
            try {
                return ((Number) Files.getAttribute(probe, "unix:uid")).longValue();
            } finally {
                Files.delete(probe);
            }
        } catch (IOException unwritable) {
            throw new UncheckedIOException("cannot find out who this user is", unwritable);
        }
    }

    /** Makes a folder in this one. */
    Path create(String name) throws IOException {
        return Files.createDirectory(path.resolve(name), OWNER_ONLY_ATTRIBUTE);
    }

    static TuttiException cannotMeet(Path where, IOException why) {
        return new TuttiException(
                TuttiException.Category.USAGE,
                "cannot meet in " + where + ": " + why + "; it must be writable and have some room left, else set"
                        + " XDG_RUNTIME_DIR to another folder of yours",
                why);
    }

    /** The folder that a job's is in. */
    static PrivateFolder around(Path job) {
        return new PrivateFolder(parentOf(job));
    }

    private static Path parentOf(Path path) {
        return Objects.requireNonNull(path.getParent(), "a folder of ours is in another");
    }

    /**
     * Runs with the lock of this user's folder held, and removes the folder if it is empty then. So whoever gets the lock may find
     * that its file has been removed meanwhile; that is noticed by leaving a word in it and looking for it by name. What is opened to
     * look stays open: a process that closes any descriptor of a file loses its locks on it.
     */
    <T> T locked(Supplier<T> action) {
        Path file = path.resolve("lock");
        byte[] word = (ProcessHandle.current().pid() + " " + System.nanoTime()).getBytes(StandardCharsets.US_ASCII);
        // Locks are the process's: threads of this one must not ask for it at the same time.
        synchronized (PrivateFolder.class) {
            while (true) {
                try {
                    makeOrCheck(path);
                    try (FileChannel channel =
                                    FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                            FileLock held = channel.lock();
                            FileChannel byName = FileChannel.open(file, StandardOpenOption.READ)) {
                        channel.truncate(0);
                        channel.write(ByteBuffer.wrap(word));
                        if (held.isValid() && Arrays.equals(word, read(byName, word.length))) {
                            try {
                                return action.get();
                            } finally {
                                removeIfEmpty(file);
                            }
                        }
                    }
                } catch (NoSuchFileException removed) {
                    // Again, with a new one.
                } catch (IOException unwritable) {
                    throw cannotMeet(path, unwritable);
                }
            }
        }
    }

    private static byte[] read(FileChannel channel, int most) throws IOException {
        ByteBuffer read = ByteBuffer.allocate(most);
        channel.read(read, 0);
        return Arrays.copyOf(read.array(), read.position());
    }

    private void removeIfEmpty(Path lock) throws IOException {
        try (DirectoryStream<Path> all = Files.newDirectoryStream(path)) {
            for (Path each : all) {
                if (!each.equals(lock)) {
                    return;
                }
            }
        }
        Files.deleteIfExists(lock);
        try {
            Files.deleteIfExists(path);
        } catch (DirectoryNotEmptyException used) {
            // By somebody who waits for the lock.
        }
    }
}
