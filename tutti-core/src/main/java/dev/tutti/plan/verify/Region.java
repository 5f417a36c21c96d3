package dev.tutti.plan.verify;

/**
 * A run of bytes that an operation reads or writes. Scratch that alternates with launches is two areas.
 *
 * @param even the area in even launches
 * @param odd the area in odd launches
 * @param offset first byte in the area; of packets, payload is counted
 * @param bytes length, 0 for an empty slice
 * @param packet whether data announces itself
 */
record Region(int even, int odd, long offset, long bytes, boolean packet) {
    static final Region[] NONE = {};

    int area(int launch) {
        return (launch & 1) == 0 ? even : odd;
    }

    boolean overlaps(Region other) {
        return even == other.even
                && packet == other.packet
                && offset < other.offset + other.bytes
                && other.offset < offset + bytes;
    }
}
