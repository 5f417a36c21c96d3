import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Writes the reduction kernels of {@code dev.tutti.reduce}: {@code java GenerateKernels.java OUTPUT_DIRECTORY}.
 *
 * <p>One template per kind of kernel, filled from small tables of what differs between types and folds.
 */
public final class GenerateKernels {
    private static final String HEADER = """
            // Written by GenerateKernels; change that instead.
            package dev.tutti.reduce;

            """;

    public static void main(String[] args) throws IOException {
        Path directory = Path.of(args[0], "dev", "tutti", "reduce");
        Files.createDirectories(directory);
        for (Scalar scalar : Scalar.values()) {
            Files.writeString(directory.resolve("Scalar" + scalar.name + ".java"), HEADER + scalar.source());
        }
        for (boolean heap : new boolean[] {false, true}) {
            String form = heap ? "Heap" : "Native";
            for (Lane lane : Lane.values()) {
                if (lane.isOrdered()) {
                    continue;
                }
                Files.writeString(directory.resolve(form + lane.name + ".java"), HEADER + kernels(lane, heap));
            }
        }
    }

    /** Accumulation types of the scalar twins. */
    enum Scalar {
        BYTES("Bytes", "byte", true),
        SHORTS("Shorts", "short", true),
        INTS("Ints", "int", true),
        LONGS("Longs", "long", true),
        FLOATS("Floats", "float", false),
        DOUBLES("Doubles", "double", false);

        final String name;
        final String type;
        final boolean integer;

        Scalar(String name, String type, boolean integer) {
            this.name = name;
            this.type = type;
            this.integer = integer;
        }

        /** What an accumulator becomes in each fold, from {@code a} and {@code x}. */
        Map<String, String> folds() {
            if (!integer) {
                return ordered("sum", "a + x", "prod", "a * x", "min", "Math.min(a, x)", "max", "Math.max(a, x)");
            }
            return ordered(
                    "sum", "CAST(a + x)",
                    "prod", "CAST(a * x)",
                    "min", "CASTMath.min(a, x)",
                    "max", "CASTMath.max(a, x)",
                    "and", "CAST(a & x)",
                    "or", "CAST(a | x)",
                    "xor", "CAST(a ^ x)",
                    "unsignedMin", unsignedKey("a") + " <= " + unsignedKey("x") + " ? a : x",
                    "unsignedMax", unsignedKey("a") + " >= " + unsignedKey("x") + " ? a : x");
        }

        /** Orders unsigned elements by a signed comparison. Not a method: the interpreter runs it first. */
        private String unsignedKey(String element) {
            return switch (this) {
                case BYTES -> "(" + element + " & 0xFF)";
                case SHORTS -> "(" + element + " & 0xFFFF)";
                case INTS -> "(" + element + " ^ Integer.MIN_VALUE)";
                default -> "(" + element + " ^ Long.MIN_VALUE)";
            };
        }

        String source() {
            StringBuilder folds = new StringBuilder();
            folds().forEach((fold, expression) -> folds.append(LOOP.replace("FOLD", fold)
                    .replace(
                            "EXPRESSION",
                            expression.replaceAll("\\ba\\b", "a[i]").replaceAll("\\bx\\b", "x[i]"))));
            folds.append(integer ? INTEGER_FINISH : FLOAT_FINISH);
            String text = SCALAR.replace("FOLD_LOOPS", indent(folds.toString()))
                    .replace("FOLD_CASES", integer ? INTEGER_CASES : FLOAT_CASES)
                    .replace("TRANSFER", indent(this == FLOATS ? FLOAT_TRANSFER : PLAIN_TRANSFER))
                    .replace("TILE_FIELDS", this == FLOATS ? FLOAT_TILE : "")
                    .replace(
                            "SCALAR_OF_AUX",
                            switch (this) {
                                case FLOATS -> "Float.intBitsToFloat((int) aux)";
                                case DOUBLES -> "Double.longBitsToDouble(aux)";
                                case LONGS -> "aux";
                                default -> "(T) aux";
                            })
                    .replace(
                            "QUOTIENT",
                            switch (this) {
                                // Quotients of floats truncate to those of integers of less than half their bits, and
                                // cost less.
                                case BYTES -> "(T) ((unsigned ? a[i] & 0xFF : a[i]) / (float) d)";
                                case SHORTS -> "(T) ((unsigned ? a[i] & 0xFFFF : a[i]) / (float) d)";
                                case INTS -> "(T) (long) ((unsigned ? a[i] & 0xFFFFFFFFL : a[i]) / (double) d)";
                                case LONGS -> "unsigned ? Long.divideUnsigned(a[i], d) : a[i] / d";
                                default -> "a[i] / d";
                            })
                    .replace("LAYOUT", type.toUpperCase(java.util.Locale.ROOT))
                    .replace("NAME", "Scalar" + name);
            // A cast to the type that an expression has already is a warning.
            text = text.replace("CAST", this == BYTES || this == SHORTS ? "(T) " : "");
            return text.replaceAll("\\bT\\b", type);
        }
    }

    /**
     * The scalar twin of all kernels of one accumulation type. It works on tiles in arrays: bulk copies to and from
     * arrays are fast even in the bytecode interpreter, where one access to a segment takes a microsecond, and C2 turns
     * loops over arrays into vector code by itself.
     */
    private static final String SCALAR = """
            import java.lang.foreign.MemorySegment;
            import org.jspecify.annotations.Nullable;

            final class NAME {
                private static final int TILE = 1024;

                private static final ThreadLocal<Tile> TILES = new ThreadLocal<>() {
                    @Override
                    protected Tile initialValue() {
                        return new Tile();
                    }
                };

                private static final class Tile {
                    final T[] accumulator = new T[TILE];
                    final T[] input = new T[TILE];TILE_FIELDS
                }

                private NAME() {}

                static void reduce(
                        int kernel, @Nullable Object own, int ownAt, @Nullable Object out, int outAt, long[] code,
                        int srcAt, int n, long byteOffset, long dst, long count, long aux, int scaled) {
                    int type = Codes.type(kernel);
                    int fold = Codes.fold(kernel);
                    int shift = Codes.shift(type);
                    Tile tile = TILES.get();
                    for (long done = 0; done < count; done += TILE) {
                        int m = (int) Math.min(TILE, count - done);
                        long offset = byteOffset + (done << shift);
                        T[] a = tile.accumulator;
                        int next = 0;
                        if (own == null) {
                            load(type, code[srcAt] + offset, a, m, tile);
                            next = 1;
                        } else {
                            loadArray(type, own, ownAt + (int) done, a, m);
                        }
                        if (fold == Codes.MUL_SUM && scaled == 0) {
                            scale(a, SCALAR_OF_AUX, m);
                        }
                        for (; next < n; next++) {
                            T[] x = tile.input;
                            load(type, code[srcAt + next] + offset, x, m, tile);
                            if (fold == Codes.MUL_SUM && scaled == (own == null ? next : next + 1)) {
                                scale(x, SCALAR_OF_AUX, m);
                            }
                            switch (fold) {
            FOLD_CASES
                                default -> sum(a, x, m);
                            }
                        }
                        if (fold == Codes.AVG) {
                            divide(type, a, aux, m);
                        }
                        if (out == null) {
                            store(type, a, dst + (done << shift), m, tile);
                        } else {
                            storeArray(type, a, out, outAt + (int) done, m);
                        }
                    }
                }

            TRANSFER
            FOLD_LOOPS}
            """;

    private static final String FLOAT_CASES = """
                                case Codes.PROD -> prod(a, x, m);
                                case Codes.MIN -> min(a, x, m);
                                case Codes.MAX -> max(a, x, m);""";

    private static final String INTEGER_CASES = """
                                case Codes.PROD -> prod(a, x, m);
                                case Codes.MIN -> {
                                    if (Codes.isUnsigned(type)) {
                                        unsignedMin(a, x, m);
                                    } else {
                                        min(a, x, m);
                                    }
                                }
                                case Codes.MAX -> {
                                    if (Codes.isUnsigned(type)) {
                                        unsignedMax(a, x, m);
                                    } else {
                                        max(a, x, m);
                                    }
                                }
                                case Codes.AND -> and(a, x, m);
                                case Codes.OR -> or(a, x, m);
                                case Codes.XOR -> xor(a, x, m);""";

    private static final String LOOP = """
            private static void FOLD(T[] a, T[] x, int m) {
                for (int i = 0; i < m; i++) {
                    a[i] = EXPRESSION;
                }
            }

            """;

    private static final String FLOAT_FINISH = """
            private static void scale(T[] a, T factor, int m) {
                for (int i = 0; i < m; i++) {
                    a[i] = a[i] * factor;
                }
            }

            private static void divide(int type, T[] a, long divisor, int m) {
                T d = (T) divisor;
                for (int i = 0; i < m; i++) {
                    a[i] = QUOTIENT;
                }
            }
            """;

    private static final String INTEGER_FINISH = """
            private static void scale(T[] a, T factor, int m) {
                for (int i = 0; i < m; i++) {
                    a[i] = CAST(a[i] * factor);
                }
            }

            private static void divide(int type, T[] a, long d, int m) {
                boolean unsigned = Codes.isUnsigned(type);
                for (int i = 0; i < m; i++) {
                    a[i] = QUOTIENT;
                }
            }
            """;

    private static final String PLAIN_TRANSFER = """
            private static void load(int type, long from, T[] a, int m, Tile tile) {
                MemorySegment.copy(Memory.ALL, Memory.LAYOUT, from, a, 0, m);
            }

            private static void store(int type, T[] a, long to, int m, Tile tile) {
                MemorySegment.copy(a, 0, Memory.ALL, Memory.LAYOUT, to, m);
            }

            private static void loadArray(int type, Object from, int at, T[] a, int m) {
                System.arraycopy(from, at, a, 0, m);
            }

            private static void storeArray(int type, T[] a, Object to, int at, int m) {
                System.arraycopy(a, 0, to, at, m);
            }

            """;

    private static final String FLOAT_TILE = """

                    final short[] shorts = new short[TILE];
                    final byte[] bytes = new byte[TILE];""";

    private static final String FLOAT_TRANSFER =
            """
            private static void load(int type, long from, float[] a, int m, Tile tile) {
                switch (type) {
                    case Codes.FLOAT32 -> MemorySegment.copy(Memory.ALL, Memory.FLOAT, from, a, 0, m);
                    case Codes.FLOAT16, Codes.BFLOAT16 -> {
                        MemorySegment.copy(Memory.ALL, Memory.SHORT, from, tile.shorts, 0, m);
                        loadArray(type, tile.shorts, 0, a, m);
                    }
                    default -> {
                        MemorySegment.copy(Memory.ALL, Memory.BYTE, from, tile.bytes, 0, m);
                        loadArray(type, tile.bytes, 0, a, m);
                    }
                }
            }

            private static void store(int type, float[] a, long to, int m, Tile tile) {
                switch (type) {
                    case Codes.FLOAT32 -> MemorySegment.copy(a, 0, Memory.ALL, Memory.FLOAT, to, m);
                    case Codes.FLOAT16, Codes.BFLOAT16 -> {
                        storeArray(type, a, tile.shorts, 0, m);
                        MemorySegment.copy(tile.shorts, 0, Memory.ALL, Memory.SHORT, to, m);
                    }
                    default -> {
                        storeArray(type, a, tile.bytes, 0, m);
                        MemorySegment.copy(tile.bytes, 0, Memory.ALL, Memory.BYTE, to, m);
                    }
                }
            }

            private static void loadArray(int type, Object from, int at, float[] a, int m) {
                switch (type) {
                    case Codes.FLOAT16 -> loadFloat16((short[]) from, at, a, m);
                    case Codes.BFLOAT16 -> loadBfloat16((short[]) from, at, a, m);
                    case Codes.FLOAT8E4M3 -> loadE4m3((byte[]) from, at, a, m);
                    case Codes.FLOAT8E5M2 -> loadE5m2((byte[]) from, at, a, m);
                    default -> System.arraycopy(from, at, a, 0, m);
                }
            }

            private static void storeArray(int type, float[] a, Object to, int at, int m) {
                switch (type) {
                    case Codes.FLOAT16 -> storeFloat16(a, (short[]) to, at, m);
                    case Codes.BFLOAT16 -> storeBfloat16(a, (short[]) to, at, m);
                    case Codes.FLOAT8E4M3 -> storeE4m3(a, (byte[]) to, at, m);
                    case Codes.FLOAT8E5M2 -> storeE5m2(a, (byte[]) to, at, m);
                    default -> System.arraycopy(a, 0, to, at, m);
                }
            }

            """ + conversion("Float16", "short", "Float.float16ToFloat", "Float.floatToFloat16")
                    + conversion("Bfloat16", "short", "SmallFloats.bfloat16ToFloat", "SmallFloats.floatToBfloat16")
                    + conversion("E4m3", "byte", "SmallFloats.e4m3ToFloat", "SmallFloats.floatToE4m3")
                    + conversion("E5m2", "byte", "SmallFloats.e5m2ToFloat", "SmallFloats.floatToE5m2");

    private static String conversion(String name, String storage, String decode, String encode) {
        return """
                private static void loadNAME(STORAGE[] from, int at, float[] a, int m) {
                    for (int i = 0; i < m; i++) {
                        a[i] = DECODE(from[at + i]);
                    }
                }

                private static void storeNAME(float[] a, STORAGE[] to, int at, int m) {
                    for (int i = 0; i < m; i++) {
                        to[at + i] = ENCODE(a[i]);
                    }
                }

                """.replace("NAME", name)
                .replace("STORAGE", storage)
                .replace("DECODE", decode)
                .replace("ENCODE", encode);
    }

    /** Folds of the vector kernels; signed and unsigned integers share all but minimum and maximum. */
    enum VectorFold {
        SUM("a.add(x)", "CAST(a + x)"),
        PROD("a.mul(x)", "CAST(a * x)"),
        MIN("a.min(x)", "CASTMath.min(a, x)"),
        MAX("a.max(x)", "CASTMath.max(a, x)"),
        AND("a.and(x)", "CAST(a & x)"),
        OR("a.or(x)", "CAST(a | x)"),
        XOR("a.lanewise(VectorOperators.XOR, x)", "CAST(a ^ x)"),
        AVG("a.add(x)", "CAST(a + x)"),
        MUL_SUM("a.add(x)", "CAST(a + x)"),
        /** Average over a power of two: the same bits by a multiplication, which is several times as fast. */
        SCALED_SUM("a.add(x)", "CAST(a + x)"),
        UMIN("a.lanewise(VectorOperators.UMIN, x)", "BOX.compareUnsigned(a, x) <= 0 ? a : x"),
        UMAX("a.lanewise(VectorOperators.UMAX, x)", "BOX.compareUnsigned(a, x) >= 0 ? a : x");

        final String vector;
        final String scalar;

        VectorFold(String vector, String scalar) {
            this.vector = vector;
            this.scalar = scalar;
        }

        boolean isAverage() {
            return this == AVG || this == SCALED_SUM;
        }

        String method(int n) {
            String words = name().toLowerCase(java.util.Locale.ROOT);
            return words.replace("_sum", "Sum") + (n > 8 ? "N" : n);
        }
    }

    /**
     * What a kernel class works on. A plain type accumulates in itself: one vector in, one accumulator. A packed type
     * keeps 2 or 4 elements in each int lane and accumulates in as many float vectors: shifts and masks stay within
     * lanes, where widening would cross them.
     */
    enum Lane {
        INT8("Int8", "byte", "Byte", "byte", 1, 1),
        INT16("Int16", "short", "Short", "short", 2, 1),
        INT32("Int32", "int", "Integer", "int", 4, 1),
        INT64("Int64", "long", "Long", "long", 8, 1),
        FLOAT32("Float32", "float", "Float", "float", 4, 1),
        FLOAT64("Float64", "double", "Double", "double", 8, 1),
        FLOAT16("Float16", "short", "Short", "float", 2, 0),
        BFLOAT16("Bfloat16", "short", "Short", "float", 2, 2),
        E4M3("E4m3", "byte", "Byte", "float", 1, 4),
        E5M2("E5m2", "byte", "Byte", "float", 1, 4),
        /** The small floats again, for minimum and maximum: these need no arithmetic, but an order of the bits. */
        ORDERED_FLOAT16("Float16", "short", "Short", "float", 2, 1),
        ORDERED_BFLOAT16("Bfloat16", "short", "Short", "float", 2, 1),
        ORDERED_E4M3("E4m3", "byte", "Byte", "float", 1, 1),
        ORDERED_E5M2("E5m2", "byte", "Byte", "float", 1, 1);

        final String name;
        final String storage;
        final String box;
        final String accumulation;
        final int bytes;
        final int parts;

        Lane(String name, String storage, String box, String accumulation, int bytes, int parts) {
            this.name = name;
            this.storage = storage;
            this.box = box;
            this.accumulation = accumulation;
            this.bytes = bytes;
            this.parts = parts;
        }

        boolean isInteger() {
            return ordinal() <= INT64.ordinal();
        }

        boolean isPacked() {
            return parts > 1;
        }

        boolean isOrdered() {
            return ordinal() >= ORDERED_FLOAT16.ordinal();
        }

        boolean isBfloat16() {
            return name.equals("Bfloat16");
        }

        boolean isSmallFloat() {
            return ordinal() >= FLOAT16.ordinal();
        }

        /** What this type's kernel of a fold works on. */
        Lane forFold(VectorFold fold) {
            boolean ordered = isSmallFloat() && (fold == VectorFold.MIN || fold == VectorFold.MAX);
            return ordered ? valueOf("ORDERED_" + name()) : this;
        }

        String species() {
            return isOrdered() ? "STORED" : "SPECIES";
        }

        /** Statement that replaces the bits in {@code x} by an integer that orders like the number; NaN wins. */
        String key(String x, VectorFold fold) {
            String special = switch (this) {
                case ORDERED_FLOAT16 -> "0x7C00";
                case ORDERED_BFLOAT16 -> "0x7F80";
                case ORDERED_E4M3 -> "0x7E";
                default -> "0x7C";
            };
            String extreme = box + (fold == VectorFold.MIN ? ".MIN_VALUE" : ".MAX_VALUE");
            String text = "X = " + flip() + "\n        .blend(" + extreme + ", X.and(" + box
                    + ".MAX_VALUE).compare(VectorOperators.GT, (S) " + special + "));\n";
            return text.replaceAll("\\bX\\b", x);
        }

        /** Two's complement of the magnitude where the sign is set; its own inverse. */
        private String flip() {
            return bytes == 2
                    ? "X.lanewise(VectorOperators.XOR, X.lanewise(VectorOperators.ASHR, 15).and(Short.MAX_VALUE))"
                    : "X.lanewise(VectorOperators.XOR, Byte.MAX_VALUE, X.compare(VectorOperators.LT, (S) 0))";
        }

        String unkey(String a, String r) {
            String text = "R = " + flip() + ";\n";
            if (this == ORDERED_E5M2) {
                text += "R = R.lanewise(VectorOperators.SUB, (S) 1, R.and(Byte.MAX_VALUE)"
                        + ".compare(VectorOperators.EQ, (S) 0x7C));\n";
            }
            return text.replaceAll("\\bX\\b", a).replaceAll("\\bR\\b", r);
        }

        /** Vector class of the accumulators. */
        String vector() {
            return vectorOf(isOrdered() ? storage : accumulation);
        }

        /** Vector class that is loaded and stored. */
        String loaded() {
            return isPacked() ? "IntVector" : vector();
        }

        List<VectorFold> folds() {
            List<VectorFold> folds = new ArrayList<>(List.of(VectorFold.values()));
            if (isInteger()) {
                // C2 has no vector division of integers: their average is left to the scalar twin.
                folds.removeIf(VectorFold::isAverage);
            } else {
                folds.removeAll(
                        List.of(VectorFold.AND, VectorFold.OR, VectorFold.XOR, VectorFold.UMIN, VectorFold.UMAX));
            }
            return folds;
        }

        /** Source counts with a method of their own; 9 stands for one that takes any number. */
        int[] counts(VectorFold fold) {
            boolean single = fold.isAverage() || fold == VectorFold.MUL_SUM;
            if (parts == 4) {
                return single ? new int[] {1, 2, 9} : new int[] {2, 9};
            }
            return single ? new int[] {1, 2, 3, 4, 5, 6, 7, 8} : new int[] {2, 3, 4, 5, 6, 7, 8};
        }

        /** Without calls of our own: C2 has had enough of a method's inlining by the time it comes to its scalar loop. */
        String decodeScalar(String bits) {
            return switch (this) {
                case FLOAT16, ORDERED_FLOAT16 -> "Float.float16ToFloat(" + bits + ")";
                case BFLOAT16, ORDERED_BFLOAT16 -> "Float.intBitsToFloat(" + bits + " << 16)";
                case E4M3, ORDERED_E4M3 -> "SmallFloats.e4m3ToFloat(" + bits + ")";
                case E5M2, ORDERED_E5M2 -> "SmallFloats.e5m2ToFloat(" + bits + ")";
                default -> bits;
            };
        }

        /** Of {@code bits} for bfloat16, as {@link #encode} does it, and else of {@code value}. */
        String encodeScalar(String value) {
            return switch (this) {
                case FLOAT16, ORDERED_FLOAT16 -> "Float.floatToFloat16(" + value + ")";
                case BFLOAT16, ORDERED_BFLOAT16 -> "(short) ((bits | bits >>> 16 & 1) + 0x7FFF >>> 16)";
                case E4M3, ORDERED_E4M3 -> "SmallFloats.floatToE4m3(" + value + ")";
                case E5M2, ORDERED_E5M2 -> "SmallFloats.floatToE5m2(" + value + ")";
                default -> value;
            };
        }

        /** Statements that make float vector {@code v} of element {@code part} of each int lane of {@code x}. */
        String decode(int part, String x, String v) {
            if (this == BFLOAT16) {
                return part == 0
                        ? "FloatVector " + v + " = " + x
                                + ".lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats();\n"
                        : "FloatVector " + v + " = " + x + ".and(0xFFFF0000).reinterpretAsFloats();\n";
            }
            // Exponent and mantissa go where float32 has them. A subnormal gets a leading one by that, which is
            // subtracted
            // again; multiplying it into place would be one operation, but a slow one, on a subnormal float32.
            String top = part == 3 ? x : x + ".lanewise(VectorOperators.LSHL, " + (24 - 8 * part) + ")";
            String text = """
                    IntVector Vt = TOP;
                    IntVector Vm = Vt.lanewise(VectorOperators.LSHR, SHIFT).and(KEEP);
                    FloatVector V = Vm.add(BIAS << 23).reinterpretAsFloats();
                    V = V.blend(V.add(V).sub(SMALLEST), Vm.compare(VectorOperators.LT, 1 << 23).cast(FLOATS))INFINITY;
                    V = V.reinterpretAsInts().or(Vt.and(0x80000000)).reinterpretAsFloats();
                    """;
            text = this == E4M3
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
        String encode(String a, String r, String p, boolean mayMakeNaN) {
            if (this == BFLOAT16) {
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
            StringBuilder text = new StringBuilder();
            int bias = this == E4M3 ? 121 << 3 : 113 << 2;
            for (int part = 0; part < parts; part++) {
                // See SmallFloats: the adder rounds. The bias of all four elements goes at once, at the end.
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
                    one += "Pf = Pf.blend(" + (bias + 0x7F) + ", Pm.compare(VectorOperators.GT, 0x7F800000));\n";
                }
                one += "Pf = Pf.add(Pb.lanewise(VectorOperators.LSHR, 24).and(0x80));\n";
                one = this == E4M3
                        ? one.replace("LARGEST", "0x43E00000")
                                .replace("POWER", "121")
                                .replace("ANCHOR", "20")
                        : one.replace("LARGEST", "0x47600000")
                                .replace("POWER", "113")
                                .replace("ANCHOR", "21");
                one += part == 0 ? "R = Pf;\n" : "R = R.add(Pf.lanewise(VectorOperators.LSHL, " + 8 * part + "));\n";
                text.append(one.replace("A.re", a + part + ".re")
                        .replaceAll("\\bP(\\w)\\b", p + part + "$1")
                        .replaceAll("\\bR\\b", r));
            }
            return text
                    + """
                    R = R.sub(BIASES).reinterpretAsBytes()
                            .blend((byte) 0x7F, top.compare(VectorOperators.GT, (byte) LARGEST)).reinterpretAsInts();
                    """.replaceAll("\\bR\\b", r)
                            .replace("BIASES", "" + bias * 0x01010101)
                            .replace("LARGEST", this == E4M3 ? "0x7E" : "0x7C");
        }
    }

    /** All kernels of one type in one form, and the switch that reaches them. */
    private static String kernels(Lane lane, boolean heap) {
        StringBuilder cases = new StringBuilder();
        StringBuilder methods = new StringBuilder();
        for (VectorFold fold : lane.folds()) {
            for (int n : lane.counts(fold)) {
                String arguments = (heap ? "out, outAt, own, ownAt, code, at, " : "code, at, ")
                        + (n > 8 ? "n, " : "")
                        + (heap ? "offset, count" : "offset, dst, count")
                        + extras(fold, "", "");
                String slot = "VectorFolds." + fold.name() + " + " + (Math.min(n, lane.parts == 4 ? 3 : 8) - 1);
                cases.append("case " + slot + " -> " + fold.method(n) + "(" + arguments + ");\n");
                Lane view = lane.forFold(fold);
                methods.append(view.parts == 0 ? float16Kernel(fold, n, heap) : kernel(view, fold, n, heap))
                        .append("\n");
            }
        }
        String text = CLASS.replace(
                        "CASES", indent(indent(indent(cases.toString().stripTrailing()))))
                .replace("METHODS", indent(methods.toString().stripTrailing()))
                .replace("CONSTANTS", indent(constants(lane, heap)))
                .replace(
                        "PARAMETERS",
                        (heap ? "S[] out, int outAt, S[] own, int ownAt, " : "")
                                + "long[] code, int at, int n, long offset, " + (heap ? "" : "long dst, ")
                                + "int count, long aux,\n"
                                + "            int scaled")
                .replace("IMPORTS", imports(lane, heap))
                .replace("NAME", (heap ? "Heap" : "Native") + lane.name);
        return text.replace("CAST", lane == Lane.INT8 || lane == Lane.INT16 ? "(" + lane.storage + ") " : "")
                .replace("BOX", lane.box)
                .replaceAll("\\bS\\b", lane.storage);
    }

    private static final String CLASS = """
            IMPORTS
            final class NAME {
            CONSTANTS
                private NAME() {}

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

    private static String imports(Lane lane, boolean heap) {
        StringBuilder text = new StringBuilder("import static dev.tutti.reduce.Memory.ALL;\n");
        text.append(lane.parts == 0 && !heap ? "\nimport java.lang.foreign.MemorySegment;\n" : "\n");
        java.util.TreeSet<String> names = new java.util.TreeSet<>(List.of("VectorSpecies", vectorOf(lane.storage)));
        if (lane.isSmallFloat() || lane.isInteger()) {
            names.add("VectorOperators");
        }
        if (lane.isPacked()) {
            names.addAll(List.of(lane.vector(), lane.loaded()));
        }
        names.forEach(name -> text.append("import jdk.incubator.vector." + name + ";\n"));
        return text.toString();
    }

    /**
     * Vectors are as wide as the machine's, all of them. 256 bits are as fast for plain types on native memory, but kernels of two widths in one JVM spoil
     * each other's code: C2 then fails to see through what they share, and they allocate.
     */
    private static String constants(Lane lane, boolean heap) {
        String text = lane.parts == 0 ? "" : species("SPECIES", lane.isPacked() ? "Integer" : lane.box, lane.loaded());
        if (lane.parts == 4) {
            text += species("FLOATS", "Float", "FloatVector");
        }
        if (lane.isSmallFloat()) {
            text += species("STORED", lane.box, vectorOf(lane.storage));
        }
        text += "private static final int WIDTH = " + (lane.parts == 0 ? "STORED" : "SPECIES") + ".vectorByteSize();\n";
        text += "private static final int ELEMENTS = WIDTH / " + lane.bytes + ";\n\n";
        if (lane.parts == 0) {
            text += FLOAT16_BLOCK.replace("ELEMENT", heap ? "float" : "short") + (heap ? FLOAT16_ENCODE : "");
        }
        return text;
    }

    private static String species(String name, String element, String vector) {
        return """
                private static final VectorSpecies<ELEMENT> NAME = VECTOR.SPECIES_PREFERRED;
                """.replace("ELEMENT", element).replace("NAME", name).replace("VECTOR", vector);
    }

    private static String extras(VectorFold fold, String aux, String scaled) {
        return switch (fold) {
            case AVG, SCALED_SUM -> ", " + aux + "aux";
            case MUL_SUM -> ", " + aux + "aux, " + scaled + "scaled";
            default -> "";
        };
    }

    private static String signature(Lane lane, VectorFold fold, int n, boolean heap) {
        return "private static void " + fold.method(n) + "(\n        "
                + (heap ? "S[] out, int outAt, S[] own, int ownAt, " : "") + "long[] code, int at, "
                + (n > 8 ? "int n, " : "") + "long offset, " + (heap ? "" : "long dst, ") + "int count"
                + extras(fold, "long ", "int ") + ") {\n";
    }

    /** One kernel of a vector class. Sources are s0, s1 ...; in the heap form source 0 is the array. */
    private static String kernel(Lane lane, VectorFold fold, int n, boolean heap) {
        String body = prologue(lane, fold, n, heap);
        String scalarLoop =
                "for (int i = FROM; i < count; i++) {\n" + indent(scalarElement(lane, fold, n, heap)) + "}\n";
        if (lane.parts == 4) {
            // Long code: no second copy of it for the last vector.
            body += "int i = 0;\nfor (; i <= count - ELEMENTS; i += ELEMENTS) {\n"
                    + indent(block(lane, fold, n, heap, "i", "IntVector r;\n") + store(lane, heap, "i", "r")) + "}\n"
                    + scalarLoop.replace("int i = FROM", "");
            return signature(lane, fold, n, heap) + indent(body) + "}\n";
        }
        // The last vector may overlap the one before it, whose sources the destination may have overwritten by then: so
        // it is computed first and stored last.
        body += "if (count >= ELEMENTS) {\n"
                + indent((heap ? "int last = count - ELEMENTS;\n" : "long last = (long) (count - ELEMENTS) * BYTES;\n")
                        + lane.loaded() + " tail;\n{\n"
                        + indent(block(lane, fold, n, heap, "last", "").replaceAll("\\br\\b", "tail")) + "}\n"
                        + (heap
                                ? "for (int o = 0; o < last; o += ELEMENTS) {\n"
                                : "for (long o = 0; o < last; o += WIDTH) {\n")
                        + indent(block(lane, fold, n, heap, "o", lane.loaded() + " r;\n") + store(lane, heap, "o", "r"))
                        + "}\n"
                        + store(lane, heap, "last", "tail") + "return;\n")
                + "}\n" + scalarLoop.replace("FROM", "0");
        return signature(lane, fold, n, heap) + indent(body.replace("BYTES", "" + lane.bytes)) + "}\n";
    }

    private static String prologue(Lane lane, VectorFold fold, int n, boolean heap) {
        StringBuilder text = new StringBuilder();
        for (int k = heap ? 1 : 0; n <= 8 && k < n; k++) {
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
            if (scalesFirst(lane, fold, n, heap)) {
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
    private static boolean scalesFirst(Lane lane, VectorFold fold, int n, boolean heap) {
        boolean anyOrder = lane.isInteger() || (n == 2 && lane != Lane.FLOAT16);
        return fold == VectorFold.MUL_SUM && (anyOrder || heap);
    }

    private static String load(Lane lane, boolean heap, int k, String o) {
        if (heap && k == 0) {
            return lane.isPacked()
                    ? vectorOf(lane.storage) + ".fromArray(STORED, own, ownAt + " + o + ").reinterpretAsInts()"
                    : lane.vector() + ".fromArray(" + lane.species() + ", own, ownAt + " + o + ")";
        }
        return lane.loaded() + ".fromMemorySegment(" + lane.species() + ", ALL, s" + k + " + "
                + byteOffset(lane, heap, o) + ", Memory.ORDER)";
    }

    private static String store(Lane lane, boolean heap, String o, String r) {
        if (heap) {
            String stored = lane.isPacked() ? ".reinterpretAs" + lane.box + "s()" : "";
            return r + stored + ".intoArray(out, outAt + " + o + ");\n";
        }
        return r + ".intoMemorySegment(ALL, dst + " + byteOffset(lane, heap, o) + ", Memory.ORDER);\n";
    }

    private static String byteOffset(Lane lane, boolean heap, String o) {
        return !heap || lane.bytes == 1 ? o : "(long) " + o + " * " + lane.bytes;
    }

    /** Statements that fold one vector of each source, at offset {@code o}, into {@code r}. */
    private static String block(Lane lane, VectorFold fold, int n, boolean heap, String o, String declaration) {
        StringBuilder text = new StringBuilder(declaration);
        for (int k = 0; k < (n > 8 ? 1 : n); k++) {
            String load = load(lane, heap, k, o);
            load = n > 8 && !heap ? load.replace("s0", "code[at] + offset") : load;
            text.append(source(lane, fold, load, k, factor(lane, fold, k, n, heap)));
        }
        if (n > 8) {
            int first = heap ? 0 : 1;
            String load = load(lane, heap, 1, o).replace("s1", "code[at + k] + offset");
            text.append("for (int k = " + first + "; k < n; k++) {\n"
                    + indent(source(lane, fold, load, 1, factor(lane, fold, 1, n, heap))) + "}\n");
        }
        for (int p = 0; fold.isAverage() && p < lane.parts; p++) {
            text.append("a" + p + " = a" + p + (fold == VectorFold.AVG ? ".div(divisor);\n" : ".mul(divisor);\n"));
        }
        if (lane.isOrdered()) {
            return text + lane.unkey("a0", "r");
        }
        return text + (lane.isPacked() ? lane.encode("a", "r", "e", mayMakeNaN(lane, fold)) : "r = a0;\n");
    }

    /** Whether a fold makes a NaN of numbers; one that is in a source is noticed there. */
    private static boolean mayMakeNaN(Lane lane, VectorFold fold) {
        boolean sum = fold == VectorFold.SUM || fold.isAverage();
        return !sum || lane != Lane.E4M3; // which has no infinities
    }

    /** What source {@code k} is multiplied by, or nothing. */
    private static String factor(Lane lane, VectorFold fold, int k, int n, boolean heap) {
        if (fold != VectorFold.MUL_SUM || scalesFirst(lane, fold, n, heap) && k > 0) {
            return "";
        }
        String index = k == 0 ? "0" : "k";
        return n > 8 && !scalesFirst(lane, fold, n, heap) ? "(scaled == " + index + " ? factor : 1f)" : "f" + k;
    }

    private static String source(Lane lane, VectorFold fold, String load, int k, String factor) {
        StringBuilder text = new StringBuilder();
        text.append(lane.loaded() + " x" + k + " = " + load + ";\n");
        if (lane.isOrdered()) {
            text.append(lane.key("x" + k, fold));
        }
        if (lane.parts == 4) {
            String magnitudes = "x" + k + ".and(0x7F7F7F7F).reinterpretAsBytes()";
            text.append(k == 0 ? "ByteVector top = " + magnitudes + ";\n" : "top = top.max(" + magnitudes + ");\n");
        }
        for (int p = 0; p < lane.parts; p++) {
            String v = lane.isPacked() ? "x" + k + "p" + p : "x" + k;
            if (lane.isPacked()) {
                text.append(lane.decode(p, "x" + k, v));
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
    private static String scalarElement(Lane lane, VectorFold fold, int n, boolean heap) {
        StringBuilder text = new StringBuilder();
        for (int k = 0; k < (n > 8 ? 1 : n); k++) {
            String from = n > 8 ? "code[at] + offset" : "s" + k;
            String x = lane.decodeScalar(heap && k == 0 ? "own[ownAt + i]" : element(lane, from));
            text.append(scalarStep(lane, fold, k, x, factor(lane, fold, k, n, heap)));
        }
        if (n > 8) {
            String x = lane.decodeScalar(element(lane, "code[at + k] + offset"));
            text.append("for (int k = " + (heap ? 0 : 1) + "; k < n; k++) {\n"
                    + indent(scalarStep(lane, fold, 1, x, factor(lane, fold, 1, n, heap))) + "}\n");
        }
        String result = fold == VectorFold.AVG ? "a / divisor" : fold == VectorFold.SCALED_SUM ? "a * divisor" : "a";
        if (lane.isBfloat16()) {
            text.append("int bits = Float.floatToRawIntBits(" + result + ");\n");
        }
        result = lane.encodeScalar(result);
        return text
                + (heap
                        ? "out[outAt + i] = " + result + ";\n"
                        : "ALL.set(Memory." + lane.storage.toUpperCase(java.util.Locale.ROOT) + ", dst + (long) i * "
                                + lane.bytes + ", " + result + ");\n");
    }

    private static String element(Lane lane, String source) {
        return "ALL.get(Memory." + lane.storage.toUpperCase(java.util.Locale.ROOT) + ", " + source + " + (long) i * "
                + lane.bytes + ")";
    }

    private static String scalarStep(Lane lane, VectorFold fold, int k, String x, String factor) {
        String scaled =
                factor.isEmpty() ? x : lane.isInteger() ? "CAST(" + x + " * " + factor + ")" : x + " * " + factor;
        return k == 0
                ? lane.accumulation + " a = " + scaled + ";\n"
                : lane.accumulation + " x" + k + " = " + scaled + ";\na = " + fold.scalar.replaceAll("\\bx\\b", "x" + k)
                        + ";\n";
    }

    /**
     * float16 has no vector class; C2 finds the vectors in plain loops, if no two accesses to memory of one kind can
     * overlap. So results go through a block: of shorts for native memory, and of floats for arrays, unless both arrays
     * are used at the same index.
     */
    private static String float16Kernel(VectorFold fold, int n, boolean heap) {
        StringBuilder declared = new StringBuilder();
        StringBuilder passed = new StringBuilder();
        for (int k = 0; k < n; k++) {
            if (!heap || k > 0) {
                declared.append(", long s" + k);
                passed.append(", s" + k + " + 2L * done");
            }
            if (fold == VectorFold.MUL_SUM && (k == 0 || !heap)) {
                declared.append(", float f" + k);
                passed.append(", f" + k);
            }
        }
        declared.append(fold.isAverage() ? ", float divisor" : "");
        passed.append(fold.isAverage() ? ", divisor" : "");
        String element = scalarElement(Lane.FLOAT16, fold, n, heap);
        String text = signature(Lane.FLOAT16, fold, n, heap) + indent(prologue(Lane.FLOAT16, fold, n, heap))
                + indent(heap ? FLOAT16_HEAP : FLOAT16_NATIVE) + "}\n\n"
                + (heap ? FLOAT16_HEAP_LOOPS : FLOAT16_NATIVE_LOOP);
        return text.replace("METHOD", fold.method(n))
                .replace("PASSED_HERE", passed.toString().replace(" + 2L * done", ""))
                .replace("PASSED", passed)
                .replace("DECLARED", declared)
                .replace(
                        "SAME_ELEMENT",
                        indent(indent(element.replace("[outAt", "[at").replace("[ownAt", "[at")))
                                .strip())
                .replace(
                        "BLOCK_ELEMENT",
                        indent(indent(element.replaceAll(
                                                "ALL.set\\(Memory.SHORT, dst \\+ \\(long\\) i \\* 2, (.*)\\);",
                                                "out[i] = $1;")
                                        .replaceAll(
                                                "out.outAt \\+ i. = Float.floatToFloat16\\((.*)\\);", "out[i] = $1;")))
                                .strip());
    }

    private static final String FLOAT16_NATIVE = """
            short[] block = BLOCKS.get();
            for (long done = 0; done < count; done += BLOCK) {
                int m = (int) Math.min(BLOCK, count - done);
                METHODBlock(block, mPASSED);
                MemorySegment.copy(block, 0, ALL, Memory.SHORT, dst + done * 2, m);
            }
            """;

    private static final String FLOAT16_NATIVE_LOOP = """
            private static void METHODBlock(short[] out, int mDECLARED) {
                for (int i = 0; i < m; i++) {
                    BLOCK_ELEMENT
                }
            }
            """;

    private static final String FLOAT16_HEAP = """
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

    private static final String FLOAT16_BLOCK = """
            private static final int BLOCK = 4096;

            private static final ThreadLocal<ELEMENT[]> BLOCKS = new ThreadLocal<>() {
                @Override
                protected ELEMENT[] initialValue() {
                    return new ELEMENT[BLOCK];
                }
            };

            """;

    private static final String FLOAT16_ENCODE = """
            private static void encode(float[] from, short[] to, int at, int m) {
                for (int i = 0; i < m; i++) {
                    to[at + i] = Float.floatToFloat16(from[i]);
                }
            }

            """;

    private static final String FLOAT16_HEAP_LOOPS = """
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

    private static String vectorOf(String primitive) {
        return Character.toUpperCase(primitive.charAt(0)) + primitive.substring(1) + "Vector";
    }

    private static Map<String, String> ordered(String... pairs) {
        Map<String, String> map = new java.util.LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            map.put(pairs[i], pairs[i + 1]);
        }
        return map;
    }

    private static String indent(String text) {
        List<String> lines = new ArrayList<>();
        for (String line : text.split("\n", -1)) {
            lines.add(line.isEmpty() ? line : "    " + line);
        }
        return String.join("\n", lines);
    }

    private GenerateKernels() {}
}
