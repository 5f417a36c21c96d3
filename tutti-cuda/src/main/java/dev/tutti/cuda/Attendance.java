package dev.tutti.cuda;

import dev.tutti.AbortedException;
import dev.tutti.Communicator;
import dev.tutti.PeerFailedException;
import dev.tutti.TuttiException;
import dev.tutti.posix.PosixException;
import dev.tutti.posix.ProcessFacts;
import dev.tutti.posix.SharedMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * How far each rank has come: a word of each in memory of the host that all ranks read without each other's help, whatever has become
 * of them. It says who is missing where the device or NCCL does not. The communicator behind it also tells of processes that have
 * ended and of ranks that gave up; ranks that go on {@linkplain #among without some} have none, and look themselves.
 *
 * <pre>
 *   64 tables, one for those that are here from the start and one for each group that goes on without some:
 *       a word for each rank of the start: its number, or the number's complement when it has given up
 * </pre>
 */
final class Attendance implements AutoCloseable {
    private static final int TABLES = 64;
    private static final long LOOK_NANOS = 100_000_000;
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    private final @Nullable Communicator ranks;
    private final Shared shared;
    private final int table;
    /** For each rank who it was at the start. */
    private final int[] who;

    private final int rank;
    private long looked = System.nanoTime();

    /**
     * What all groups of a start share.
     *
     * @param words null: ranks are on hosts that share none
     * @param processes for each rank its process and when that started
     * @param tables how many are in use
     */
    private record Shared(@Nullable MemorySegment words, long[] processes, AtomicInteger tables) {
        int size() {
            return processes.length / 2;
        }
    }

    private Attendance(@Nullable Communicator ranks, Shared shared, int table, int[] who, int rank) {
        this.ranks = ranks;
        this.shared = shared;
        this.table = table;
        this.who = who;
        this.rank = rank;
    }

    /** All ranks make one together. The communicator is closed with it. */
    static Attendance of(Communicator ranks) {
        long pid = ProcessFacts.pid();
        long[] processes = new long[2 * ranks.size()];
        ranks.allGather(new long[] {pid, ProcessFacts.startTime(pid)}, processes);
        MemorySegment words = share(ranks, processes[0], processes[1]);
        return new Attendance(
                ranks,
                new Shared(words, processes, new AtomicInteger(1)),
                0,
                IntStream.range(0, ranks.size()).toArray(),
                ranks.rank());
    }

    /** Rank 0 makes the memory; the others open it as long as rank 0 keeps it open. */
    private static @Nullable MemorySegment share(Communicator ranks, long owner, long ownerStart) {
        long bytes = 8L * TABLES * ranks.size();
        long[] descriptor = {-1};
        MemorySegment mapped = null;
        SharedMemory memory = null;
        try {
            if (ranks.rank() == 0 && SharedMemory.isAvailable()) {
                memory = SharedMemory.create("tutti-attendance", bytes);
                memory.reserve(0, bytes);
                descriptor[0] = memory.descriptor();
            }
            ranks.broadcast(descriptor, 0);
            try {
                // Another host may have a process of that number.
                if (ranks.rank() != 0 && descriptor[0] >= 0 && ProcessFacts.startTime(owner) == ownerStart) {
                    memory = SharedMemory.open(owner, (int) descriptor[0]);
                }
                if (memory != null) {
                    long address = memory.map(bytes);
                    mapped = MemorySegment.ofAddress(address)
                            .reinterpret(bytes, Arena.ofAuto(), each -> SharedMemory.unmap(address, bytes));
                }
            } catch (PosixException notHere) {
                mapped = null;
            }
            long[] all = {mapped == null ? 0 : 1};
            ranks.allReduce(all, dev.tutti.ReduceOp.MIN);
            return all[0] == 0 ? null : mapped;
        } finally {
            if (memory != null) {
                memory.close();
            }
        }
    }

    /** The same for some of the ranks, who go on without the others: nobody else need be there, or alive. */
    @Nullable
    Attendance among(int[] members) {
        int next = shared.tables().getAndIncrement();
        int[] starts = Arrays.stream(members).map(each -> who[each]).toArray();
        int place = IntStream.range(0, members.length)
                .filter(each -> members[each] == rank)
                .findFirst()
                .orElseThrow();
        return next < TABLES ? new Attendance(null, shared, next, starts, place) : null;
    }

    /** Others make one {@linkplain #among of themselves}, without this rank. */
    void skip() {
        shared.tables().getAndIncrement();
    }

    /** Null: only some of the ranks of the start are left. */
    @Nullable
    Communicator ranks() {
        return ranks;
    }

    /** This rank has come to a call. A release: who reads the number sees what was written before. */
    void come(long number) {
        if (shared.words() != null) {
            WORD.setRelease(shared.words(), at(rank), number);
        }
    }

    /** How far a rank has come. */
    long number(int each) {
        return shared.words() == null ? 0 : (long) WORD.getAcquire(shared.words(), at(each));
    }

    private long at(int each) {
        return 8L * (table * shared.size() + who[each]);
    }

    /** Throws if a rank has failed or given up. */
    void requireAll() {
        if (ranks != null) {
            ranks.requireActive();
            return;
        }
        for (int each = 0; each < who.length; each++) {
            if (each != rank && number(each) < 0) {
                throw new AbortedException(
                        "rank " + each + " gave up at #" + ~number(each),
                        null,
                        new TuttiException.Facts(null, null, List.of(each)));
            }
        }
        if (System.nanoTime() - looked > LOOK_NANOS) {
            looked = System.nanoTime();
            for (int each = 0; each < who.length; each++) {
                long pid = shared.processes()[2 * who[each]];
                if (shared.words() != null && !ProcessFacts.isAlive(pid, shared.processes()[2 * who[each] + 1])) {
                    throw new PeerFailedException(
                            "rank " + each + " (process " + pid + ") has ended",
                            null,
                            new TuttiException.Facts(null, null, List.of(each)));
                }
            }
        }
    }

    /** Who has come to a call and who has not. */
    String whoIsMissing(long number) {
        if (shared.words() == null) {
            return "a rank has not come; across hosts it is not known which";
        }
        List<Integer> here = new ArrayList<>();
        List<Integer> absent = new ArrayList<>();
        StringBuilder where = new StringBuilder();
        for (int each = 0; each < who.length; each++) {
            long reached = number(each) < 0 ? ~number(each) : number(each);
            if (reached >= number) {
                here.add(each);
            } else {
                absent.add(each);
                where.append(where.isEmpty() ? "" : ", ")
                        .append("rank ")
                        .append(each)
                        .append(" at #")
                        .append(reached);
            }
        }
        return absent.isEmpty()
                ? "all ranks have come to #" + number
                : "ranks " + here + " have come to #" + number + ", ranks " + absent + " have not (" + where + ")";
    }

    /** Lets the other ranks know that this one gives up. */
    void abort(String reason) {
        if (ranks != null) {
            ranks.abort(reason);
        } else if (number(rank) >= 0) {
            come(~number(rank));
        }
    }

    @Override
    public void close() {
        if (ranks != null) {
            ranks.close();
        }
    }
}
