package dev.tutti.cuda.kernel;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The kernel sources that come with Tutti. */
public final class Sources {
    /** What sources include. */
    public static final List<String> HEADERS = List.of("element.cuh", "fold.cuh", "meeting.cuh");

    /** Sources by themselves. */
    public static final List<String> FILES = List.of("fused.cu", "copy.cu", "plan.cu");

    private Sources() {}

    /** The text of a source or header. */
    public static String text(String name) {
        try (InputStream stream = Sources.class.getResourceAsStream(name)) {
            if (stream == null) {
                throw new IllegalStateException("the kernel source " + name + " is missing from the jar");
            }
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    static Map<String, String> headers() {
        Map<String, String> headers = new LinkedHashMap<>();
        HEADERS.forEach(name -> headers.put(name, text(name)));
        return headers;
    }
}
