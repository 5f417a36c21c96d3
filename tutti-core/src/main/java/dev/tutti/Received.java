package dev.tutti;

/**
 * What came with a message.
 *
 * @param source the rank that sent it
 * @param tag the tag it was sent with
 * @param count how many elements it has; at most as many as the buffer
 */
public record Received(int source, int tag, long count) {}
