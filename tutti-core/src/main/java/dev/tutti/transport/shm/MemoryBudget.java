package dev.tutti.transport.shm;

import dev.tutti.TuttiException;
import dev.tutti.posix.Limits;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * How much memory can be reserved without somebody being killed for it. The kernel promises pages that it does not have: asking for
 * more ends the process, or a neighbour, and no call fails first. So this looks at what is available on the machine and in every
 * control group that the process is in, and leaves some of it alone.
 */
final class MemoryBudget {
    private static final long UNLIMITED = Long.MAX_VALUE;
    private static final long LEAST_LEFT = 64L << 20;
    private static final int LEFT_PER_CENT = 3;

    private final Path proc;
    private final Path groups;

    MemoryBudget() {
        this(Path.of("/proc"), Path.of("/sys/fs/cgroup"));
    }

    /** Tests bring their own files. */
    MemoryBudget(Path proc, Path groups) {
        this.proc = proc;
        this.groups = groups;
    }

    /** A bound and where it comes from. */
    record Room(long bytes, String where) {}

    /** Refuses what there is no memory for. */
    void require(long bytes, String what) {
        Room room = room();
        if (bytes > room.bytes()) {
            throw new TuttiException(
                    TuttiException.Category.BROKEN,
                    "no shared memory for " + what + ": it needs " + bytes + " bytes, and only "
                            + Math.max(0, room.bytes()) + " may be taken from " + room.where()
                            + "; use fewer ranks on this host, smaller buffers, or a smaller TUTTI_SCRATCH, or give it more"
                            + " memory",
                    null);
        }
    }

    /** The tightest bound. */
    Room room() {
        Room tightest = machine();
        for (String line : lines(proc.resolve("self/cgroup"))) {
            String[] fields = line.split(":", 3);
            if (fields.length == 3) {
                Optional<Room> group = fields[0].equals("0") && fields[1].isEmpty()
                        ? group(groups, fields[2], "memory.max", "memory.current")
                        : fields[1].equals("memory")
                                ? group(
                                        groups.resolve("memory"),
                                        fields[2],
                                        "memory.limit_in_bytes",
                                        "memory.usage_in_bytes")
                                : Optional.empty();
                if (group.isPresent() && group.get().bytes() < tightest.bytes()) {
                    tightest = group.get();
                }
            }
        }
        return tightest;
    }

    private Room machine() {
        long available = UNLIMITED;
        long total = 0;
        for (String line : lines(proc.resolve("meminfo"))) {
            if (line.startsWith("MemAvailable:")) {
                available = kilobytes(line);
            } else if (line.startsWith("MemTotal:")) {
                total = kilobytes(line);
            }
        }
        return available == UNLIMITED
                ? new Room(UNLIMITED, "a machine that does not say what it has")
                : new Room(available - left(total), "the " + available + " bytes that are available on this machine");
    }

    /** The tightest of a control group and all above it; what is cached for files can be taken back from it. */
    private static Optional<Room> group(Path root, String name, String limitFile, String usedFile) {
        Room tightest = null;
        Path top = root.normalize();
        Path group = root.resolve(name.substring(1)).normalize();
        while (group != null && group.startsWith(top)) {
            long limit = number(group.resolve(limitFile));
            long used = number(group.resolve(usedFile));
            if (limit < UNLIMITED / 2 && used != UNLIMITED) {
                long room = limit - used + cached(group.resolve("memory.stat")) - left(limit);
                if (tightest == null || room < tightest.bytes()) {
                    tightest = new Room(room, "control group " + group + ", which may use " + limit + " bytes");
                }
            }
            group = group.getParent();
        }
        return Optional.ofNullable(tightest);
    }

    private static long left(long total) {
        return Math.max(LEAST_LEFT, total / 100 * LEFT_PER_CENT);
    }

    private static long cached(Path stat) {
        long cached = 0;
        for (String line : lines(stat)) {
            if (line.startsWith("inactive_file ") || line.startsWith("active_file ")) {
                cached += Long.parseLong(line.substring(line.indexOf(' ') + 1).strip());
            }
        }
        return cached;
    }

    private static long kilobytes(String line) {
        return Long.parseLong(line.replaceAll("\\D", "")) << 10;
    }

    private static long number(Path file) {
        List<String> lines = lines(file);
        String text = lines.isEmpty() ? "max" : lines.getFirst().strip();
        try {
            return text.equals("max") ? UNLIMITED : Long.parseLong(text);
        } catch (NumberFormatException beyondLong) {
            return UNLIMITED;
        }
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file, StandardCharsets.ISO_8859_1);
        } catch (IOException none) {
            return List.of();
        }
    }

    /** The longest file that this process may make; a longer one would be refused by a signal. */
    long longestFile() {
        return new Limits(proc).fileBytes();
    }
}
