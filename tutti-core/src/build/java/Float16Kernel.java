/**
 * float16 has no vector class; C2 finds the vectors in plain loops, if no two accesses to memory of one kind can
 * overlap. So results go through a block: of shorts for native memory, and of floats for arrays, unless both arrays
 * are used at the same index.
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
                METHODSame(out, own, ownAt, countPASSED_HERE);
                return;
            }
            float[] block = BLOCKS.get();
            for (int done = 0; done < count; done += BLOCK) {
                int m = Math.min(BLOCK, count - done);
                METHODBlock(block, own, ownAt + done, mPASSED);
                encode(block, out, outAt + done, m);
            }
            """;

    private static final String BLOCK = """
            private static final int BLOCK = 4096;

            private static final ThreadLocal<ELEMENT[]> BLOCKS = new ThreadLocal<>() {
                @Override
                protected ELEMENT[] initialValue() {
                    return new ELEMENT[BLOCK];
                }
            };

            """;

    private static final String ENCODE = """
            private static void encode(float[] from, short[] to, int at, int m) {
                for (int i = 0; i < m; i++) {
                    to[at + i] = Float.floatToFloat16(from[i]);
                }
            }

            """;

    private static final String HEAP_LOOPS = """
            private static void METHODSame(short[] out, short[] own, int at, int countDECLARED) {
                for (int i = 0; i < count; i++) {
                    SAME_ELEMENT
                }
            }

            private static void METHODBlock(float[] out, short[] own, int ownAt, int mDECLARED) {
                for (int i = 0; i < m; i++) {
                    BLOCK_ELEMENT
                }
            }
            """;

    /** What all kernels of a class share. */
    static String constants(boolean heap) {
        return BLOCK.replace("ELEMENT", heap ? "float" : "short") + (heap ? ENCODE : "");
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
                + (heap ? HEAP_LOOPS : NATIVE_LOOP);
        return text.replace("METHOD", fold.method(n))
                .replace("PASSED_HERE", passed.toString().replace(" + 2L * done", ""))
                .replace("PASSED", passed)
                .replace("DECLARED", declared)
                .replace(
                        "SAME_ELEMENT",
                        Text.indent(Text.indent(element.replace("[outAt", "[at").replace("[ownAt", "[at")))
                                .strip())
                .replace(
                        "BLOCK_ELEMENT",
                        Text.indent(Text.indent(element.replaceAll(
                                                "ALL.set\\(Memory.SHORT, dst \\+ \\(long\\) i \\* 2, (.*)\\);",
                                                "out[i] = $1;")
                                        .replaceAll(
                                                "out.outAt \\+ i. = Float.floatToFloat16\\((.*)\\);", "out[i] = $1;")))
                                .strip());
    }

    private Float16Kernel() {}
}
