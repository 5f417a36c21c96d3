package dev.tutti.exec;

import dev.tutti.Collective;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.memory.Operand;
import org.jspecify.annotations.Nullable;

/**
 * One call of a collective, arguments checked, ready to run. Mutable and reused, so that calling allocates nothing.
 *
 * <p>{@code count} is what ranks compare and what messages show; the geometry has the bytes. Block lengths are equal
 * ({@code uniform}), or differ and are known to all, or differ and are known pair by pair ({@code pairs}).
 */
public final class Call {
    /** In place of a digest of counts: only pairs of ranks know them. It tells such a call from the one without counts. */
    static final long PAIRWISE = 1;

    /** Memory with blocks up to this size may be kept alive for some calls more, so that the same call again costs less. */
    private static final long MOST_KEPT_BYTES = 64 << 10;

    /** The low bits of the digest of a plan in place of a digest of counts, which has nothing below its upper half. */
    static final long PLANNED = 2;

    /** Whether a communicator keeps it to run calls with on their caller's threads. */
    private final boolean inline;

    private final Operand input = new Operand();
    private final Operand output = new Operand();
    private final Geometry geometry = new Geometry();
    private final PairCounts pairCounts = new PairCounts();

    private @Nullable Object inputHolder;
    private @Nullable Object outputHolder;

    /** Set while the very same arguments need no second look, but for whether their memory is still open. */
    private boolean repeatable;

    /** Whether somebody could close the memory between two calls. */
    private boolean closable;

    private boolean geometryReady;

    @Nullable
    Shape shape;
    /** Set once this call has run in one launch of a template: what to run, and with which addresses, if it is made again. */
    @Nullable
    Program again;

    /** The same in one piece, if it can be run so. */
    @Nullable
    Exchange exchange;

    long againInput;
    long againOutput;

    private Collective collective = Collective.BARRIER;
    private DataType type = DataType.INT8;
    private @Nullable ReduceOp op;
    private int root;
    private int ranks;
    private long count;
    private long extra;
    private long longestBytes;
    private boolean uniform;
    private boolean pairwise;
    private boolean inPlace;
    /** Whether all memory of this call is registered: then plans may reach into it on every rank. */
    private boolean registered;
    /** After a failure: a peer may still touch this call's memory. */
    private boolean stillReached;
    /** An all-to-all in place would overwrite blocks that it has yet to send. */
    private boolean stagesInput;

    private long timeoutNanos;

    public Call() {
        this(false);
    }

    private Call(boolean inline) {
        this.inline = inline;
    }

    /** A call that runs on its caller's thread. */
    public static Call inline() {
        return new Call(true);
    }

    public boolean isInline() {
        return inline;
    }

    /** Begins anew; operands, then {@link #uniform} or {@link #ragged}, follow. */
    public Call of(Collective collective, DataType type, @Nullable ReduceOp op, int root, long count) {
        this.collective = collective;
        this.type = type;
        this.op = op;
        this.root = root;
        this.count = count;
        this.shape = null;
        this.again = null;
        this.exchange = null;
        this.repeatable = false;
        this.extra = 0;
        this.uniform = true;
        this.pairwise = false;
        this.inPlace = false;
        this.registered = false;
        this.stillReached = false;
        this.stagesInput = false;
        this.geometryReady = true;
        input.clear();
        output.clear();
        return this;
    }

    /** All blocks have {@code count} elements. */
    public void uniform(int ranks) {
        this.ranks = ranks;
        longestBytes = count * type.bytes();
        geometryReady = false;
        inPlace = input.isPresent()
                && input.isSame(output)
                && collective.inputBlocks(ranks) == collective.outputBlocks(ranks);
        stagesInput = inPlace && collective == Collective.ALL_TO_ALL;
        inPlace &= !stagesInput;
    }

    /**
     * Blocks differ; the geometry says how. {@code longestBytes} is the longest block on any rank, {@code extra} a digest of counts
     * that all ranks know.
     */
    public void ragged(long longestBytes, long extra, boolean pairwise) {
        this.uniform = false;
        this.geometryReady = true;
        this.longestBytes = longestBytes;
        this.extra = pairwise ? PAIRWISE : extra;
        this.pairwise = pairwise;
        this.inPlace = false;
        this.stagesInput = collective == Collective.ALL_TO_ALL && input.isSame(output);
    }

    /** Says that every peer can reach all memory of this call. */
    public void registered(boolean all) {
        registered = all;
    }

    public boolean isRegistered() {
        return registered;
    }

    void keepAway() {
        stillReached = true;
    }

    /** Whether, after a failure, some peer has not said that it keeps off this call's memory. */
    public boolean isStillReached() {
        return stillReached;
    }

    /** A plan of a file serves this call: ranks compare its digest where others compare counts. */
    void planned(long digest) {
        extra = (digest & 0xFFFFFFFCL) | PLANNED;
    }

    /** The plan has served it; the next time another may. */
    void unplanned() {
        extra = 0;
    }

    public void timeoutNanos(long nanos) {
        timeoutNanos = nanos;
    }

    /**
     * Whether this call is already what these arguments would make it. Small messages in a loop are mostly that, and then it saves
     * more time than the exchange takes.
     */
    public boolean repeats(
            Collective which,
            DataType elements,
            @Nullable Object in,
            @Nullable Object out,
            @Nullable ReduceOp how,
            int at) {
        return repeatable
                && inputHolder == in
                && outputHolder == out
                && op == how
                && collective == which
                && type == elements
                && root == at
                && (!closable || isOpen());
    }

    private boolean isOpen() {
        return input.isOpen() && output.isOpen();
    }

    /** Whether {@link #repeats} may recognise this call. */
    public boolean isRepeatable() {
        return repeatable;
    }

    /** Whether this call, made again, can be made in the shortest way. */
    public boolean mayRunShort() {
        return exchange != null;
    }

    /**
     * Lets {@link #repeats} recognise this call, if its memory is small, as it is kept alive meanwhile.
     *
     * @param closable whether somebody could close the memory before the next call
     */
    public void makeRepeatable(boolean closable) {
        this.repeatable = mayBeKept();
        this.closable = closable;
    }

    /** Whether its memory is so small that nobody minds if it lives for some calls more. */
    boolean mayBeKept() {
        return longestBytes <= MOST_KEPT_BYTES;
    }

    /** Whether what was found out about this call will hold for the next one. */
    boolean mayRunAgain() {
        return repeatable && uniform && !stagesInput && input.isWhole() && output.isWhole();
    }

    /** Forgets the memory, unless the next call is likely to have it again. */
    public void forget() {
        if (!repeatable) {
            drop();
        }
    }

    /** Forgets the memory. */
    public void drop() {
        repeatable = false;
        again = null;
        exchange = null;
        input.clear();
        output.clear();
        hold(null, null);
    }

    /** Keeps what the operands describe alive until the call is over. */
    public void hold(@Nullable Object input, @Nullable Object output) {
        inputHolder = input;
        outputHolder = output;
    }

    public @Nullable Object inputHolder() {
        return inputHolder;
    }

    public @Nullable Object outputHolder() {
        return outputHolder;
    }

    public Operand input() {
        return input;
    }

    public Operand output() {
        return output;
    }

    /** Where the blocks are; of a uniform call worked out when first needed. */
    public Geometry geometry() {
        if (!geometryReady) {
            geometryReady = true;
            if (uniform) {
                geometry.uniform(collective.inputBlocks(ranks), collective.outputBlocks(ranks), longestBytes);
            }
        }
        return geometry;
    }

    public PairCounts pairCounts() {
        return pairCounts;
    }

    public Collective collective() {
        return collective;
    }

    public DataType type() {
        return type;
    }

    public @Nullable ReduceOp op() {
        return op;
    }

    public int root() {
        return root;
    }

    public long count() {
        return count;
    }

    public long longestBytes() {
        return longestBytes;
    }

    public boolean isUniform() {
        return uniform;
    }

    /** Whether the input has to be staged; {@code places} tells whether a plan takes memory that has no address as it is. */
    boolean isInputStaged(boolean places) {
        return stagesInput || isStaged(input, places);
    }

    boolean isOutputStaged(boolean places) {
        return isStaged(output, places);
    }

    private static boolean isStaged(Operand operand, boolean places) {
        return !operand.isDirect() && !(places && operand.isWhole());
    }

    void longestBytes(long agreed) {
        longestBytes = agreed;
    }

    boolean isPairwise() {
        return pairwise;
    }

    boolean isInPlace() {
        return inPlace;
    }

    long extra() {
        return extra;
    }

    long timeoutNanos() {
        return timeoutNanos;
    }
}
