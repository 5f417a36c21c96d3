package dev.tutti.cuda;

import dev.tutti.Communicator;
import dev.tutti.Config;
import dev.tutti.TuttiException;
import dev.tutti.cuda.nccl.Nccl;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/** Finds out where the ranks of a communicator are, chooses who serves them, and joins them. */
final class Opening {
    private static final String PROCESS = UUID.randomUUID().toString();

    /** Worlds that rank 0 has made and the other ranks of this process have yet to find. */
    private static final Map<Long, CudaWorld> FRESH = new ConcurrentHashMap<>();

    private static final AtomicLong KEYS = new AtomicLong();

    private Opening() {}

    /**
     * Where a rank is and what it asks for.
     *
     * @param host the machine, until it is started anew
     * @param process this process, of all there ever were
     * @param device its place on the machine's bus
     * @param hasNccl whether it can use NCCL
     */
    record Place(Backend asked, String host, String process, String device, boolean hasNccl) {
        static Place of(CudaDevice device, Backend asked) {
            boolean hasNccl = asked == Backend.AUTO && Nccl.unavailabilityCause() == null;
            return new Place(asked, bootId(), PROCESS, device.pciBusId(), hasNccl);
        }

        byte[] bytes() {
            return String.join("\n", asked.name(), host, process, device, String.valueOf(hasNccl))
                    .getBytes(StandardCharsets.UTF_8);
        }

        static Place of(byte[] bytes) {
            String[] parts = new String(bytes, StandardCharsets.UTF_8).split("\n", -1);
            return new Place(Backend.valueOf(parts[0]), parts[1], parts[2], parts[3], Boolean.parseBoolean(parts[4]));
        }

        private static String bootId() {
            try {
                return Files.readString(Path.of("/proc/sys/kernel/random/boot_id"))
                        .strip();
            } catch (IOException unknown) {
                return "";
            }
        }
    }

    static DeviceCommunicator open(Communicator ranks, CudaDevice device, Backend asked) {
        List<Place> places = ranks.allGatherBytes(Place.of(device, asked).bytes()).stream()
                .map(Place::of)
                .toList();
        Backend backend = choose(places);
        // Operations of its own: the user's communicator goes on beside it.
        Communicator own = ranks.dup();
        return backend == Backend.NCCL ? NcclJoining.of(own, device) : join(own, device, backend);
    }

    /** Joins the ranks of a communicator, which is closed with what this returns. */
    static CudaCommunicator join(Communicator ranks, CudaDevice device, Backend backend) {
        return switch (backend) {
            case FUSED -> joinFused(ranks, device);
            case IPC -> CudaWorld.open(device, ranks).communicator().joinedBy(ranks);
            case NCCL, AUTO -> throw new IllegalArgumentException(backend + " is not Tutti's own");
        };
    }

    /** The same on all ranks, as it looks only at what all ranks have. Refuses what cannot be. */
    static Backend choose(List<Place> places) {
        Backend asked = places.getFirst().asked();
        for (int rank = 1; rank < places.size(); rank++) {
            if (places.get(rank).asked() != asked) {
                throw new IllegalArgumentException("ranks disagree about the backend: rank 0 asks for " + asked
                        + ", rank " + rank + " for " + places.get(rank).asked());
            }
        }
        boolean oneHost = isSame(places, Place::host);
        boolean oneDevice = oneHost && isSame(places, Place::device);
        boolean oneProcess = oneHost && isSame(places, Place::process);
        return switch (asked) {
            case AUTO -> oneDevice ? oneProcess ? Backend.FUSED : Backend.IPC : betweenDevices(places);
            case FUSED -> {
                if (!oneDevice || !oneProcess) {
                    throw new IllegalArgumentException("FUSED needs all ranks in one process and on one device: "
                            + describe(places) + "; ask for AUTO");
                }
                yield asked;
            }
            case IPC, NCCL -> asked;
        };
    }

    /** NCCL knows the links between devices, but takes no two ranks on one of them. */
    private static Backend betweenDevices(List<Place> places) {
        long devices = places.stream()
                .map(each -> each.host() + " " + each.device())
                .distinct()
                .count();
        return devices == places.size() && places.stream().allMatch(Place::hasNccl) ? Backend.NCCL : Backend.IPC;
    }

    private static boolean isSame(List<Place> places, Function<Place, String> part) {
        return places.stream().map(part).distinct().count() == 1;
    }

    private static String describe(List<Place> places) {
        List<String> known = new ArrayList<>();
        List<String> lines = new ArrayList<>();
        for (int rank = 0; rank < places.size(); rank++) {
            String process = places.get(rank).process();
            if (!known.contains(process)) {
                known.add(process);
            }
            lines.add("rank " + rank + " is in process " + known.indexOf(process) + " on device "
                    + places.get(rank).device());
        }
        return String.join(", ", lines);
    }

    /** How long ranks wait for each other. */
    static Duration timeout(Communicator ranks) {
        return ranks.world().config().duration(Config.Key.TIMEOUT);
    }

    /** Rank 0 makes a world, the others find it. */
    static CudaCommunicator joinFused(Communicator ranks, CudaDevice device) {
        long[] key = new long[1];
        RuntimeException failure = null;
        CudaWorld world = null;
        if (ranks.rank() == 0) {
            try {
                world = CudaWorld.open(device, ranks.size(), timeout(ranks));
                key[0] = KEYS.incrementAndGet();
                FRESH.put(key[0], world);
            } catch (RuntimeException cannot) {
                failure = cannot;
            }
        }
        ranks.broadcast(key, 0);
        if (failure != null) {
            throw failure;
        }
        if (key[0] == 0) {
            throw new TuttiException(
                    TuttiException.Category.BROKEN, "rank 0 could not open a world on " + device + "; see there", null);
        }
        world = FRESH.get(key[0]);
        ranks.barrier();
        FRESH.remove(key[0]);
        return java.util.Objects.requireNonNull(world)
                .communicator(ranks.rank())
                .joinedBy(ranks);
    }
}
