package dev.tutti.cli.show;

import dev.tutti.plan.Chunk;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
import dev.tutti.plan.RankPlan;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;

/**
 * Lays a plan out: a row for each lane, rank under rank; operations as boxes from left to right, none before what it waits for; arrows for
 * data that goes to another rank or lane, dashed ones for signals. Of many ranks the first ones, the last and the root are
 * shown, and a row of dots for the others.
 */
final class PlanPicture {
    private static final double LEFT = 120;
    private static final double TOP = 74;
    private static final double COLUMN = 82;
    private static final double BOX_WIDTH = 62;
    private static final double BOX_HEIGHT = 30;
    private static final double ROW = 44;
    private static final double RANK_GAP = 14;
    private static final double DOTS = 26;
    private static final int MOST_LANES = 8;
    private static final int MOST_CHARS = 12;
    private static final String INK = "#2b3036";
    private static final String FAINT = "#8a929b";
    private static final String BAND = "#f5f7f9";
    private static final String SIGNAL_LINE = "#5aa96a";
    private static final String LOCAL_LINE = "#b39b5e";

    private final Plan plan;
    private final PlanGraph graph;
    private final Drawing drawing = new Drawing();
    /** Top of the first lane of a rank that is shown; of hidden ones the row of dots. */
    private final double[] rankTop;

    private final boolean[] shown;
    private double bottom;
    private int columns;

    private PlanPicture(Plan plan, PlanGraph graph, int mostRanks) {
        this.plan = plan;
        this.graph = graph;
        this.rankTop = new double[plan.ranks()];
        this.shown = new boolean[plan.ranks()];
        Set<Integer> visible = new TreeSet<>();
        if (plan.ranks() <= mostRanks) {
            Arrays.fill(shown, true);
        } else {
            for (int rank = 0; visible.size() < mostRanks - 1; rank++) {
                visible.add(rank);
            }
            visible.add(plan.ranks() - 1);
            visible.add(plan.root());
            visible.forEach(rank -> shown[rank] = true);
        }
    }

    /**
     * Draws a plan.
     *
     * @param mostRanks how many ranks to show before folding
     */
    static Drawing of(Plan plan, PlanGraph graph, int mostRanks) {
        PlanPicture picture = new PlanPicture(plan, graph, mostRanks);
        picture.columns = graph.nodes.stream()
                .mapToInt(node -> node.column + node.columns())
                .max()
                .orElse(1);
        picture.rows();
        picture.loops();
        picture.arrows();
        picture.boxes();
        picture.heading();
        return picture.drawing;
    }

    private double width() {
        return LEFT + columns * COLUMN + 24;
    }

    private void rows() {
        double y = TOP;
        for (int rank = 0; rank < plan.ranks(); rank++) {
            if (!shown[rank]) {
                int first = rank;
                while (rank < plan.ranks() && !shown[rank]) {
                    rankTop[rank++] = y;
                }
                rank--;
                String which = first == rank ? "rank " + first : "ranks " + first + " … " + rank;
                text(16, y + DOTS / 2 + 4, "⋮   " + which, 12, false, FAINT, Drawing.Anchor.START);
                y += DOTS + RANK_GAP;
                continue;
            }
            rankTop[rank] = y;
            int lanes = lanesShown(rank);
            int all = plan.rank(rank).lanes().size();
            double height = Math.max(1, lanes) * ROW + (lanes < all ? DOTS : 0);
            drawing.add(new Drawing.Box(8, y, width() - 16, height, 6, BAND, null, -1, ""));
            text(18, y + ROW / 2 + 5, "rank " + rank, 13, true, INK, Drawing.Anchor.START);
            for (int lane = 0; lane < lanes && all > 1; lane++) {
                text(LEFT - 8, y + lane * ROW + ROW / 2 + 4, "lane " + lane, 10, false, FAINT, Drawing.Anchor.END);
            }
            if (lanes < all) {
                String which = "⋮  lanes " + lanes + " … " + (all - 1);
                text(LEFT - 8, y + lanes * ROW + DOTS / 2 + 3, which, 10, false, FAINT, Drawing.Anchor.END);
            }
            y += height + RANK_GAP;
        }
        bottom = y;
    }

    private int lanesShown(int rank) {
        int lanes = plan.rank(rank).lanes().size();
        return lanes <= MOST_LANES ? lanes : MOST_LANES - 2;
    }

    private boolean isShown(PlanGraph.Node node) {
        return shown[node.rank] && node.lane < lanesShown(node.rank);
    }

    private double x(PlanGraph.Node node) {
        return LEFT + node.column * COLUMN;
    }

    private double middle(PlanGraph.Node node) {
        if (!shown[node.rank]) {
            return rankTop[node.rank] + DOTS / 2;
        }
        return node.lane < lanesShown(node.rank)
                ? rankTop[node.rank] + node.lane * ROW + ROW / 2
                : rankTop[node.rank] + lanesShown(node.rank) * ROW + DOTS / 2;
    }

    private double right(PlanGraph.Node node) {
        return x(node) + (node.columns() - 1) * COLUMN + BOX_WIDTH;
    }

    private void arrows() {
        Set<String> drawn = new HashSet<>();
        for (PlanGraph.Edge edge : graph.edges) {
            boolean sameLane = edge.from().rank == edge.to().rank && edge.from().lane == edge.to().lane;
            if (sameLane || (!isShown(edge.from()) && !isShown(edge.to()))) {
                continue;
            }
            PlanGraph.Node from = edge.from();
            PlanGraph.Node to = edge.to();
            boolean upright = edge.kind() != PlanGraph.Kind.SIGNAL;
            double end = x(to) + edge.toInner() * COLUMN;
            double start = x(from) + edge.fromInner() * COLUMN + BOX_WIDTH;
            double toX =
                    isShown(to) || !isShown(from) ? end + (upright ? BOX_WIDTH / 2 - 5 : 0) : Math.max(start + 18, end);
            double fromX = isShown(from) || !isShown(to)
                    ? start - (upright ? BOX_WIDTH / 2 - 5 : 0)
                    : Math.min(toX - 18, start);
            String key = fromX + ":" + middle(from) + ":" + toX + ":" + middle(to) + edge.kind();
            if (drawn.add(key)) {
                arrow(fromX, middle(from), toX, middle(to), edge.kind(), from, isShown(from), to.id, isShown(to));
            }
        }
        graph.nodes.stream().filter(this::isShown).forEach(node -> unread(node, drawn));
    }

    /** What is written into a peer's buffer and read by nobody: the result. */
    private void unread(PlanGraph.Node node, Set<String> drawn) {
        Set<Integer> readers = new HashSet<>();
        for (PlanGraph.Edge edge : graph.edges) {
            if (edge.from() == node && edge.kind() == PlanGraph.Kind.DATA) {
                readers.add(edge.to().rank);
            }
        }
        node.op
                .withInner()
                .flatMap(op -> op.destinations().stream())
                .map(Chunk::rank)
                .distinct()
                .filter(peer -> peer != node.rank && !readers.contains(peer))
                .forEach(peer -> {
                    double y = shown[peer] ? rankTop[peer] + ROW / 2 : rankTop[peer] + DOTS / 2;
                    double x = right(node) + (COLUMN - BOX_WIDTH) / 2;
                    if (drawn.add("unread" + x + ":" + middle(node) + ":" + y)) {
                        double from = right(node) - BOX_WIDTH / 2 + 5;
                        arrow(from, middle(node), x, y, PlanGraph.Kind.DATA, node, true, -1, false);
                    }
                });
    }

    private void arrow(
            double fromX,
            double fromY,
            double toX,
            double toY,
            PlanGraph.Kind kind,
            PlanGraph.Node from,
            boolean fromBox,
            int to,
            boolean toBox) {
        String color = switch (kind) {
            case SIGNAL -> SIGNAL_LINE;
            case LOCAL -> LOCAL_LINE;
            case DATA -> Look.of(inner(from.op)).fill;
        };
        boolean upright = kind != PlanGraph.Kind.SIGNAL;
        double half = upright ? (toY > fromY ? BOX_HEIGHT / 2 : -BOX_HEIGHT / 2) : 0;
        drawing.add(new Drawing.Arrow(
                fromX,
                fromY + (fromBox ? half : 0),
                toX,
                toY - (toBox ? half : 0),
                upright,
                color,
                kind == PlanGraph.Kind.DATA ? 1.5 : 1.1,
                kind == PlanGraph.Kind.SIGNAL,
                from.id,
                to));
    }

    private static dev.tutti.plan.Code inner(Op op) {
        return op.withInner()
                .filter(each -> !each.destinations().isEmpty())
                .map(Op::code)
                .findFirst()
                .orElse(op.code());
    }

    private void loops() {
        for (PlanGraph.Node node : graph.nodes) {
            if (isShown(node) && node.op.loop() != null) {
                double width = (node.columns() - 1) * COLUMN + BOX_WIDTH;
                double y = middle(node) - BOX_HEIGHT / 2;
                drawing.add(new Drawing.Box(
                        x(node) - 5,
                        y - 5,
                        width + 10,
                        BOX_HEIGHT + 10,
                        8,
                        Look.LOOP.fill,
                        Look.LOOP.ink,
                        node.id,
                        tip(node)));
            }
        }
    }

    private static String tip(PlanGraph.Node node) {
        return "rank " + node.rank + ", lane " + node.lane + ", op " + node.index + ": " + node.op;
    }

    private void boxes() {
        for (PlanGraph.Node node : graph.nodes) {
            if (!isShown(node)) {
                continue;
            }
            RankPlan part = plan.rank(node.rank);
            double y = middle(node) - BOX_HEIGHT / 2;
            String tip = tip(node);
            if (node.op.loop() == null) {
                box(part, node.op, x(node), y, BOX_WIDTH, BOX_HEIGHT, node.id, tip);
                continue;
            }
            int column = 0;
            for (Op op : node.op.loop().body()) {
                box(part, op, x(node) + column++ * COLUMN, y, BOX_WIDTH, BOX_HEIGHT, node.id, tip);
            }
        }
    }

    private void box(RankPlan part, Op op, double x, double y, double width, double height, int id, String tip) {
        Look look = Look.of(op.code());
        drawing.add(new Drawing.Box(x, y, width, height, 4, look.fill, look.ink, id, tip));
        String detail = Look.detail(part, op);
        double middle = x + width / 2;
        String title = op.code().symbol()
                + (op.slice() == null
                        ? ""
                        : " " + (op.slice().index() + 1) + "/" + op.slice().of());
        drawing.add(new Drawing.Text(
                middle,
                y + (detail.isEmpty() ? 19 : 13),
                title,
                title.length() > 8 ? 9 : 11,
                true,
                look.ink,
                Drawing.Anchor.MIDDLE,
                id));
        if (!detail.isEmpty()) {
            String fitted = detail.length() <= MOST_CHARS ? detail : detail.substring(0, MOST_CHARS - 1) + "…";
            double size = fitted.length() > 10 ? 7.6 : 9;
            drawing.add(new Drawing.Text(middle, y + 24.5, fitted, size, false, look.ink, Drawing.Anchor.MIDDLE, id));
        }
    }

    private void heading() {
        String title =
                plan.name() + ": " + plan.header().purpose() + ", " + plan.ranks() + " ranks, " + plan.protocol();
        text(16, 26, title, 17, true, INK, Drawing.Anchor.START);
        double x = 16;
        double y = 40;
        Set<Look> used = new TreeSet<>();
        graph.nodes.forEach(node -> node.op.withInner().forEach(op -> used.add(Look.of(op.code()))));
        for (Look look : used) {
            drawing.add(new Drawing.Box(x, y, 16, 12, 3, look.fill, look.ink, -1, ""));
            text(x + 21, y + 10, look.words, 11, false, INK, Drawing.Anchor.START);
            x += 34 + 6.2 * look.words.length();
        }
        drawing.add(new Drawing.Arrow(x, y + 6, x + 30, y + 6, false, Look.COPY.fill, 1.5, false, -1, -1));
        text(x + 36, y + 10, "data", 11, false, INK, Drawing.Anchor.START);
        drawing.add(new Drawing.Arrow(x + 74, y + 6, x + 104, y + 6, false, SIGNAL_LINE, 1, true, -1, -1));
        text(x + 110, y + 10, "signal", 11, false, INK, Drawing.Anchor.START);
        drawing.size(Math.max(Math.max(width(), x + 170), 32 + 10.5 * title.length()), bottom);
    }

    private void text(double x, double y, String text, double size, boolean bold, String color, Drawing.Anchor anchor) {
        drawing.add(new Drawing.Text(x, y, text, size, bold, color, anchor, -1));
    }
}
