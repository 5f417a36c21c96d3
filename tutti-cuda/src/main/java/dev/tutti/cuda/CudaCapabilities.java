package dev.tutti.cuda;

import dev.tutti.cuda.driver.Attribute;
import dev.tutti.cuda.driver.Devices;
import dev.tutti.cuda.driver.Driver;
import dev.tutti.cuda.nccl.Nccl;
import dev.tutti.cuda.nvml.Nvml;
import dev.tutti.cuda.nvrtc.Nvrtc;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What one device and the libraries around it can do. Whatever is false here is not used.
 *
 * @param device the device's number
 * @param name what its maker calls it
 * @param pciBusId its place on the bus
 * @param computeCapability for example {@code 9.0}
 * @param driver the CUDA version that the driver supports, for example {@code 13.0}
 * @param driverRelease the driver's own version, or why it is unknown
 * @param multiprocessors how many there are
 * @param memoryBytes all of its memory
 * @param l2Bytes its cache
 * @param virtualMemory addresses and physical memory apart
 * @param posixHandles memory can be handed to other processes as file descriptors
 * @param fabricHandles memory can be handed to other hosts
 * @param ipc memory can be handed to other processes as CUDA IPC handles
 * @param memoryPools allocation in stream order
 * @param multicast one store reaches several devices
 * @param cooperativeLaunch blocks that all run at once, which plans need
 * @param float8 conversions of 8-bit floats in hardware
 * @param mps kernels of several processes run at the same time, so that they can signal each other
 * @param maxRanksPerDevice ranks of this process on the device for collectives in one launch
 * @param nvrtc version of the compiler, or what is missing
 * @param nccl version of NCCL, or what is missing
 * @param nvml version of the driver as NVML has it, or what is missing
 */
public record CudaCapabilities(
        int device,
        String name,
        String pciBusId,
        String computeCapability,
        String driver,
        String driverRelease,
        int multiprocessors,
        long memoryBytes,
        long l2Bytes,
        boolean virtualMemory,
        boolean posixHandles,
        boolean fabricHandles,
        boolean ipc,
        boolean memoryPools,
        boolean multicast,
        boolean cooperativeLaunch,
        boolean float8,
        boolean mps,
        int maxRanksPerDevice,
        String nvrtc,
        String nccl,
        String nvml) {
    static CudaCapabilities of(CudaDevice device) {
        int major = device.attribute(Attribute.COMPUTE_MAJOR);
        int minor = device.attribute(Attribute.COMPUTE_MINOR);
        String noNvrtc = Nvrtc.unavailabilityCause();
        String noNccl = Nccl.unavailabilityCause();
        String noNvml = Nvml.unavailabilityCause();
        String release = noNvml == null ? Nvml.driverVersion() : noNvml;
        return new CudaCapabilities(
                device.ordinal(),
                device.name(),
                device.pciBusId(),
                major + "." + minor,
                Driver.version() / 1000 + "." + Driver.version() % 1000 / 10,
                release,
                device.attribute(Attribute.MULTIPROCESSORS),
                Devices.totalBytes(device.handle()),
                device.attribute(Attribute.L2_BYTES),
                is(device, Attribute.VIRTUAL_MEMORY) && Driver.has("cuMemCreate"),
                is(device, Attribute.POSIX_HANDLES),
                is(device, Attribute.FABRIC_HANDLES),
                Driver.has("cuIpcGetMemHandle"),
                is(device, Attribute.MEMORY_POOLS),
                is(device, Attribute.MULTICAST),
                is(device, Attribute.COOPERATIVE_LAUNCH),
                10 * major + minor >= 89,
                is(device, Attribute.MPS),
                MAX_RANKS,
                noNvrtc == null ? Nvrtc.version() : noNvrtc,
                noNccl == null ? Nccl.version() : noNccl,
                release);
    }

    /** What {@link CudaWorld} accepts; beyond 96 ranks their table lies in device memory. */
    static final int MAX_RANKS = 65_535;

    private static boolean is(CudaDevice device, int attribute) {
        try {
            return device.attribute(attribute) != 0;
        } catch (CudaException unknownToThisDriver) {
            return false;
        }
    }

    /**
     * The parts by name, in order.
     *
     * @return strings, numbers and booleans
     */
    public Map<String, Object> asMap() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("device", device);
        map.put("name", name);
        map.put("pciBusId", pciBusId);
        map.put("computeCapability", computeCapability);
        map.put("driver", driver);
        map.put("driverRelease", driverRelease);
        map.put("multiprocessors", multiprocessors);
        map.put("memoryBytes", memoryBytes);
        map.put("l2Bytes", l2Bytes);
        map.put("virtualMemory", virtualMemory);
        map.put("posixHandles", posixHandles);
        map.put("fabricHandles", fabricHandles);
        map.put("ipc", ipc);
        map.put("memoryPools", memoryPools);
        map.put("multicast", multicast);
        map.put("cooperativeLaunch", cooperativeLaunch);
        map.put("float8", float8);
        map.put("mps", mps);
        map.put("maxRanksPerDevice", maxRanksPerDevice);
        map.put("nvrtc", nvrtc);
        map.put("nccl", nccl);
        map.put("nvml", nvml);
        return map;
    }

    /**
     * For people.
     *
     * @return a line for each part
     */
    public String text() {
        StringBuilder text = new StringBuilder();
        asMap().forEach((key, value) -> text.append(String.format("%-18s %s%n", key, shown(value))));
        return text.toString();
    }

    private static String shown(Object value) {
        return value instanceof Boolean truth ? (truth ? "yes" : "no") : value.toString();
    }

    /**
     * For programs.
     *
     * @return an object in JSON
     */
    public String json() {
        return Json.of(asMap());
    }
}
