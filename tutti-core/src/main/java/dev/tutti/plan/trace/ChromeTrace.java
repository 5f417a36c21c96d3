package dev.tutti.plan.trace;

import dev.tutti.plan.Code;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
import java.io.IOException;
import java.util.List;
import java.util.Locale;

/**
 * Writes a timeline in the JSON that Perfetto and chrome://tracing open: a process per rank, a track per lane, a slice per operation.
 * What a timeline lacks is in its metadata, as {@code droppedSpans}.
 */
public final class ChromeTrace {
    private ChromeTrace() {}

    /**
     * Writes a trace.
     *
     * @param plan what ran
     * @param timeline when
     * @param out where to
     * @throws IOException if that fails
     */
    public static void write(Plan plan, Timeline timeline, Appendable out) throws IOException {
        out.append("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"plan\":\"").append(escaped(plan.name()));
        out.append('"');
        if (!timeline.dropped().isEmpty()) {
            long dropped =
                    timeline.dropped().values().stream().mapToLong(each -> each).sum();
            out.append(",\"droppedSpans\":").append(Long.toString(dropped));
        }
        out.append("},\"traceEvents\":[\n");
        String separator = "";
        for (int rank = 0; rank < plan.ranks(); rank++) {
            name(out.append(separator), "process_name", rank, 0, "rank " + rank);
            separator = ",\n";
            for (int lane = 0; lane < plan.rank(rank).lanes().size(); lane++) {
                name(out.append(separator), "thread_name", rank, lane, "lane " + lane);
            }
        }
        for (int i = 0; i < timeline.size(); i++) {
            Timeline.Span span = timeline.span(i);
            List<Op> lane = plan.rank(span.rank()).lanes().get(span.lane());
            Op outer = lane.get(span.op());
            Op op = span.inner() < 0 || outer.loop() == null
                    ? outer
                    : outer.loop().body().get(span.inner());
            out.append(separator);
            out.append(String.format(
                    Locale.ROOT,
                    "{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,\"name\":\"%s\",\"cat\":\"%s\","
                            + "\"args\":{\"op\":\"%s\",\"index\":\"%s\",\"launch\":%d}}",
                    span.rank(),
                    span.lane(),
                    span.startNanos() / 1e3,
                    (span.endNanos() - span.startNanos()) / 1e3,
                    op.code().symbol(),
                    category(op.code()),
                    escaped(op.toString()),
                    span.op() + (span.inner() < 0 ? "" : "." + span.inner()),
                    span.launch()));
        }
        out.append("\n]}\n");
    }

    private static void name(Appendable out, String what, int rank, int lane, String value) throws IOException {
        out.append(String.format(
                Locale.ROOT,
                "{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"%s\",\"args\":{\"name\":\"%s\"}}",
                rank,
                lane,
                what,
                value));
    }

    private static String category(Code code) {
        return switch (code.shape()) {
            case CONTROL -> "sync";
            case PLAIN -> code.folds() ? "reduce" : "copy";
            case PACKET -> "packet";
        };
    }

    private static String escaped(String text) {
        StringBuilder escaped = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                escaped.append('\\').append(c);
            } else if (c < ' ') {
                escaped.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            } else {
                escaped.append(c);
            }
        }
        return escaped.toString();
    }
}
