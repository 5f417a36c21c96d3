package dev.tutti.plan.language;

import dev.tutti.ReduceOp;
import dev.tutti.plan.ChannelType;
import dev.tutti.plan.Code;
import java.util.ArrayList;
import java.util.List;

/** One end of a channel to a peer whose memory can be read and written where it lies. */
public final class MemoryChannel {
    private final ProgramRank rank;
    private final int peer;
    private final int id;

    MemoryChannel(ProgramRank rank, int peer, int id) {
        this.rank = rank;
        this.peer = peer;
        this.id = id;
    }

    /**
     * Tells the peer that everything written before is there.
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
     * A signal that orders no data.
     *
     * @param lane which lane
     * @param sync where its threads meet
     */
    public void relaxedSignal(int lane, DataSync sync) {
        sync(Code.RELAXED_SIGNAL, lane, sync);
    }

    /**
     * Waits for a signal that orders no data.
     *
     * @param lane which lane
     * @param sync where its threads meet
     */
    public void relaxedAwait(int lane, DataSync sync) {
        sync(Code.RELAXED_WAIT, lane, sync);
    }

    /**
     * Writes to the peer.
     *
     * @param to memory of the peer
     * @param from memory of this rank
     * @param on the lanes that do it
     */
    public void put(Chunks to, Chunks from, Lanes on) {
        rank.requireOf(peer, Code.PUT, to);
        rank.requireOwn(Code.PUT, from);
        rank.data(Code.PUT, List.of(from), List.of(to), ChannelType.MEMORY, List.of(), null, on);
    }

    /**
     * Writes data to the peer as packets.
     *
     * @param to scratch of the peer
     * @param from data of this rank
     * @param on the lanes that do it
     */
    public void putPackets(Chunks to, Chunks from, Lanes on) {
        rank.requireOf(peer, Code.PUT_PACKETS, to);
        rank.requireScratch(Code.PUT_PACKETS, to);
        rank.requireOwn(Code.PUT_PACKETS, from);
        rank.data(Code.PUT_PACKETS, List.of(from), List.of(to), ChannelType.MEMORY, List.of(), null, on);
    }

    /**
     * Waits for packets and passes them on.
     *
     * @param to scratch of the peer
     * @param from scratch of this rank
     * @param on the lanes that do it
     */
    public void readPutPackets(Chunks to, Chunks from, Lanes on) {
        rank.requireOf(peer, Code.READ_PUT_PACKETS, to);
        rank.requireScratch(Code.READ_PUT_PACKETS, to);
        rank.requireScratch(Code.READ_PUT_PACKETS, from);
        rank.requireOwn(Code.READ_PUT_PACKETS, from);
        rank.data(Code.READ_PUT_PACKETS, List.of(from), List.of(to), ChannelType.MEMORY, List.of(), null, on);
    }

    /**
     * Reads from the peer.
     *
     * @param to memory of this rank
     * @param from memory of the peer
     * @param on the lanes that do it
     */
    public void get(Chunks to, Chunks from, Lanes on) {
        rank.requireOf(peer, Code.GET, from);
        rank.requireOwn(Code.GET, to);
        rank.data(Code.GET, List.of(from), List.of(to), ChannelType.MEMORY, List.of(id), null, on);
    }

    /**
     * Folds chunks of peers into one of this rank.
     *
     * @param to the destination, of this rank
     * @param first the first source, of this rank
     * @param theirs the others, of the peer
     * @param op how
     * @param on the lanes that do it
     */
    public void reduce(Chunks to, Chunks first, List<Chunks> theirs, ReduceOp op, Lanes on) {
        rank.requireOwn(Code.READ_REDUCE, to);
        rank.requireOwn(Code.READ_REDUCE, first);
        theirs.forEach(each -> rank.requireOf(peer, Code.READ_REDUCE, each));
        List<Chunks> sources = new ArrayList<>();
        sources.add(first);
        sources.addAll(theirs);
        rank.data(Code.READ_REDUCE, sources, List.of(to), ChannelType.MEMORY, List.of(), op, on);
    }

    private void sync(Code code, int lane, DataSync sync) {
        rank.append(lane, Step.control(code, ChannelType.MEMORY, List.of(id), sync));
    }
}
