package dev.tutti.bootstrap;

import dev.tutti.TuttiException;
import dev.tutti.health.ProcessId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The folder in which the processes of a job meet, in this user's {@link PrivateFolder}: who is there, and what they have to say.
 *
 * <pre>
 *   JOB/                      named by a digest of the job's id, or by whoever started it
 *     member.P                process P (of world W: W.P), so that its end can be noticed; "member.launcher" likewise
 *     left.P                  process P has all it needs
 *     ended.P                 process P has ended, says whoever started it; it may never have come
 *     key.K                   a note; "/" is written "+"
 * </pre>
 */
final class JobFolder {
    static final String MEMBER = "member.";
    static final String LEFT = "left.";
    static final String ENDED = "ended.";
    private static final String NOTE = "key.";
    private static final String GAVE_UP = Bootstrap.GAVE_UP.replace('/', '+');
    private static final Duration EMPTY_FOR = Duration.ofMinutes(1);

    private final Path path;

    private JobFolder(Path path) {
        this.path = path;
    }

    Path path() {
        return path;
    }

    /** A new folder for a job that a process of this host starts; whoever makes it removes it. */
    static Path create(PrivateFolder user, String name, ProcessId owner) {
        return user.locked(() -> {
            try {
                sweep(user);
                Path folder = user.create(name);
                Files.writeString(folder.resolve(MEMBER + "launcher"), owner.toString());
                return folder;
            } catch (IOException unwritable) {
                throw PrivateFolder.cannotMeet(user.path(), unwritable);
            }
        });
    }

    /** The folder of a job; made if this process is its first. */
    static JobFolder enter(PrivateFolder user, String id, String process, ProcessId self) {
        return user.locked(() -> {
            try {
                sweep(user);
                JobFolder job =
                        new JobFolder(PrivateFolder.makeOrCheck(user.path().resolve(digest(id))));
                try {
                    job.enter(process, self);
                    return job;
                } catch (IOException unwritable) {
                    job.stayOutside(process);
                    throw unwritable;
                }
            } catch (IOException unwritable) {
                throw PrivateFolder.cannotMeet(user.path(), unwritable);
            }
        });
    }

    /** A folder that whoever started the job has made: it must be there, and be this user's alone. */
    static JobFolder existing(Path path) {
        try {
            PrivateFolder.check(path);
            return new JobFolder(path);
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
            byAge.sort(Comparator.comparing(JobFolder::changed));
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
                PrivateFolder.around(path).locked(() -> {
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
    private static void sweep(PrivateFolder user) throws IOException {
        try (DirectoryStream<Path> jobs = Files.newDirectoryStream(user.path(), Files::isDirectory)) {
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

    private static Optional<ProcessId> processOf(Path card) {
        try {
            return Optional.of(ProcessId.parse(Files.readString(card, StandardCharsets.US_ASCII)));
        } catch (IOException | IllegalArgumentException unreadable) {
            return Optional.empty();
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
    static void remove(Path job) {
        PrivateFolder.around(job).locked(() -> {
            delete(job);
            return job;
        });
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

    private static String digest(String id) {
        try {
            byte[] all = MessageDigest.getInstance("SHA-256").digest(id.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(all, 0, 16);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every JDK has SHA-256", impossible);
        }
    }
}
