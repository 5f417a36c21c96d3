import java.util.List;
import java.util.TreeSet;

/** All kernels of one type in one form, and the switch that reaches them; on native memory an instance is one of those for two sources. */
record VectorClass(Lane lane, boolean heap) {
    private static final String CLASS = """
            IMPORTS
            final class NAMEPARENT {
            CONSTANTS
            CONSTRUCTOR
                static void reduce(
                        int slot, PARAMETERS) {
                    switch (slot) {
            CASES
                        default -> throw new IllegalArgumentException("no kernel in slot " + slot);
                    }
                }

            METHODS
            }
            """;

    private static final String PAIR = """
            NAME(int slot, long aux) {
                super(slot, aux);
            }

            @Override
            void fold(long s0, long s1, long dst, int count) {
                switch (slot) {
                    PAIR_CASES
                    default -> throw new IllegalArgumentException("no kernel of two sources in slot " + slot);
                }
            }
            """;

    String source() {
        StringBuilder cases = new StringBuilder();
        StringBuilder pairCases = new StringBuilder();
        StringBuilder methods = new StringBuilder();
        for (VectorFold fold : lane.folds()) {
            for (int n : lane.counts(fold)) {
                VectorKernel kernel = new VectorKernel(lane.forFold(fold, n, heap), fold, n, heap);
                String sources = kernel.isPair()
                        ? "code[at] + offset, code[at + 1] + offset, "
                        : (heap ? "out, outAt, own, ownAt, code, at, " : "code, at, ")
                                + (n > 8 ? "n, " : "")
                                + "offset, ";
                String rest = (heap ? "count" : "dst, count") + kernel.extras("", "") + ");\n";
                String slot = "VectorFolds." + fold.name() + " + " + (Math.min(n, lane.parts == 4 ? 3 : 9) - 1);
                String call = "case " + slot + " -> " + fold.method(n) + "(";
                cases.append(call + sources + rest);
                pairCases.append(kernel.isPair() ? call + "s0, s1, " + rest : "");
                methods.append(kernel.lane() == Lane.FLOAT16 ? Float16Kernel.source(kernel) : kernel.source())
                        .append("\n");
            }
        }
        String text = CLASS.replace("CONSTRUCTOR", Text.indent(heap ? "private NAME() {}\n" : PAIR))
                .replace(
                        "PAIR_CASES",
                        Text.indent(Text.indent(Text.indent(pairCases.toString())))
                                .strip())
                .replace("PARENT", heap ? "" : " extends PairKernel")
                .replace(
                        "CASES",
                        Text.indent(Text.indent(Text.indent(cases.toString().stripTrailing()))))
                .replace("METHODS", Text.indent(methods.toString().stripTrailing()))
                .replace("CONSTANTS", Text.indent(constants()))
                .replace(
                        "PARAMETERS",
                        (heap ? "S[] out, int outAt, S[] own, int ownAt, " : "")
                                + "long[] code, int at, int n, long offset, " + (heap ? "" : "long dst, ")
                                + "int count, long aux,\n"
                                + "            int scaled")
                .replace("IMPORTS", imports())
                .replace("NAME", (heap ? "Heap" : "Native") + lane.name);
        return text.replace("CAST", lane == Lane.INT8 || lane == Lane.INT16 ? "(" + lane.storage + ") " : "")
                .replace("BOX", lane.box)
                .replaceAll("\\bS\\b", lane.storage);
    }

    private String imports() {
        StringBuilder text = new StringBuilder("import static dev.tutti.reduce.Memory.ALL;\n");
        text.append(lane.parts == 0 && !heap ? "\nimport java.lang.foreign.MemorySegment;\n" : "\n");
        text.append(heap ? "import java.lang.invoke.VarHandle;\n" : "");
        TreeSet<String> names = new TreeSet<>(List.of("VectorSpecies", Text.vectorOf(lane.storage)));
        if (lane.isSmallFloat() || lane.isInteger()) {
            names.add("VectorOperators");
        }
        if (lane.isPacked() || lane == Lane.FLOAT16) {
            names.addAll(List.of("FloatVector", "IntVector"));
        }
        names.forEach(name -> text.append("import jdk.incubator.vector." + name + ";\n"));
        return text.toString();
    }

    /**
     * Vectors are as wide as the machine's, all of them. 256 bits are as fast for plain types on native memory, but kernels of two widths in one JVM spoil
     * each other's code: C2 then fails to see through what they share, and they allocate.
     */
    private String constants() {
        String text = lane.isPacked() || lane == Lane.FLOAT16
                ? species("SPECIES", "Integer", "IntVector")
                : species("SPECIES", lane.box, lane.loaded());
        if (lane.parts == 4) {
            text += species("FLOATS", "Float", "FloatVector");
        }
        if (lane.isSmallFloat()) {
            text += species("STORED", lane.box, Text.vectorOf(lane.storage));
        }
        text += "private static final int WIDTH = SPECIES.vectorByteSize();\n";
        text += "private static final int ELEMENTS = WIDTH / " + lane.bytes + ";\n\n";
        if (lane.parts == 0) {
            text += Float16Kernel.constants(heap);
        }
        return text;
    }

    private static String species(String name, String element, String vector) {
        return """
                private static final VectorSpecies<ELEMENT> NAME = VECTOR.SPECIES_PREFERRED;
                """.replace("ELEMENT", element).replace("NAME", name).replace("VECTOR", vector);
    }
}
