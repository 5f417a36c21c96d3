package dev.tutti.cli.show;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.tutti.Collective;
import dev.tutti.algorithm.Algorithm;
import dev.tutti.algorithm.Algorithms;
import dev.tutti.plan.Plan;
import dev.tutti.plan.Protocol;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

@Timeout(60)
class PlanPicturesTest {
    @TempDir
    private Path folder;

    private static Plan plan(String algorithm, int ranks) {
        return Algorithms.find(Collective.ALL_REDUCE, algorithm, Protocol.SIMPLE)
                .orElseThrow()
                .plan(ranks, 0, 1);
    }

    private static Document parsed(String svg) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(svg)));
    }

    @Test
    void shouldDrawEveryOperationOnceWhenRanksAreFew() throws Exception {
        Plan plan = plan("ring", 4);
        Path file = folder.resolve("ring.svg");
        PlanPictures.write(plan, file, 8);

        String svg = Files.readString(file);
        long ops =
                plan.all().stream().mapToLong(part -> part.operations().count()).sum();
        assertThat(svg.split("class=\"op\"", -1)).hasSize((int) ops + 1);
        assertThat(parsed(svg).getDocumentElement().getTagName()).isEqualTo("svg");
    }

    @Test
    void shouldFoldRanksWhenThereAreMany() throws Exception {
        Path file = folder.resolve("tree.svg");
        PlanPictures.write(plan("tree", 40), file, 8);

        assertThat(Files.readString(file))
                .contains(">rank 0<", ">rank 6<", ">rank 39<", "ranks 7 … 38")
                .doesNotContain(">rank 7<");
    }

    @Test
    void shouldLetNothingBeDrawnBeforeWhatItWaitsForWhenLaidOut() {
        for (Algorithm algorithm : Algorithms.of(Collective.ALL_REDUCE)) {
            PlanGraph graph = new PlanGraph(algorithm.plan(6, 0, 2));
            assertThat(graph.edges)
                    .as(algorithm.toString())
                    .isNotEmpty()
                    .allMatch(edge -> edge.from().column < edge.to().column);
        }
    }

    @Test
    void shouldKnowWhereDataGoesWhenFollowed() {
        PlanGraph graph = new PlanGraph(plan("one-shot", 3));

        // Three puts, each read by the folds of the two others.
        assertThat(graph.edges.stream().filter(edge -> edge.kind() == PlanGraph.Kind.DATA))
                .hasSize(6);
        assertThat(graph.edges.stream().filter(edge -> edge.kind() == PlanGraph.Kind.SIGNAL))
                .hasSize(6);
    }

    @Test
    void shouldWritePixelsWhenPng() throws IOException {
        Path file = folder.resolve("p.png");
        PlanPictures.write(plan("two-shot", 8), file, 8);

        assertThat(ImageIO.read(file.toFile()).getWidth()).isGreaterThan(1000);
    }

    @Test
    void shouldHoldPictureAndFlowsWhenHtml() throws IOException {
        Path file = folder.resolve("p.html");
        PlanPictures.write(plan("two-shot", 2), file, 8);

        assertThat(Files.readString(file)).contains("<svg", "const flows = [[", "rank 1 · lane 0 · op 0");
    }

    @Test
    void shouldSayWhatIsPossibleWhenTheNameEndsOtherwise() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> PlanPictures.write(plan("ring", 2), folder.resolve("p.jpg"), 8))
                .withMessageContaining(".svg, .png or .html");
    }
}
