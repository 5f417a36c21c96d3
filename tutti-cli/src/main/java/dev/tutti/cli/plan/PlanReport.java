package dev.tutti.cli.plan;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** The file that {@code -J} writes: {@code {"results":[{"file","status","seconds","reason"}]}}. */
public final class PlanReport {
    private PlanReport() {}

    /**
     * Writes the results.
     *
     * @param results one per plan file
     * @param to where
     */
    public static void write(List<PlanResult> results, Path to) {
        try (Writer writer = Files.newBufferedWriter(to);
                JsonGenerator json = new JsonFactory().createGenerator(ObjectWriteContext.empty(), writer)) {
            json.writeStartObject();
            json.writeArrayPropertyStart("results");
            for (PlanResult result : results) {
                json.writeStartObject();
                json.writeStringProperty("file", result.file());
                json.writeStringProperty("status", result.status().toString());
                json.writeNumberProperty("seconds", Math.round(result.seconds() * 1000) / 1000.0);
                json.writeStringProperty("reason", result.reason());
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeEndObject();
        } catch (IOException cannot) {
            throw new UncheckedIOException("cannot write " + to, cannot);
        }
    }
}
