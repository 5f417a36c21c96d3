package dev.tutti.spi;

/**
 * Where ranks that do not know each other yet leave small notes: names to bytes, written once, readable by every rank of the
 * same job and by nobody else. A transport publishes how it can be reached and reads how the others can.
 *
 * <p>Safe for use by several threads. All ranks of a process may share one.
 */
public interface Rendezvous extends AutoCloseable {
    /** The longest value that may be put. */
    int MAX_VALUE_BYTES = 1 << 20;

    /** The longest key, in characters. */
    int MAX_KEY_LENGTH = 200;

    /**
     * Publishes a value. Whoever awaits the key gets all of it or nothing.
     *
     * @param key letters, digits and {@code . _ - /}, at most {@link #MAX_KEY_LENGTH} long; each key is put once
     * @param value at most {@link #MAX_VALUE_BYTES} bytes
     * @throws IllegalArgumentException if key or value are not like that
     * @throws dev.tutti.TuttiException if the key has a different value already, or the rendezvous cannot be reached
     */
    void put(String key, byte[] value);

    /**
     * Waits until somebody has put a value. An interrupt ends the wait like a failure.
     *
     * @param key the key
     * @param deadlineNanos a time as of {@link System#nanoTime()}
     * @return the value
     * @throws dev.tutti.TuttiException if nobody has put it when the deadline passes (category TIMEOUT, the text names the key),
     *     or a rank of the job is known to have failed (category PEER_FAILED)
     */
    byte[] await(String key, long deadlineNanos);

    /**
     * Asks whether all ranks of the job are well, for those who wait for something that is not a note. Who failed by itself is named
     * rather than who gave up because of it.
     *
     * @throws dev.tutti.PeerFailedException if a rank of the job is known to have failed
     */
    void requireEverybody();

    /** Leaves; what is kept for the job is removed when the last rank has left. */
    @Override
    void close();
}
