import java.util.Locale;

/**
 * One kernel of a vector class: {@code n} sources, or any number where that is 9. Sources are s0, s1 ...; in the heap form source 0 is the
 * array.
 */
record VectorKernel(Lane lane, VectorFold fold, int n, boolean heap) {
    String source() {
        String body = prologue();
        String scalarLoop = "for (int i = FROM; i < count; i++) {\n" + Text.indent(scalarElement()) + "}\n";
        if (lane.parts == 4) {
            // Long code: no second copy of it for the last vector.
            body += "int i = 0;\nfor (; i <= count - ELEMENTS; i += ELEMENTS) {\n"
                    + Text.indent(block("i", "IntVector r;\n") + store("i", "r")) + "}\n"
                    + scalarLoop.replace("int i = FROM", "");
            return signature() + Text.indent(body) + "}\n";
        }
        // The last vector may overlap the one before it, whose sources the destination may have overwritten by then: so
        // it is computed first and stored last.
        body += "if (count >= ELEMENTS) {\n"
                + Text.indent(
                        (heap ? "int last = count - ELEMENTS;\n" : "long last = (long) (count - ELEMENTS) * BYTES;\n")
                                + lane.loaded() + " tail;\n{\n"
                                + Text.indent(block("last", "").replaceAll("\\br\\b", "tail")) + "}\n"
                                + (heap
                                        ? "for (int o = 0; o < last; o += ELEMENTS) {\n"
                                        : "for (long o = 0; o < last; o += WIDTH) {\n")
                                + Text.indent(block("o", lane.loaded() + " r;\n") + store("o", "r") + order())
                                + "}\n"
                                + store("last", "tail") + "return;\n")
                + "}\n" + scalarLoop.replace("FROM", "0");
        return signature() + Text.indent(body.replace("BYTES", "" + lane.bytes)) + "}\n";
    }

    /** What a method takes beside addresses and counts: as arguments, or with types before the names. */
    String extras(String aux, String scaled) {
        return switch (fold) {
            case AVG, SCALED_SUM -> ", " + aux + "aux";
            case MUL_SUM -> ", " + aux + "aux, " + scaled + "scaled";
            default -> "";
        };
    }

    /** Whether the kernel takes its sources themselves, and not an array of them: in small calls that is shorter. */
    boolean isPair() {
        return n == 2 && !heap && fold != VectorFold.MUL_SUM;
    }

    String signature() {
        String sources = isPair()
                ? "long s0, long s1, "
                : (heap ? "S[] out, int outAt, S[] own, int ownAt, " : "") + "long[] code, int at, "
                        + (n > 8 ? "int n, " : "") + "long offset, ";
        return "private static void " + fold.method(n) + "(\n        " + sources + (heap ? "" : "long dst, ")
                + "int count" + extras("long ", "int ") + ") {\n";
    }

    String prologue() {
        StringBuilder text = new StringBuilder();
        for (int k = heap ? 1 : 0; n <= 8 && k < n && !isPair(); k++) {
            text.append("long s" + k + " = code[at" + (heap ? k == 1 ? "" : " + " + (k - 1) : k == 0 ? "" : " + " + k)
                    + "] + offset;\n");
        }
        String type = lane.accumulation;
        String one =
                type.equals("float") ? "1f" : type.equals("byte") || type.equals("short") ? "(" + type + ") 1" : "1";
        if (fold.isAverage()) {
            text.append(type + " divisor = " + (fold == VectorFold.AVG ? "" : "1 / ") + "(" + type + ") aux;\n");
        } else if (fold == VectorFold.MUL_SUM) {
            text.append(type + " factor = "
                    + switch (type) {
                        // Canonical, so that no payload of a NaN reaches the rounding.
                        case "float" -> "VectorFolds.canonical(Float.intBitsToFloat((int) aux))";
                        case "double" -> "Double.longBitsToDouble(aux)";
                        case "long" -> "aux";
                        default -> "(" + type + ") aux";
                    }
                    + ";\n");
            if (scalesFirst()) {
                text.append(type + " f0 = scaled < 0 ? " + one + " : factor;\n");
                for (int k = 1; k < n && !heap; k++) {
                    text.append("if (scaled == K) {\n    sK = s0;\n    s0 = code[at + K] + offset;\n}\n"
                            .replace("K", "" + k));
                }
                return text.toString();
            }
            for (int k = 0; n <= 8 && k < n; k++) {
                text.append(type + " f" + k + " = scaled == " + k + " ? factor : " + one + ";\n");
            }
        }
        return text.toString();
    }

    /**
     * Integers, and two of anything, sum to the same in any order: the source to be multiplied goes first, the others need no
     * factor. In the heap form that is the array, if anything is multiplied at all.
     */
    boolean scalesFirst() {
        boolean anyOrder = lane.isInteger() || n == 2;
        return fold == VectorFold.MUL_SUM && (anyOrder || heap);
    }

    private String load(int k, String o) {
        if (heap && k == 0) {
            return lane.isPacked()
                    ? Text.vectorOf(lane.storage) + ".fromArray(STORED, own, ownAt + " + o + ").reinterpretAsInts()"
                    : lane.vector() + ".fromArray(" + lane.species() + ", own, ownAt + " + o + ")";
        }
        return lane.loaded() + ".fromMemorySegment(" + lane.species() + ", ALL, s" + k + " + " + byteOffset(o)
                + ", Memory.ORDER)";
    }

    private String store(String o, String r) {
        if (heap) {
            String stored = lane.isPacked() ? ".reinterpretAs" + lane.box + "s()" : "";
            return r + stored + ".intoArray(out, outAt + " + o + ");\n";
        }
        return r + ".intoMemorySegment(ALL, dst + " + byteOffset(o) + ", Memory.ORDER);\n";
    }

    /**
     * Between two vectors, on arrays. C2 unrolls the loop and, as an array does not overlap native memory, would begin each turn with all
     * loads from there, the last one first: which no cache foresees.
     */
    private String order() {
        return heap ? "if (VectorFolds.FENCES_ARE_FREE) {\n    VarHandle.storeStoreFence();\n}\n" : "";
    }

    private String byteOffset(String o) {
        return !heap || lane.bytes == 1 ? o : "(long) " + o + " * " + lane.bytes;
    }

    /** Statements that fold one vector of each source, at offset {@code o}, into {@code r}. */
    private String block(String o, String declaration) {
        StringBuilder text = new StringBuilder(declaration);
        for (int k = 0; k < (n > 8 ? 1 : n); k++) {
            String load = load(k, o);
            load = n > 8 && !heap ? load.replace("s0", "code[at] + offset") : load;
            text.append(step(load, k, factor(k)));
        }
        if (n > 8) {
            int first = heap ? 0 : 1;
            String load = load(1, o).replace("s1", "code[at + k] + offset");
            text.append("for (int k = " + first + "; k < n; k++) {\n" + Text.indent(step(load, 1, factor(1))) + "}\n");
        }
        for (int p = 0; fold.isAverage() && p < lane.parts; p++) {
            text.append("a" + p + " = a" + p + (fold == VectorFold.AVG ? ".div(divisor);\n" : ".mul(divisor);\n"));
        }
        if (lane.isOrdered()) {
            return text + SmallFloatBits.unkey(lane, "a0", "r");
        }
        return text + (lane.isPacked() ? SmallFloatBits.encode(lane, "a", "r", "e", mayMakeNaN()) : "r = a0;\n");
    }

    /** Whether a fold makes a NaN of numbers; one that is in a source is noticed there. */
    private boolean mayMakeNaN() {
        boolean sum = fold == VectorFold.SUM || fold.isAverage();
        return !sum || lane != Lane.E4M3; // which has no infinities
    }

    /** What source {@code k} is multiplied by, or nothing. */
    private String factor(int k) {
        if (fold != VectorFold.MUL_SUM || scalesFirst() && k > 0) {
            return "";
        }
        String index = k == 0 ? "0" : "k";
        return n > 8 && !scalesFirst() ? "(scaled == " + index + " ? factor : 1f)" : "f" + k;
    }

    private String step(String load, int k, String factor) {
        StringBuilder text = new StringBuilder();
        text.append(lane.loaded() + " x" + k + " = " + load + ";\n");
        if (lane.isOrdered()) {
            text.append(SmallFloatBits.key(lane, "x" + k, fold));
        }
        if (lane.parts == 4) {
            String magnitudes = "x" + k + ".and(0x7F7F7F7F).reinterpretAsBytes()";
            text.append(k == 0 ? "ByteVector top = " + magnitudes + ";\n" : "top = top.max(" + magnitudes + ");\n");
        }
        for (int p = 0; p < lane.parts; p++) {
            String v = lane.isPacked() ? "x" + k + "p" + p : "x" + k;
            if (lane.isPacked()) {
                text.append(SmallFloatBits.decode(lane, p, "x" + k, v));
            }
            String scaled = factor.isEmpty() ? v : v + ".mul(" + factor + ")";
            text.append(
                    k == 0
                            ? lane.vector() + " a" + p + " = " + scaled + ";\n"
                            : "a" + p + " = "
                                    + fold.vector.replaceAll("\\ba\\b", "a" + p).replaceAll("\\bx\\b", scaled) + ";\n");
        }
        return text.toString();
    }

    /** Statements that fold element {@code i}. */
    String scalarElement() {
        StringBuilder text = new StringBuilder();
        for (int k = 0; k < (n > 8 ? 1 : n); k++) {
            String from = n > 8 ? "code[at] + offset" : "s" + k;
            String x = SmallFloatBits.decodeScalar(lane, heap && k == 0 ? "own[ownAt + i]" : element(from));
            text.append(scalarStep(k, x, factor(k)));
        }
        if (n > 8) {
            String x = SmallFloatBits.decodeScalar(lane, element("code[at + k] + offset"));
            text.append("for (int k = " + (heap ? 0 : 1) + "; k < n; k++) {\n"
                    + Text.indent(scalarStep(1, x, factor(1))) + "}\n");
        }
        String result = fold == VectorFold.AVG ? "a / divisor" : fold == VectorFold.SCALED_SUM ? "a * divisor" : "a";
        if (lane.isBfloat16()) {
            text.append("int bits = Float.floatToRawIntBits(" + result + ");\n");
        }
        result = SmallFloatBits.encodeScalar(lane, result);
        return text
                + (heap
                        ? "out[outAt + i] = " + result + ";\n"
                        : "ALL.set(Memory." + lane.storage.toUpperCase(Locale.ROOT) + ", dst + (long) i * " + lane.bytes
                                + ", " + result + ");\n");
    }

    private String element(String source) {
        return "ALL.get(Memory." + lane.storage.toUpperCase(Locale.ROOT) + ", " + source + " + (long) i * " + lane.bytes
                + ")";
    }

    private String scalarStep(int k, String x, String factor) {
        String scaled =
                factor.isEmpty() ? x : lane.isInteger() ? "CAST(" + x + " * " + factor + ")" : x + " * " + factor;
        return k == 0
                ? lane.accumulation + " a = " + scaled + ";\n"
                : lane.accumulation + " x" + k + " = " + scaled + ";\na = " + fold.scalar.replaceAll("\\bx\\b", "x" + k)
                        + ";\n";
    }
}
