package dev.tutti.cuda;

import dev.tutti.cuda.nvml.Nvml;
import dev.tutti.cuda.nvml.NvmlCalls;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * How the devices of this machine are joined to it and to each other: what the host's topology is missing.
 *
 * @param devices by number
 * @param ways between every two devices
 */
public record CudaTopology(List<Node> devices, List<Way> ways) {
    private static final int PCI_INFO_BYTES = 68;
    private static final int PCI_INFO_BUS_ID = 36;

    /**
     * One device.
     *
     * @param device its number
     * @param name what its maker calls it
     * @param pciBusId its place on the bus
     * @param numaNode the node of memory and cores that is nearest; -1 if the machine does not say
     * @param pcieGeneration of the link in use
     * @param pcieLanes of the link in use
     * @param mostPcieGeneration that device and slot can do
     * @param mostPcieLanes that device and slot can do
     * @param nvLinks those that the device has
     */
    public record Node(
            int device,
            String name,
            String pciBusId,
            long numaNode,
            long pcieGeneration,
            long pcieLanes,
            long mostPcieGeneration,
            long mostPcieLanes,
            List<NvLink> nvLinks) {}

    /**
     * One NVLink.
     *
     * @param number among those of the device
     * @param isActive whether it is up
     * @param version of the link
     * @param remoteBusId what is at the other end, a device or a switch; empty if it does not say
     */
    public record NvLink(int number, boolean isActive, long version, String remoteBusId) {}

    /**
     * How two devices reach each other.
     *
     * @param from the lower number
     * @param to the higher number
     * @param through the nearest thing on the bus that both are under
     * @param nvLinks active links from one to the other
     * @param peerAccess whether kernels of one can read memory of the other
     */
    public record Way(int from, int to, Ancestor through, int nvLinks, boolean peerAccess) {}

    /** What two devices have in common on the bus, nearest first. */
    public enum Ancestor {
        /** Two on one board. */
        BOARD(0),
        /** One switch. */
        SWITCH(10),
        /** Several switches. */
        SWITCHES(20),
        /** A host bridge. */
        HOST_BRIDGE(30),
        /** A NUMA node. */
        NODE(40),
        /** The machine alone. */
        SYSTEM(50),
        /** NVML does not say. */
        UNKNOWN(-1);

        private final int level;

        Ancestor(int level) {
            this.level = level;
        }

        static Ancestor of(long level) {
            for (Ancestor each : values()) {
                if (each.level == level) {
                    return each;
                }
            }
            return UNKNOWN;
        }

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', ' ');
        }
    }

    /**
     * Reads it.
     *
     * @return what NVML and the machine say; what they do not is unknown
     */
    public static CudaTopology read() {
        List<Node> nodes = new ArrayList<>();
        List<Way> ways = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(PCI_INFO_BYTES, 8);
            List<CudaDevice> devices = Cuda.devices();
            boolean hasNvml = Nvml.unavailabilityCause() == null;
            for (CudaDevice device : devices) {
                nodes.add(node(device, hasNvml, out));
            }
            for (int a = 0; a < devices.size(); a++) {
                for (int b = a + 1; b < devices.size(); b++) {
                    ways.add(way(devices.get(a), devices.get(b), nodes.get(a), hasNvml, out));
                }
            }
        }
        return new CudaTopology(List.copyOf(nodes), List.copyOf(ways));
    }

    private static Node node(CudaDevice device, boolean hasNvml, MemorySegment out) {
        String busId = device.pciBusId();
        long handle = hasNvml ? Nvml.device(busId) : 0;
        return new Node(
                device.ordinal(),
                device.name(),
                busId,
                numaNode(busId),
                hasNvml ? CudaHealth.number(out, to -> NvmlCalls.pcieGeneration(handle, to)) : CudaHealth.UNKNOWN,
                hasNvml ? CudaHealth.number(out, to -> NvmlCalls.pcieWidth(handle, to)) : CudaHealth.UNKNOWN,
                hasNvml ? CudaHealth.number(out, to -> NvmlCalls.mostPcieGeneration(handle, to)) : CudaHealth.UNKNOWN,
                hasNvml ? CudaHealth.number(out, to -> NvmlCalls.mostPcieWidth(handle, to)) : CudaHealth.UNKNOWN,
                hasNvml ? nvLinks(handle, out) : List.of());
    }

    private static List<NvLink> nvLinks(long handle, MemorySegment out) {
        List<NvLink> links = new ArrayList<>();
        for (int link = 0; link < CudaHealth.MOST_NVLINKS; link++) {
            int number = link;
            long state = CudaHealth.number(out, to -> NvmlCalls.nvLinkState(handle, number, to));
            if (state == CudaHealth.UNKNOWN) {
                continue;
            }
            long version = CudaHealth.number(out, to -> NvmlCalls.nvLinkVersion(handle, number, to));
            out.fill((byte) 0);
            boolean known = NvmlCalls.nvLinkRemote(handle, number, out.address()) == 0;
            links.add(new NvLink(number, state == 1, version, known ? out.getString(PCI_INFO_BUS_ID) : ""));
        }
        return List.copyOf(links);
    }

    private static Way way(CudaDevice a, CudaDevice b, Node from, boolean hasNvml, MemorySegment out) {
        long level = hasNvml
                ? CudaHealth.number(
                        out, to -> NvmlCalls.commonAncestor(Nvml.device(a.pciBusId()), Nvml.device(b.pciBusId()), to))
                : CudaHealth.UNKNOWN;
        long joined = from.nvLinks().stream()
                .filter(link -> link.isActive() && sameBusId(link.remoteBusId(), b.pciBusId()))
                .count();
        return new Way(a.ordinal(), b.ordinal(), Ancestor.of(level), (int) joined, a.canAccess(b));
    }

    /** NVML writes the domain with eight digits, the driver with four. */
    private static boolean sameBusId(String one, String other) {
        return !one.isEmpty()
                && one.substring(one.indexOf(':')).equalsIgnoreCase(other.substring(other.indexOf(':')))
                && Long.parseLong(one.substring(0, one.indexOf(':')), 16)
                        == Long.parseLong(other.substring(0, other.indexOf(':')), 16);
    }

    private static long numaNode(String busId) {
        try {
            Path file = Path.of("/sys/bus/pci/devices", busId.toLowerCase(Locale.ROOT), "numa_node");
            return Long.parseLong(Files.readString(file).strip());
        } catch (IOException | NumberFormatException unknown) {
            return CudaHealth.UNKNOWN;
        }
    }

    /**
     * For people.
     *
     * @return a line for each device and for each two devices
     */
    public String text() {
        StringBuilder text = new StringBuilder();
        for (Node each : devices) {
            long up = each.nvLinks().stream().filter(NvLink::isActive).count();
            text.append(String.format(
                    "device %d %s at %s, NUMA node %s, PCIe %s x%s of %s x%s, %s%n",
                    each.device(),
                    each.name(),
                    each.pciBusId(),
                    shown(each.numaNode()),
                    shown(each.pcieGeneration()),
                    shown(each.pcieLanes()),
                    shown(each.mostPcieGeneration()),
                    shown(each.mostPcieLanes()),
                    each.nvLinks().isEmpty()
                            ? "no NVLinks"
                            : up + " of " + each.nvLinks().size() + " NVLinks up"));
        }
        for (Way each : ways) {
            text.append(String.format(
                    "devices %d and %d: common %s, %d NVLinks, peer access %s%n",
                    each.from(), each.to(), each.through(), each.nvLinks(), each.peerAccess() ? "yes" : "no"));
        }
        return text.toString();
    }

    private static String shown(long number) {
        return number == CudaHealth.UNKNOWN ? "?" : Long.toString(number);
    }

    /**
     * For programs.
     *
     * @return an object in JSON
     */
    public String json() {
        List<Map<String, Object>> nodes = new ArrayList<>();
        for (Node each : devices) {
            Map<String, Object> map = new LinkedHashMap<>();
            map.put("device", each.device());
            map.put("name", each.name());
            map.put("pciBusId", each.pciBusId());
            map.put("numaNode", each.numaNode());
            map.put("pcieGeneration", each.pcieGeneration());
            map.put("pcieLanes", each.pcieLanes());
            map.put("mostPcieGeneration", each.mostPcieGeneration());
            map.put("mostPcieLanes", each.mostPcieLanes());
            List<Map<String, Object>> links = new ArrayList<>();
            for (NvLink link : each.nvLinks()) {
                Map<String, Object> part = new LinkedHashMap<>();
                part.put("number", link.number());
                part.put("active", link.isActive());
                part.put("version", link.version());
                part.put("remoteBusId", link.remoteBusId());
                links.add(part);
            }
            map.put("nvLinks", links);
            nodes.add(map);
        }
        List<Map<String, Object>> between = new ArrayList<>();
        for (Way each : ways) {
            Map<String, Object> map = new LinkedHashMap<>();
            map.put("from", each.from());
            map.put("to", each.to());
            map.put("through", each.through().toString());
            map.put("nvLinks", each.nvLinks());
            map.put("peerAccess", each.peerAccess());
            between.add(map);
        }
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("devices", nodes);
        all.put("ways", between);
        return Json.of(all);
    }
}
