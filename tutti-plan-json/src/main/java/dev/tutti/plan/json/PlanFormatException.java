package dev.tutti.plan.json;

import org.jspecify.annotations.Nullable;

/** A plan file that cannot be understood. The text says where in the file and why. */
public final class PlanFormatException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    /** Where in the file. */
    private final String path;

    PlanFormatException(String path, String problem, @Nullable Throwable cause) {
        super((path.isEmpty() ? "plan" : path) + ": " + problem, cause);
        this.path = path;
    }

    /**
     * Where in the file.
     *
     * @return for example {@code gpus[0].threadblocks[2].ops[5].src_buff[0].index}; empty for the whole file
     */
    public String path() {
        return path;
    }
}
