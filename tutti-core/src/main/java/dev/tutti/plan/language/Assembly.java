package dev.tutti.plan.language;

import dev.tutti.Collective;
import dev.tutti.plan.ChannelType;
import dev.tutti.plan.Op;
import dev.tutti.plan.PlanHeader;
import dev.tutti.plan.RankPlan;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Makes a rank's part of the plan of what was written for it: the passes that are on, lane by lane, and the ends of its channels. */
record Assembly(String purpose, int ranks, boolean fuses, boolean syncs, boolean autoSyncs) {
    RankPlan part(ProgramRank rank) {
        int memoryChannels = rank.peers(ChannelType.MEMORY).size();
        List<RankPlan.Channel> channels = new ArrayList<>();
        for (ChannelType type : List.of(ChannelType.MEMORY, ChannelType.PORT)) {
            Map<Integer, Integer> ordinals = new HashMap<>();
            for (int peer : rank.peers(type)) {
                channels.add(new RankPlan.Channel(type, peer, ordinals.merge(peer, 1, Integer::sum) - 1));
            }
        }
        List<List<Op>> lanes = new ArrayList<>();
        for (List<Step> lane : rank.lanes()) {
            lanes.add(passes(lane).stream().map(step -> step.op(memoryChannels)).toList());
        }
        int blocks = Math.max(1, blocks());
        return new RankPlan(
                rank.id(),
                ranks,
                rank.input().size(),
                rank.output().size(),
                Math.max(1, rank.input().size() / blocks),
                rank.scratchChunks(),
                rank.scratchChunks(),
                channels,
                rank.groups(),
                rank.semaphores(),
                lanes);
    }

    /** Blocks of the input. */
    private int blocks() {
        for (Collective collective : Collective.values()) {
            if (PlanHeader.purposeOf(collective).equals(purpose)) {
                return collective.inputBlocks(ranks);
            }
        }
        return 1;
    }

    private List<Step> passes(List<Step> lane) {
        List<Step> steps = fuses ? Fusion.apply(lane) : lane;
        steps = syncs ? Meetings.explicit(steps, fuses) : steps;
        return autoSyncs ? Meetings.automatic(steps) : steps;
    }
}
