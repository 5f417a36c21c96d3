package dev.tutti.p2p;

import dev.tutti.DataType;
import org.jspecify.annotations.Nullable;

/** A message that came before anybody asked for it: its payload if it was small, else what is needed to ask for it. */
final class Arrival {
    final Link link;
    final int tag;
    final DataType type;
    final long total;
    /** All of a small message. */
    final byte @Nullable [] payload;
    /** The sender's number of a message that waits there. */
    final int slot;
    /** A message that waits on this very rank. */
    final @Nullable Message local;

    @Nullable
    Arrival previousOfAll;

    @Nullable
    Arrival nextOfAll;

    @Nullable
    Arrival previousOfLink;

    @Nullable
    Arrival nextOfLink;

    Arrival(
            Link link,
            int tag,
            DataType type,
            long total,
            byte @Nullable [] payload,
            int slot,
            @Nullable Message local) {
        this.link = link;
        this.tag = tag;
        this.type = type;
        this.total = total;
        this.payload = payload;
        this.slot = slot;
        this.local = local;
    }
}
