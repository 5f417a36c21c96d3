package dev.tutti.matrix;

/** How a collective is called. */
enum Form {
    BLOCKING,
    ASYNC,
    PREPARED,
    /** Blocking calls of ranks that are virtual threads. */
    VIRTUAL
}
