package dev.tutti.plan;

/** The three memories of a rank that a plan speaks of. */
public enum Space {
    /** What the caller passed in; read only as far as built-in plans go, so that in place needs no plan of its own. */
    INPUT("i"),
    /** Where the caller wants the result. */
    OUTPUT("o"),
    /** Memory of the library that peers may write. */
    SCRATCH("s");

    private final String symbol;

    Space(String symbol) {
        this.symbol = symbol;
    }

    /**
     * The letter in plan files.
     *
     * @return {@code i}, {@code o} or {@code s}
     */
    public String symbol() {
        return symbol;
    }
}
