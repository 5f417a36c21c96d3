package dev.tutti.plan;

import dev.tutti.Collective;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A collective algorithm as data: for each rank its lanes, for each lane its operations. A plan knows nothing of sizes,
 * types or pointers; those come with each call. The part of a rank is written when it is first asked for.
 *
 * {@snippet :
 * Plan plan = Plan.of("one-shot", Collective.ALL_REDUCE, 4, 0, Protocol.SIMPLE, MyPlans::oneShot);
 * plan.rank(0).lanes().getFirst().forEach(System.out::println);
 * }
 */
public final class Plan {
    private final String name;
    private final PlanHeader header;
    private final @Nullable Collective collective;
    private final int ranks;
    private final int root;
    private final Protocol protocol;
    private final int lanes;
    private final Reach reach;
    private final @Nullable Consumer<RankBuilder> author;
    private final AtomicReferenceArray<@Nullable RankPlan> parts;
    private volatile @Nullable Boolean posting;

    private Plan(
            String name,
            PlanHeader header,
            int ranks,
            int root,
            Protocol protocol,
            int lanes,
            Reach reach,
            @Nullable Consumer<RankBuilder> author) {
        this.name = Objects.requireNonNull(name, "name");
        this.header = Objects.requireNonNull(header, "header");
        this.collective = header.collective();
        this.ranks = ranks;
        this.root = root;
        this.protocol = Objects.requireNonNull(protocol, "protocol");
        this.lanes = lanes;
        this.reach = Objects.requireNonNull(reach, "reach");
        this.author = author;
        this.parts = new AtomicReferenceArray<>(ranks);
    }

    /**
     * A plan of one lane per rank, or of as many as its author writes.
     *
     * @param name what messages and pictures call it
     * @param collective what it computes
     * @param ranks how many ranks take part
     * @param root the root of a rooted collective, else 0
     * @param protocol how transfers announce themselves
     * @param author writes the part of one rank
     * @return the plan; nothing is written yet
     */
    public static Plan of(
            String name, Collective collective, int ranks, int root, Protocol protocol, Consumer<RankBuilder> author) {
        Objects.requireNonNull(author, "author");
        return new Plan(name, PlanHeader.of(collective), ranks, root, protocol, 1, Reach.OWN, author);
    }

    /**
     * A plan that is already written. If its operations touch peers' input or output, it is {@link Reach#PEERS}.
     *
     * @param name what messages and pictures call it
     * @param header what it says of itself
     * @param root the root of a rooted collective, else 0
     * @param protocol how transfers announce themselves
     * @param parts the part of every rank
     * @return the plan
     */
    public static Plan of(String name, PlanHeader header, int root, Protocol protocol, List<RankPlan> parts) {
        if (parts.isEmpty() || root < 0 || root >= parts.size()) {
            throw new IllegalArgumentException("a plan of " + parts.size() + " ranks with root " + root);
        }
        Reach reach = parts.stream().anyMatch(RankPlan::reachesPeersBuffers) ? Reach.PEERS : Reach.OWN;
        return written(name, header, root, protocol, reach, parts);
    }

    private static Plan written(
            String name, PlanHeader header, int root, Protocol protocol, Reach reach, List<RankPlan> parts) {
        Plan plan = new Plan(name, header, parts.size(), root, protocol, 1, reach, null);
        for (int rank = 0; rank < parts.size(); rank++) {
            plan.parts.set(rank, parts.get(rank));
        }
        return plan;
    }

    /**
     * This plan, saying that its operations touch peers' input or output. It runs only where peers can reach those.
     *
     * @param whose who sees to it that peers are inside the operation meanwhile
     * @return the marked plan
     */
    public Plan reaching(Reach whose) {
        return author != null
                ? new Plan(name, header, ranks, root, protocol, lanes, whose, author)
                : written(name, header, root, protocol, whose, all());
    }

    /**
     * This plan with every lane written {@code times} over, each copy on its own part of every chunk, with its own channels.
     *
     * @param times copies of each lane
     * @return the wider plan
     */
    public Plan replicated(int times) {
        if (times < 1) {
            throw new IllegalArgumentException("lanes must be at least 1, got " + times);
        }
        if (times == 1) {
            return this;
        }
        if (author != null) {
            return new Plan(name, header, ranks, root, protocol, times, reach, author);
        }
        return written(
                name,
                header,
                root,
                protocol,
                reach,
                all().stream().map(part -> Replication.apply(part, times)).toList());
    }

    /**
     * What messages and pictures call it.
     *
     * @return the name
     */
    public String name() {
        return name;
    }

    /**
     * What it says of itself.
     *
     * @return the fields at the top of a plan file
     */
    public PlanHeader header() {
        return header;
    }

    /**
     * What it computes.
     *
     * @return the collective
     * @throws IllegalStateException if no call of Tutti's computes it; {@link PlanHeader#collective} tells without throwing
     */
    public Collective collective() {
        if (collective == null) {
            throw new IllegalStateException(
                    "plan " + name + " is for '" + header.purpose() + "', not for a collective");
        }
        return collective;
    }

    /**
     * How many ranks take part.
     *
     * @return at least 1
     */
    public int ranks() {
        return ranks;
    }

    /**
     * The root of a rooted collective.
     *
     * @return the root, or 0
     */
    public int root() {
        return root;
    }

    /**
     * How transfers announce themselves.
     *
     * @return the protocol
     */
    public Protocol protocol() {
        return protocol;
    }

    /**
     * The part of one rank, not kept: for those who go through very many ranks once.
     *
     * @param rank whose part
     * @return its lanes, channels and scratch
     */
    public RankPlan part(int rank) {
        RankPlan known = parts.get(rank);
        return known == null ? write(rank) : known;
    }

    /**
     * Whose input and output its operations touch.
     *
     * @return {@link Reach#OWN} unless said otherwise
     */
    public Reach reach() {
        return reach;
    }

    /**
     * The part of one rank, written now if it has not been yet.
     *
     * @param rank whose part
     * @return its lanes, channels and scratch
     */
    public RankPlan rank(int rank) {
        RankPlan part = parts.get(rank);
        if (part == null) {
            part = write(rank);
            parts.set(rank, part);
        }
        return part;
    }

    /**
     * Whether all that peers see of a rank is what it shows at once: every rank writes its own scratch, signals once, and reads peers'
     * scratch after their signal. Then nobody can overwrite what a third rank sends.
     *
     * @return true if this holds for every rank
     */
    public boolean isPosting() {
        Boolean known = posting;
        if (known == null) {
            known = reach == Reach.OWN && protocol == Protocol.SIMPLE;
            for (int rank = 0; known && rank < ranks; rank++) {
                known = part(rank).isPosting();
            }
            posting = known;
        }
        return known;
    }

    private RankPlan write(int rank) {
        RankBuilder builder = new RankBuilder(rank, ranks, root);
        Objects.requireNonNull(author).accept(builder);
        return Replication.apply(builder.build(collective()), lanes);
    }

    /**
     * The parts of all ranks.
     *
     * @return one part per rank
     */
    public List<RankPlan> all() {
        List<RankPlan> all = new ArrayList<>(ranks);
        for (int rank = 0; rank < ranks; rank++) {
            all.add(rank(rank));
        }
        return all;
    }

    /** Plans are equal if they say the same of themselves and all ranks do the same. */
    @Override
    public boolean equals(@Nullable Object other) {
        return this == other
                || (other instanceof Plan that
                        && name.equals(that.name)
                        && header.equals(that.header)
                        && ranks == that.ranks
                        && root == that.root
                        && protocol == that.protocol
                        && reach == that.reach
                        && all().equals(that.all()));
    }

    @Override
    public int hashCode() {
        return Objects.hash(name, header, ranks, root, protocol);
    }

    @Override
    public String toString() {
        return name + "/" + protocol + " " + header.purpose() + " of " + ranks + " ranks";
    }
}
