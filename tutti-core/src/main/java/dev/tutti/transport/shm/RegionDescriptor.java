package dev.tutti.transport.shm;

import dev.tutti.memory.Memory;
import dev.tutti.spi.RegionLayout;

/**
 * Where things lie in the region of a rank: the one piece of memory that it shares with its peers, who map it once. It is a large
 * range of addresses; only pieces in use have pages. Everything in it is an offset from its beginning, never an address.
 *
 * <pre>
 *         0  magic                  "TUTTISHM"
 *         8  version                {@value #VERSION}; a peer with another one is refused
 *        16  uid                    whose it is
 *        24  pid                    the process that made it
 *        32  start time             of that process, in ticks since the machine started
 *        40  nonce                  the same as on the card, so that a number used again is noticed
 *        48  rank                   in the world
 *        56  bytes                  of addresses
 *       128  ready                  1 when its process has mapped everybody
 *       384  directory used         entries ever used; those behind are zero
 *       392  directory changes      counted up with each entry that is published
 *      4096  directory              {@value #ENTRIES} entries of {@value #ENTRY_BYTES} bytes, written by the owner alone:
 *                 0  state          0 free, 1 in use; written last, with release
 *                 8  id             of the communicator
 *                16  offset         of the piece
 *                24  bytes          of addresses of the piece
 *                32  ranks, 36 channels, 40 packet bytes, 48 scratch bytes: the layout, which all members must share
 *                56  gone           members that will never touch this piece again; the last one gives its pages back
 *   1052672  pieces
 *
 *   a communicator's piece, in every member's region, on page boundaries:
 *
 *         0  scratch made           0 or 1
 *        64  rings made             a bit per sender
 *       ...  region                 as {@link RegionLayout} has it
 *       ...  scratch                pages when somebody first needs it
 *       ...  rings                  {@link RegionLayout#MOST_RING_BYTES} of addresses per sender, pages when somebody first needs them
 * </pre>
 *
 * Making pages that exist already changes nothing, so whoever first needs a scratch or a ring makes it, and two at once do no
 * harm.
 */
final class RegionDescriptor {
    static final long MAGIC = 0x4D48_5349_5454_5554L;
    static final int VERSION = 4;

    static final int PAGE = 4096;
    static final int MAGIC_AT = 0;
    static final int VERSION_AT = 8;
    static final int UID_AT = 16;
    static final int PID_AT = 24;
    static final int START_TIME_AT = 32;
    static final int NONCE_AT = 40;
    static final int RANK_AT = 48;
    static final int BYTES_AT = 56;
    static final int READY_AT = 128;
    static final int USED_AT = 384;
    static final int CHANGES_AT = 392;

    static final int DIRECTORY_AT = 4096;
    static final int ENTRIES = 1 << 14;
    static final int ENTRY_BYTES = 64;
    static final int STATE = 0;
    static final int ID = 8;
    static final int OFFSET = 16;
    static final int BYTES = 24;
    static final int RANKS_AND_CHANNELS = 32;
    static final int PACKET_BYTES = 40;
    static final int SCRATCH_BYTES = 48;
    static final int GONE = 56;

    static final long PIECES_AT = DIRECTORY_AT + (long) ENTRIES * ENTRY_BYTES;

    static final int SCRATCH_MADE = 0;
    static final int RINGS_MADE = 64;

    private RegionDescriptor() {}

    static long pages(long bytes) {
        return Memory.roundUp(bytes, PAGE);
    }

    /** Offset in a piece of the communicator's region. */
    static long regionAt(RegionLayout layout) {
        return pages(RINGS_MADE + (layout.ranks() + 63) / 64 * 8L);
    }

    /** Offset in a piece of the scratch; all before it is reserved from the beginning. */
    static long scratchAt(RegionLayout layout) {
        return regionAt(layout) + pages(layout.bytes());
    }

    /** Offset in a piece of the ring from a member. */
    static long ringAt(RegionLayout layout, int from) {
        return scratchAt(layout) + pages(layout.wholeScratchBytes()) + from * RegionLayout.MOST_RING_BYTES;
    }

    static long pieceBytes(RegionLayout layout) {
        return ringAt(layout, layout.ranks());
    }
}
