package dev.tutti.plan.language;

import dev.tutti.plan.ChannelType;
import dev.tutti.plan.Code;
import java.util.List;

/** One end of a channel through which a transport carries bytes; puts are ordered before later signals on the same channel. */
public final class PortChannel {
    private final ProgramRank rank;
    private final int peer;
    private final int id;

    PortChannel(ProgramRank rank, int peer, int id) {
        this.rank = rank;
        this.peer = peer;
        this.id = id;
    }

    /**
     * Tells the peer that everything put before is there.
     *
     * @param lane which lane
     * @param sync where its threads meet
     */
    public void signal(int lane, DataSync sync) {
        sync(Code.SIGNAL, lane, sync);
    }

    /**
     * Waits for one signal.
     *
     * @param lane which lane
     * @param sync where its threads meet
     */
    public void await(int lane, DataSync sync) {
        sync(Code.WAIT, lane, sync);
    }

    /**
     * Waits until earlier puts no longer read their sources.
     *
     * @param lane which lane
     * @param sync where its threads meet
     */
    public void flush(int lane, DataSync sync) {
        sync(Code.FLUSH, lane, sync);
    }

    /**
     * Writes to the peer; the lane goes on at once.
     *
     * @param to memory of the peer
     * @param from memory of this rank
     * @param lane which lane
     */
    public void put(Chunks to, Chunks from, int lane) {
        move(Code.PUT, to, from, Lanes.lane(lane));
    }

    /**
     * Writes to the peer and tells it.
     *
     * @param to memory of the peer
     * @param from memory of this rank
     * @param lane which lane
     */
    public void putWithSignal(Chunks to, Chunks from, int lane) {
        move(Code.PUT_SIGNAL, to, from, Lanes.lane(lane));
    }

    /**
     * Writes to the peer, tells it, and waits until the source can be used again.
     *
     * @param to memory of the peer
     * @param from memory of this rank
     * @param lane which lane
     */
    public void putWithSignalAndFlush(Chunks to, Chunks from, int lane) {
        move(Code.PUT_SIGNAL_FLUSH, to, from, Lanes.lane(lane));
    }

    /**
     * Writes packets to the peer that are already packets in this rank's scratch.
     *
     * @param to scratch of the peer
     * @param from scratch of this rank
     * @param lane which lane
     */
    public void putPackets(Chunks to, Chunks from, int lane) {
        rank.requireScratch(Code.PUT_PACKETS, to);
        rank.requireScratch(Code.PUT_PACKETS, from);
        move(Code.PUT_PACKETS, to, from, Lanes.lane(lane));
    }

    /**
     * Waits for packets in this rank's scratch and writes them to the peer.
     *
     * @param to scratch of the peer
     * @param from scratch of this rank
     * @param on the lanes that do it
     */
    public void readPutPackets(Chunks to, Chunks from, Lanes on) {
        rank.requireScratch(Code.READ_PUT_PACKETS, to);
        rank.requireScratch(Code.READ_PUT_PACKETS, from);
        move(Code.READ_PUT_PACKETS, to, from, on);
    }

    private void move(Code code, Chunks to, Chunks from, Lanes on) {
        rank.requireOwn(code, from);
        rank.requireOf(peer, code, to);
        rank.data(code, List.of(from), List.of(to), ChannelType.PORT, List.of(id), null, on);
    }

    private void sync(Code code, int lane, DataSync sync) {
        rank.append(lane, Step.control(code, ChannelType.PORT, List.of(id), sync));
    }
}
