package dev.tutti.plan.examples;

import static dev.tutti.plan.language.DataSync.AFTER;
import static dev.tutti.plan.language.DataSync.BEFORE;
import static dev.tutti.plan.language.DataSync.BOTH;
import static dev.tutti.plan.language.DataSync.NONE;
import static dev.tutti.plan.language.Lanes.lane;

import dev.tutti.Collective;
import dev.tutti.ReduceOp;
import dev.tutti.plan.Plan;
import dev.tutti.plan.Protocol;
import dev.tutti.plan.Space;
import dev.tutti.plan.language.Chunks;
import dev.tutti.plan.language.CollectiveProgram;
import dev.tutti.plan.language.DataSync;
import dev.tutti.plan.language.Lanes;
import dev.tutti.plan.language.MemoryChannel;
import dev.tutti.plan.language.PortChannel;
import dev.tutti.plan.language.ProgramRank;
import dev.tutti.plan.language.Semaphore;
import dev.tutti.plan.language.SwitchChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Well-known families of plans, written in Tutti's language: examples, and a test that it says the same as the original's. */
final class PlanFamilies {
    private PlanFamilies() {}

    private static int[] peers(int ranks, int rank) {
        return IntStream.range(0, ranks).filter(peer -> peer != rank).toArray();
    }

    private static List<MemoryChannel> channels(CollectiveProgram program, int rank) {
        return IntStream.of(peers(program.ranks(), rank))
                .mapToObj(peer -> program.memoryChannel(peer, rank))
                .toList();
    }

    private static Chunks[] scratch(CollectiveProgram program, int chunks) {
        return IntStream.range(0, program.ranks())
                .mapToObj(rank -> program.rank(rank).scratch(chunks))
                .toArray(Chunks[]::new);
    }

    private static void meet(List<MemoryChannel> all, int lane) {
        meet(all, lane, BEFORE, AFTER);
    }

    private static void meet(List<MemoryChannel> all, int lane, DataSync signals, DataSync waits) {
        all.forEach(each -> each.signal(lane, signals));
        all.forEach(each -> each.await(lane, waits));
    }

    private static void meetRelaxed(List<MemoryChannel> all, int lane) {
        all.forEach(each -> each.relaxedSignal(lane, BOTH));
        all.forEach(each -> each.relaxedAwait(lane, AFTER));
    }

    /** All-reduce: chunk r is folded by rank r out of its peers' inputs and written back to them; eight lanes. */
    static Plan allReduce(int ranks, int instances, boolean fusion) {
        int lanes = 8;
        CollectiveProgram program = CollectiveProgram.of("allreduce", Collective.ALL_REDUCE, ranks, lanes)
                .inPlace(true)
                .instances(instances)
                .fusion(fusion);
        for (int rank = 0; rank < ranks; rank++) {
            for (int lane = 0; lane < lanes; lane++) {
                List<MemoryChannel> all = channels(program, rank);
                int chunk = rank * lanes + lane;
                Chunks own = program.rank(rank).input().at(chunk);
                meetRelaxed(all, lane);
                int[] peers = peers(ranks, rank);
                for (int i = 0; i < peers.length; i++) {
                    Chunks theirs = program.rank(peers[i]).input().at(chunk);
                    all.get(i).reduce(own, own, List.of(theirs), ReduceOp.SUM, lane(lane));
                }
                for (int i = 0; i < peers.length; i++) {
                    all.get(i).put(program.rank(peers[i]).input().at(chunk), own, lane(lane));
                }
                meet(all, lane, BEFORE, BOTH);
            }
        }
        return program.build();
    }

    /** All-reduce by packets in two steps: parts to their owners, sums to everybody. */
    static Plan allReducePackets(int ranks, int instances, boolean fusion) {
        CollectiveProgram program = CollectiveProgram.of("allreduce_naivy", Collective.ALL_REDUCE, ranks, 1)
                .protocol(Protocol.PACKET)
                .inPlace(true)
                .instances(instances)
                .fusion(fusion);
        Chunks[] scratch = scratch(program, 2 * ranks);
        for (int rank = 0; rank < ranks; rank++) {
            ProgramRank me = program.rank(rank);
            List<MemoryChannel> all = channels(program, rank);
            int[] peers = peers(ranks, rank);
            List<Chunks> parts = new ArrayList<>();
            for (int i = 0; i < peers.length; i++) {
                all.get(i).putPackets(scratch[peers[i]].at(rank), me.input().at(peers[i]), lane(0));
                parts.add(scratch[rank].at(peers[i]));
            }
            me.reducePackets(me.input().at(rank), me.input().at(rank), parts, ReduceOp.SUM, lane(0));
            for (int i = 0; i < peers.length; i++) {
                all.get(i)
                        .putPackets(
                                scratch[peers[i]].at(ranks + rank), me.input().at(rank), lane(0));
            }
            for (int peer : peers) {
                me.unpackPackets(me.input().at(peer), scratch[rank].at(ranks + peer), lane(0));
            }
        }
        return program.build();
    }

    /** Recursive doubling by packets: in step k everything goes to the rank whose number differs in bit k. */
    static Plan recursiveDoubling(int ranks, int instances) {
        CollectiveProgram program = CollectiveProgram.of("rd_allreduce_pkt", Collective.ALL_REDUCE, ranks, 1)
                .protocol(Protocol.PACKET)
                .inPlace(true)
                .doubleScratch(true)
                .instances(instances);
        int steps = Integer.numberOfTrailingZeros(ranks);
        Chunks[] scratch = scratch(program, steps * ranks);
        for (int rank = 0; rank < ranks; rank++) {
            Chunks own = program.rank(rank).input();
            for (int step = 0; step < steps; step++) {
                int peer = rank ^ (1 << step);
                int first = step * ranks;
                program.memoryChannel(peer, rank).putPackets(scratch[peer].slice(first, first + ranks), own, lane(0));
                program.rank(rank)
                        .reducePackets(
                                own, own, List.of(scratch[rank].slice(first, first + ranks)), ReduceOp.SUM, lane(0));
            }
        }
        return program.build();
    }

    /** Ring: chunks are folded on their way round, then go round once more. */
    static Plan ring(int ranks, int instances) {
        CollectiveProgram program = CollectiveProgram.of("ring_allreduce", Collective.ALL_REDUCE, ranks, 1)
                .inPlace(true)
                .instances(instances);
        Chunks[] scratch = scratch(program, ranks);
        for (int rank = 0; rank < ranks; rank++) {
            int after = (rank + 1) % ranks;
            int before = Math.floorMod(rank - 1, ranks);
            // Between two ranks both channels have the same ends: one side must make them in the other order.
            boolean swapped = ranks == 2 && rank == 1;
            MemoryChannel first = program.memoryChannel(swapped ? before : after, rank);
            MemoryChannel second = program.memoryChannel(swapped ? after : before, rank);
            MemoryChannel next = swapped ? second : first;
            MemoryChannel previous = swapped ? first : second;
            Chunks own = program.rank(rank).input();
            Chunks theirs = program.rank(after).input();
            previous.signal(0, BEFORE);
            next.await(0, AFTER);
            next.put(scratch[after].at(rank), own.at(rank), lane(0));
            next.signal(0, BEFORE);
            previous.await(0, AFTER);
            for (int step = 1; step < ranks; step++) {
                int chunk = Math.floorMod(rank - step, ranks);
                program.rank(rank).reduce(own.at(chunk), List.of(scratch[rank].at(chunk)), ReduceOp.SUM, lane(0));
                next.put(step < ranks - 1 ? scratch[after].at(chunk) : theirs.at(chunk), own.at(chunk), lane(0));
                next.signal(0, BEFORE);
                previous.await(0, AFTER);
            }
            for (int step = 0; step < ranks - 2; step++) {
                int chunk = Math.floorMod(rank - step, ranks);
                next.put(theirs.at(chunk), own.at(chunk), lane(0));
                next.signal(0, BEFORE);
                previous.await(0, AFTER);
            }
        }
        return program.build();
    }

    /** The ring through ports. */
    static Plan ringOverPorts(int ranks) {
        CollectiveProgram program = CollectiveProgram.of("ring_allreduce_port", Collective.ALL_REDUCE, ranks, 1)
                .inPlace(true);
        Chunks[] scratch = scratch(program, ranks);
        for (int rank = 0; rank < ranks; rank++) {
            int after = (rank + 1) % ranks;
            int before = Math.floorMod(rank - 1, ranks);
            boolean swapped = ranks == 2 && rank == 1;
            PortChannel first = program.portChannel(swapped ? before : after, rank);
            PortChannel second = program.portChannel(swapped ? after : before, rank);
            PortChannel next = swapped ? second : first;
            PortChannel previous = swapped ? first : second;
            Chunks own = program.rank(rank).input();
            Chunks theirs = program.rank(after).input();
            previous.signal(0, BEFORE);
            next.await(0, AFTER);
            next.put(scratch[after].at(rank), own.at(rank), 0);
            next.signal(0, BEFORE);
            previous.await(0, AFTER);
            for (int step = 1; step < ranks; step++) {
                int chunk = Math.floorMod(rank - step, ranks);
                program.rank(rank).reduce(own.at(chunk), List.of(scratch[rank].at(chunk)), ReduceOp.SUM, lane(0));
                next.put(step < ranks - 1 ? scratch[after].at(chunk) : theirs.at(chunk), own.at(chunk), 0);
                next.signal(0, BEFORE);
                previous.await(0, AFTER);
            }
            for (int step = 0; step < ranks - 2; step++) {
                int chunk = Math.floorMod(rank - step, ranks);
                next.put(theirs.at(chunk), own.at(chunk), 0);
                next.signal(0, BEFORE);
                previous.await(0, AFTER);
            }
        }
        return program.build();
    }

    /** All-reduce in which three lanes share every operation. */
    static Plan groupOfLanes(int ranks, int lanes) {
        CollectiveProgram program = CollectiveProgram.of("tbg_allreduce", Collective.ALL_REDUCE, ranks, 1)
                .inPlace(true);
        Lanes group = Lanes.group(IntStream.range(0, lanes).toArray());
        for (int rank = 0; rank < ranks; rank++) {
            List<List<MemoryChannel>> perLane = new ArrayList<>();
            for (int lane = 0; lane < lanes; lane++) {
                perLane.add(channels(program, rank));
                meet(perLane.get(lane), lane);
            }
            Chunks own = program.rank(rank).input().at(rank);
            int[] peers = peers(ranks, rank);
            for (int i = 0; i < peers.length; i++) {
                Chunks theirs = program.rank(peers[i]).input().at(rank);
                perLane.getFirst().get(i).reduce(own, own, List.of(theirs), ReduceOp.SUM, group);
            }
            for (int i = 0; i < peers.length; i++) {
                perLane.getFirst().get(i).put(program.rank(peers[i]).input().at(rank), own, group);
            }
            for (int lane = 0; lane < lanes; lane++) {
                meet(perLane.get(lane), lane);
            }
        }
        return program.build();
    }

    /** All pairs, out of place: parts into scratch, sums into everybody's output. */
    static Plan allPairs(int ranks, ReduceOp op) {
        CollectiveProgram program = CollectiveProgram.of("allpairs_oop", Collective.ALL_REDUCE, ranks, 1);
        Chunks[] scratch = scratch(program, ranks);
        for (int rank = 0; rank < ranks; rank++) {
            ProgramRank me = program.rank(rank);
            List<MemoryChannel> all = channels(program, rank);
            int[] peers = peers(ranks, rank);
            List<Chunks> parts = new ArrayList<>();
            meet(all, 0, NONE, AFTER);
            for (int i = 0; i < peers.length; i++) {
                all.get(i).put(scratch[peers[i]].at(rank), me.input().at(peers[i]), lane(0));
                parts.add(scratch[rank].at(peers[i]));
            }
            meet(all, 0);
            me.reduce(me.output().at(rank), me.input().at(rank), parts, op, lane(0));
            for (int i = 0; i < peers.length; i++) {
                all.get(i)
                        .put(
                                program.rank(peers[i]).output().at(rank),
                                me.output().at(rank),
                                lane(0));
            }
            meet(all, 0);
        }
        return program.build();
    }

    /** All-gather in place: everybody writes its block to everybody, the next first. */
    static Plan allGather(int ranks, int instances) {
        CollectiveProgram program = CollectiveProgram.of("allgather_ring", Collective.ALL_GATHER, ranks, 1)
                .inPlace(true)
                .instances(instances);
        for (int rank = 0; rank < ranks; rank++) {
            List<MemoryChannel> all = channels(program, rank);
            Chunks own = program.rank(rank).output().at(rank);
            meetRelaxed(all, 0);
            for (int step = 1; step < ranks; step++) {
                int peer = (rank + step) % ranks;
                all.get(peer < rank ? peer : peer - 1)
                        .put(program.rank(peer).output().at(rank), own, lane(0));
            }
            meetRelaxed(all, 0);
        }
        return program.build();
    }

    /** All-gather in place by reading. */
    static Plan allGatherByReading(int ranks) {
        CollectiveProgram program = CollectiveProgram.of("get_allgather", Collective.ALL_GATHER, ranks, 2)
                .inPlace(true);
        for (int rank = 0; rank < ranks; rank++) {
            List<MemoryChannel> all = channels(program, rank);
            int[] peers = peers(ranks, rank);
            meet(all, 0);
            for (int i = 0; i < peers.length; i++) {
                int from = 2 * peers[i];
                Chunks mine = program.rank(rank).output().slice(from, from + 2);
                all.get(i).get(mine, program.rank(peers[i]).output().slice(from, from + 2), lane(0));
            }
            meet(all, 0);
        }
        return program.build();
    }

    /** All-gather by packets that are made once and passed on. */
    static Plan allGatherPackets(int ranks, int instances) {
        CollectiveProgram program = CollectiveProgram.of("allgather_pkt_rppkt", Collective.ALL_GATHER, ranks, 1)
                .protocol(Protocol.PACKET)
                .inPlace(true)
                .doubleScratch(true)
                .instances(instances);
        Chunks[] scratch = scratch(program, 2 * ranks);
        for (int rank = 0; rank < ranks; rank++) {
            ProgramRank me = program.rank(rank);
            List<MemoryChannel> all = channels(program, rank);
            Chunks packed = scratch[rank].at(ranks + rank);
            me.copyPackets(packed, me.input().at(0), lane(0));
            for (int step = 1; step < ranks; step++) {
                int peer = (rank + step) % ranks;
                all.get(peer < rank ? peer : peer - 1).readPutPackets(scratch[peer].at(rank), packed, lane(0));
            }
            for (int step = 1; step < ranks; step++) {
                int peer = (rank + step) % ranks;
                me.unpackPackets(me.output().at(peer), scratch[rank].at(peer), lane(0));
            }
        }
        return program.build();
    }

    /** All-gather in a loop: one lane sends pieces, another takes what has come out of scratch. */
    static Plan pipelinedAllGather(int ranks) {
        CollectiveProgram program = CollectiveProgram.of("pipelined_allgather", Collective.ALL_GATHER, ranks, 1);
        Chunks[] scratch = scratch(program, ranks);
        for (int rank = 0; rank < ranks; rank++) {
            ProgramRank me = program.rank(rank);
            List<MemoryChannel> data = channels(program, rank);
            List<MemoryChannel> ready = channels(program, rank);
            Semaphore sent = me.semaphore(0);
            int[] peers = peers(ranks, rank);
            int self = rank;
            ready.forEach(each -> each.relaxedSignal(0, NONE));
            ready.forEach(each -> each.relaxedAwait(0, AFTER));
            program.loop(64, 1, () -> {
                for (int i = 0; i < peers.length; i++) {
                    data.get(i).put(scratch[peers[i]].at(self), me.input().at(0), lane(0));
                }
                data.forEach(each -> each.signal(0, BEFORE));
                me.copy(me.output().at(self), me.input().at(0), lane(0));
                sent.release(0, BOTH);
                sent.acquire(1, BOTH);
                data.forEach(each -> each.await(1, AFTER));
                for (int peer : peers) {
                    me.copy(me.output().at(peer), scratch[self].at(peer), lane(1));
                }
            });
            meet(ready, 1);
        }
        return program.build();
    }

    /** All-to-all through scratch, a lane for each peer. */
    static Plan allToAll(int ranks, int instances) {
        CollectiveProgram program = CollectiveProgram.of("alltoall", Collective.ALL_TO_ALL, ranks, 1)
                .inPlace(true)
                .instances(instances);
        Chunks[] scratch = scratch(program, ranks - 1);
        for (int rank = 0; rank < ranks; rank++) {
            ProgramRank me = program.rank(rank);
            int[] peers = peers(ranks, rank);
            for (int lane = 0; lane < peers.length; lane++) {
                int peer = peers[lane];
                MemoryChannel channel = program.memoryChannel(peer, rank);
                channel.relaxedSignal(lane, BOTH);
                channel.relaxedAwait(lane, AFTER);
                channel.put(
                        scratch[peer].at(rank < peer ? rank : rank - 1),
                        me.input().at(peer),
                        lane(lane));
                channel.signal(lane, BEFORE);
                channel.await(lane, AFTER);
                me.copy(me.input().at(peer), scratch[rank].at(lane), lane(lane));
            }
        }
        return program.build();
    }

    /** All-to-all by packets, a lane for each peer. */
    static Plan allToAllPackets(int ranks, int instances) {
        CollectiveProgram program = CollectiveProgram.of("alltoall_pkt", Collective.ALL_TO_ALL, ranks, 1)
                .protocol(Protocol.PACKET)
                .inPlace(true)
                .doubleScratch(true)
                .instances(instances);
        Chunks[] scratch = scratch(program, ranks - 1);
        for (int rank = 0; rank < ranks; rank++) {
            ProgramRank me = program.rank(rank);
            int[] peers = peers(ranks, rank);
            for (int lane = 0; lane < peers.length; lane++) {
                int peer = peers[lane];
                program.memoryChannel(peer, rank)
                        .putPackets(
                                scratch[peer].at(rank < peer ? rank : rank - 1),
                                me.input().at(peer),
                                lane(lane));
                me.unpackPackets(me.input().at(peer), scratch[rank].at(lane), lane(lane));
            }
        }
        return program.build();
    }

    /** All-to-all of two ranks through a port, with a flush. */
    static Plan allToAllOverPorts() {
        CollectiveProgram program = CollectiveProgram.of("alltoall_port_flush", Collective.ALL_TO_ALL, 2, 1);
        for (int rank = 0; rank < 2; rank++) {
            int peer = 1 - rank;
            ProgramRank me = program.rank(rank);
            PortChannel channel = program.portChannel(peer, rank);
            channel.signal(0, NONE);
            channel.await(0, AFTER);
            channel.put(program.rank(peer).output().at(rank), me.input().at(peer), 0);
            channel.signal(0, NONE);
            channel.flush(0, NONE);
            channel.await(0, AFTER);
            me.copy(me.output().at(rank), me.input().at(rank), lane(1));
        }
        return program.build();
    }

    /** All-reduce by the switch: rank r folds chunk r over everybody and stores it to everybody. */
    static Plan allReduceBySwitch(int ranks, int instances) {
        CollectiveProgram program = CollectiveProgram.of("allreduce_nvls", Collective.ALL_REDUCE, ranks, 1)
                .inPlace(true)
                .instances(instances);
        SwitchChannel all =
                program.switchChannel(Space.INPUT, IntStream.range(0, ranks).toArray());
        for (int rank = 0; rank < ranks; rank++) {
            List<MemoryChannel> channels = channels(program, rank);
            Chunks own = program.rank(rank).input().at(rank);
            meetRelaxed(channels, 0);
            all.at(rank).reduce(rank, 1, own, ReduceOp.SUM, 0);
            all.at(rank).broadcast(own, rank, 1, 0);
            meetRelaxed(channels, 0);
        }
        return program.build();
    }

    /** All-reduce of two ranks in a loop of three lanes: into scratch, through the switch, out of scratch. */
    static Plan pipelinedAllReduce() {
        CollectiveProgram program = CollectiveProgram.of("allreduce_pipeline", Collective.ALL_REDUCE, 2, 1)
                .inPlace(true)
                .reuseResources(true);
        Chunks[] scratch = scratch(program, 2);
        SwitchChannel both = program.switchChannel(Space.SCRATCH, 0, 1);
        for (int rank = 0; rank < 2; rank++) {
            ProgramRank me = program.rank(rank);
            MemoryChannel filled = program.memoryChannel(1 - rank, rank);
            MemoryChannel folded = program.memoryChannel(1 - rank, rank);
            Semaphore ready = me.semaphore(0);
            Semaphore done = me.semaphore(0);
            Chunks own = scratch[rank].at(rank);
            int self = rank;
            program.loop(1 << 20, 1, () -> {
                me.copy(scratch[self].at(0), me.input().at(0), lane(0));
                me.copy(scratch[self].at(1), me.input().at(1), lane(0));
                filled.signal(0, BEFORE);
                filled.await(0, AFTER);
                ready.release(0, AFTER);
                ready.acquire(1, AFTER);
                both.at(self).reduce(self, 1, own, ReduceOp.SUM, 1);
                both.at(self).broadcast(own, self, 1, 1);
                folded.signal(1, BEFORE);
                done.release(1, BOTH);
                done.acquire(2, BOTH);
                folded.await(2, AFTER);
                me.copy(me.output().at(0), scratch[self].at(0), lane(2));
                me.copy(me.output().at(1), scratch[self].at(1), lane(2));
            });
        }
        return program.build();
    }
}
