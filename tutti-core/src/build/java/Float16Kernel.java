/**
 * float16 has no vector class; C2 finds the vectors in plain loops, if no two accesses to memory of one kind can
 * overlap. So results for native memory go through a block of shorts. Arrays that are used at the same index need none; what is
 * apart in them is left to the scalar twin, because a block's calls, in one compilation with the loop, would have C2 keep the loop's
 * operands on the stack.
 */
final class Float16Kernel {
    private static final String NATIVE = """
            short[] block = BLOCKS.get();
            for (long done = 0; done < count; done += BLOCK) {
                int m = (int) Math.min(BLOCK, count - done);
                METHODBlock(block, mPASSED);
                MemorySegment.copy(block, 0, ALL, Memory.SHORT, dst + done * 2, m);
            }
            """;

    private static final String NATIVE_LOOP = """
            private static void METHODBlock(short[] out, int mDECLARED) {
                for (int i = 0; i < m; i++) {
                    BLOCK_ELEMENT
                }
            }
            """;

    private static final String HEAP = """
            if (outAt == ownAt) {
                METHODSame(out, own, ownAt, countPASSED);
            } else {
                Scalars.reduce(KERNEL, own, ownAt, out, outAt, code, at, SOURCES, offset, 0, count, AUX, SCALED);
            }
            """;

    private static final String BLOCK = """
            private static final int BLOCK = 4096;

            private static final ThreadLocal<short[]> BLOCKS = new ThreadLocal<>() {
                @Override
                protected short[] initialValue() {
                    return new short[BLOCK];
                }
            };

            """;

    private static final String HEAP_LOOP = """
            private static void METHODSame(short[] out, short[] own, int at, int countDECLARED) {
                for (int i = 0; i < count; i++) {
                    SAME_ELEMENT
                }
            }
            """;

    /** What all kernels of a class share. */
    static String constants(boolean heap) {
        return heap ? "" : BLOCK;
    }

    static String source(VectorKernel kernel) {
        VectorFold fold = kernel.fold();
        int n = kernel.n();
        boolean heap = kernel.heap();
        StringBuilder declared = new StringBuilder();
        StringBuilder passed = new StringBuilder();
        for (int k = 0; k < n; k++) {
            if (!heap || k > 0) {
                declared.append(", long s" + k);
                passed.append(", s" + k + " + 2L * done");
            }
            if (fold == VectorFold.MUL_SUM && (k == 0 || !kernel.scalesFirst())) {
                declared.append(", float f" + k);
                passed.append(", f" + k);
            }
        }
        declared.append(fold.isAverage() ? ", float divisor" : "");
        passed.append(fold.isAverage() ? ", divisor" : "");
        String element = kernel.scalarElement();
        String text = kernel.signature() + Text.indent(kernel.prologue())
                + Text.indent(heap ? HEAP : NATIVE) + "}\n\n"
                + (heap ? HEAP_LOOP : NATIVE_LOOP);
        boolean scales = fold == VectorFold.MUL_SUM;
        return text.replace("METHOD", fold.method(n))
                .replace("PASSED", heap ? passed.toString().replace(" + 2L * done", "") : passed)
                .replace("DECLARED", declared)
                .replace("KERNEL", "Codes.kernel(Codes.FLOAT16, Codes." + (fold.isAverage() ? "AVG" : fold) + ")")
                .replace("SOURCES", "" + (n - 1))
                .replace("AUX", scales || fold.isAverage() ? "aux" : "0")
                .replace("SCALED", scales ? "scaled" : "-1")
                .replace(
                        "SAME_ELEMENT",
                        Text.indent(Text.indent(element.replace("[outAt", "[at").replace("[ownAt", "[at")))
                                .strip())
                .replace(
                        "BLOCK_ELEMENT",
                        Text.indent(Text.indent(element.replaceAll(
                                        "ALL.set\\(Memory.SHORT, dst \\+ \\(long\\) i \\* 2, (.*)\\);",
                                        "out[i] = $1;")))
                                .strip());
    }

    private Float16Kernel() {}
}
