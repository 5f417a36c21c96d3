package dev.tutti.plan;

import dev.tutti.Collective;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a plan says of itself beside its operations: the fields at the top of a plan file.
 *
 * <p>Plans come in two styles. Those of {@link Style#BLOCKS} are Tutti's own: chunks are parts of the blocks of a collective, scratch
 * says which chunk it is like, and the executor keeps launches apart. Those of {@link Style#POSITIONS} come from plan files: every chunk
 * of a rank has one size, scratch included, and the plan's own signals (or two halves of scratch) keep launches apart.
 *
 * @param style how chunks get their sizes and who protects scratch between launches
 * @param purpose the collective as plan files name it: {@code allreduce}, {@code sendrecv}, {@code test}, …
 * @param inPlace whether input and output are meant to be the same memory
 * @param reuseResources whether one context serves all buffers
 * @param doubleScratch whether launches alternate between two halves of scratch
 * @param threadsPerBlock for GPUs: threads per lane
 * @param alignmentBytes chunks and slices begin at multiples of this
 * @param minBytes smallest message, inclusive, unsigned
 * @param maxBytes longest message, inclusive, unsigned
 */
public record PlanHeader(
        Style style,
        String purpose,
        boolean inPlace,
        boolean reuseResources,
        boolean doubleScratch,
        int threadsPerBlock,
        int alignmentBytes,
        long minBytes,
        long maxBytes) {

    /** Purpose of a plan that computes nothing in particular. */
    public static final String TEST = "test";
    /** Purpose of a plan in which each rank sends to the next group and receives from the previous one. */
    public static final String SENDRECV = "sendrecv";
    /** Purpose of a plan whose author did not say. */
    public static final String CUSTOM = "custom";
    /** Threads per lane where a plan does not say. */
    public static final int DEFAULT_THREADS = 1024;
    /** Alignment where a plan does not say. */
    public static final int DEFAULT_ALIGNMENT = 16;
    /** The longest message where a plan does not say; unsigned. */
    public static final long UNLIMITED = -1L;

    private static final String[] PURPOSES = purposes();

    /** How chunks get their sizes and who protects scratch between launches. */
    public enum Style {
        /** Tutti's own plans. */
        BLOCKS,
        /** Plans of files. */
        POSITIONS
    }

    /** Checks what can be checked without operations. */
    public PlanHeader {
        Objects.requireNonNull(style, "style");
        Objects.requireNonNull(purpose, "purpose");
        if (alignmentBytes < 1) {
            throw new IllegalArgumentException("alignment must be at least 1 byte, got " + alignmentBytes);
        }
    }

    /**
     * The header of one of Tutti's own plans.
     *
     * @param collective what it computes
     * @return the header
     */
    public static PlanHeader of(Collective collective) {
        return new PlanHeader(
                Style.BLOCKS,
                purposeOf(collective),
                false,
                false,
                true,
                DEFAULT_THREADS,
                DEFAULT_ALIGNMENT,
                0,
                UNLIMITED);
    }

    /**
     * The collective, if Tutti has a call for the purpose.
     *
     * @return the collective, or null for {@code sendrecv}, {@code test}, {@code custom}
     */
    public @Nullable Collective collective() {
        for (Collective collective : Collective.values()) {
            if (purposeOf(collective).equals(purpose)) {
                return collective;
            }
        }
        return null;
    }

    /**
     * Whether a message of this many bytes is within the limits.
     *
     * @param bytes the output's bytes for an all-gather, else the input's
     * @return true if the plan may run it
     */
    public boolean admits(long bytes) {
        return Long.compareUnsigned(bytes, minBytes) >= 0 && Long.compareUnsigned(bytes, maxBytes) <= 0;
    }

    /**
     * What plan files call a collective.
     *
     * @param collective the collective
     * @return for example {@code allreduce}
     */
    public static String purposeOf(Collective collective) {
        return PURPOSES[collective.ordinal()];
    }

    private static String[] purposes() {
        Collective[] all = Collective.values();
        String[] purposes = new String[all.length];
        for (Collective collective : all) {
            purposes[collective.ordinal()] = collective.name().replace("_", "").toLowerCase(Locale.ROOT);
        }
        return purposes;
    }
}
