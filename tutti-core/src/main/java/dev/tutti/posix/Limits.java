package dev.tutti.posix;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** What the system allows this process. Read from {@code /proc}; where there is none, nothing is limited. */
public final class Limits {
    private final Path self;

    public Limits() {
        this(Path.of("/proc"));
    }

    /** Tests bring their own files. */
    public Limits(Path proc) {
        this.self = proc.resolve("self");
    }

    /** The longest file that it may make; a longer one would be refused by a signal. */
    public long fileBytes() {
        return soft("Max file size");
    }

    /** How many files it may open beside those that are. */
    public long freeDescriptors() {
        long most = soft("Max open files");
        try (Stream<Path> open = Files.list(self.resolve("fd"))) {
            return most == Long.MAX_VALUE ? most : most - open.count();
        } catch (IOException unknown) {
            return most;
        }
    }

    private long soft(String name) {
        try (Stream<String> lines = Files.lines(self.resolve("limits"), StandardCharsets.ISO_8859_1)) {
            return lines.filter(line -> line.startsWith(name))
                    .map(line -> line.substring(name.length()).strip().split(" +", 2)[0])
                    .filter(limit -> !limit.equals("unlimited"))
                    .mapToLong(Long::parseLong)
                    .findFirst()
                    .orElse(Long.MAX_VALUE);
        } catch (IOException none) {
            return Long.MAX_VALUE;
        }
    }
}
