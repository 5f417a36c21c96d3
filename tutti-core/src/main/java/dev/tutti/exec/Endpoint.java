package dev.tutti.exec;

import dev.tutti.ReduceFunction;
import dev.tutti.channel.Bell;
import dev.tutti.channel.Board;
import dev.tutti.memory.Memory;
import dev.tutti.memory.Operand;
import dev.tutti.spi.Fabric;
import dev.tutti.spi.RegionLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * One rank's side of a communicator as executors see it: counters of its channels, the number of the current launch, and the
 * addresses of everybody's memory. Used by one thread at a time, under the communicator's lock.
 *
 * <p><b>Launches.</b> A call is one or more launches; all ranks count them alike. Launch L uses the halves of parity L mod 2
 * of everybody's packets and scratch. Before a rank writes anything that peers see in launch L, all ranks must have finished launch
 * L-2: not only the owner of the memory, as a third rank may still be reading there. Mostly this is known: whoever has heard from
 * all in launch L-1 knows that all had finished L-2. Else it looks at everybody's boards.
 */
public final class Endpoint {
    /** Bytes of own memory that packet folds and user functions work in. */
    static final int TILE_BYTES = 16 << 10;

    /** Payload bytes of packets that are folded at once. */
    static final int PACKET_TILE_BYTES = 1 << 10;

    private static final Operand NOTHING = new Operand();

    final Fabric fabric;
    final Board board;
    final Bell bell;
    final String name;
    final int rank;
    final int size;
    final int channelsPerPeer;
    /** Whether ranks share cores; all ranks say the same. */
    final boolean sharesCores;

    final long abortAddress;
    final Pace pace;
    final Neighbours neighbours;
    final Stall stall;
    final PeerBuffers peerBuffers;
    final Stores stores = new Stores(this);
    final Posts posts;
    /** Signals sent so far, per (peer, channel). */
    final int[] sent;
    /** Signals consumed so far, per (peer, channel). */
    final int[] expected;

    /** Number of the current launch. Its low 32 bits are the flag of its packets. */
    long launch;
    /** The last launch in which this rank heard from every other. */
    long heardFromAll;
    /** Digest of all calls so far. */
    int history;
    /** What this call's ranks must agree on: every call up to this one. */
    int signature;
    /** For calls whose counts are agreed pair by pair. */
    @Nullable
    PairCounts pairs;
    /** Log2 of this call's element size. */
    int elementShift;
    /** Number of ranks for avg, scalar for preMulSum. */
    long aux;
    /** This call's memory, for records with {@link Places} in it. */
    Operand input = NOTHING;

    Operand output = NOTHING;
    /** This call's user function, if it has one. */
    ReduceFunction.@Nullable Body function;

    /** Tests take these ways of running away, to compare those that are left. */
    boolean usesTemplates = true;

    boolean usesInterpreter = true;

    private final MemorySegment tiles;
    final long tileAddress;
    /** Room for addresses of a packet fold. */
    long[] foldSources;

    private final long[] packetHalves;
    private final long[] scratchHalves;
    private boolean wrapping;

    /** One rank's side of a communicator whose ranks share cores: what holds there holds with a core for each. */
    public Endpoint(Fabric fabric, String name, int rank, int size, long firstLaunch, long warnNanos) {
        this(fabric, name, rank, size, firstLaunch, warnNanos, true);
    }

    /**
     * One rank's side of a communicator.
     *
     * @param sharesCores whether ranks share cores; the same on all of them
     */
    public Endpoint(
            Fabric fabric, String name, int rank, int size, long firstLaunch, long warnNanos, boolean sharesCores) {
        this.fabric = fabric;
        this.name = name;
        this.rank = rank;
        this.size = size;
        RegionLayout layout = fabric.layout();
        this.channelsPerPeer = layout.channelsPerPeer();
        this.sharesCores = sharesCores;
        this.board = new Board(fabric, rank, size);
        this.bell = board.bell();
        this.abortAddress = board.abortAddress();
        this.neighbours = Neighbours.of(this);
        this.pace = new Pace(fabric.isOversubscribed(), neighbours);
        this.stall = new Stall(this, warnNanos);
        this.peerBuffers = new PeerBuffers(this);
        this.posts = new Posts(this);
        this.sent = new int[size * channelsPerPeer];
        this.expected = new int[size * channelsPerPeer];
        this.launch = firstLaunch;
        this.heardFromAll = firstLaunch - 2;
        this.tiles = Arena.ofAuto().allocate(2L * TILE_BYTES + (size + 1L) * PACKET_TILE_BYTES, 64);
        this.tileAddress = tiles.address();
        this.foldSources = new long[size + 1];
        this.packetHalves = new long[2 * size];
        this.scratchHalves = new long[2 * size];
        for (int peer = 0; peer < size; peer++) {
            packetHalves[2 * peer] = fabric.region(peer) + layout.packets();
            packetHalves[2 * peer + 1] = packetHalves[2 * peer] + layout.packetBytes();
        }
        board.publishFinished(firstLaunch);
    }

    /**
     * The same rank's side of a plan that has counters, flags and scratch of its own. Shares the board and whatever watches over waits.
     *
     * @param parent the communicator's
     * @param counters how many channel ends the plan has here
     * @param folds most sources of one operation
     */
    Endpoint(Endpoint parent, int counters, int folds) {
        this.fabric = parent.fabric;
        this.name = parent.name;
        this.rank = parent.rank;
        this.size = parent.size;
        this.channelsPerPeer = parent.channelsPerPeer;
        this.sharesCores = parent.sharesCores;
        this.board = parent.board;
        this.bell = parent.bell;
        this.abortAddress = parent.abortAddress;
        this.pace = parent.pace;
        this.neighbours = parent.neighbours;
        this.stall = parent.stall;
        this.peerBuffers = parent.peerBuffers;
        this.posts = parent.posts;
        this.sent = new int[counters];
        this.expected = new int[counters];
        this.tiles = Arena.ofAuto().allocate(2L * TILE_BYTES + (folds + 1L) * PACKET_TILE_BYTES, 64);
        this.tileAddress = tiles.address();
        this.foldSources = new long[folds + 1];
        this.packetHalves = new long[0];
        this.scratchHalves = new long[0];
    }

    /** Room for the addresses of so many sources. */
    long[] foldSources(int sources) {
        if (foldSources.length < sources) {
            foldSources = new long[sources];
        }
        return foldSources;
    }

    public Board board() {
        return board;
    }

    /** What watches over waits that take long. */
    public Stall stall() {
        return stall;
    }

    /** Lets go of the last call's memory. */
    void forgetCall() {
        input = NOTHING;
        output = NOTHING;
        stall.forget();
    }

    /** Nobody will touch this communicator's memory on behalf of this rank any more. */
    void retire() {
        board.retire();
        fabric.release();
    }

    public int size() {
        return size;
    }

    /** How threads of this rank wait. */
    public Pace pace() {
        return pace;
    }

    public int rank() {
        return rank;
    }

    public Fabric fabric() {
        return fabric;
    }

    long packets(int peer, int parity) {
        return packetHalves[2 * peer + parity];
    }

    long scratch(int peer, int parity) {
        long base = scratchHalves[2 * peer + parity];
        return base != 0 ? base : resolveScratch(peer, parity);
    }

    private long resolveScratch(int peer, int parity) {
        long base = fabric.scratch(peer) + parity * fabric.layout().scratchBytes();
        scratchHalves[2 * peer + parity] = base;
        return base;
    }

    long inbound(int from, int channel) {
        return fabric.region(rank) + fabric.layout().inbound(from, channel);
    }

    long outbound(int to, int channel) {
        return fabric.region(to) + fabric.layout().inbound(rank, channel);
    }

    /** The flag of this launch's packets. */
    int flag() {
        return (int) launch;
    }

    /** Flag and digest in one word: what precedes packets and what stands beside a counter. */
    long signed(int digest) {
        return (launch << 32) | (digest & 0xFFFFFFFFL);
    }

    void nextLaunch() {
        launch++;
        wrapping = (int) launch == 0;
    }

    /**
     * Whether this launch may write what peers see. The packet flag has 32 bits: when it comes round to 0, every rank waits until
     * all others have finished, clears its packets, and goes on with flag 2 when all have cleared, so that no stale packet can be
     * taken for a new one and the parity keeps alternating.
     */
    boolean mayWrite(Program program) {
        if (wrapping) {
            return mayWrapped(program);
        }
        if (program.posts) {
            return posts.mayPost(program);
        }
        return !program.writesPeers || isBeforeLastFinished();
    }

    /** Whether everybody has finished the launch before the last one. */
    boolean isBeforeLastFinished() {
        return heardFromAll >= launch - 1 || allFinished(launch - 2);
    }

    private boolean mayWrapped(Program program) {
        if ((int) launch == 0) {
            if (!allFinished(launch - 1)) {
                return false;
            }
            Memory.fill(packetHalves[2 * rank], 2 * fabric.layout().packetBytes(), (byte) 0);
            posts.clear();
            board.publishFinished(launch);
            launch++;
        }
        if ((int) launch == 1) {
            if (!allFinished(launch - 1)) {
                return false;
            }
            launch++;
        }
        wrapping = false;
        heardFromAll = launch - 1;
        return mayWrite(program);
    }

    private boolean allFinished(long number) {
        for (int peer = 0; peer < size; peer++) {
            if (peer != rank && board.finished(peer) < number) {
                return false;
            }
        }
        return true;
    }

    /** The last launch that everybody else has finished. */
    long finishedByAll() {
        long least = Long.MAX_VALUE;
        for (int peer = 0; peer < size; peer++) {
            if (peer != rank) {
                least = Math.min(least, board.finished(peer));
            }
        }
        return least;
    }

    /** Says that this rank's slots of the current launch may be overwritten by launch + 2. */
    void finishLaunch(Program program) {
        board.publishFinished(launch);
        if (program.hearsFromAll) {
            heardFromAll = launch;
        }
        if (!program.hearsFromAll || posts.mustRing(program)) {
            // Only after launches that do not hear from all does anybody wait for boards.
            bell.ringOthers();
        }
    }
}
