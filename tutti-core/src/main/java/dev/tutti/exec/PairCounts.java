package dev.tutti.exec;

import java.util.Arrays;

/** How many elements go from this rank to each peer and come from it, where only the two of them know. */
public final class PairCounts {
    private long[] sent = new long[0];
    private long[] received = new long[0];

    /** Makes room for all peers, with zero counts. */
    public void reset(int ranks) {
        if (sent.length != ranks) {
            sent = new long[ranks];
            received = new long[ranks];
        }
        Arrays.fill(sent, 0);
        Arrays.fill(received, 0);
    }

    public void setSent(int peer, long count) {
        sent[peer] = count;
    }

    public void setReceived(int peer, long count) {
        received[peer] = count;
    }

    public long sent(int peer) {
        return sent[peer];
    }

    public long received(int peer) {
        return received[peer];
    }
}
