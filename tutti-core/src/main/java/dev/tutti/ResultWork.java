package dev.tutti;

/**
 * An operation that was started and makes what it gives, as nobody could know before how long it would be.
 *
 * {@snippet :
 * ResultWork<List<byte[]>> names = comm.allGatherBytesAsync(hostName.getBytes(UTF_8));
 * loadModel();
 * names.await();
 * List<byte[]> all = names.result();
 * }
 *
 * @param <T> what it gives
 */
public sealed interface ResultWork<T> extends Work permits BytesWork {
    /**
     * What came of it; the same object each time.
     *
     * @return the result
     * @throws TuttiException if the operation is not over, or has failed
     */
    T result();
}
