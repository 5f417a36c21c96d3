package dev.tutti.plan.simulate;

import java.util.List;

/**
 * Groups inside groups: ranks in nodes, nodes in racks, racks in a hall. Two ranks speak through the innermost level that
 * contains both. On that way they use the ports into every level above the innermost one up to there; inside the innermost level, its
 * ports alone.
 *
 * <pre>
 *   level node 8, level rack 4, level hall *        rank 3 to rank 40 (another rack):
 *   port of rank or node into rack ► port of rack into hall ► port of rack out ► port out of rack
 * </pre>
 */
final class LevelNetwork implements Network {
    private final List<Level> levels;
    private final int ranks;
    /** Ranks below one port of a level. */
    private final int[] perPort;
    /** Ranks of one group of a level. */
    private final int[] groupRanks;
    /** Where the links of a level begin; out and in alternate. */
    private final int[] firstLink;

    private final int links;

    /**
     * One level.
     *
     * @param name what people call it
     * @param size children of a group: ranks at the innermost level, else groups of the level below; 0 for as many as there are
     * @param latencyNanos from rank to rank through this level
     * @param nanosPerByte of each port, in each direction; 0 for ports that are never busy
     * @param portPerRank whether every rank has a port of its own into this level, or the ranks of a child group share one
     */
    record Level(String name, int size, double latencyNanos, double nanosPerByte, boolean portPerRank) {}

    LevelNetwork(List<Level> levels, int ranks) {
        this.levels = levels;
        this.ranks = ranks;
        this.perPort = new int[levels.size()];
        this.groupRanks = new int[levels.size()];
        this.firstLink = new int[levels.size()];
        int below = 1;
        int next = 0;
        for (int i = 0; i < levels.size(); i++) {
            Level level = levels.get(i);
            perPort[i] = level.portPerRank() ? 1 : below;
            groupRanks[i] = level.size() == 0 ? ranks : (int) Math.min(ranks, (long) below * level.size());
            firstLink[i] = next;
            next += 2 * ((ranks + perPort[i] - 1) / perPort[i]);
            below = groupRanks[i];
        }
        if (below < ranks) {
            throw new IllegalArgumentException("this topology has room for " + below + " ranks, not for " + ranks
                    + ": make its outermost level larger, or its size '*'");
        }
        this.links = next;
    }

    @Override
    public int links() {
        return links;
    }

    @Override
    public double nanosPerByte(int link) {
        return levels.get(levelOf(link)).nanosPerByte();
    }

    @Override
    public int route(int from, int to, int[] route) {
        int top = common(from, to);
        int count = 0;
        int first = Math.min(1, top);
        for (int level = first; level <= top; level++) {
            route[count++] = firstLink[level] + 2 * (from / perPort[level]);
        }
        for (int level = top; level >= first; level--) {
            route[count++] = firstLink[level] + 2 * (to / perPort[level]) + 1;
        }
        return count;
    }

    @Override
    public double latencyNanos(int from, int to) {
        return from == to ? 0 : levels.get(common(from, to)).latencyNanos();
    }

    @Override
    public int longestRoute() {
        return 2 * levels.size();
    }

    @Override
    public int period() {
        for (int i = levels.size() - 2; i >= 0; i--) {
            if (groupRanks[i] < ranks) {
                return ranks % groupRanks[i] == 0 ? groupRanks[i] : ranks;
            }
        }
        return 1;
    }

    @Override
    public int represent(int link, int period) {
        int level = levelOf(link);
        int ports = Math.max(1, period / perPort[level]);
        int within = link - firstLink[level];
        return firstLink[level] + within / 2 % ports * 2 + within % 2;
    }

    @Override
    public String describe(int link) {
        int level = levelOf(link);
        int port = (link - firstLink[level]) / 2;
        String owner = perPort[level] == 1 ? "rank " + port : "ranks " + port * perPort[level] + " and on";
        return levels.get(level).name() + " port " + (link % 2 == 0 ? "out of " : "into ") + owner;
    }

    private int levelOf(int link) {
        int level = levels.size() - 1;
        while (firstLink[level] > link) {
            level--;
        }
        return level;
    }

    private int common(int from, int to) {
        int level = 0;
        while (from / groupRanks[level] != to / groupRanks[level]) {
            level++;
        }
        return level;
    }
}
