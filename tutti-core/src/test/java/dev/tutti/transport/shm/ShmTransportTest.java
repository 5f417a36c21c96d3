package dev.tutti.transport.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tutti.PeerFailedException;
import dev.tutti.TuttiException;
import dev.tutti.memory.Memory;
import dev.tutti.spi.Allocation;
import dev.tutti.spi.Fabric;
import dev.tutti.spi.RegionLayout;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@EnabledOnOs(OS.LINUX)
@Timeout(60)
class ShmTransportTest {
    private static final RegionLayout LAYOUT = new RegionLayout(2, 2, 8192, 1 << 20);
    private static final int[] BOTH = {0, 1};
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(20);

    private interface Body {
        void run(ShmTransport first, ShmTransport second, ExecutorService threads) throws Exception;
    }

    /** Two ranks as if they were in two processes: each maps the other's memory once more. */
    private static void withTwo(boolean asFile, long timeoutNanos, Body body) throws Exception {
        MeetingPoint meeting = new MeetingPoint();
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            Future<ShmTransport> other =
                    threads.submit(() -> ShmTransport.open(2, new int[] {1}, meeting, timeoutNanos, asFile));
            try (ShmTransport first = ShmTransport.open(2, new int[] {0}, meeting, timeoutNanos, asFile);
                    ShmTransport second = other.get()) {
                body.run(first, second, threads);
            }
        }
    }

    private static Fabric[] join(long id, ShmTransport first, ShmTransport second, ExecutorService threads)
            throws Exception {
        Future<Fabric> other = threads.submit(() -> second.join(id, 1, BOTH, LAYOUT));
        return new Fabric[] {first.join(id, 0, BOTH, LAYOUT), other.get()};
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldSeeEachOthersWritesWhenApart(boolean asFile) throws Exception {
        withTwo(asFile, PATIENCE, (first, second, threads) -> {
            Fabric[] fabrics = join(7, first, second, threads);
            for (int rank = 0; rank < 2; rank++) {
                assertNotEquals(fabrics[0].region(rank), fabrics[1].region(rank));
                Memory.putLongRelease(fabrics[rank].region(1 - rank) + 8192, 40 + rank);
                assertEquals(40 + rank, Memory.getLongAcquire(fabrics[1 - rank].region(1 - rank) + 8192));
                assertEquals(0, fabrics[rank].ringIfMade(0, 1));
            }
            Memory.putLongRelease(fabrics[0].scratch(1) + 4096, 5);
            assertEquals(5, Memory.getLongAcquire(fabrics[1].scratch(1) + 4096));
            Memory.putLongRelease(fabrics[0].ring(0, 1, 1000), 6);
            assertEquals(6, Memory.getLongAcquire(fabrics[1].ringIfMade(0, 1)));
            assertEquals(0, fabrics[1].ringIfMade(1, 0));
        });
    }

    @Test
    void shouldNameWhoFailedWhenAPeerHasGivenUpBecauseOfIt() {
        MeetingPoint meeting = new MeetingPoint();
        OwnRegion given = OwnRegion.create(1, false, new MemoryBudget());
        meeting.put(Card.KEY + 1, given.card.encode());
        given.unmap();
        meeting.fail("process 2 ended");
        assertTold("process 2 ended", meeting);
    }

    @Test
    void shouldNameWhoFailedWhenAPeerHasEndedBecauseOfIt() {
        MeetingPoint meeting = new MeetingPoint();
        OwnRegion given = OwnRegion.create(1, false, new MemoryBudget());
        try {
            // No process has such a number.
            String ended =
                    new String(given.card.encode(), StandardCharsets.UTF_8).replaceFirst("pid=\\d+", "pid=99999999");
            meeting.put(Card.KEY + 1, ended.getBytes(StandardCharsets.UTF_8));
            assertTold("rank 1 (process 99999999) ended before its memory could be mapped", meeting);
            meeting.fail("process 2 ended");
            assertTold("process 2 ended", meeting);
        } finally {
            given.unmap();
        }
    }

    @Test
    void shouldNameWhoFailedWhenAPeerDoesNotGetReadyBecauseOfIt() {
        MeetingPoint meeting = new MeetingPoint();
        OwnRegion waiting = OwnRegion.create(1, false, new MemoryBudget());
        OwnRegion failed = OwnRegion.create(2, false, new MemoryBudget());
        try {
            meeting.put(Card.KEY + 1, waiting.card.encode());
            meeting.put(Card.KEY + 2, failed.card.encode());
            meeting.fail("process 2 ended");
            assertTold("process 2 ended", meeting);
        } finally {
            waiting.unmap();
            failed.unmap();
        }
    }

    /** Rank 0 of three is told this when it comes to the others. */
    private static void assertTold(String text, MeetingPoint meeting) {
        PeerFailedException told =
                assertThrows(PeerFailedException.class, () -> ShmTransport.open(3, new int[] {0}, meeting, PATIENCE));
        assertEquals(text, told.getMessage());
    }

    @Test
    void shouldFindEachOthersAllocationsWhenToldWhereTheyAre() throws Exception {
        withTwo(false, PATIENCE, (first, second, threads) -> {
            Fabric[] fabrics = join(7, first, second, threads);
            Allocation mine = first.allocate(0, 10_000);
            mine.memory().set(ValueLayout.JAVA_LONG, 8, 99);
            long location = fabrics[0].location(mine.memory().address(), 10_000);
            assertEquals(99, Memory.getLong(fabrics[1].address(0, location) + 8));
            assertEquals(Fabric.NOWHERE, fabrics[0].location(12345, 8));
            mine.free();
            assertThrows(IllegalStateException.class, () -> mine.memory().get(ValueLayout.JAVA_LONG, 8));
            Allocation again = first.allocate(0, 10_000);
            assertEquals(
                    0, again.memory().get(ValueLayout.JAVA_LONG, 8), "memory must be zeroed when it is used again");
            again.free();
        });
    }

    @Test
    void shouldUseMemoryAgainWhenAllHaveLeft() throws Exception {
        withTwo(false, PATIENCE, (first, second, threads) -> {
            long offset = -1;
            for (int round = 0; round < 300; round++) {
                Fabric[] fabrics = join(1000 + round, first, second, threads);
                assertEquals(0, Memory.getLong(fabrics[0].region(0) + 8192), "memory must be zeroed");
                Memory.putLongRelease(fabrics[1].region(0) + 8192, 1);
                long at = fabrics[0].region(0);
                assertTrue(offset == -1 || offset == at, "round " + round);
                offset = at;
                fabrics[0].release();
                fabrics[1].release();
                fabrics[1].release();
            }
        });
    }

    @Test
    void shouldNotUseMemoryAgainWhenOneMayStillTouchIt() throws Exception {
        withTwo(false, PATIENCE, (first, second, threads) -> {
            Fabric[] left = join(1, first, second, threads);
            Memory.putLongRelease(left[1].region(0) + 8192, 77);
            left[0].release();
            Fabric[] later = join(2, first, second, threads);
            assertNotEquals(left[1].region(0), later[1].region(0));
            assertEquals(77, Memory.getLongAcquire(left[1].region(0) + 8192));
        });
    }

    @Test
    void shouldNameTheMissingRankWhenItDoesNotJoin() throws Exception {
        withTwo(false, TimeUnit.MILLISECONDS.toNanos(500), (first, second, threads) -> {
            TuttiException late = assertThrows(TuttiException.class, () -> first.join(3, 0, BOTH, LAYOUT));
            assertLate(late, "rank 1 \\(process \\d+\\) did not join communicator 3 within 500 ms; .*");
        });
        TuttiException alone = assertThrows(
                TuttiException.class,
                () -> ShmTransport.open(2, new int[] {0}, new MeetingPoint(), TimeUnit.MILLISECONDS.toNanos(200)));
        assertLate(alone, "rank 1 did not share its memory within 200 ms; .*");
    }

    private static void assertLate(TuttiException late, String pattern) {
        String text = String.valueOf(late.getMessage());
        assertTrue(text.matches(pattern) && text.contains("TUTTI_JOIN_TIMEOUT"), text);
        assertEquals(TuttiException.Category.TIMEOUT, late.category());
        assertEquals(List.of(1), late.ranks());
    }

    @Test
    void shouldSayWhatCannotBeMadeWhenTheWorldIsClosed() throws Exception {
        withTwo(false, PATIENCE, (first, second, threads) -> {
            first.close();
            for (Runnable late : List.<Runnable>of(() -> first.join(8, 0, BOTH, LAYOUT), () -> first.allocate(0, 8))) {
                TuttiException refused = assertThrows(TuttiException.class, late::run);
                String text = String.valueOf(refused.getMessage());
                assertTrue(
                        text.matches("cannot make a (communicator|buffer of rank 0): the world has been closed; .*"),
                        text);
            }
        });
    }

    @Test
    void shouldSayBothSettingsWhenTheyDiffer() throws Exception {
        withTwo(false, PATIENCE, (first, second, threads) -> {
            RegionLayout other = new RegionLayout(2, 2, 8192, 1 << 21);
            Future<Fabric> theirs = threads.submit(() -> second.join(4, 1, BOTH, other));
            TuttiException mine = assertThrows(TuttiException.class, () -> first.join(4, 0, BOTH, LAYOUT));
            assertTrue(String.valueOf(mine.getMessage()).contains("TUTTI_SCRATCH=2097152"), mine::toString);
            assertTrue(String.valueOf(mine.getMessage()).contains("1048576"), mine::toString);
            assertThrows(Exception.class, theirs::get);
        });
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "version=\\d+|version=9|layout version 9|this rank's has version",
                "uid=\\d+|uid=4242|user id 4242|run all ranks as one user",
                "host=[^\\n]*|host=elsewhere|another machine|elsewhere",
                "nonce=-?\\d+|nonce=5|leads to something else|rank 1",
                "handle=\\d+|handle=987654|its process has ended|rank 1",
                "pid=\\d+|pid=none|no valid 'pid'|none"
            })
    void shouldRefuseWhenACardIsNotOfOurs(String field, String replacement, String says, String alsoSays) {
        MeetingPoint meeting = new MeetingPoint();
        OwnRegion other = OwnRegion.create(1, false, new MemoryBudget());
        try {
            String card = new String(other.card.encode(), StandardCharsets.UTF_8).replaceFirst(field, replacement);
            meeting.put("shm/1", card.getBytes(StandardCharsets.UTF_8));
            TuttiException refused =
                    assertThrows(TuttiException.class, () -> ShmTransport.open(2, new int[] {0}, meeting, PATIENCE));
            String text = String.valueOf(refused.getMessage());
            assertTrue(text.contains(says) && text.contains(alsoSays), text);
        } finally {
            other.unmap();
        }
    }

    @Test
    void shouldLeaveNothingBehindWhenManyWorldsAreClosed() throws Exception {
        withTwo(false, PATIENCE, (first, second, threads) -> join(1, first, second, threads)); // loads all classes
        long descriptors = count("/proc/self/fd");
        long mapped = mappings();
        for (int world = 0; world < 50; world++) {
            withTwo(false, PATIENCE, (first, second, threads) -> {
                for (Fabric fabric : join(1, first, second, threads)) {
                    fabric.scratch(0);
                    fabric.release();
                }
            });
        }
        assertTrue(count("/proc/self/fd") < descriptors + 20, "descriptors: " + descriptors + " before");
        assertTrue(mappings() <= mapped, "mappings: " + mapped + " before");
    }

    private static long count(String folder) throws Exception {
        try (Stream<Path> files = Files.list(Path.of(folder))) {
            return files.count();
        }
    }

    private static long mappings() throws Exception {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains("tutti-rank")).count();
        }
    }
}
