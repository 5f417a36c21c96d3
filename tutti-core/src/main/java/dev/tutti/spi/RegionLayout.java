package dev.tutti.spi;

/**
 * Where things lie in the memory that a rank gives to one communicator and that its peers write to. Every word that two
 * ranks poll and write has a pair of cache lines of its own (the prefetcher fetches pairs).
 *
 * <pre>
 *       0  bell       a 32-bit futex                                changed by whoever wakes threads of this rank
 *                       +8 whether one may be asleep                written here, looked at by whoever has written to this memory
 *                       +12 the core on which it last waited, + 1   written here, looked at by whoever waits for this rank
 *     128  finished   launches that this rank has finished          written here, read by ranks about to overwrite a slot
 *     256  position   current operation | state | left after abort  written here, read by whoever diagnoses a stall
 *                       +24 whether its process has failed          written by whoever notices
 *                       +32 how many runs of operations there were
 *     384  abort      0, or who aborted and why                     written by whoever aborts, polled here
 *     512  master     on rank 0 only: the first abort wins          compare-and-set by whoever aborts
 *     640  cause      lengths; ranks, operation, text               written here, read by the others after an abort
 *    4096  history    the last 128 runs of equal operations:        written here, read by whoever diagnoses a stall
 *                       +0 number of the first   +8, +16, +24 what was called
 *    8192  inbound    one line pair per (peer, channel):
 *                       +0 count of signals   +16, +24 signature of the even and odd launch
 *                       +32, +40 elements from this pair, where counts differ by pair
 *                       +48, +56 on channel 0: where the peer's input and output lie, for plans that reach there
 *     ...  posts      some lines for each of the last 64 launches:  written here, read by whoever this rank posts to
 *                       +0 signature of the launch   +8 what is posted, if it fits
 *                     and longer ones for the last 4              for launches in which everybody hears from everybody
 *                     and 16 bytes for each of the last 64        for what fits beside the signature there
 *     ...  packets    two halves by launch parity
 *     ...  scratch    two halves by launch parity                   in memory of its own, made when first needed
 *                       and a ring for what is posted               written here, read by whoever this rank posts to
 * </pre>
 *
 * @param ranks size of the communicator
 * @param channelsPerPeer inbound channels from each peer
 * @param packetBytes size of one half of the packet area
 * @param scratchBytes size of one half of the scratch
 */
public record RegionLayout(int ranks, int channelsPerPeer, long packetBytes, long scratchBytes) {
    /** Bytes of a pair of cache lines. */
    public static final int LINE = 128;
    /** No ring of messages between two ranks is longer. */
    public static final long MOST_RING_BYTES = 1 << 19;
    /** Offset of the futex on which threads of this rank sleep. */
    public static final int BELL = 0;
    /** Offset of the 32-bit flag that says that one may be asleep. */
    public static final int SLEEPING = 8;
    /** Offset of one more than the number of the core on which this rank last waited; 0 if it is not known. 32 bits. */
    public static final int CORE = 12;
    /** Offset of the number of the last finished launch. */
    public static final int FINISHED = 128;
    /** Offset of the number of the current operation. */
    public static final int POSITION = 256;
    /** Offset of the state: 0, or 1 when closed. */
    public static final int STATE = POSITION + 8;
    /** Offset of the word that says that this rank has left its last operation for good, after an abort. */
    public static final int LEFT = POSITION + 16;
    /** Offset of the word that says that this rank's process has ended without closing. */
    public static final int FAILED = POSITION + 24;
    /** Offset of how many runs of equal operations this rank has announced. */
    public static final int RUNS = POSITION + 32;
    /** Offset of the abort word. */
    public static final int ABORT = 384;
    /** Offset of the word that decides which abort was first. */
    public static final int MASTER = 512;
    /** Offset of what is told of an abort: three lengths, the ranks it is about as bits, the operation and the text in UTF-8. */
    public static final int CAUSE = 640;
    /** Room for all of it. */
    public static final int CAUSE_BYTES = 4096 - CAUSE;
    /** Offset of the operations done last, in runs of equal ones. */
    public static final int HISTORY = 4096;
    /** Runs kept. */
    public static final int HISTORY_ENTRIES = 128;
    /** Bytes for each. */
    public static final int HISTORY_ENTRY_BYTES = 32;
    /** Offset of the inbound channels. */
    public static final int INBOUND = HISTORY + HISTORY_ENTRIES * HISTORY_ENTRY_BYTES;
    /** Offset in an inbound line of the signature of the even launch; the odd one follows. */
    public static final int SIGNATURE = 16;
    /** Offset in an inbound line of what a pair has to agree on in the even launch; the odd one follows. */
    public static final int PAIR = SIGNATURE + 16;
    /** Offset in an inbound line of the peer's scalar, where its input is read in place; pairs have nothing to agree on then. */
    public static final int SCALAR = PAIR;
    /** Offset in an inbound line of the location of the peer's input; that of its output follows. */
    public static final int LOCATION = 48;

    /** Launches that may be under way at once if all that ranks show are posts. Twice as many runs of operations are kept to tell of. */
    public static final int POSTS = 64;
    /** Bytes of a post: five lines, of which short messages use one. An odd number, so that posts do not share pairs of lines. */
    public static final int POST_BYTES = 320;
    /** What a post has room for beside the signature. */
    public static final int POST_ROOM = POST_BYTES - 8;
    /** Bytes of one of those lines. */
    public static final int POST_LINE = 64;
    /** What comes in one line with the signature. */
    public static final int POST_LINE_ROOM = POST_LINE - 8;
    /** Offset from the first post of those of launches in which everybody hears from everybody. */
    public static final int MEETING_POSTS = POSTS * POST_BYTES;
    /** How many of those there are, a power of two: one is read, the last one may still be, and whoever writes takes back the next one meanwhile. */
    public static final int MEETINGS = 4;
    /** What each has room for; what a post has no room for begins in the line after the signature. */
    public static final int MEETING_ROOM = 1024;
    /** Bytes of each: whole pairs of lines, which some cores fetch together. */
    public static final int MEETING_POST_BYTES = LINE + MEETING_ROOM;
    /** Offset from the first post of those for what is so short that several of them share a line. */
    public static final int TINY_POSTS = MEETING_POSTS + MEETINGS * MEETING_POST_BYTES;
    /** Bytes of such a post. */
    public static final int TINY_POST_BYTES = 16;
    /** Bytes of all posts. */
    public static final int ALL_POST_BYTES = TINY_POSTS + POSTS * TINY_POST_BYTES;
    /** Bytes of a ring for what does not fit into a post. */
    public static final long POSTED_BYTES = 256 << 10;
    /** What ranks with a core each use of it: it stays in a near cache. */
    private static final long NEAR_POSTED_BYTES = 64 << 10;
    /** And two of them: there is one reader, and what goes round in fewer lines is written and read faster. */
    private static final long PAIR_POSTED_BYTES = 32 << 10;

    /** From so many ranks on it takes less to read what everybody shows than to write it for everybody. */
    private static final int MANY = 8;

    /** Fewer launches than this at once in the ring are not worth it. */
    private static final int POSTED_AT_ONCE = 32;
    /** Of two ranks with a core each: nobody waits for anybody else's reader. */
    private static final int PAIR_POSTED_AT_ONCE = 8;

    /**
     * How much of the ring is used: with a core each as much as stays in a cache, else enough that ranks seldom have to change places.
     *
     * @param ranks how many take part
     * @param shareCores whether they share cores
     * @return a power of two, the same on all ranks
     */
    public static long postedBytes(int ranks, boolean shareCores) {
        if (shareCores) {
            return POSTED_BYTES;
        }
        return ranks == 2 ? PAIR_POSTED_BYTES : NEAR_POSTED_BYTES;
    }

    /**
     * Whether collectives are posted in which whoever shows something need not hear from its readers: several launches must find room.
     *
     * @param ranks how many take part
     * @param shownBytes what each of them shows
     * @param shareCores whether they share cores
     * @return the same on all ranks
     */
    public static boolean isPostedAhead(int ranks, long shownBytes, boolean shareCores) {
        int atOnce = ranks == 2 && !shareCores ? PAIR_POSTED_AT_ONCE : POSTED_AT_ONCE;
        return shownBytes <= POST_ROOM || shownBytes * atOnce <= postedBytes(ranks, shareCores);
    }

    /**
     * Whether collectives in which everybody hears from everybody are posted. Nobody can be ahead in them; but what a post has room for comes
     * together with its signature, in as few lines as can be; and ranks that share a core share its cache, too, and a post comes there
     * once for all of them.
     *
     * @param ranks how many take part
     * @param shownBytes what each of them shows
     * @param shareCores whether they share cores
     * @return the same on all ranks
     */
    public static boolean isPostedByAll(int ranks, long shownBytes, boolean shareCores) {
        if (shareCores || ranks >= MANY) {
            return isPostedAhead(ranks, shownBytes, shareCores);
        }
        return shownBytes <= (ranks == 2 ? MEETING_ROOM : 0);
    }

    /**
     * Offset of an inbound channel.
     *
     * @param peer who writes to it
     * @param channel which of the peer's channels
     * @return the offset of its pair of lines
     */
    public long inbound(int peer, int channel) {
        return INBOUND + ((long) peer * channelsPerPeer + channel) * LINE;
    }

    /**
     * Offset of the posts.
     *
     * @return the offset of the line of launch 0
     */
    public long posts() {
        return (inbound(ranks, 0) + 4095) & -4096;
    }

    /**
     * Offset of the packets.
     *
     * @return the offset of the even half; the odd one follows
     */
    public long packets() {
        return posts() + ALL_POST_BYTES;
    }

    /**
     * Offset in the scratch of the ring for what is posted.
     *
     * @return the offset behind both halves
     */
    public long posted() {
        return 2 * scratchBytes;
    }

    /**
     * Bytes of the scratch.
     *
     * @return the size of both halves and the ring
     */
    public long wholeScratchBytes() {
        return posted() + POSTED_BYTES;
    }

    /**
     * Bytes of the region, without scratch.
     *
     * @return the size
     */
    public long bytes() {
        return packets() + 2 * packetBytes;
    }
}
