package dev.tutti.bootstrap;

import dev.tutti.TuttiException;
import dev.tutti.health.ProcessId;
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
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Folders that nobody but this user can look into: one for the user, and in it one for each job.
 *
 * <pre>
 *   $XDG_RUNTIME_DIR/tutti  or  /dev/shm/tutti-UID  or  /tmp/tutti-UID      0700, this user's
 *     lock                      held for a moment by whoever makes or removes a job's folder
 *     JOB/                      0700; named by a digest of the job's id
 *       member.P                process P (of world W: W.P), so that its end can be noticed; "member.launcher" likewise
 *       left.P                  process P has all it needs
 *       ended.P                 process P has ended, says whoever started it; it may never have come
 *       key.K                   a note; "/" is written "+"
 * </pre>
 */
public final class PrivateFolder {
    static final String MEMBER = "member.";
    static final String LEFT = "left.";
    static final String ENDED = "ended.";
    private static final String NOTE = "key.";
    private static final String GAVE_UP = Bootstrap.GAVE_UP.replace('/', '+');
    private static final Duration EMPTY_FOR = Duration.ofMinutes(1);
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
    public static PrivateFolder ofUser(@Nullable Path runtimeFolder) {
        List<String> refusals = new ArrayList<>();
        for (Path candidate : candidates(runtimeFolder)) {
            try {
                if (!Files.isWritable(parentOf(candidate))) {
                    throw new IOException("not writable, or not there");
                }
                return makeOrCheck(candidate);
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

    /** A folder that must be there and be this user's alone. */
    static PrivateFolder existing(Path path) {
        try {
            check(path);
            return new PrivateFolder(path);
        } catch (NoSuchFileException gone) {
            throw new TuttiException(
                    TuttiException.Category.PEER_FAILED,
                    "the folder where the ranks meet, " + path + ", has gone: the job has ended or failed",
                    gone);
        } catch (IOException unreadable) {
            throw new TuttiException(
                    TuttiException.Category.USAGE, "cannot meet in " + path + ": " + unreadable, unreadable);
        }
    }

    private static PrivateFolder makeOrCheck(Path path) throws IOException {
        try {
            Files.createDirectory(path, OWNER_ONLY_ATTRIBUTE);
        } catch (FileAlreadyExistsException there) {
            check(path);
        }
        return new PrivateFolder(path);
    }

    private static void check(Path path) throws IOException {
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

    /** A new folder for a job that a process of this host starts; whoever makes it removes it. */
    public static Path create(PrivateFolder user, String name, ProcessId owner) {
        return user.locked(() -> {
            try {
                user.sweep();
                Path folder = Files.createDirectory(user.path.resolve(name), OWNER_ONLY_ATTRIBUTE);
                Files.writeString(folder.resolve(MEMBER + "launcher"), owner.toString());
                return folder;
            } catch (IOException unwritable) {
                throw cannotMeet(user.path, unwritable);
            }
        });
    }

    /** The folder of a job; made if this process is its first. */
    PrivateFolder ofJob(String id, String process, ProcessId self) {
        return locked(() -> {
            try {
                sweep();
                PrivateFolder job = makeOrCheck(path.resolve(digest(id)));
                try {
                    job.enter(process, self);
                    return job;
                } catch (IOException unwritable) {
                    job.stayOutside(process);
                    throw unwritable;
                }
            } catch (IOException unwritable) {
                throw cannotMeet(path, unwritable);
            }
        });
    }

    static TuttiException cannotMeet(Path where, IOException why) {
        return new TuttiException(
                TuttiException.Category.USAGE,
                "cannot meet in " + where + ": " + why + "; it must be writable and have some room left, else set"
                        + " XDG_RUNTIME_DIR to another folder of yours",
                why);
    }

    void enter(String process, ProcessId self) throws IOException {
        Path card = path.resolve(MEMBER + process);
        Path written = path.resolve(".member-" + self.pid() + "-" + process);
        try {
            // The name appears with its contents: a file without would be taken for a process that cannot be watched.
            try {
                Files.writeString(written, self.toString());
                Files.createLink(card, written);
            } finally {
                Files.deleteIfExists(written);
            }
        } catch (FileAlreadyExistsException taken) {
            throw new TuttiException(
                    TuttiException.Category.USAGE,
                    FileRendezvous.name(process) + " is there twice: pid " + Files.readString(card) + " and pid " + self
                            + "; if these are different jobs, give each its own TUTTI_JOB",
                    taken);
        }
    }

    /** Tells those inside that a process could not enter; with a name alone, as there may be room for no more. Held: the lock. */
    private void stayOutside(String process) throws IOException {
        if (nobodyIsInside()) {
            delete(path);
        } else {
            Files.createFile(note(Bootstrap.GAVE_UP + process));
        }
    }

    /** Where a note is. */
    Path note(String key) {
        return path.resolve(NOTE + key.replace('/', '+'));
    }

    /**
     * All notes whose keys begin alike, the oldest first.
     *
     * @return the rest of each key, and what the note says
     */
    Map<String, String> notes(String prefix) {
        Path example = note(prefix);
        Map<String, String> found = new LinkedHashMap<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(path, example.getFileName() + "*")) {
            List<Path> byAge = new ArrayList<>();
            files.forEach(byAge::add);
            byAge.sort(Comparator.comparing(PrivateFolder::changed));
            for (Path file : byAge) {
                found.put(file.toString().substring(example.toString().length()), Files.readString(file));
            }
        } catch (IOException gone) {
            // Whoever looks for the folder finds out.
        }
        return found;
    }

    private static FileTime changed(Path file) {
        try {
            return Files.getLastModifiedTime(file);
        } catch (IOException gone) {
            return FileTime.fromMillis(Long.MAX_VALUE);
        }
    }

    /** Says that a process needs the folder no more, and removes it if nobody does. */
    void leave(String process) {
        try {
            Files.createFile(path.resolve(LEFT + process));
            if (nobodyIsInside()) {
                // The notes first, as the lock needs some room; but not those for whoever comes just now.
                for (String key : names(NOTE, path)) {
                    if (!key.startsWith(GAVE_UP)) {
                        Files.deleteIfExists(path.resolve(NOTE + key));
                    }
                }
                new PrivateFolder(parentOf(path)).locked(() -> {
                    if (nobodyIsInside()) {
                        delete(path);
                    }
                    return path;
                });
            }
        } catch (IOException gone) {
            // Somebody has removed it already.
        } catch (TuttiException noRoom) {
            // The next job removes it.
        }
    }

    private boolean nobodyIsInside() {
        try {
            return names(MEMBER, path).stream().allMatch(this::hasLeftOrDied);
        } catch (IOException gone) {
            return false;
        }
    }

    private boolean hasLeftOrDied(String member) {
        return Files.exists(path.resolve(LEFT + member))
                || processOf(path.resolve(MEMBER + member))
                        .filter(ProcessId::isAlive)
                        .isEmpty();
    }

    /**
     * The processes that have ended without leaving.
     *
     * @param world stands before the numbers of processes in this folder; empty if there is only one world
     */
    List<String> died(String world) {
        try {
            List<String> all = new ArrayList<>(names(MEMBER, path).stream()
                    .filter(member -> processOf(path.resolve(MEMBER + member))
                            .filter(each -> !each.isAlive())
                            .isPresent())
                    .toList());
            names(ENDED, path).forEach(process -> all.add(world + process));
            // Looked at last: whoever leaves does so before it ends.
            return all.stream()
                    .distinct()
                    .filter(member -> !Files.exists(path.resolve(LEFT + member)))
                    .toList();
        } catch (IOException gone) {
            return List.of();
        }
    }

    /** Removes the folders of jobs whose processes have all ended. Held: the lock. */
    private void sweep() throws IOException {
        try (DirectoryStream<Path> jobs = Files.newDirectoryStream(path, Files::isDirectory)) {
            for (Path job : jobs) {
                if (isStale(job)) {
                    delete(job);
                }
            }
        }
    }

    private static boolean isStale(Path job) {
        try {
            List<String> members = names(MEMBER, job);
            if (members.isEmpty()) {
                FileTime changed = Files.getLastModifiedTime(job);
                return changed.toInstant().isBefore(Instant.now().minus(EMPTY_FOR));
            }
            return members.stream()
                    .allMatch(member -> processOf(job.resolve(MEMBER + member))
                            .filter(ProcessId::isAlive)
                            .isEmpty());
        } catch (IOException gone) {
            return false;
        }
    }

    private static java.util.Optional<ProcessId> processOf(Path card) {
        try {
            return java.util.Optional.of(ProcessId.parse(Files.readString(card, StandardCharsets.US_ASCII)));
        } catch (IOException | IllegalArgumentException unreadable) {
            return java.util.Optional.empty();
        }
    }

    private static List<String> names(String prefix, Path job) throws IOException {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(job, prefix + "*")) {
            files.forEach(file -> names.add(file.getFileName().toString().substring(prefix.length())));
        }
        return names;
    }

    /** Removes the folder of a job that this process has made. */
    public static void remove(Path job) {
        new PrivateFolder(parentOf(job)).locked(() -> {
            delete(job);
            return job;
        });
    }

    private static Path parentOf(Path job) {
        return Objects.requireNonNull(job.getParent(), "a folder of ours is in another");
    }

    private static void delete(Path job) {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(job)) {
            for (Path file : files) {
                Files.deleteIfExists(file);
            }
            Files.deleteIfExists(job);
        } catch (IOException gone) {
            // Whatever is left is found by the next sweep.
        }
    }

    /**
     * Runs with the lock of this user's folder held, and removes the folder if it is empty then. So whoever gets the lock may find
     * that its file has been removed meanwhile; that is noticed by leaving a word in it and looking for it by name. What is opened to
     * look stays open: a process that closes any descriptor of a file loses its locks on it.
     */
    private <T> T locked(Supplier<T> action) {
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

    static String digest(String id) {
        try {
            byte[] all = MessageDigest.getInstance("SHA-256").digest(id.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(all, 0, 16);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every JDK has SHA-256", impossible);
        }
    }
}
