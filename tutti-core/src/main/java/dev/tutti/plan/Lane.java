package dev.tutti.plan;

import java.util.ArrayList;
import java.util.List;

/**
 * Writes one lane of one rank, operation after operation. Each method is one operation; the lane runs them in order.
 *
 * <p>{@code finish…} marks results that are the collective's final value: there avg divides.
 */
public final class Lane {
    private final RankBuilder owner;
    private final List<Op> ops = new ArrayList<>();

    Lane(RankBuilder owner) {
        this.owner = owner;
    }

    List<Op> ops() {
        return ops;
    }

    /**
     * Copies a chunk to each destination, of this rank or of peers.
     *
     * @param source what to copy
     * @param destinations where to, in this order
     * @return this lane
     */
    public Lane copy(Chunk source, Chunk... destinations) {
        return fold(false, List.of(source), List.of(destinations));
    }

    /**
     * Folds sources, in this order and rounding once, into each destination.
     *
     * @param sources what to fold, own or peers' memory
     * @param destinations where the result goes
     * @return this lane
     */
    public Lane reduce(List<Chunk> sources, Chunk... destinations) {
        return fold(false, sources, List.of(destinations));
    }

    /**
     * Like {@link #reduce}, and the result is final.
     *
     * @param sources what to fold, own or peers' memory
     * @param destinations where the result goes
     * @return this lane
     */
    public Lane finishReduce(List<Chunk> sources, Chunk... destinations) {
        return fold(true, sources, List.of(destinations));
    }

    /**
     * Sends a chunk as packets.
     *
     * @param source plain data of this rank
     * @param destinations packet scratch of peers
     * @return this lane
     */
    public Lane putPackets(Chunk source, Chunk... destinations) {
        for (Chunk destination : destinations) {
            owner.requireScratch(destination);
        }
        ops.add(Op.data(Code.PUT_PACKETS, List.of(source), List.of(destinations), 0, false));
        return this;
    }

    /**
     * Waits for packets and writes what they carry.
     *
     * @param packets packet scratch of this rank
     * @param destination plain memory of this rank
     * @return this lane
     */
    public Lane unpack(Chunk packets, Chunk destination) {
        owner.requireScratch(packets);
        ops.add(Op.data(Code.UNPACK, List.of(packets), List.of(destination), 0, false));
        return this;
    }

    /**
     * Waits for packets and passes them on as they are.
     *
     * @param packets packet scratch of this rank
     * @param destinations packet scratch of peers
     * @return this lane
     */
    public Lane forwardPackets(Chunk packets, Chunk... destinations) {
        owner.requireScratch(packets);
        ops.add(Op.data(Code.READ_PUT_PACKETS, List.of(packets), List.of(destinations), 0, false));
        return this;
    }

    /**
     * Waits for packets of several peers and folds them with one plain chunk, in the order given.
     *
     * @param inOrder packet scratch of this rank, and exactly one plain chunk, in folding order
     * @param destination plain memory of this rank for the final value
     * @param send packet scratch of peers that get the value too
     * @return this lane
     */
    public Lane finishReducePackets(List<Chunk> inOrder, Chunk destination, Chunk... send) {
        return packetFold(true, inOrder, destination, send);
    }

    /**
     * Like {@link #finishReducePackets}, for a value that is not final yet.
     *
     * @param inOrder packet scratch of this rank, and exactly one plain chunk, in folding order
     * @param destination plain memory of this rank for the value
     * @param send packet scratch of peers that get the value too
     * @return this lane
     */
    public Lane reducePackets(List<Chunk> inOrder, Chunk destination, Chunk... send) {
        return packetFold(false, inOrder, destination, send);
    }

    /**
     * Tells peers that everything written before is there.
     *
     * @param channels ids from {@link RankBuilder#channel}
     * @return this lane
     */
    public Lane signal(int... channels) {
        return sync(Code.SIGNAL, channels);
    }

    /**
     * Waits for one signal on each channel.
     *
     * @param channels ids from {@link RankBuilder#channel}
     * @return this lane
     */
    public Lane await(int... channels) {
        return sync(Code.WAIT, channels);
    }

    /**
     * Takes one from a semaphore of this rank, waiting until there is one.
     *
     * @param semaphore id from {@link RankBuilder#semaphore}
     * @return this lane
     */
    public Lane acquire(int semaphore) {
        ops.add(Op.semaphore(Code.ACQUIRE, List.of(semaphore)));
        return this;
    }

    /**
     * Gives one to a semaphore of this rank.
     *
     * @param semaphore id from {@link RankBuilder#semaphore}
     * @return this lane
     */
    public Lane release(int semaphore) {
        ops.add(Op.semaphore(Code.RELEASE, List.of(semaphore)));
        return this;
    }

    /**
     * Waits until {@code lanes} lanes of this rank have come to barrier {@code id}.
     *
     * @param id which barrier
     * @param lanes how many lanes meet there
     * @return this lane
     */
    public Lane barrier(int id, int lanes) {
        ops.add(Op.barrier(id, lanes));
        return this;
    }

    private Lane fold(boolean finishes, List<Chunk> sources, List<Chunk> destinations) {
        if (destinations.isEmpty()) {
            return this;
        }
        ops.add(Op.data(Codes.of(owner.rank(), sources, destinations), sources, destinations, 0, finishes));
        return this;
    }

    private Lane packetFold(boolean finishes, List<Chunk> inOrder, Chunk destination, Chunk... send) {
        List<Chunk> sources = new ArrayList<>();
        int plain = -1;
        for (int i = 0; i < inOrder.size(); i++) {
            if (inOrder.get(i).space() == Space.SCRATCH) {
                sources.add(inOrder.get(i));
            } else if (plain < 0) {
                plain = i;
                sources.addFirst(inOrder.get(i));
            } else {
                throw new IllegalArgumentException("a packet fold takes one plain chunk, got " + inOrder);
            }
        }
        if (plain < 0) {
            throw new IllegalArgumentException("a packet fold needs a plain chunk, got " + inOrder);
        }
        List<Chunk> destinations = new ArrayList<>();
        destinations.add(destination);
        destinations.addAll(List.of(send));
        Code code = send.length == 0 ? Code.REDUCE_PACKETS : Code.REDUCE_SEND_PACKETS;
        ops.add(Op.data(code, sources, destinations, plain, finishes));
        return this;
    }

    private Lane sync(Code code, int... channels) {
        if (channels.length > 0) {
            List<Integer> ids = new ArrayList<>(channels.length);
            for (int channel : channels) {
                ids.add(channel);
            }
            ops.add(Op.sync(code, ids));
        }
        return this;
    }
}
