package dev.tutti.transport.shm;

import java.util.Map;
import java.util.TreeMap;

/** Which ranges of a region are free: first fit, neighbours merged. Known to the owner alone. */
final class Extents {
    private final TreeMap<Long, Long> free = new TreeMap<>();

    Extents(long from, long to) {
        free.put(from, to - from);
    }

    /** Takes a range; -1 if none is long enough. */
    long take(long bytes) {
        for (var entries = free.entrySet().iterator(); entries.hasNext(); ) {
            Map.Entry<Long, Long> each = entries.next();
            long offset = each.getKey();
            long length = each.getValue();
            if (length >= bytes) {
                entries.remove();
                if (length > bytes) {
                    free.put(offset + bytes, length - bytes);
                }
                return offset;
            }
        }
        return -1;
    }

    void give(long offset, long bytes) {
        long from = offset;
        long length = bytes;
        Map.Entry<Long, Long> before = free.lowerEntry(offset);
        if (before != null && before.getKey() + before.getValue() == offset) {
            from = before.getKey();
            length += before.getValue();
        }
        Map.Entry<Long, Long> after = free.higherEntry(offset);
        if (after != null && offset + bytes == after.getKey()) {
            length += after.getValue();
            free.remove(after.getKey());
        }
        free.put(from, length);
    }

    /** The longest range. */
    long longest() {
        return free.values().stream().mapToLong(Long::longValue).max().orElse(0);
    }
}
