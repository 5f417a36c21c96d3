package dev.tutti.cuda;

import dev.tutti.cuda.nvml.Nvml;
import dev.tutti.cuda.nvml.NvmlCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.ToIntFunction;

/**
 * How a device is, as NVML reads it now. What a device cannot say is {@value #UNKNOWN}.
 *
 * @param processorPercent share of the time in which kernels ran
 * @param memoryPercent share of the time in which memory was read or written
 * @param celsius its temperature
 * @param milliwatts its power
 * @param usedBytes memory in use, by any process
 * @param totalBytes all of its memory
 * @param processorMegahertz its clock
 * @param memoryMegahertz its memory's clock
 * @param correctedErrors memory errors since the driver was loaded that were corrected
 * @param uncorrectedErrors memory errors since then that could not be corrected
 * @param activeNvLinks NVLinks that are up
 * @param pcieGeneration of the link in use
 * @param pcieLanes of the link in use
 */
public record CudaHealth(
        long processorPercent,
        long memoryPercent,
        long celsius,
        long milliwatts,
        long usedBytes,
        long totalBytes,
        long processorMegahertz,
        long memoryMegahertz,
        long correctedErrors,
        long uncorrectedErrors,
        long activeNvLinks,
        long pcieGeneration,
        long pcieLanes) {
    /** In place of a number that the device does not have. */
    public static final long UNKNOWN = -1;

    static final int MOST_NVLINKS = 18;
    private static final int CORE_SENSOR = 0;
    private static final int PROCESSOR_CLOCK = 1;
    private static final int MEMORY_CLOCK = 2;
    private static final int CORRECTED = 0;
    private static final int UNCORRECTED = 1;
    private static final int SINCE_LOADED = 0;

    /**
     * Reads it.
     *
     * @param device which
     * @return the numbers; all unknown where NVML is missing
     */
    public static CudaHealth of(CudaDevice device) {
        if (Nvml.unavailabilityCause() != null) {
            return new CudaHealth(
                    UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN,
                    UNKNOWN, UNKNOWN);
        }
        return of(Nvml.device(device.pciBusId()));
    }

    static CudaHealth of(long handle) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(64, 8);
            long at = out.address();
            boolean rates = NvmlCalls.utilisation(handle, at) == 0;
            long processor = rates ? out.get(ValueLayout.JAVA_INT, 0) : UNKNOWN;
            long memory = rates ? out.get(ValueLayout.JAVA_INT, 4) : UNKNOWN;
            boolean sizes = NvmlCalls.memory(handle, at) == 0;
            long total = sizes ? out.get(ValueLayout.JAVA_LONG, 0) : UNKNOWN;
            long used = sizes ? out.get(ValueLayout.JAVA_LONG, 16) : UNKNOWN;
            return new CudaHealth(
                    processor,
                    memory,
                    number(out, to -> NvmlCalls.temperature(handle, CORE_SENSOR, to)),
                    number(out, to -> NvmlCalls.power(handle, to)),
                    used,
                    total,
                    number(out, to -> NvmlCalls.clock(handle, PROCESSOR_CLOCK, to)),
                    number(out, to -> NvmlCalls.clock(handle, MEMORY_CLOCK, to)),
                    number(out, to -> NvmlCalls.eccErrors(handle, CORRECTED, SINCE_LOADED, to)),
                    number(out, to -> NvmlCalls.eccErrors(handle, UNCORRECTED, SINCE_LOADED, to)),
                    nvLinks(handle, out),
                    number(out, to -> NvmlCalls.pcieGeneration(handle, to)),
                    number(out, to -> NvmlCalls.pcieWidth(handle, to)));
        }
    }

    private static long nvLinks(long handle, MemorySegment out) {
        long active = 0;
        for (int link = 0; link < MOST_NVLINKS; link++) {
            int number = link;
            active += number(out, to -> NvmlCalls.nvLinkState(handle, number, to)) == 1 ? 1 : 0;
        }
        return active;
    }

    /** What a call writes, or {@link #UNKNOWN} if it does not. */
    static long number(MemorySegment out, ToIntFunction<Long> call) {
        out.set(ValueLayout.JAVA_LONG, 0, 0);
        return call.applyAsInt(out.address()) == 0 ? out.get(ValueLayout.JAVA_LONG, 0) : UNKNOWN;
    }

    /**
     * The parts by name, in order.
     *
     * @return numbers
     */
    public Map<String, Long> asMap() {
        Map<String, Long> map = new LinkedHashMap<>();
        map.put("processorPercent", processorPercent);
        map.put("memoryPercent", memoryPercent);
        map.put("celsius", celsius);
        map.put("milliwatts", milliwatts);
        map.put("usedBytes", usedBytes);
        map.put("totalBytes", totalBytes);
        map.put("processorMegahertz", processorMegahertz);
        map.put("memoryMegahertz", memoryMegahertz);
        map.put("correctedErrors", correctedErrors);
        map.put("uncorrectedErrors", uncorrectedErrors);
        map.put("activeNvLinks", activeNvLinks);
        map.put("pcieGeneration", pcieGeneration);
        map.put("pcieLanes", pcieLanes);
        return map;
    }

    /**
     * For people.
     *
     * @return a line for each part that is known
     */
    public String text() {
        StringBuilder text = new StringBuilder();
        asMap().forEach((key, value) -> {
            if (value != UNKNOWN) {
                text.append(String.format("%-18s %s%n", key, value));
            }
        });
        return text.toString();
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
