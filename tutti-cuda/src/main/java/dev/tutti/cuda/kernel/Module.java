package dev.tutti.cuda.kernel;

import dev.tutti.cuda.driver.Modules;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A loaded cubin and its kernels, in the context that was current when it was loaded. */
public final class Module {
    private final long handle;
    private final Map<String, Long> functions = new ConcurrentHashMap<>();

    Module(byte[] cubin) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment image = arena.allocate(cubin.length, 64);
            MemorySegment.copy(cubin, 0, image, ValueLayout.JAVA_BYTE, 0, cubin.length);
            handle = Modules.load(image.address());
        }
    }

    /** A kernel by its name. */
    public long function(String name) {
        return functions.computeIfAbsent(name, key -> {
            try (Arena arena = Arena.ofConfined()) {
                return Modules.function(
                        handle,
                        arena.allocateFrom(key, StandardCharsets.US_ASCII).address());
            }
        });
    }

    void unload() {
        Modules.unload(handle);
    }
}
