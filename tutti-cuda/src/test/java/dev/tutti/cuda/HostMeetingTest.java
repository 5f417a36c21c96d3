package dev.tutti.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tutti.cuda.kernel.HostCompiler;
import dev.tutti.cuda.kernel.KernelSet;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Kernels of ranks that are processes, compiled for the host with a thread for each block of each rank: parts, meetings, giving up. */
@Timeout(300)
class HostMeetingTest {
    private static final int LAUNCHES = 20;
    private static final int BLOCKS = 3;
    private static final int PLACES = KernelSet.places(3, 0);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    /** The counters of some ranks, in memory of the host. */
    private static final class Counters {
        final int ranks;
        final Control.Place[] places;
        final MemorySegment[] hostWords;

        Counters(int ranks, Arena arena) {
            this.ranks = ranks;
            places = new Control.Place[ranks];
            hostWords = new MemorySegment[ranks];
            MemorySegment all = arena.allocate(8L * ranks, 8);
            for (int rank = 0; rank < ranks; rank++) {
                MemorySegment own = arena.allocate(Control.BYTES, 128);
                all.setAtIndex(LONG, rank, own.address());
                hostWords[rank] = arena.allocate(4L * (2 + ranks), 8);
                places[rank] = new Control.Place(own.address(), all.address(), hostWords[rank].address());
            }
        }

        Part all(int rank, long patienceNanos, int delays) {
            return new Part(places[rank], ranks(rank), patienceNanos, delays, 77, null);
        }

        Part.Ranks ranks(int rank) {
            return new Part.Ranks(rank, ranks, true, 1, BLOCKS);
        }

        /** For an end of messages that rank 0 sends and rank 1 receives. */
        Part messages(int rank, int many) {
            byte[] none = new byte[2];
            Part.Messages ends = rank == 0
                    ? new Part.Messages(new byte[] {0, (byte) many}, none)
                    : new Part.Messages(none, new byte[] {(byte) many, 0});
            return new Part(places[rank], ranks(rank), Long.MAX_VALUE, 3, 0, ends);
        }
    }

    /** C++ that plays a kernel on several ranks at once: {@code args} holds the parameters of each. */
    private static String playing(String kernel, String args) {
        return """
            extern "C" void play_%1$s(const void* args, int ranks, int blocks, int, int) {
              std::vector<std::thread> all;
              for (int r = 0; r < ranks; r++)
                for (int b = 0; b < blocks; b++)
                  all.emplace_back([=] {
                    gridDim = {(unsigned)blocks, 1, 1};
                    blockDim = {1, 1, 1};
                    threadIdx = {0, 0, 0};
                    blockIdx = {(unsigned)b, 0, 0};
                    %1$s(((const %2$s*)args)[r]);
                  });
              for (auto& each : all) each.join();
            }
            extern "C" void size_%1$s(const void* to, int, int, int, int) { *(int*)to = sizeof(%2$s); }
            """.formatted(kernel, args);
    }

    private static int size(SymbolLookup library, String kernel, Arena arena) {
        MemorySegment room = arena.allocate(4, 4);
        HostCompiler.call(HostCompiler.player(library, "size_" + kernel), room, 0, 0, 0, 0);
        return room.get(INT, 0);
    }

    @Test
    void shouldReduceInPartsWhateverTheOrder(@TempDir Path folder) throws Exception {
        HostCompiler.require("g++");
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        for (int ranks : new int[] {2, 3, 4}) {
            try (Arena arena = Arena.ofConfined()) {
                int special = KernelSet.special(ranks);
                SymbolLookup library = HostCompiler.host(
                        folder,
                        "fused.cu",
                        playing("fused_reduce", "Args") + playing("fused_reduce_scatter", "Args"),
                        List.of("TYPE=2", "FOLD=0", "RANKS=" + special, "APART=1"),
                        arena);
                int size = size(library, "fused_reduce", arena);
                int table = 32 + 40 * (special != 0 ? special : 96);
                assertThat(size).isEqualTo(table + Part.MEETING_BYTES).isLessThanOrEqualTo(4096);
                MethodHandle reduce = HostCompiler.player(library, "play_fused_reduce");
                MethodHandle scatter = HostCompiler.player(library, "play_fused_reduce_scatter");
                Counters counters = new Counters(ranks, arena);
                for (int launch = 0; launch < LAUNCHES; launch++) {
                    boolean scatters = launch % 2 == 1;
                    int across = 1 + random.nextInt(20);
                    int count = 1 + random.nextInt(2000);
                    int[][] data = new int[ranks][];
                    MemorySegment[] memory = new MemorySegment[ranks];
                    for (int rank = 0; rank < ranks; rank++) {
                        data[rank] = random.ints((long) count * (scatters ? ranks : 1))
                                .toArray();
                        memory[rank] = arena.allocate(4L * data[rank].length, 64);
                        memory[rank].copyFrom(MemorySegment.ofArray(data[rank]));
                    }
                    MemorySegment args = arena.allocate((long) size * ranks, 64);
                    for (int rank = 0; rank < ranks; rank++) {
                        MemorySegment own = args.asSlice((long) size * rank, size);
                        own.set(LONG, 0, count);
                        own.set(LONG, 8, ranks);
                        own.set(INT, 16, ranks);
                        for (int other = 0; other < ranks; other++) {
                            long at = 32 + 40L * other;
                            own.set(LONG, at, memory[other].address());
                            own.set(LONG, at + 8, memory[other].address() + (scatters ? 4L * count * other : 0));
                            own.set(LONG, at + 24, (long) count * other);
                            own.set(LONG, at + 32, count);
                        }
                        counters.all(rank, Long.MAX_VALUE, random.nextInt() | 1)
                                .write(own.asSlice(table), across, scatters ? ranks : 1, 1);
                    }
                    int blocks = 1 + random.nextInt(BLOCKS);
                    HostCompiler.call(scatters ? scatter : reduce, args, ranks, blocks, 0, 0);
                    for (int rank = 0; rank < ranks; rank++) {
                        for (int i = 0; i < count; i++) {
                            int at = scatters ? rank * count + i : i;
                            int sum = 0;
                            for (int[] each : data) {
                                sum += each[at];
                            }
                            assertThat(memory[rank].getAtIndex(INT, at))
                                    .as("%d ranks, launch %d, rank %d, element %d", ranks, launch, rank, i)
                                    .isEqualTo(sum);
                        }
                    }
                }
            }
        }
    }

    @Test
    void shouldExchangeBlocksAndMessages(@TempDir Path folder) throws Exception {
        HostCompiler.require("g++");
        try (Arena arena = Arena.ofShared()) {
            SymbolLookup library = HostCompiler.host(
                    folder,
                    "copy.cu",
                    playing("copy_exchange", "Exchange")
                            + playing("copy_messages", "Messages")
                            + playing("copy_spread", "Spread"),
                    List.of("APART=1", "PLACES=" + PLACES),
                    arena);
            exchange(library, arena);
            messages(library, arena);
        }
    }

    private static void exchange(SymbolLookup library, Arena arena) {
        int ranks = 3;
        int block = 100;
        int size = size(library, "copy_exchange", arena);
        assertThat(size).isEqualTo(16 + 16 * PLACES + Part.MEETING_BYTES);
        Counters counters = new Counters(ranks, arena);
        MemorySegment[] memory = new MemorySegment[ranks];
        for (int rank = 0; rank < ranks; rank++) {
            memory[rank] = arena.allocate(4L * block * ranks, 64);
            for (int i = 0; i < block * ranks; i++) {
                memory[rank].setAtIndex(INT, i, rank * 10_000 + i);
            }
        }
        MemorySegment args = arena.allocate((long) size * ranks, 64);
        for (int rank = 0; rank < ranks; rank++) {
            MemorySegment own = args.asSlice((long) size * rank, size);
            own.set(INT, 0, ranks);
            own.set(LONG, 8, 4L * block);
            for (int other = 0; other < ranks; other++) {
                own.set(LONG, 16 + 8L * other, memory[other].address());
                own.set(LONG, 16 + 8L * (PLACES + other), memory[other].address());
            }
            counters.all(rank, Long.MAX_VALUE, 5).write(own.asSlice(size - Part.MEETING_BYTES), 2, ranks, ranks);
        }
        // Fewer blocks than there are cells.
        HostCompiler.call(HostCompiler.player(library, "play_copy_exchange"), args, ranks, 2, 0, 0);
        for (int rank = 0; rank < ranks; rank++) {
            for (int i = 0; i < block * ranks; i++) {
                assertThat(memory[rank].getAtIndex(INT, i)).isEqualTo(i / block * 10_000 + rank * block + i % block);
            }
        }
    }

    /** Two messages that one end makes together and the other apart. */
    private static void messages(SymbolLookup library, Arena arena) throws InterruptedException {
        int size = size(library, "copy_messages", arena);
        int meeting = 24 * KernelSet.tasks(PLACES);
        assertThat(size).isEqualTo(meeting + Part.MEETING_BYTES + 2 * PLACES);
        MethodHandle player = HostCompiler.player(library, "play_copy_messages");
        Counters counters = new Counters(2, arena);
        for (int round = 1; round <= 3; round++) {
            MemorySegment from = arena.allocate(16, 8);
            MemorySegment to = arena.allocate(16, 8);
            from.set(LONG, 0, 11 * round);
            from.set(LONG, 8, 22 * round);
            MemorySegment sends = arena.allocate(size, 64);
            counters.messages(0, 2).write(sends.asSlice(meeting), 1, 1, 1);
            counters.messages(0, 2).writeMessages(sends.asSlice(meeting + Part.MEETING_BYTES), PLACES);
            Thread sender = Thread.ofPlatform().start(() -> HostCompiler.call(player, sends, 1, 1, 0, 0));
            for (int i = 0; i < 2; i++) {
                MemorySegment receives = arena.allocate(size, 64);
                receives.set(LONG, 0, from.address() + 8L * i);
                receives.set(LONG, 8, to.address() + 8L * i);
                receives.set(LONG, 16, 8);
                counters.messages(1, 1).write(receives.asSlice(meeting), 2, 1, 1);
                counters.messages(1, 1).writeMessages(receives.asSlice(meeting + Part.MEETING_BYTES), PLACES);
                HostCompiler.call(player, receives, 1, 2, 0, 0);
            }
            sender.join();
            assertThat(to.get(LONG, 0)).isEqualTo(11 * round);
            assertThat(to.get(LONG, 8)).isEqualTo(22 * round);
        }
    }

    @Test
    void shouldGiveUpAndSayOnWhom(@TempDir Path folder) throws Exception {
        HostCompiler.require("g++");
        try (Arena arena = Arena.ofConfined()) {
            SymbolLookup library =
                    HostCompiler.host(folder, "copy.cu", playing("copy_tasks", "Tasks"), List.of("APART=1"), arena);
            int size = size(library, "copy_tasks", arena);
            Counters counters = new Counters(3, arena);
            MethodHandle tasks = HostCompiler.player(library, "play_copy_tasks");
            MemorySegment args = arena.allocate(2L * size, 64);
            for (int rank = 0; rank < 2; rank++) {
                counters.all(rank, 20_000_000, 0)
                        .write(args.asSlice((long) size * rank + size - Part.MEETING_BYTES), 1, 1, 1);
            }
            // Rank 2 never comes.
            HostCompiler.call(tasks, args, 2, BLOCKS, 0, 0);
            for (int rank = 0; rank < 2; rank++) {
                assertThat(counters.hostWords[rank].toArray(INT)).containsExactly(0, 1, 0, 0, 1);
            }
            // Rank 1 has called something else.
            Counters apart = new Counters(2, arena);
            for (int rank = 0; rank < 2; rank++) {
                new Part(apart.places[rank], apart.ranks(rank), Long.MAX_VALUE, 0, 5 + rank, null)
                        .write(args.asSlice((long) size * rank + size - Part.MEETING_BYTES), 1, 1, 1);
            }
            HostCompiler.call(tasks, args, 2, BLOCKS, 0, 0);
            assertThat(apart.hostWords[0].toArray(INT)).containsExactly(0, 1, 0, 3);
            assertThat(apart.hostWords[1].toArray(INT)).containsExactly(0, 1, 3, 0);
            // Told to by the host, without a deadline.
            Counters fresh = new Counters(2, arena);
            fresh.all(0, Long.MAX_VALUE, 0).write(args.asSlice(size - Part.MEETING_BYTES), 1, 1, 1);
            fresh.hostWords[0].set(INT, 0, 1);
            HostCompiler.call(tasks, args, 1, BLOCKS, 0, 0);
            assertThat(fresh.hostWords[0].toArray(INT)).containsExactly(1, 1, 0, 1);
        }
    }
}
