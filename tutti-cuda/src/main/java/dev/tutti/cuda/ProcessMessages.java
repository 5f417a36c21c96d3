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
 * Sends and receives between ranks that map each other's memory. Both ends tell each other on the host where their memory is; the
 * receiver copies. Messages that are made together are one launch.
 */
final class ProcessMessages {
    private static final int MOST_RECEIVES = 128;
    private static final int TYPE = 0;
    private static final int COUNT = 1;
    private static final int HANDLE = 2;
    private static final int WORDS = HANDLE + Handle.WORDS;
    private static final int SENDER = 0;
    private static final int RECEIVER = 1;
    private static final int TAKEN = 2;
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
        boolean onHost = processes.path() == CudaPath.HOST;
        List<Fused.Copy> copies = new ArrayList<>();
        List<CudaCall> others = toSelf(calls, copies);
        byte[] times = times(others);
        List<CudaBuffer> rooms = new ArrayList<>();
        try (Arena arena = Arena.ofShared()) {
            MemorySegment[] theirs = tell(others, rooms, on, arena);
            for (int i = 0; i < others.size(); i++) {
                CudaCall call = others.get(i);
                requireFit(call, theirs[i]);
                if (!call.sends) {
                    long from = imports.pointer(call.root, theirs[i], 8L * HANDLE);
                    CudaBuffer out = Objects.requireNonNull(call.out);
                    copies.add(new Fused.Copy(from, out.pointer(), out.bytes()));
                }
            }
            Part part = processes.meeting(onHost ? new byte[times.length] : times);
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

    private byte[] times(List<CudaCall> calls) {
        int[] counted = new int[host.size()];
        int receives = 0;
        for (CudaCall call : calls) {
            counted[call.root]++;
            receives += call.sends ? 0 : 1;
        }
        byte[] times = new byte[counted.length];
        for (int rank = 0; rank < times.length; rank++) {
            if (counted[rank] > Part.MOST_TIMES || receives > MOST_RECEIVES) {
                throw new IllegalArgumentException("a group may have " + MOST_RECEIVES + " receives and "
                        + Part.MOST_TIMES + " messages between two ranks: make several groups");
            }
            times[rank] = (byte) counted[rank];
        }
        return times;
    }

    /** Tells the other ends of these, and gives what they told. */
    private MemorySegment[] tell(List<CudaCall> calls, List<CudaBuffer> rooms, CudaStream on, Arena arena) {
        MemorySegment[] theirs = new MemorySegment[calls.size()];
        List<MemorySegment> notes = new ArrayList<>();
        for (CudaCall call : calls) {
            MemorySegment note = arena.allocate(8L * WORDS, 8);
            CudaBuffer buffer = Objects.requireNonNull(call.sends ? call.in : call.out);
            note.set(LONG, 8L * TYPE, call.type.number());
            note.set(LONG, 8L * COUNT, buffer.count());
            if (call.sends && buffer.bytes() > 0) {
                reachable(buffer, rooms, on, note);
            }
            notes.add(note);
        }
        if (processes.path() == CudaPath.HOST && !calls.isEmpty()) {
            processes.drain(on, calls.getFirst());
        }
        List<Work> sent = new ArrayList<>();
        for (int i = 0; i < calls.size(); i++) {
            CudaCall call = calls.get(i);
            sent.add(
                    host.sendAsync(Buffer.of(notes.get(i), DataType.INT64), call.root, call.sends ? SENDER : RECEIVER));
        }
        for (int i = 0; i < calls.size(); i++) {
            CudaCall call = calls.get(i);
            theirs[i] = arena.allocate(8L * WORDS, 8);
            host.recv(Buffer.of(theirs[i], DataType.INT64), call.root, call.sends ? RECEIVER : SENDER);
        }
        sent.forEach(Work::await);
        return theirs;
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

    private void requireFit(CudaCall call, MemorySegment other) {
        CudaBuffer mine = Objects.requireNonNull(call.sends ? call.in : call.out);
        long type = other.get(LONG, 8L * TYPE);
        long count = other.get(LONG, 8L * COUNT);
        if (type != call.type.number() || count != mine.count()) {
            throw new MismatchException(
                    "rank " + host.rank() + "'s " + call + ": rank " + call.root
                            + (call.sends ? " receives " : " sends ") + count + " " + named(type),
                    null);
        }
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
