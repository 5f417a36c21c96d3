package dev.tutti.posix;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tutti.memory.Memory;
import dev.tutti.memory.Operand;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.BitSet;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
@Timeout(30)
class PosixTest {
    private static final long MEGABYTE = 1 << 20;

    @Test
    void shouldSeeTheSameMemoryWhenOpenedThroughProc() {
        try (SharedMemory owner = SharedMemory.create("tutti-test", MEGABYTE);
                SharedMemory peer = SharedMemory.open(ProcessFacts.pid(), owner.descriptor())) {
            owner.reserve(4096, 4096);
            long mine = owner.map(MEGABYTE);
            long theirs = peer.map(MEGABYTE);
            Memory.putLongRelease(mine + 4096, 42);
            assertEquals(42, Memory.getLongAcquire(theirs + 4096));
            peer.reserve(0, 2 * 4096);
            assertEquals(42, Memory.getLongAcquire(mine + 4096), "reserving again must keep what is there");
            peer.punch(4096, 4096);
            assertEquals(0, Memory.getLongAcquire(mine + 4096));
            SharedMemory.unmap(mine, MEGABYTE);
            SharedMemory.unmap(theirs, MEGABYTE);
        }
    }

    @Test
    void shouldHaveZerosOnWholePagesWhenMappedPrivately() {
        long bytes = 4 * MEGABYTE + 12;
        MemorySegment memory = PrivateMemory.allocate(bytes);
        assertEquals(bytes, memory.byteSize());
        assertEquals(0, memory.address() % 4096);
        assertEquals(-1, memory.mismatch(MemorySegment.ofArray(new byte[(int) bytes])));
        memory.fill((byte) 1);
        long address = PrivateMemory.map(bytes);
        PrivateMemory.unmap(address, bytes);
        PosixException refused = assertThrows(PosixException.class, () -> PrivateMemory.map(-1));
        assertEquals(PosixException.ENOMEM, refused.errno());
    }

    @Test
    void shouldNameCallArgumentsAndErrorWhenACallFails() {
        PosixException missing = assertThrows(
                PosixException.class,
                () -> SharedMemory.open(ProcessFacts.pid(), 1_000_000).close());
        assertEquals(PosixException.ENOENT, missing.errno());
        assertTrue(String.valueOf(missing.getMessage()).contains("/fd/1000000"), missing::toString);
        assertTrue(String.valueOf(missing.getMessage()).contains("ENOENT"), missing::toString);
    }

    @Test
    void shouldCountTheProcessorTimeOfAllThreadsWhenOneOfThemWorks() throws InterruptedException {
        long before = ProcessTime.nanos();
        assertTrue(before > 0);
        Thread other = Thread.ofPlatform().start(() -> {
            while (ProcessTime.nanos() - before < 10_000_000) {
                Thread.onSpinWait();
            }
        });
        other.join();
        assertTrue(ProcessTime.nanos() - before >= 10_000_000);
    }

    @Test
    void shouldBeOnAnotherCoreWhenItHasLeftOne() {
        int moved = 0;
        for (int i = 0; i < 100; i++) {
            int before = Cores.current();
            assertTrue(before >= 0);
            boolean left = Cores.leave(new BitSet());
            // The system may have moved the thread in between, and may move it back, but not every time.
            moved += left && Cores.current() != before ? 1 : 0;
            assertEquals(Runtime.getRuntime().availableProcessors() > 1, left);
        }
        assertEquals(Runtime.getRuntime().availableProcessors() > 1, moved > 0);
    }

    @Test
    void shouldMoveToTheCoreThatNobodyOccupies() {
        int back = 0;
        for (int i = 0; i < 100; i++) {
            int free = Cores.current();
            BitSet occupied = new BitSet();
            occupied.set(0, 4096);
            occupied.clear(free);
            // All are occupied but its own: it takes any other.
            Cores.leave(occupied);
            int away = Cores.current();
            Cores.leave(occupied);
            back += away != free && Cores.current() == free ? 1 : 0;
        }
        assertEquals(Runtime.getRuntime().availableProcessors() > 1, back > 0);
    }

    @Test
    void shouldReturnAtOnceWhenTheWordHasChanged() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment word = arena.allocate(4, 4);
            Futex.await(word.address(), 1, 20_000_000_000L);
            new Futex.Words(2)
                    .set(0, word.address(), 0)
                    .set(1, word.address(), 1)
                    .await(20_000_000_000L);
        }
    }

    @Test
    void shouldWakeWhoSleepsWhenRung() throws InterruptedException {
        MemorySegment word = Arena.ofAuto().allocate(8, 8);
        for (boolean any : new boolean[] {false, true}) {
            CountDownLatch asleep = new CountDownLatch(1);
            Thread sleeper = Thread.ofPlatform().start(() -> {
                int seen = (int) Memory.getLongAcquire(word.address());
                asleep.countDown();
                while ((int) Memory.getLongAcquire(word.address()) == seen) {
                    if (any) {
                        new Futex.Words(1).set(0, word.address(), seen).await(20_000_000_000L);
                    } else {
                        Futex.await(word.address(), seen, 20_000_000_000L);
                    }
                }
            });
            asleep.await();
            Memory.putLongRelease(word.address(), Memory.getLong(word.address()) + 1);
            Futex.wake(word.address());
            sleeper.join();
        }
    }

    @Test
    void shouldKnowThisProcessWhenAskedForFacts() {
        long pid = ProcessFacts.pid();
        long start = ProcessFacts.startTime(pid);
        assertTrue(start > 0);
        assertTrue(ProcessFacts.isAlive(pid, start));
        assertFalse(ProcessFacts.isAlive(pid, start + 1));
        assertFalse(ProcessFacts.isAlive(4_194_305, 1), "beyond the largest id that Linux gives");
        assertFalse(ProcessFacts.bootId().isEmpty());
        assertFalse(ProcessFacts.pidNamespace().isEmpty());
        assertTrue(ProcessFacts.uid() >= 0);
    }

    /** A way to copy between addresses. */
    private interface Copy {
        void run(long source, long destination, long bytes);
    }

    private static void requireSameBytes(Copy copy) {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocate(9000, 64);
            MemorySegment to = arena.allocate(9000, 64);
            for (int i = 0; i < 2000; i++) {
                for (long at = 0; at < from.byteSize(); at += 8) {
                    from.set(ValueLayout.JAVA_LONG, at, random.nextLong());
                }
                to.fill((byte) 0x11);
                int source = random.nextInt(130);
                int destination = random.nextInt(130);
                int bytes = random.nextInt(i % 3 == 0 ? 200 : 8700);
                copy.run(from.address() + source, to.address() + destination, bytes);
                String what = bytes + " bytes from " + source + " to " + destination + ", seed " + seed;
                assertEquals(-1, to.asSlice(destination, bytes).mismatch(from.asSlice(source, bytes)), what);
                assertTrue(destination == 0 || to.get(ValueLayout.JAVA_BYTE, destination - 1) == 0x11, what);
                assertEquals(0x11, to.get(ValueLayout.JAVA_BYTE, destination + bytes), what);
            }
        }
    }

    @Test
    void shouldCopyTheSameBytesWhenStreaming() {
        requireSameBytes(Memory::stream);
    }

    @Test
    void shouldCopyTheSameBytesWhenInOneInstruction() {
        requireSameBytes(Memory::copyString);
    }

    /** From arrays of every type that the collector moves meanwhile. */
    @Test
    void shouldCopyArraysInOneInstruction() {
        assumeTrue(StringCopy.isAvailable(), () -> String.valueOf(StringCopy.unavailabilityCause()));
        Random random = new Random(17);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment to = arena.allocate(9000);
            for (int i = 0; i < 300; i++) {
                byte[] bytes = new byte[9000];
                random.nextBytes(bytes);
                MemorySegment expected = MemorySegment.ofArray(bytes);
                Object array = switch (i % 6) {
                    case 0 -> bytes;
                    case 1 -> expected.toArray(ValueLayout.JAVA_SHORT_UNALIGNED);
                    case 2 -> expected.toArray(ValueLayout.JAVA_INT_UNALIGNED);
                    case 3 -> expected.toArray(ValueLayout.JAVA_LONG_UNALIGNED);
                    case 4 -> expected.toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
                    default -> expected.toArray(ValueLayout.JAVA_DOUBLE_UNALIGNED);
                };
                if (i % 20 == 0) {
                    System.gc();
                }
                int index = random.nextInt(100);
                long offset = 8L * random.nextInt(50);
                long length = 8L * random.nextInt(900);
                int width = new int[] {1, 2, 4, 8, 4, 8}[i % 6];
                to.fill((byte) 0x11);
                Operand operand = new Operand();
                operand.setArray(array, index, bytes.length - (long) index * width);
                assertTrue(operand.loadString(offset, to.address(), length));
                long first = (long) index * width + offset;
                assertEquals(-1, to.asSlice(0, length).mismatch(expected.asSlice(first, length)), "run " + i);
                assertEquals(0x11, to.get(ValueLayout.JAVA_BYTE, length), "run " + i);
            }
        }
    }

    @Test
    void shouldRefuseWhatIsNotInTheArray() {
        assumeTrue(StringCopy.isAvailable(), () -> String.valueOf(StringCopy.unavailabilityCause()));
        MemorySegment array = MemorySegment.ofArray(new byte[100]);
        assertThrows(IndexOutOfBoundsException.class, () -> StringCopy.copy(array, 60, 0, 41));
    }

    @Test
    void shouldBeAvailableWhenOnLinux() {
        assertTrue(SharedMemory.isAvailable(), () -> String.valueOf(SharedMemory.unavailabilityCause()));
        assertTrue(Futex.isAvailable(), () -> String.valueOf(Futex.unavailabilityCause()));
        assertTrue(Membarrier.isAvailable(), () -> String.valueOf(Membarrier.unavailabilityCause()));
        Membarrier.everywhere();
    }
}
