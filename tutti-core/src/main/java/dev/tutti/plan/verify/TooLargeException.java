package dev.tutti.plan.verify;

/** A plan, or a choice of sizes, that a proof would need too much memory or time for. */
final class TooLargeException extends RuntimeException {
    private static final long serialVersionUID = 1;

    TooLargeException(String what) {
        super(what);
    }
}
