package dev.tutti.cli.common;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which sizes to run. */
public final class SizeOptions {
    /** Without -b and -e: enough to see the shape of the curve, and done in a moment. */
    public static final Sizes FIRST_LOOK = new Sizes(8, 4 << 20, 1 << 20, 4);

    private static final String DEFAULT_BYTES = "32M";

    @Option(
            names = {"-b", "--minbytes"},
            paramLabel = "SIZE",
            description = "smallest size (32M)")
    @Nullable
    String minBytes;

    @Option(
            names = {"-e", "--maxbytes"},
            paramLabel = "SIZE",
            description = "largest size (32M)")
    @Nullable
    String maxBytes;

    @Option(
            names = {"-i", "--stepbytes"},
            paramLabel = "SIZE",
            description = "step from size to size (1M)")
    String stepBytes = "1M";

    @Option(
            names = {"-f", "--stepfactor"},
            paramLabel = "N",
            description = "factor from size to size (1: use the step)")
    @Nullable
    Long stepFactor;

    /** Whether any size was named. */
    public boolean isGiven() {
        return minBytes != null || maxBytes != null;
    }

    /** The same options as words of a command line. */
    public List<String> words() {
        List<String> words = new ArrayList<>();
        add(words, "-b", minBytes);
        add(words, "-e", maxBytes);
        add(words, "-i", stepBytes);
        add(words, "-f", stepFactor);
        return words;
    }

    private static void add(List<String> words, String option, @Nullable Object value) {
        if (value != null) {
            words.add(option);
            words.add(value.toString());
        }
    }

    /** The sizes that the options mean. */
    public Sizes read() {
        long step = size("-i", stepBytes);
        long factor = stepFactor == null ? 1 : stepFactor;
        if (!isGiven()) {
            return stepFactor == null
                    ? FIRST_LOOK
                    : checked(new Sizes(FIRST_LOOK.min(), FIRST_LOOK.max(), step, factor));
        }
        long min = size("-b", minBytes == null ? DEFAULT_BYTES : minBytes);
        long max = size("-e", maxBytes == null ? DEFAULT_BYTES : maxBytes);
        return checked(new Sizes(min, max, step, factor));
    }

    private static Sizes checked(Sizes sizes) {
        if (sizes.min() > sizes.max()) {
            throw CommandException.usage("-b must not be more than -e: " + sizes.min() + " > " + sizes.max());
        }
        if (sizes.factor() < 1) {
            throw CommandException.usage("-f must be at least 1, got " + sizes.factor());
        }
        if (sizes.factor() == 1 && sizes.step() < 1 && sizes.min() < sizes.max()) {
            throw CommandException.usage("-i must be at least 1, got " + sizes.step());
        }
        if (sizes.factor() > 1 && sizes.min() == 0 && sizes.max() > 0) {
            throw CommandException.usage(
                    "-b 0 does not grow by a factor (-f); begin with 1 or more, or give a step (-i)");
        }
        return sizes;
    }

    private static long size(String option, String text) {
        try {
            return Sizes.parse(text);
        } catch (IllegalArgumentException malformed) {
            throw CommandException.usage(option + ": " + malformed.getMessage());
        }
    }
}
