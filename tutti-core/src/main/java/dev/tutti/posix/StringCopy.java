package dev.tutti.posix;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.HexFormat;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Copies by the processor's own instruction for them. It knows from the start how much it will write, so it need not fetch lines that it
 * overwrites whole, as ordinary stores do, from whichever cache holds them; and leaves them in a cache, as {@link StreamingCopy} does not. How much of that is so
 * differs from processor to processor.
 *
 * <pre>
 *        endbr64
 *        add %rcx, %rsi          an array and an offset in it, or an address and none
 *        mov %rdx, %rcx
 *        rep movsb
 *        ret
 * </pre>
 *
 * <p>As a call is short and takes no transition, the collector, which would move arrays, waits for its end. Stores that follow are seen after all of it, so it needs no fence. {@code -Dtutti.streaming=false} does without.
 */
public final class StringCopy {
    private static final byte[] CODE = HexFormat.of().parseHex("f30f1efa" + "4801ce" + "4889d1" + "f3a4" + "c3");

    private static final @Nullable Throwable UNAVAILABILITY_CAUSE = probe();

    private StringCopy() {}

    private static final class Handles {
        private static final MemorySegment INSTRUCTIONS = Instructions.load(CODE);
        private static final MethodHandle COPY = Libc.code(
                INSTRUCTIONS,
                FunctionDescriptor.ofVoid(
                        ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG),
                false);
    }

    /** Apart, as linking takes a while and many never copy arrays. */
    private static final class HeapHandles {
        private static final MethodHandle COPY = Libc.code(
                Handles.INSTRUCTIONS,
                FunctionDescriptor.ofVoid(
                        ValueLayout.JAVA_LONG, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG),
                true);
    }

    private static @Nullable Throwable probe() {
        if (!StreamingCopy.isAvailable()) {
            return StreamingCopy.unavailabilityCause();
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment from = arena.allocate(200).fill((byte) 0x5A);
            MemorySegment to = arena.allocate(200);
            copy(from.address(), to.address(), from.byteSize());
            return from.mismatch(to) < 0 ? null : new IllegalStateException("the copy differs");
        } catch (RuntimeException | LinkageError cause) {
            return cause;
        }
    }

    public static boolean isAvailable() {
        return UNAVAILABILITY_CAUSE == null;
    }

    /** Why there is none here, or null. */
    public static @Nullable Throwable unavailabilityCause() {
        return UNAVAILABILITY_CAUSE;
    }

    /** Copies between addresses. Keep copies short: the collector waits for their end. */
    public static void copy(long source, long destination, long bytes) {
        try {
            Handles.COPY.invokeExact(destination, source, bytes, 0L);
        } catch (Throwable thrown) {
            throw Libc.unexpected(thrown);
        }
    }

    /** The same from some offset in an array on. */
    public static void copy(MemorySegment array, long offset, long destination, long bytes) {
        Objects.checkFromIndexSize(offset, bytes, array.byteSize());
        try {
            HeapHandles.COPY.invokeExact(destination, array, bytes, offset);
        } catch (Throwable thrown) {
            throw Libc.unexpected(thrown);
        }
    }
}
