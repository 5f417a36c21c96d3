package dev.tutti.transport.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tutti.TuttiException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MemoryBudgetTest {
    private static final long GIGABYTE = 1L << 30;

    @TempDir
    Path folder;

    private Path proc;
    private Path groups;

    @BeforeEach
    void makeAMachine() throws IOException {
        proc = folder.resolve("proc");
        groups = folder.resolve("cgroup");
        write(proc.resolve("meminfo"), "MemTotal: 8388608 kB\nMemFree: 1000 kB\nMemAvailable: 4194304 kB\n");
        write(proc.resolve("self/cgroup"), "0::/user/job\n");
        write(
                proc.resolve("self/limits"),
                "Limit  Soft Limit  Hard Limit Units\nMax file size  unlimited unlimited bytes\n");
    }

    private static void write(Path file, String text) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private MemoryBudget budget() {
        return new MemoryBudget(proc, groups);
    }

    @Test
    void shouldLeaveSomethingWhenTheMachineIsTheLimit() {
        long room = budget().room().bytes();
        assertTrue(room < 4 * GIGABYTE && room > 3 * GIGABYTE, "room " + room);
        budget().require(3 * GIGABYTE, "a buffer");
        TuttiException none = assertThrows(TuttiException.class, () -> budget().require(4 * GIGABYTE, "a buffer"));
        assertTrue(String.valueOf(none.getMessage()).contains("available on this machine"), none::toString);
        assertTrue(String.valueOf(none.getMessage()).contains("a buffer"), none::toString);
    }

    @Test
    void shouldFindTheTightestWhenGroupsAreNested() throws IOException {
        write(groups.resolve("user/job/memory.max"), "max\n");
        write(groups.resolve("user/job/memory.current"), "1000\n");
        write(groups.resolve("user/memory.max"), GIGABYTE + "\n");
        write(groups.resolve("user/memory.current"), (GIGABYTE - (100 << 20)) + "\n");
        write(groups.resolve("user/memory.stat"), "anon 5\ninactive_file " + (50 << 20) + "\nactive_file 0\n");
        assertEquals((150 << 20) - (64 << 20), budget().room().bytes());
        assertTrue(budget().room().where().contains("user"));
    }

    @Test
    void shouldUnderstandTheOldHierarchyWhenThereIsOne() throws IOException {
        write(proc.resolve("self/cgroup"), "4:memory:/box\n1:cpu:/\n");
        write(groups.resolve("memory/box/memory.limit_in_bytes"), (512 << 20) + "\n");
        write(groups.resolve("memory/box/memory.usage_in_bytes"), (112 << 20) + "\n");
        write(groups.resolve("memory/memory.limit_in_bytes"), "9223372036854771712\n");
        write(groups.resolve("memory/memory.usage_in_bytes"), "5000000000\n");
        assertEquals((400 << 20) - (64 << 20), budget().room().bytes());
    }

    @Test
    void shouldKnowTheLongestFileWhenThereIsALimit() throws IOException {
        assertEquals(Long.MAX_VALUE, budget().longestFile());
        write(
                proc.resolve("self/limits"),
                "Max file size             1048576              unlimited            bytes\n");
        assertEquals(1 << 20, budget().longestFile());
    }

    @Test
    void shouldRefuseNothingWhenNothingIsKnown() {
        new MemoryBudget(folder.resolve("no"), folder.resolve("none")).require(Long.MAX_VALUE / 2, "anything");
    }
}
