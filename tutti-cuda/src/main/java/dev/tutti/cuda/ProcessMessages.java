package dev.tutti.cuda;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.MismatchException;
import dev.tutti.Work;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Sends and receives between ranks that map each other's memory. The sender tells the receiver on the host where its memory is; the
 * receiver copies. Messages that are made together are one launch, whatever the other ends make of them.
 */
final class ProcessMessages {
    private static final int MOST_RECEIVES = 128;
    private static final int TYPE = 0;
    private static final int COUNT = 1;
    private static final int HANDLE = 2;
    private static final int WORDS = HANDLE + Handle.WORDS;
    private static final int NOTE = 0;
    private static final int TAKEN = 1;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private final Processes processes;
    private final Communicator host;
    private final CudaWorld world;
    private final Exports exports;
    private final Imports imports;

    ProcessMessages(Processes processes, Communicator host, CudaWorld world, Exports exports, Imports imports) {
        this.processes = processes;
        this.host = host;
        this.world = world;
        this.exports = exports;
        this.imports = imports;
    }

    /** Puts all of them into the stream. */
    void run(List<CudaCall> calls, CudaStream on) {
        requireFew(calls);
        boolean onHost = processes.path() == CudaPath.HOST;
        List<Fused.Copy> copies = new ArrayList<>();
        List<CudaCall> others = toSelf(calls, copies);
        List<CudaBuffer> rooms = new ArrayList<>();
        try (Arena arena = Arena.ofShared()) {
            tell(others, rooms, on, arena);
            for (CudaCall call : others) {
                if (!call.sends) {
                    copies.add(hear(call, arena));
                }
            }
            Part part = processes.messages(counted(others, true), counted(others, false));
            Fused.copies(world.device(), copies, part).launch(on.handle());
            if (onHost) {
                processes.drain(on, calls.getFirst());
                confirm(others);
            }
        } finally {
            if (!rooms.isEmpty()) {
                on.synchronise();
                rooms.forEach(CudaBuffer::close);
            }
        }
    }

    /** Pairs what this rank sends to itself; gives the rest. */
    private List<CudaCall> toSelf(List<CudaCall> calls, List<Fused.Copy> copies) {
        List<CudaCall> others = new ArrayList<>();
        ArrayDeque<CudaCall> sends = new ArrayDeque<>();
        ArrayDeque<CudaCall> receives = new ArrayDeque<>();
        for (CudaCall call : calls) {
            if (call.root != host.rank()) {
                others.add(call);
            } else {
                (call.sends ? sends : receives).add(call);
            }
        }
        if (sends.size() != receives.size()) {
            throw new IllegalArgumentException("rank " + host.rank() + " sends itself " + sends.size()
                    + " messages and receives " + receives.size() + ": put both into one group");
        }
        while (!sends.isEmpty()) {
            CudaBuffer from = Objects.requireNonNull(sends.remove().in);
            CudaBuffer to = Objects.requireNonNull(receives.remove().out);
            if (from.count() != to.count() || from.type() != to.type()) {
                throw new MismatchException(
                        "rank " + host.rank() + " sends itself " + from + " and receives " + to, null);
            }
            copies.add(new Fused.Copy(from.pointer(), to.pointer(), from.bytes()));
        }
        return others;
    }

    /** Refuses more than fits one launch: several launches of one group might wait for each other. */
    private void requireFew(List<CudaCall> calls) {
        if (calls.stream().filter(call -> !call.sends).count() > MOST_RECEIVES) {
            throw new IllegalArgumentException(
                    "a group may have " + MOST_RECEIVES + " receives, not more: make several groups");
        }
        int[] sends = new int[host.size()];
        for (CudaCall call : calls) {
            if (call.sends && ++sends[call.root] > Part.MOST_TIMES) {
                throw new IllegalArgumentException("a group may have " + Part.MOST_TIMES
                        + " messages to one rank, not more: " + "make several groups");
            }
        }
    }

    /** How many messages there are to, or from, each rank. */
    private byte[] counted(List<CudaCall> calls, boolean sends) {
        byte[] counts = new byte[host.size()];
        calls.stream().filter(call -> call.sends == sends).forEach(call -> counts[call.root]++);
        return counts;
    }

    /** Tells the receivers what is sent, and where it is. */
    private void tell(List<CudaCall> calls, List<CudaBuffer> rooms, CudaStream on, Arena arena) {
        List<CudaCall> sends = calls.stream().filter(call -> call.sends).toList();
        List<MemorySegment> notes = new ArrayList<>();
        for (CudaCall call : sends) {
            MemorySegment note = arena.allocate(8L * WORDS, 8);
            CudaBuffer buffer = Objects.requireNonNull(call.in);
            note.set(LONG, 8L * TYPE, call.type.number());
            note.set(LONG, 8L * COUNT, buffer.count());
            if (buffer.bytes() > 0) {
                reachable(buffer, rooms, on, note);
            }
            notes.add(note);
        }
        if (processes.path() == CudaPath.HOST && !calls.isEmpty()) {
            processes.drain(on, calls.getFirst());
        }
        List<Work> sent = new ArrayList<>();
        for (int i = 0; i < sends.size(); i++) {
            sent.add(host.sendAsync(Buffer.of(notes.get(i), DataType.INT64), sends.get(i).root, NOTE));
        }
        sent.forEach(Work::await);
    }

    /** What to copy for a receive, once its sender has told. */
    private Fused.Copy hear(CudaCall call, Arena arena) {
        MemorySegment note = arena.allocate(8L * WORDS, 8);
        host.recv(Buffer.of(note, DataType.INT64), call.root, NOTE);
        CudaBuffer out = Objects.requireNonNull(call.out);
        long type = note.get(LONG, 8L * TYPE);
        long count = note.get(LONG, 8L * COUNT);
        if (type != call.type.number() || count != out.count()) {
            throw new MismatchException(
                    "rank " + host.rank() + "'s " + call + ": rank " + call.root + " sends " + count + " "
                            + named(type),
                    null);
        }
        return new Fused.Copy(imports.pointer(call.root, note, 8L * HANDLE), out.pointer(), out.bytes());
    }

    /** Memory that the receiver cannot map goes through memory that it can. */
    private void reachable(CudaBuffer buffer, List<CudaBuffer> rooms, CudaStream on, MemorySegment note) {
        CudaBuffer mapped = buffer;
        Handle handle = exports.of(buffer);
        if (handle == null) {
            mapped = CudaBuffer.of(exports.allocate(world.device(), buffer.bytes()), buffer.type(), buffer.count());
            rooms.add(mapped);
            mapped.copyFrom(buffer, on);
            handle = Objects.requireNonNull(exports.of(mapped));
        }
        handle.write(note, 8L * HANDLE, mapped.pointer());
    }

    private static String named(long number) {
        for (DataType type : DataType.values()) {
            if (type.number() == number) {
                return type.toString();
            }
        }
        return "elements of another type";
    }

    /** Receivers tell senders that they have it. */
    private void confirm(List<CudaCall> calls) {
        List<Work> sent = new ArrayList<>();
        for (CudaCall call : calls) {
            if (!call.sends) {
                sent.add(host.sendAsync(Buffer.of(new long[0]), call.root, TAKEN));
            }
        }
        for (CudaCall call : calls) {
            if (call.sends) {
                host.recv(Buffer.of(new long[0]), call.root, TAKEN);
            }
        }
        sent.forEach(Work::await);
    }
}
