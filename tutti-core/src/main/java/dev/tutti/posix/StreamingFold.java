package dev.tutti.posix;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * Folds whose results go past the caches, as {@link StreamingCopy} does with copies: line by line, from any number of sources to any number
 * of destinations. For what SSE2 does in one instruction and Java means the same by.
 *
 * <pre>
 *         endbr64
 *         lea (%rdi,%rsi,8), %r9                            destinations follow the sources
 *   line: mov (%rdi), %rax;  movdqu 0(%rax,%rcx), %xmm0 ... 48(%rax,%rcx), %xmm3
 *         mov $1, %r10d;  jmp more
 *   next: mov (%rdi,%r10,8), %rax;  movdqu 0(%rax,%rcx), %xmm4 ... 48(%rax,%rcx), %xmm7
 *         OP %xmm4, %xmm0 ... %xmm7, %xmm3
 *         inc %r10d
 *   more: cmp %esi, %r10d;  jne next
 *         xor %r10d, %r10d
 *   to:   mov (%r9,%r10,8), %rax;  movntdq %xmm0, 0(%rax,%rcx) ... %xmm3, 48(%rax,%rcx)
 *         inc %r10d;  cmp %edx, %r10d;  jne to
 *         add $64, %rcx;  cmp %r8, %rcx;  jne line
 *         sfence                                            a release store that follows would overtake these stores otherwise
 *         ret
 * </pre>
 */
public final class StreamingFold {
    /** What is done with elements. */
    public enum Operation {
        ADD_FLOATS("0f58"),
        ADD_DOUBLES("660f58"),
        ADD_BYTES("660ffc"),
        ADD_SHORTS("660ffd"),
        ADD_INTS("660ffe"),
        ADD_LONGS("660fd4"),
        MULTIPLY_FLOATS("0f59"),
        MULTIPLY_DOUBLES("660f59"),
        AND("660fdb"),
        OR("660feb"),
        XOR("660fef");

        private final String code;

        Operation(String code) {
            this.code = code;
        }

        /** The instruction with the registers of its last byte, four bytes long. */
        private String on(String registers) {
            return code + registers + (code.length() == 4 ? NOP : "");
        }
    }

    /** Bytes of a cache line: what is folded at a time. */
    public static final int LINE = 64;

    private static final String NOP = "90";

    private static final String SOURCES = "f30f1efa" + "4c8d0cf7" // endbr64, lea
            + "488b07" + "f30f6f0408" + "f30f6f4c0810" + "f30f6f540820" + "f30f6f5c0830" // mov, movdqu
            + "41ba01000000" + "eb2e" // mov, jmp
            + "4a8b04d7" + "f30f6f2408" + "f30f6f6c0810" + "f30f6f740820" + "f30f6f7c0830"; // mov, movdqu
    private static final String DESTINATIONS = "41ffc2" + "4139f2" + "75cd" + "4531d2" // inc, cmp, jne, xor
            + "4b8b04d1" + "660fe70408" + "660fe74c0810" + "660fe7540820" + "660fe75c0830" // mov, movntdq
            + "41ffc2" + "4139d2" + "75dd" // inc, cmp, jne
            + "4883c140" + "4c39c1" + "0f8578ffffff" // add, cmp, jne
            + "0faef8" + "c3"; // sfence, ret

    /** Room for the code of an operation. */
    private static final int STRIDE = 192;

    private static final @Nullable Throwable UNAVAILABILITY_CAUSE = probe();

    private StreamingFold() {}

    private static final class Handles {
        private static final MemorySegment[] ENTRIES = entries();
        private static final MethodHandle FOLD = Libc.code(FunctionDescriptor.ofVoid(
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG));

        private static MemorySegment[] entries() {
            Operation[] operations = Operation.values();
            byte[] all = new byte[operations.length * STRIDE];
            for (Operation operation : operations) {
                byte[] code = HexFormat.of()
                        .parseHex(SOURCES
                                + operation.on("c4")
                                + operation.on("cd")
                                + operation.on("d6")
                                + operation.on("df")
                                + DESTINATIONS);
                System.arraycopy(code, 0, all, operation.ordinal() * STRIDE, code.length);
            }
            MemorySegment page = Instructions.load(all);
            MemorySegment[] entries = new MemorySegment[operations.length];
            for (int i = 0; i < entries.length; i++) {
                entries[i] = page.asSlice((long) i * STRIDE, STRIDE);
            }
            return entries;
        }
    }

    private static @Nullable Throwable probe() {
        if (!StreamingCopy.isAvailable()) {
            return StreamingCopy.unavailabilityCause();
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment table = arena.allocateFrom(ValueLayout.JAVA_LONG, 0, 0, 0);
            MemorySegment lines = arena.allocate(3L * LINE, LINE);
            for (int i = 0; i < 3; i++) {
                table.setAtIndex(ValueLayout.JAVA_LONG, i, lines.address() + (long) i * LINE);
            }
            lines.asSlice(0, 2L * LINE).fill((byte) 21);
            fold(Operation.ADD_BYTES, table.address(), 2, 1, 0, LINE);
            return lines.asSlice(2L * LINE).mismatch(arena.allocate(LINE).fill((byte) 42)) < 0
                    ? null
                    : new IllegalStateException("the sum differs");
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

    /**
     * Folds from left to right. When this returns, every core sees the results. Keep calls short: the collector waits for their end.
     *
     * @param operation what to do
     * @param table where the addresses of the sources stand, and after them those of the destinations
     * @param sources how many, at least 1
     * @param destinations how many, at least 1; none of them overlaps a source
     * @param from added to every address; then those of destinations are those of lines
     * @param to one or more lines after {@code from}
     */
    public static void fold(Operation operation, long table, int sources, int destinations, long from, long to) {
        try {
            Handles.FOLD.invokeExact(
                    Handles.ENTRIES[operation.ordinal()], table, (long) sources, (long) destinations, from, to);
        } catch (Throwable thrown) {
            throw Libc.unexpected(thrown);
        }
    }
}
