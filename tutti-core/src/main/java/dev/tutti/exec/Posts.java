package dev.tutti.exec;

import dev.tutti.Collective;
import dev.tutti.memory.Memory;
import dev.tutti.spi.RegionLayout;
import java.util.Arrays;

/**
 * How ranks show each other something without waiting for each other: every rank has a post for each of the last
 * {@value RegionLayout#POSTS} launches, which it alone writes and everybody reads. A post is a few lines: the launch's signature and what
 * the rank shows, or, if that is longer, just the signature; then the rest lies in a ring in the rank's scratch, in which launch
 * after launch takes the next bytes on all ranks alike. Launches in which everybody hears from everybody have {@value RegionLayout#MEETINGS} longer
 * posts of their own: nobody can be ahead there.
 *
 * <pre>
 *   who shows                                      who reads
 *   ---------                                      ---------
 *   everybody has finished whatever used
 *     this post and these bytes of the ring        wait until the post has this launch's signature   (acquire)
 *   write the bytes                                read the bytes
 *   write the signature              (release)     finished = launch                                 (release)
 * </pre>
 *
 * Whether everybody has finished is looked up when what was known is used up, and then half of the posts must be free: so a rank
 * that is ahead looks once in many launches, and ranks that share a core change places as seldom.
 */
final class Posts {
    /** What a post has room for beside the signature. */
    static final long ROOM = RegionLayout.POST_ROOM;

    /** And one that shares a line with others. */
    private static final int TINY_ROOM = RegionLayout.TINY_POST_BYTES - 8;

    private static final int MASK = RegionLayout.POSTS - 1;
    /** Ring for each post in use: where the ring is to stay in the cache, posts are too. */
    private static final int RING_PER_POST = 512;

    // The kinds of posts, by which records and kinds[] know them.
    private static final int LONG = 0;
    private static final int MEETING = 1;
    private static final int TINY = 2;

    /**
     * Where the posts of one kind lie.
     *
     * @param first where the post of launch 0 lies after the first post of all
     * @param bytes how long each is
     * @param count how many go round: a power of two
     */
    record Kind(long first, long bytes, int count) {
        long at(long launch) {
            return first + (launch & (count - 1)) * bytes;
        }
    }

    private static final Kind OF_TWO_RANKS = meetings(RegionLayout.MEETINGS);
    /** Only two ranks take the next one back meanwhile; eight and sixteen are slower with four than with two. */
    private static final Kind OF_MORE_RANKS = meetings(2);

    private final Endpoint endpoint;
    private final long[] first;
    private final long[] rings;
    /** A power of two, as is the number of posts in use. */
    private final long ringBytes;

    private final int posts;
    private final Kind[] kinds;
    /** What posts of launches have room for in which everybody hears from everybody. */
    private final long meetingRoom;
    /** How far the ring was taken when a launch ended, for the last launches up to {@link #lastInRing}. */
    private final long[] ends = new long[RegionLayout.POSTS];
    /** The last launch that took some of the ring. */
    private long lastInRing;
    /** Bytes of the ring that launches up to the last one have taken. */
    private long taken;
    /** Launches up to this one have a post that nobody reads any more. */
    private long freeLaunch;
    /** The ring may be taken up to here. */
    private long freeBytes;
    /** The last launch in which this rank had to wait after it had posted, and so has rung. */
    private long rung;

    Posts(Endpoint endpoint) {
        this.endpoint = endpoint;
        this.ringBytes = RegionLayout.postedBytes(endpoint.size, endpoint.sharesCores);
        this.posts = (int) Math.min(RegionLayout.POSTS, ringBytes / RING_PER_POST);
        this.kinds = new Kind[] {
            new Kind(0, RegionLayout.POST_BYTES, posts),
            endpoint.size == 2 ? OF_TWO_RANKS : OF_MORE_RANKS,
            new Kind(RegionLayout.TINY_POSTS, RegionLayout.TINY_POST_BYTES, posts)
        };
        this.meetingRoom = endpoint.size == 2 ? RegionLayout.MEETING_ROOM : ROOM;
        this.first = new long[endpoint.size];
        this.rings = new long[endpoint.size];
        for (int peer = 0; peer < endpoint.size; peer++) {
            first[peer] =
                    endpoint.fabric.region(peer) + endpoint.fabric.layout().posts();
        }
    }

    private static Kind meetings(int count) {
        return new Kind(RegionLayout.MEETING_POSTS, RegionLayout.MEETING_POST_BYTES, count);
    }

    /** Whether launches of a collective are posted that show so much. */
    boolean suit(Collective collective, long shownBytes) {
        return endpoint.size > 1
                && (collective.hearsFromAll()
                        ? RegionLayout.isPostedByAll(endpoint.size, shownBytes, endpoint.sharesCores)
                        : RegionLayout.isPostedAhead(endpoint.size, shownBytes, endpoint.sharesCores));
    }

    /** Address of a rank's post of launch 0. */
    long first(int peer) {
        return first[peer];
    }

    /** What {@link Records} of a launch say of its posts. */
    static int flags(boolean hearsFromAll, long shownBytes) {
        return kind(hearsFromAll, shownBytes) << Records.POST_KIND;
    }

    private static int kind(boolean hearsFromAll, long shownBytes) {
        if (hearsFromAll) {
            return MEETING;
        }
        return shownBytes <= TINY_ROOM ? TINY : LONG;
    }

    /** What a program's scratch on a rank is an offset from, before {@link #take} is added. */
    long base(Program program, int peer) {
        return fits(program) ? first[peer] + head(program.footprint) : ring(peer);
    }

    private long ring(int peer) {
        if (rings[peer] == 0) {
            rings[peer] =
                    endpoint.fabric.scratch(peer) + endpoint.fabric.layout().posted();
        }
        return rings[peer];
    }

    /** Whether posts have room for what a program shows. */
    boolean fits(Program program) {
        return program.footprint <= (program.hearsFromAll ? meetingRoom : ROOM);
    }

    /** Where in a post so many bytes begin. */
    static int head(long shownBytes) {
        return shownBytes <= ROOM ? 8 : RegionLayout.POST_LINE;
    }

    /** Where the posts of a program lie, if they have room for what it shows. */
    Kind kind(Program program) {
        return kinds[kind(program.hearsFromAll, program.footprint)];
    }

    /** Whether nobody reads any more what this launch would write, as far as is known. */
    boolean isKnownFree(Program program) {
        return endpoint.launch <= freeLaunch && end(program) <= freeBytes;
    }

    /** Where this launch's scratch lies: in its post, or in what it takes of the ring. Once in each launch, when it may be written. */
    long take(Program program) {
        if (fits(program)) {
            return kind(program).at(endpoint.launch);
        }
        // Launches since then have taken nothing of the ring.
        for (long launch = Math.max(lastInRing, endpoint.launch - posts); launch < endpoint.launch; launch++) {
            ends[(int) launch & MASK] = taken;
        }
        long start = start(program.footprint);
        taken = start + program.footprint;
        lastInRing = endpoint.launch;
        return start & (ringBytes - 1);
    }

    /** Where the post that a record is about lies in this launch, after the first one of all. */
    private long offset(long header) {
        return kinds[Records.flags(header) >>> Records.POST_KIND].at(endpoint.launch);
    }

    /** Where two ranks have the post of a launch in which they hear from each other. */
    static long meetingOffset(long launch) {
        return OF_TWO_RANKS.at(launch);
    }

    /** No launch's bytes go over the end of the ring. */
    private long start(long footprint) {
        long at = taken & (ringBytes - 1);
        return at + footprint <= ringBytes ? taken : taken + ringBytes - at;
    }

    private long end(Program program) {
        return fits(program) ? taken : start(program.footprint) + program.footprint;
    }

    /** Whether this launch may write its post and its bytes of the ring. */
    boolean mayPost(Program program) {
        return !program.writesPeers
                || ((!program.hearsFromAll || endpoint.isBeforeLastFinished())
                        && (isKnownFree(program) || becomesFree(end(program))));
    }

    private boolean becomesFree(long end) {
        long last = endpoint.launch - 1;
        long finished = Math.min(last, endpoint.finishedByAll());
        if (finished <= last - posts / 2) {
            return false;
        }
        long bytes = finished >= lastInRing ? taken : ends[(int) finished & MASK];
        if (end > bytes + ringBytes / 2) {
            return false;
        }
        freeLaunch = finished + posts;
        freeBytes = bytes + ringBytes;
        return true;
    }

    /**
     * Shows what was written; pairs with the acquire in {@link #arrived}. Whoever sleeps is woken when this rank has to wait, or by
     * the end of the launch, which comes soon.
     */
    void post(long[] code, int pc) {
        show(first[endpoint.rank] + offset(code[pc]), endpoint.signed(endpoint.signature));
        rung = -1;
    }

    static void show(long post, long signed) {
        Memory.putLongRelease(post, signed);
    }

    /** Writes to each line of a post of so many bytes that nobody reads, so that this core has them when it is written. */
    static void takeBack(long post, int bytes) {
        for (long line = post; line < post + bytes; line += RegionLayout.POST_LINE) {
            Memory.putLong(line, 0);
        }
    }

    /** Looks at the posts of a FETCH from the {@code from}-th on; returns how many have come. */
    int arrived(long[] code, int pc, int from) {
        int count = Records.sources(code[pc]);
        long expected = endpoint.signed(endpoint.signature);
        long offset = offset(code[pc]);
        for (int i = from; i < count; i++) {
            long word = Memory.getLongAcquire(code[pc + 1 + 2 * i] + offset);
            if (word != expected) {
                if (word >>> 32 == expected >>> 32) {
                    throw endpoint.stall.mismatch();
                }
                return i;
            }
        }
        return count;
    }

    /** Waits for all posts of a FETCH. */
    void await(long[] code, int pc) {
        int arrived = arrived(code, pc, 0);
        if (arrived < Records.sources(code[pc])) {
            awaitRest(code, pc, arrived);
        }
    }

    private void awaitRest(long[] code, int pc, int first) {
        ringOnce();
        int arrived = first;
        for (int turns = 0; arrived < Records.sources(code[pc]); turns++) {
            if (!endpoint.stall.look(turns)) {
                boolean coreWanted = endpoint.pace.isShared() && isCoreWanted(code, pc, arrived);
                endpoint.stall.pause(turns, coreWanted);
            }
            arrived = arrived(code, pc, arrived);
        }
    }

    /** Before a wait: wakes whoever sleeps, as what this launch has posted is there; not again when it is looked at again. */
    void ringOnce() {
        if (rung != endpoint.launch) {
            endpoint.bell.ringOthers();
            rung = endpoint.launch;
        }
    }

    /** Whether a rank whose post has not come may need this rank's core to get there. */
    private boolean isCoreWanted(long[] code, int pc, int from) {
        int count = Records.sources(code[pc]);
        if (count < endpoint.size - 1) {
            // Whoever does not wait for all may keep the core from somebody who could go on.
            return true;
        }
        long expected = endpoint.signed(endpoint.signature);
        long offset = offset(code[pc]);
        for (int i = from; i < count; i++) {
            if (endpoint.neighbours.isHere((int) code[pc + 2 + 2 * i])
                    && Memory.getLongOpaque(code[pc + 1 + 2 * i] + offset) != expected) {
                return true;
            }
        }
        return false;
    }

    /** Whether whoever sleeps does not know yet what this launch has posted. */
    boolean mustRing(Program program) {
        return program.posts && rung != endpoint.launch;
    }

    /** Flags come round, and everybody has finished everything. */
    void clear() {
        Memory.fill(first[endpoint.rank], RegionLayout.ALL_POST_BYTES, (byte) 0);
        Arrays.fill(ends, taken);
        freeLaunch = 0;
    }
}
