package dev.tutti.cuda;

import dev.tutti.cuda.driver.Devices;
import dev.tutti.cuda.driver.Driver;
import dev.tutti.cuda.nccl.Nccl;
import dev.tutti.cuda.nvml.Nvml;
import dev.tutti.cuda.nvrtc.Nvrtc;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whether there is CUDA here, and its devices. Nothing is loaded before the first question.
 *
 * {@snippet :
 * if (Cuda.isAvailable()) {
 *     CudaDevice device = Cuda.devices().getFirst();
 * } else {
 *     System.out.println(Cuda.unavailabilityCause());
 * }
 * }
 */
public final class Cuda {
    private Cuda() {}

    /** Found once; each device is one object for the life of the process. */
    private static final class Found {
        static final List<CudaDevice> DEVICES = find();

        private static List<CudaDevice> find() {
            List<CudaDevice> devices = new ArrayList<>();
            if (Driver.isAvailable()) {
                int count = Devices.count();
                for (int ordinal = 0; ordinal < count; ordinal++) {
                    devices.add(new CudaDevice(ordinal));
                }
            }
            return List.copyOf(devices);
        }
    }

    /**
     * Whether the driver works and there is a device.
     *
     * @return true if there is at least one device
     */
    public static boolean isAvailable() {
        return unavailabilityCause() == null;
    }

    /**
     * What is missing.
     *
     * @return which library or driver, and what to do; null if CUDA works
     */
    public static @Nullable String unavailabilityCause() {
        String cause = Driver.unavailabilityCause();
        if (cause != null) {
            return cause;
        }
        return Found.DEVICES.isEmpty()
                ? "the CUDA driver works but shows no device: look at CUDA_VISIBLE_DEVICES and nvidia-smi"
                : null;
    }

    /**
     * The devices that the driver shows.
     *
     * @return an empty list if there is no CUDA
     */
    public static List<CudaDevice> devices() {
        return Found.DEVICES;
    }

    /**
     * One of NVIDIA's libraries.
     *
     * @param name what it is called
     * @param found its version and place, or what is missing and what to do
     */
    public record Library(String name, String found) {}

    /**
     * Which libraries there are. Loads them.
     *
     * @return driver, NVRTC, NVML, NCCL
     */
    public static List<Library> libraries() {
        String driver = Driver.unavailabilityCause();
        String nvrtc = Nvrtc.unavailabilityCause();
        String nvml = Nvml.unavailabilityCause();
        String nccl = Nccl.unavailabilityCause();
        return List.of(
                new Library(
                        "driver",
                        driver != null
                                ? "no: " + driver
                                : "CUDA " + Driver.version() / 1000 + "." + Driver.version() % 1000 / 10 + " ("
                                        + Driver.place() + ")"),
                new Library("NVRTC", nvrtc != null ? "no: " + nvrtc : Nvrtc.version() + " (" + Nvrtc.place() + ")"),
                new Library("NVML", nvml != null ? "no: " + nvml : Nvml.driverVersion()),
                new Library("NCCL", nccl != null ? "no: " + nccl : Nccl.version() + " (" + Nccl.place() + ")"));
    }

    /**
     * One device.
     *
     * @param ordinal its number, from 0
     * @return the device
     */
    public static CudaDevice device(int ordinal) {
        String cause = unavailabilityCause();
        if (cause != null) {
            throw new UnsupportedOperationException(cause);
        }
        if (ordinal < 0 || ordinal >= Found.DEVICES.size()) {
            throw new IllegalArgumentException(
                    "device must be in 0.." + (Found.DEVICES.size() - 1) + ", got " + ordinal);
        }
        return Found.DEVICES.get(ordinal);
    }

    /**
     * Who can read whose memory directly.
     *
     * @return {@code [a][b]}: device a can read memory of device b; a device can read its own
     */
    public static boolean[][] peerMatrix() {
        int count = Found.DEVICES.size();
        boolean[][] can = new boolean[count][count];
        for (int a = 0; a < count; a++) {
            for (int b = 0; b < count; b++) {
                can[a][b] = a == b || Found.DEVICES.get(a).canAccess(Found.DEVICES.get(b));
            }
        }
        return can;
    }
}
