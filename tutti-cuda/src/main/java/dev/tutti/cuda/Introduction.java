package dev.tutti.cuda;

import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.cuda.driver.Attribute;
import dev.tutti.cuda.driver.Devices;
import dev.tutti.cuda.library.Scratch;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * What ranks tell each other when a world of theirs is opened, and what follows from it, the same on every rank: which of them share a
 * process, a device and a host, whether they can map each other's memory, and so the best path that all of them have.
 */
final class Introduction implements AutoCloseable {
    /** Forces a path, for tests and measurements: {@code device}, {@code host} or {@code staged}. */
    static final String PATH = "tutti.cuda.path";

    /** Forces how memory is handed over: {@code descriptor} or {@code ipc}. */
    static final String HANDLES = "tutti.cuda.handles";

    /** Has ranks on one device meet as on several, as if it were its own peer: for tests. */
    static final String PEERS = "tutti.cuda.peers";

    /** Blocks that all ranks of a device together may have waiting at once, for each multiprocessor. */
    private static final int BLOCKS_PER_PROCESSOR = 2;

    private static final int UUID_BYTES = 16;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private final CudaDevice device;
    private final Communicator host;
    private final Card[] cards;
    private final long[] processes;
    private CudaPath path;
    private String reason = "";
    private boolean descriptors;
    private boolean ipc;
    private @Nullable Control control;
    private @Nullable Imports imports;

    /** One rank's facts. */
    private record Card(long process, String hostName, String uuid, int mps, int forced, int blocks, int ordinal) {
        byte[] bytes() {
            byte[] name = hostName.getBytes(StandardCharsets.UTF_8);
            byte[] id = uuid.getBytes(StandardCharsets.US_ASCII);
            return ByteBuffer.allocate(32 + name.length + id.length)
                    .putLong(process)
                    .putInt(mps)
                    .putInt(forced)
                    .putInt(blocks)
                    .putInt(ordinal)
                    .putInt(name.length)
                    .putInt(id.length)
                    .put(name)
                    .put(id)
                    .array();
        }

        static Card of(byte[] bytes) {
            ByteBuffer from = ByteBuffer.wrap(bytes);
            long process = from.getLong();
            int mps = from.getInt();
            int forced = from.getInt();
            int blocks = from.getInt();
            int ordinal = from.getInt();
            byte[] name = new byte[from.getInt()];
            byte[] id = new byte[from.getInt()];
            from.get(name).get(id);
            return new Card(
                    process,
                    new String(name, StandardCharsets.UTF_8),
                    new String(id, StandardCharsets.US_ASCII),
                    mps,
                    forced,
                    blocks,
                    ordinal);
        }

        boolean isBeside(Card other) {
            return hostName.equals(other.hostName);
        }
    }

    /**
     * Meets the others, who must do so too.
     *
     * @param wanted the path to use, or null for the best
     */
    Introduction(CudaDevice device, Communicator host, @Nullable CudaPath wanted) {
        this.device = device;
        this.host = host;
        CudaPath forced = wanted != null ? wanted : property();
        List<byte[]> all = host.allGatherBytes(card(device, forced).bytes());
        this.cards = all.stream().map(Card::of).toArray(Card[]::new);
        this.processes = Arrays.stream(cards).mapToLong(Card::process).toArray();
        this.path = choose();
        if (path != CudaPath.STAGED) {
            boolean done = false;
            try {
                map();
                done = true;
            } finally {
                if (!done) {
                    close();
                }
            }
        }
    }

    private static @Nullable CudaPath property() {
        String text = System.getProperty(PATH);
        return text == null ? null : CudaPath.valueOf(text.toUpperCase(Locale.ROOT));
    }

    private static Card card(CudaDevice device, @Nullable CudaPath forced) {
        device.enter();
        MemorySegment uuid = Scratch.zeroed();
        Devices.getUuid(uuid.address(), device.handle());
        StringBuilder hex = new StringBuilder();
        for (int i = 0; i < UUID_BYTES; i++) {
            hex.append(String.format("%02x", uuid.get(ValueLayout.JAVA_BYTE, i)));
        }
        int blocks = device.attribute(Attribute.MULTIPROCESSORS) * BLOCKS_PER_PROCESSOR;
        return new Card(
                ProcessHandle.current().pid(),
                hostName(),
                hex.toString(),
                device.attribute(Attribute.MPS),
                forced == null ? -1 : forced.ordinal(),
                Integer.getInteger("tutti.cuda.blocks", blocks),
                device.ordinal());
    }

    /** Differs between hosts, and between containers that do not see each other's processes. */
    private static String hostName() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip()
                    + Files.readSymbolicLink(Path.of("/proc/self/ns/pid"));
        } catch (IOException | UnsupportedOperationException unknown) {
            return "unknown " + ThreadLocalRandom.current().nextLong();
        }
    }

    private CudaPath choose() {
        Card own = cards[host.rank()];
        int forced = Arrays.stream(cards).mapToInt(Card::forced).max().orElse(-1);
        if (forced == CudaPath.STAGED.ordinal()) {
            return because(CudaPath.STAGED, "asked for");
        }
        if (cards.length > Part.MOST_RANKS) {
            return because(CudaPath.STAGED, "more than " + Part.MOST_RANKS + " ranks");
        }
        for (Card other : cards) {
            if (!own.isBeside(other)) {
                return because(CudaPath.STAGED, "ranks on several hosts");
            }
        }
        if (forced >= 0) {
            return because(CudaPath.values()[forced], "asked for");
        }
        // A rank that frees memory or loads code makes the driver wait for all kernels of the context: others' must not
        // wait for it.
        for (int a = 0; a < cards.length; a++) {
            for (int b = 0; b < a; b++) {
                if (cards[a].uuid().equals(cards[b].uuid()) && cards[a].process() == cards[b].process()) {
                    return because(CudaPath.HOST, "ranks share a process and a device");
                }
            }
        }
        // Without MPS kernels of two processes take turns on a device by milliseconds: they must not wait for each
        // other.
        for (Card a : cards) {
            for (Card b : cards) {
                if (a != b && a.uuid().equals(b.uuid()) && (a.mps() == 0 || b.mps() == 0)) {
                    return because(CudaPath.HOST, "processes share a device without MPS");
                }
            }
        }
        return because(CudaPath.DEVICE, "kernels of all ranks run at once");
    }

    private CudaPath because(CudaPath chosen, String why) {
        reason = why;
        return chosen;
    }

    /** Tries both ways to hand memory over, and keeps what works between all ranks. */
    private void map() {
        boolean alone = isAlone();
        String forced = System.getProperty(HANDLES, "");
        Attempt byDescriptor = new Attempt(true, alone || !forced.equals("ipc"));
        try (Attempt byIpc = new Attempt(false, !alone && !forced.equals("descriptor"))) {
            long[] works = {byDescriptor.map(), byIpc.map()};
            long[] all = new long[2];
            host.allReduce(works, all, ReduceOp.MIN);
            descriptors = all[0] != 0;
            ipc = all[1] != 0;
            Attempt kept = descriptors ? byDescriptor : byIpc;
            if (descriptors || ipc) {
                control = kept.takeControl();
                imports = kept.takeImports();
            } else {
                path = because(
                        CudaPath.STAGED, "memory cannot be mapped: " + byDescriptor.failure + "; " + byIpc.failure);
            }
        } finally {
            byDescriptor.close();
        }
    }

    /** Control memory handed over in one way. Every rank goes through the same exchanges, whatever fails. */
    private final class Attempt implements AutoCloseable {
        private @Nullable Control made;
        private @Nullable Imports mapped = new Imports(device, processes);
        private final long[] pointers = new long[cards.length];
        private String failure = "not tried";

        Attempt(boolean byDescriptor, boolean tried) {
            if (!tried) {
                return;
            }
            try {
                CudaMemory memory = byDescriptor && !isAlone()
                        ? CudaMemory.allocateVirtual(device, Control.BYTES)
                        : CudaMemory.allocate(device, Control.BYTES);
                made = new Control(
                        CudaBuffer.of(memory, DataType.UINT64, Control.BYTES / Long.BYTES),
                        ThreadLocalRandom.current().nextLong());
                failure = "";
            } catch (RuntimeException cannot) {
                failure = String.valueOf(cannot.getMessage());
            }
        }

        /** 1 if this rank has mapped everybody's. */
        long map() {
            int words = Handle.WORDS + 1;
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment own = arena.allocate(8L * words, 8);
                describe(own);
                long[] all = new long[words * cards.length];
                host.allGather(own.toArray(LONG), all);
                MemorySegment theirs = arena.allocateFrom(LONG, all);
                return made != null && mapAll(theirs, words) ? 1 : 0;
            }
        }

        private void describe(MemorySegment own) {
            Handle.writeNone(own, 0);
            Control control = made;
            if (control == null) {
                return;
            }
            try {
                boolean byDescriptor = control.memory().kind() == CudaBuffer.Kind.VIRTUAL;
                Handle handle = new Exports(isAlone(), byDescriptor, !byDescriptor).of(control.memory());
                java.util.Objects.requireNonNull(handle)
                        .write(own, 0, control.memory().pointer());
                own.set(LONG, 8L * Handle.WORDS, control.magic());
            } catch (RuntimeException cannot) {
                failure = String.valueOf(cannot.getMessage());
            }
        }

        private boolean mapAll(MemorySegment theirs, int words) {
            try {
                for (int rank = 0; rank < cards.length; rank++) {
                    reach(cards[rank]);
                    long at = 8L * words * rank;
                    long pointer = java.util.Objects.requireNonNull(mapped).pointer(rank, theirs, at);
                    if (pointer == 0 || !Control.isMapped(device, pointer, theirs.get(LONG, at + 8L * Handle.WORDS))) {
                        failure = "what rank " + rank + " handed over is not what is seen here";
                        return false;
                    }
                    pointers[rank] = pointer;
                }
                java.util.Objects.requireNonNull(made).introduce(pointers);
                return true;
            } catch (RuntimeException cannot) {
                failure = String.valueOf(cannot.getMessage());
                return false;
            }
        }

        /** Ranks of this process need access to each other's devices. */
        private void reach(Card card) {
            if (card.process() == ProcessHandle.current().pid()) {
                device.enableAccess(Cuda.device(card.ordinal()));
            }
        }

        Control takeControl() {
            Control taken = java.util.Objects.requireNonNull(made);
            made = null;
            return taken;
        }

        Imports takeImports() {
            Imports taken = java.util.Objects.requireNonNull(mapped);
            mapped = null;
            return taken;
        }

        @Override
        public void close() {
            if (mapped != null) {
                mapped.close();
                mapped = null;
            }
            if (made != null) {
                made.close();
                made = null;
            }
        }
    }

    CudaPath path() {
        return path;
    }

    /** Why it is this path. */
    String reason() {
        return reason;
    }

    /** Whether all ranks are on one device, and know it. */
    boolean isOneDevice() {
        return !Boolean.getBoolean(PEERS)
                && Arrays.stream(cards).allMatch(each -> each.uuid().equals(cards[0].uuid()));
    }

    boolean isAlone() {
        return Arrays.stream(processes).allMatch(each -> each == processes[0]);
    }

    Exports exports() {
        return new Exports(isAlone(), descriptors && !isAlone(), ipc);
    }

    /** Taken over by the caller. */
    Control control() {
        return java.util.Objects.requireNonNull(control);
    }

    /** Taken over by the caller. */
    Imports imports() {
        return java.util.Objects.requireNonNull(imports);
    }

    /** Blocks that each rank may have waiting on its device, the same for all. */
    int blocks() {
        List<Integer> shares = new ArrayList<>();
        for (Card card : cards) {
            int sharing = (int) Arrays.stream(cards)
                    .filter(other -> other.uuid().equals(card.uuid()))
                    .count();
            shares.add(Math.max(1, card.blocks() / sharing));
        }
        return Math.min(Part.MOST_BLOCKS, java.util.Collections.min(shares));
    }

    /** Gives back what nobody has taken over. */
    @Override
    public void close() {
        if (imports != null) {
            imports.close();
        }
        if (control != null) {
            control.close();
        }
    }
}
