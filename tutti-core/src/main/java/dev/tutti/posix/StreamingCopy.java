package dev.tutti.posix;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * Copies whose stores go past the caches. An ordinary store first fetches the line that it overwrites, from whichever cache holds
 * it; a streaming one does not, and leaves the line in memory. Java has no such store, the C library only for copies of many
 * megabytes, so its instructions stand here: SSE2, which every x86-64 has.
 *
 * <pre>
 *        endbr64
 *        mov %edi, %ecx;  neg %ecx;  and $63, %ecx       up to a line of the destination
 *        cmp %rdx, %rcx;  cmova %rdx, %rcx;  sub %rcx, %rdx;  rep movsb
 *        mov %edx, %eax;  and $63, %eax;  sub %rax, %rdx;  je end
 *   go:  movdqu  0(%rsi), %xmm0 ... 48(%rsi), %xmm3      whole lines
 *        movntdq %xmm0, 0(%rdi) ... %xmm3, 48(%rdi)
 *        add $64, %rsi;  add $64, %rdi;  sub $64, %rdx;  jne go
 *   end: mov %eax, %ecx;  rep movsb                      what is left
 *        sfence                                          a release store that follows would overtake these stores otherwise
 *        ret
 * </pre>
 *
 * <p>Lines are found here rather than in Java, as an array has no address there. A call is short and takes no transition, so the
 * collector, which would move arrays, waits for its end; nothing is pinned.
 *
 * <p>{@code -Dtutti.streaming=false} does without.
 */
public final class StreamingCopy {
    private static final byte[] CODE = HexFormat.of()
            .parseHex(
                    "f30f1efa" // endbr64
                            + "89f9" + "f7d9" + "83e13f" // mov, neg, and
                            + "4839d1" + "480f47ca" + "4829ca" + "f3a4" // cmp, cmova, sub, rep movsb
                            + "89d0" + "83e03f" + "4829c2" + "7434" // mov, and, sub, je
                            + "f30f6f06" + "f30f6f4e10" + "f30f6f5620" + "f30f6f5e30" // movdqu
                            + "660fe707" + "660fe74f10" + "660fe75720" + "660fe75f30" // movntdq
                            + "4883c640" + "4883c740" + "4883ea40" + "75cc" // add, add, sub, jne
                            + "89c1" + "f3a4" // mov, rep movsb
                            + "0faef8" // sfence
                            + "c3");

    private static final @Nullable Throwable UNAVAILABILITY_CAUSE = probe();

    private StreamingCopy() {}

    private static final class Handles {
        private static final MemorySegment INSTRUCTIONS = Instructions.load(CODE);
        private static final MethodHandle COPY = Libc.code(
                INSTRUCTIONS,
                FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG),
                false);
    }

    /** Apart, as linking takes a while and many never copy arrays of that length. */
    private static final class HeapHandles {
        private static final MethodHandle COPY = Libc.code(
                Handles.INSTRUCTIONS,
                FunctionDescriptor.ofVoid(ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG),
                true);
    }

    private static @Nullable Throwable probe() {
        if (!Boolean.parseBoolean(System.getProperty("tutti.streaming", "true"))) {
            return new UnsupportedOperationException("switched off by -Dtutti.streaming=false");
        }
        if (!System.getProperty("os.arch", "").equals("amd64")) {
            return new UnsupportedOperationException("needs x86-64");
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

    /** Copies between addresses. When this returns, every core sees the bytes. Keep copies short: the collector waits for their end. */
    public static void copy(long source, long destination, long bytes) {
        try {
            Handles.COPY.invokeExact(destination, source, bytes);
        } catch (Throwable thrown) {
            throw Libc.unexpected(thrown);
        }
    }

    /** The same where one or both are of arrays, and as long as each other. */
    public static void copy(MemorySegment source, MemorySegment destination) {
        try {
            HeapHandles.COPY.invokeExact(destination, source, destination.byteSize());
        } catch (Throwable thrown) {
            throw Libc.unexpected(thrown);
        }
    }
}
