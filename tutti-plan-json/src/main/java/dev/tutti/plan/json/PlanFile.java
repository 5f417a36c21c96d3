package dev.tutti.plan.json;

import dev.tutti.plan.Plan;
import java.io.ByteArrayInputStream;
import java.io.CharConversionException;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.exc.JacksonIOException;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.json.JsonFactory;

/**
 * Plan files: the JSON that MSCCL++ 0.9 reads and writes. {@code docs/plans.md} says what each field means here.
 *
 * {@snippet :
 * Plan plan = PlanFile.load(Path.of("allreduce_8r.json"));
 * }
 */
public final class PlanFile {
    /** No plan is longer. */
    static final long MAX_BYTES = 256L << 20;

    /** Deep enough for a plan (10) and for what other tools add. */
    private static final int MAX_DEPTH = 64;

    private static final JsonFactory JSON = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(MAX_DEPTH)
                    .maxNumberLength(64)
                    .maxNameLength(1000)
                    .maxStringLength(1 << 20)
                    .maxDocumentLength(MAX_BYTES)
                    .build())
            .build();

    private PlanFile() {}

    /**
     * Reads a plan file.
     *
     * @param file where it is
     * @return the plan
     * @throws IOException if the file cannot be read
     * @throws PlanFormatException if it is no plan; says where in it and why
     */
    public static Plan load(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return parse(in);
        } catch (UncheckedIOException unreadable) {
            throw unreadable.getCause();
        }
    }

    /**
     * Reads a plan from text.
     *
     * @param json the text
     * @return the plan
     * @throws PlanFormatException if it is no plan
     */
    public static Plan parse(String json) {
        return parse(json.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Reads a plan from bytes in UTF-8, 16 or 32.
     *
     * @param json the bytes
     * @return the plan
     * @throws PlanFormatException if it is no plan
     */
    public static Plan parse(byte[] json) {
        return parse(new ByteArrayInputStream(json));
    }

    private static Plan parse(InputStream in) {
        try (JsonParser parser = open(in)) {
            try {
                return new PlanLinker(new PlanReader(parser).read()).link();
            } catch (JacksonIOException unreadable) {
                throw explain(unreadable);
            } catch (StreamConstraintsException limit) {
                throw new PlanFormatException(
                        JsonValues.path(parser.streamReadContext()), limit.getOriginalMessage(), limit);
            } catch (JacksonException broken) {
                throw new PlanFormatException(
                        JsonValues.path(parser.streamReadContext()),
                        "not JSON: " + broken.getOriginalMessage() + " at line "
                                + broken.getLocation().getLineNr() + ", column "
                                + broken.getLocation().getColumnNr(),
                        broken);
            }
        }
    }

    private static JsonParser open(InputStream in) {
        try {
            return JSON.createParser(ObjectReadContext.empty(), in);
        } catch (JacksonIOException unreadable) {
            throw explain(unreadable);
        }
    }

    /** Bytes that are no text come as failures to read; those are the file's fault. */
    private static RuntimeException explain(JacksonIOException unreadable) {
        IOException cause = java.util.Objects.requireNonNull(unreadable.getCause());
        boolean noText = cause instanceof CharConversionException
                || String.valueOf(cause.getMessage()).contains("UCS-4");
        return noText
                ? new PlanFormatException("", "not text: " + cause.getMessage(), cause)
                : new UncheckedIOException(cause);
    }

    /**
     * Writes a plan as JSON: one of Tutti's own, a user's, or one that was loaded. Loading the result gives an equal plan.
     *
     * {@snippet :
     * Plan plan = Plan.of("mine", Collective.ALL_REDUCE, 4, 0, Protocol.SIMPLE, MyPlans::oneShot);
     * Files.writeString(Path.of("mine.json"), PlanFile.write(plan));
     * }
     *
     * @param plan what to write
     * @return the JSON
     * @throws IllegalArgumentException if a file cannot hold it: a function of the user's as a fixed operator
     */
    public static String write(Plan plan) {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = JSON.createGenerator(ObjectWriteContext.empty(), text)) {
            new PlanWriter(plan, json).write();
        }
        return text.append('\n').toString();
    }
}
