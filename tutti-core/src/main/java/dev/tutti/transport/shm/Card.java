package dev.tutti.transport.shm;

import dev.tutti.TuttiException;
import dev.tutti.posix.Futex;
import dev.tutti.posix.Membarrier;
import dev.tutti.posix.ProcessFacts;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a rank publishes so that its peers can map its region. As text, so that ranks of different versions can at least read which
 * version the other is.
 *
 * @param rank in the world
 * @param version of the memory layout
 * @param uid whose process it is
 * @param pid which process
 * @param startTime of that process
 * @param host boot id and process namespace: ranks with different ones cannot map each other
 * @param nonce also stands in the region
 * @param bytes of addresses of the region
 * @param kind {@code memfd} or {@code file}
 * @param handle how to open it
 * @param sleepsWithBarrier whether this process makes everybody's fences when it goes to sleep
 */
record Card(
        int rank,
        int version,
        int uid,
        long pid,
        long startTime,
        String host,
        long nonce,
        long bytes,
        String kind,
        String handle,
        boolean sleepsWithBarrier) {
    static final String KEY = "shm/";

    static Card of(int rank, long nonce, String kind, Backing backing) {
        long pid = ProcessFacts.pid();
        return new Card(
                rank,
                RegionDescriptor.VERSION,
                ProcessFacts.uid(),
                pid,
                ProcessFacts.startTime(pid),
                thisHost(),
                nonce,
                backing.bytes(),
                kind,
                backing.handle(),
                Membarrier.isAvailable() && Futex.isAvailable());
    }

    static String thisHost() {
        return ProcessFacts.bootId() + " " + ProcessFacts.pidNamespace();
    }

    byte[] encode() {
        return ("version=" + version + "\nuid=" + uid + "\npid=" + pid + "\nstart=" + startTime + "\nhost=" + host
                        + "\nnonce=" + nonce + "\nbytes=" + bytes + "\nkind=" + kind + "\nhandle=" + handle
                        + "\nbarrier=" + sleepsWithBarrier + "\n")
                .getBytes(StandardCharsets.UTF_8);
    }

    /** Reads a card and refuses those whose region this process must not or cannot map. */
    static Card decode(int rank, byte[] encoded) {
        Map<String, String> fields = new LinkedHashMap<>();
        for (String line : new String(encoded, StandardCharsets.UTF_8).split("\n", -1)) {
            int equals = line.indexOf('=');
            if (equals > 0) {
                fields.put(line.substring(0, equals), line.substring(equals + 1));
            }
        }
        long version = number(rank, fields, "version");
        if (version != RegionDescriptor.VERSION) {
            throw refused(
                    rank,
                    "its memory has layout version " + version + ", this rank's has version " + RegionDescriptor.VERSION
                            + "; run the same version of Tutti on all ranks");
        }
        return new Card(
                rank,
                (int) version,
                (int) number(rank, fields, "uid"),
                number(rank, fields, "pid"),
                number(rank, fields, "start"),
                fields.getOrDefault("host", ""),
                number(rank, fields, "nonce"),
                number(rank, fields, "bytes"),
                fields.getOrDefault("kind", ""),
                fields.getOrDefault("handle", ""),
                Boolean.parseBoolean(fields.get("barrier")));
    }

    private static long number(int rank, Map<String, String> fields, String name) {
        String text = fields.get(name);
        try {
            return Long.parseLong(text == null ? "" : text);
        } catch (NumberFormatException malformed) {
            throw refused(rank, "its card has no valid '" + name + "': " + text);
        }
    }

    /** Refuses other users and other machines. */
    void requireReachable() {
        int own = ProcessFacts.uid();
        if (uid != own) {
            throw refused(rank, "it runs as user id " + uid + ", this rank as " + own + "; run all ranks as one user");
        }
        if (!host.equals(thisHost())) {
            throw refused(
                    rank,
                    "it runs on another machine or in another container (" + host + ", here " + thisHost()
                            + "); shared memory joins ranks that see the same /proc");
        }
    }

    static TuttiException refused(int rank, String reason) {
        return new TuttiException(
                TuttiException.Category.BROKEN,
                "cannot share memory with rank " + rank + ": " + reason,
                null,
                new TuttiException.Facts(null, null, List.of(rank)));
    }
}
