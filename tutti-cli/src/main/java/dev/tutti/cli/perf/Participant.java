package dev.tutti.cli.perf;

import dev.tutti.World;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A rank, and where it runs. */
record Participant(int rank, int group, long pid, String host, int thread, String threadKind, String threadName) {
    static List<Participant> of(World world, Split split, boolean virtual, String worldName) {
        String host = hostName();
        List<Participant> all = new ArrayList<>();
        int thread = 0;
        for (int rank = 0; rank < world.size(); rank++) {
            thread = rank > 0 && world.processId(rank) == world.processId(rank - 1) ? thread + 1 : 0;
            all.add(new Participant(
                    rank,
                    split.group(rank),
                    world.processId(rank),
                    host,
                    thread,
                    virtual ? "virtual" : "platform",
                    worldName + "-" + rank));
        }
        return all;
    }

    /** Ranks that share a device, which one thread serves. */
    static List<Participant> on(String device, int ranks) {
        List<Participant> all = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            all.add(new Participant(rank, 0, ProcessHandle.current().pid(), hostName(), 0, "cuda", device));
        }
        return all;
    }

    String line() {
        return String.format(
                Locale.ROOT,
                "#  Rank %2d Group %2d Pid %6d on %10s thread %2d [%s] %s",
                rank,
                group,
                pid,
                host,
                thread,
                threadKind,
                threadName);
    }

    private static String hostName() {
        String name;
        try {
            // Asking the resolver can take seconds where there is no name server.
            name = Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
        } catch (IOException notLinux) {
            name = InetAddress.getLoopbackAddress().getHostName();
            String given = System.getenv("HOSTNAME");
            name = given == null ? name : given;
        }
        int dot = name.indexOf('.');
        return dot > 0 ? name.substring(0, dot) : name;
    }
}
