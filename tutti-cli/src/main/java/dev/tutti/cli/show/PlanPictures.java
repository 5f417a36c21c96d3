package dev.tutti.cli.show;

import dev.tutti.plan.Plan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** Writes pictures of plans; the name of the file says which kind. */
public final class PlanPictures {
    private PlanPictures() {}

    /**
     * Draws a plan.
     *
     * @param plan what to draw
     * @param file ends in .svg, .png or .html
     * @param mostRanks how many ranks to show before folding
     * @throws IOException if the file cannot be written
     * @throws IllegalArgumentException if the name says no kind of picture
     */
    public static void write(Plan plan, Path file, int mostRanks) throws IOException {
        String name = file.toString().toLowerCase(Locale.ROOT);
        if (!name.endsWith(".svg") && !name.endsWith(".png") && !name.endsWith(".html")) {
            throw new IllegalArgumentException("--out must end in .svg, .png or .html, got '" + file + "'");
        }
        PlanGraph graph = new PlanGraph(plan);
        Drawing drawing = PlanPicture.of(plan, graph, mostRanks);
        if (name.endsWith(".png")) {
            Png.write(drawing, file);
        } else {
            Files.writeString(file, name.endsWith(".svg") ? Svg.of(drawing) : Page.of(plan, graph, drawing));
        }
    }
}
