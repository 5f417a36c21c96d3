/**
 * Code that works on the bits of 16- and 8-bit floats: an order for minimum and maximum, and the way to float32 and back, of vectors and of
 * single elements.
 */
final class SmallFloatBits {
    /** Statement that replaces the bits in {@code x} by an integer that orders like the number; NaN wins. */
    static String key(Lane lane, String x, VectorFold fold) {
        String special = switch (lane) {
            case ORDERED_FLOAT16 -> "0x7C00";
            case ORDERED_BFLOAT16 -> "0x7F80";
            case ORDERED_E4M3 -> "0x7E";
            default -> "0x7C";
        };
        String extreme = lane.box + (fold == VectorFold.MIN ? ".MIN_VALUE" : ".MAX_VALUE");
        String text = "X = " + flip(lane) + "\n        .blend(" + extreme + ", X.and(" + lane.box
                + ".MAX_VALUE).compare(VectorOperators.GT, (S) " + special + "));\n";
        return text.replaceAll("\\bX\\b", x);
    }

    /** Two's complement of the magnitude where the sign is set; its own inverse. */
    private static String flip(Lane lane) {
        return lane.bytes == 2
                ? "X.lanewise(VectorOperators.XOR, X.lanewise(VectorOperators.ASHR, 15).and(Short.MAX_VALUE))"
                : "X.lanewise(VectorOperators.XOR, Byte.MAX_VALUE, X.compare(VectorOperators.LT, (S) 0))";
    }

    static String unkey(Lane lane, String a, String r) {
        String text = "R = " + flip(lane) + ";\n";
        if (lane == Lane.ORDERED_E5M2) {
            text += "R = R.lanewise(VectorOperators.SUB, (S) 1, R.and(Byte.MAX_VALUE)"
                    + ".compare(VectorOperators.EQ, (S) 0x7C));\n";
        }
        return text.replaceAll("\\bX\\b", a).replaceAll("\\bR\\b", r);
    }

    /** Without calls of our own: C2 has had enough of a method's inlining by the time it comes to its scalar loop. */
    static String decodeScalar(Lane lane, String bits) {
        return switch (lane) {
            case FLOAT16, PACKED_FLOAT16, ORDERED_FLOAT16 -> "Float.float16ToFloat(" + bits + ")";
            case BFLOAT16, ORDERED_BFLOAT16 -> "Float.intBitsToFloat(" + bits + " << 16)";
            case E4M3, ORDERED_E4M3 -> "SmallFloats.e4m3ToFloat(" + bits + ")";
            case E5M2, ORDERED_E5M2 -> "SmallFloats.e5m2ToFloat(" + bits + ")";
            default -> bits;
        };
    }

    /** Of {@code bits} for bfloat16, as {@link #encode} does it, and else of {@code value}. */
    static String encodeScalar(Lane lane, String value) {
        return switch (lane) {
            case FLOAT16, PACKED_FLOAT16, ORDERED_FLOAT16 -> "Float.floatToFloat16(" + value + ")";
            case BFLOAT16, ORDERED_BFLOAT16 -> "(short) ((bits | bits >>> 16 & 1) + 0x7FFF >>> 16)";
            case E4M3, ORDERED_E4M3 -> "SmallFloats.floatToE4m3(" + value + ")";
            case E5M2, ORDERED_E5M2 -> "SmallFloats.floatToE5m2(" + value + ")";
            default -> value;
        };
    }

    /** Statements that make float vector {@code v} of element {@code part} of each int lane of {@code x}. */
    static String decode(Lane lane, int part, String x, String v) {
        if (lane == Lane.BFLOAT16) {
            return part == 0
                    ? "FloatVector " + v + " = " + x + ".lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats();\n"
                    : "FloatVector " + v + " = " + x + ".and(0xFFFF0000).reinterpretAsFloats();\n";
        }
        if (lane == Lane.PACKED_FLOAT16) {
            // As below, but what is below the smallest normal number is negative without it, and is added where it
            // is; and infinities and NaN get float32's exponent.
            return """
                    IntVector Vt = TOP;
                    IntVector Vm = Vt.lanewise(VectorOperators.LSHR, 3).and(0x0FFFE000);
                    FloatVector V = Vm.add(112 << 23).reinterpretAsFloats();
                    V = V.add(V.sub(0x1p-14f).reinterpretAsInts().min(0).reinterpretAsFloats());
                    V = V.reinterpretAsInts().lanewise(VectorOperators.ADD, 112 << 23, Vm.compare(VectorOperators.GE, 31 << 23))
                            .or(Vt.and(0x80000000)).reinterpretAsFloats();
                    """.replace("TOP", part == 0 ? x + ".lanewise(VectorOperators.LSHL, 16)" : x)
                    .replaceAll("\\bV([tm]?)\\b", v + "$1");
        }
        // Exponent and mantissa go where float32 has them. A subnormal gets a leading one by that, which is subtracted
        // again; multiplying it into place would be one operation, but a slow one, on a subnormal float32.
        String top = part == 3 ? x : x + ".lanewise(VectorOperators.LSHL, " + (24 - 8 * part) + ")";
        String text = """
                IntVector Vt = TOP;
                IntVector Vm = Vt.lanewise(VectorOperators.LSHR, SHIFT).and(KEEP);
                FloatVector V = Vm.add(BIAS << 23).reinterpretAsFloats();
                V = V.blend(V.add(V).sub(SMALLEST), Vm.compare(VectorOperators.LT, 1 << 23).cast(FLOATS))INFINITY;
                V = V.reinterpretAsInts().or(Vt.and(0x80000000)).reinterpretAsFloats();
                """;
        text = lane == Lane.E4M3
                ? text.replace("SHIFT", "4")
                        .replace("KEEP", "0x07F00000")
                        .replace("BIAS", "120")
                        .replace("SMALLEST", "0x1p-6f")
                        .replace("INFINITY", "")
                // Beyond the largest finite value it overflows here, and stays infinite there.
                : text.replace("SHIFT", "3")
                        .replace("KEEP", "0x0FE00000")
                        .replace("BIAS", "112")
                        .replace("SMALLEST", "0x1p-14f")
                        .replace("INFINITY", "\n        .mul(0x1p112f).mul(0x1p-112f)");
        return text.replace("TOP", top).replaceAll("\\bV([tm]?)\\b", v + "$1");
    }

    /** Statements that make int vector {@code r} of the accumulators {@code a0, a1 ...}; {@code p} is a prefix. */
    static String encode(Lane lane, String a, String r, String p, boolean mayMakeNaN) {
        if (lane == Lane.BFLOAT16) {
            // The last bit that is kept makes more of a tie, so that adding 0x7FFF carries. No test for NaN: one
            // that comes from bfloat16 sources has 16 zeros at its end, whatever the fold, and does not carry.
            return """
                    IntVector P0 = A0.reinterpretAsInts();
                    IntVector P1 = A1.reinterpretAsInts();
                    P0 = P0.lanewise(VectorOperators.LSHR, 16).and(1).or(P0).add(0x7FFF)
                            .lanewise(VectorOperators.LSHR, 16);
                    P1 = P1.lanewise(VectorOperators.LSHR, 16).and(1).or(P1).add(0x7FFF).and(0xFFFF0000);
                    R = P0.or(P1);
                    """.replaceAll("\\bA(\\d)", a + "$1")
                    .replaceAll("\\bP(\\d)", p + "$1")
                    .replaceAll("\\bR\\b", r);
        }
        int bits = 8 * lane.bytes;
        int mantissa = lane == Lane.E4M3 ? 3 : lane == Lane.E5M2 ? 2 : 10;
        int power = lane == Lane.E4M3 ? 121 : 113;
        int bias = power << mantissa;
        StringBuilder text = new StringBuilder();
        for (int part = 0; part < lane.parts; part++) {
            // See SmallFloats: the adder rounds. The bias of all elements goes at once, at the end.
            String one = """
                    IntVector Pb = A.reinterpretAsInts();
                    IntVector Pm = Pb.and(0x7FFFFFFF);
                    IntVector Pf = Pm.min(LARGEST);
                    IntVector Pp = Pf.and(0x7F800000).max(POWER << 23);
                    IntVector Pa = Pp.add(ANCHOR << 23);
                    Pf = Pf.reinterpretAsFloats().add(Pa.reinterpretAsFloats()).reinterpretAsInts().sub(Pa);
                    Pf = Pp.lanewise(VectorOperators.LSHR, ANCHOR).add(Pf);
                    """;
            if (mayMakeNaN) {
                int nan = bias + (lane.bytes == 1 ? 0x7F : 0x7E00);
                one += "Pf = Pf.blend(" + nan + ", Pm.compare(VectorOperators.GT, 0x7F800000));\n";
            }
            one += "Pf = Pf.add(Pb.lanewise(VectorOperators.LSHR, " + (32 - bits) + ").and(" + (1 << bits - 1)
                    + "));\n";
            one = one.replace("LARGEST", largest(lane))
                    .replace("POWER", "" + power)
                    .replace("ANCHOR", "" + (23 - mantissa));
            one += part == 0 ? "R = Pf;\n" : "R = R.add(Pf.lanewise(VectorOperators.LSHL, " + bits * part + "));\n";
            text.append(one.replace("A.re", a + part + ".re")
                    .replaceAll("\\bP(\\w)\\b", p + part + "$1")
                    .replaceAll("\\bR\\b", r));
        }
        if (lane == Lane.PACKED_FLOAT16) {
            return text + r + " = " + r + ".sub(" + bias * 0x00010001 + ");\n";
        }
        return text
                + """
                R = R.sub(BIASES).reinterpretAsBytes()
                        .blend((byte) 0x7F, top.compare(VectorOperators.GT, (byte) LARGEST)).reinterpretAsInts();
                """.replaceAll("\\bR\\b", r)
                        .replace("BIASES", "" + bias * 0x01010101)
                        .replace("LARGEST", lane == Lane.E4M3 ? "0x7E" : "0x7C");
    }

    /** What larger numbers become, as float32: the largest one, or for float16 what is infinite there. */
    private static String largest(Lane lane) {
        return switch (lane) {
            case E4M3 -> "0x43E00000";
            case E5M2 -> "0x47600000";
            default -> "0x47800000";
        };
    }

    private SmallFloatBits() {}
}
