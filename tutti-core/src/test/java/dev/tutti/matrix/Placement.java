package dev.tutti.matrix;

/** What kind of memory a buffer is. */
enum Placement {
    /** A whole array, passed as such where the API takes arrays. */
    ARRAY,
    /** Part of an array. */
    ARRAY_PART,
    /** Part of an array of the other class of that width, if there is one: floats in an {@code int[]}. */
    OTHER_ARRAY_PART,
    HEAP_SEGMENT,
    AUTOMATIC,
    CONFINED,
    SHARED,
    GLOBAL,
    /** From {@code comm.allocate}. */
    ALLOCATED
}
