package dev.tutti.plan.simulate;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A machine to simulate plans on: what a rank's work costs, and the network between ranks. Read from a small text
 * (see {@code docs/simulator.md}), or one of the presets.
 *
 * {@snippet :
 * Topology topology = Topology.preset("dgx-h100");
 * double nanos = Simulation.of(plan, topology).bytes(1 << 20).run().nanos();
 * }
 */
public final class Topology {
    private static final List<String> PRESETS =
            List.of("host", "dgx-h100", "dgx-h100-128", "torus", "racks", "wide-area");

    private final String name;
    private final String about;
    private final int ranks;
    private final Costs costs;
    private final List<LevelNetwork.Level> levels;
    private final int dimensions;
    private final double hopNanos;
    private final double linkNanosPerByte;

    Topology(
            String name,
            String about,
            int ranks,
            Costs costs,
            List<LevelNetwork.Level> levels,
            int dimensions,
            double hopNanos,
            double linkNanosPerByte) {
        this.name = name;
        this.about = about;
        this.ranks = ranks;
        this.costs = costs;
        this.levels = List.copyOf(levels);
        this.dimensions = dimensions;
        this.hopNanos = hopNanos;
        this.linkNanosPerByte = linkNanosPerByte;
    }

    /**
     * Reads a topology.
     *
     * @param text lines as in {@code docs/simulator.md}
     * @return the topology
     * @throws IllegalArgumentException with the line that is wrong
     */
    public static Topology parse(String text) {
        return new TopologyReader(text).read();
    }

    /**
     * A topology that comes with Tutti.
     *
     * @param name one of {@link #presets}
     * @return the topology
     */
    public static Topology preset(String name) {
        if (!PRESETS.contains(name)) {
            throw new IllegalArgumentException(
                    "no topology is called '" + name + "'; there are " + String.join(", ", PRESETS));
        }
        try (InputStream in = Topology.class.getResourceAsStream(name + ".topology")) {
            if (in == null) {
                throw new IllegalStateException("the resource " + name + ".topology is missing");
            }
            return parse(new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /**
     * Names of the presets.
     *
     * @return the names
     */
    public static List<String> presets() {
        return PRESETS;
    }

    /**
     * This machine with other costs of a rank's work.
     *
     * @param other the costs
     * @param latencyNanos latency of the innermost level
     * @return the topology
     */
    public Topology with(Costs other, double latencyNanos) {
        List<LevelNetwork.Level> changed = new java.util.ArrayList<>(levels);
        if (!changed.isEmpty()) {
            LevelNetwork.Level inner = changed.getFirst();
            changed.set(
                    0,
                    new LevelNetwork.Level(
                            inner.name(), inner.size(), latencyNanos, inner.nanosPerByte(), inner.portPerRank()));
        }
        return new Topology(name, about, ranks, other, changed, dimensions, hopNanos, linkNanosPerByte);
    }

    /**
     * What people call it.
     *
     * @return the name
     */
    public String name() {
        return name;
    }

    /**
     * What it is, in a few words.
     *
     * @return a line
     */
    public String about() {
        return about;
    }

    /**
     * Ranks if nobody says how many.
     *
     * @return the number
     */
    public int ranks() {
        return ranks;
    }

    /**
     * What a rank's work costs.
     *
     * @return the costs
     */
    public Costs costs() {
        return costs;
    }

    /**
     * Latency between neighbours: of the innermost level, or of a hop.
     *
     * @return nanoseconds
     */
    public double latencyNanos() {
        return levels.isEmpty() ? hopNanos : levels.getFirst().latencyNanos();
    }

    Network network(int size) {
        return dimensions > 0
                ? new TorusNetwork(TorusNetwork.sides(size, dimensions), hopNanos, linkNanosPerByte)
                : new LevelNetwork(levels, size);
    }

    @Override
    public String toString() {
        return name;
    }
}
