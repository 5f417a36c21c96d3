import java.util.Locale;
import java.util.Map;

/** Accumulation types of the scalar twins. */
enum ScalarTwin {
    BYTES("Bytes", "byte", true),
    SHORTS("Shorts", "short", true),
    INTS("Ints", "int", true),
    LONGS("Longs", "long", true),
    FLOATS("Floats", "float", false),
    DOUBLES("Doubles", "double", false);

    final String name;
    final String type;
    final boolean integer;

    ScalarTwin(String name, String type, boolean integer) {
        this.name = name;
        this.type = type;
        this.integer = integer;
    }

    /** What an accumulator becomes in each fold, from {@code a} and {@code x}. */
    Map<String, String> folds() {
        if (!integer) {
            return Text.ordered("sum", "a + x", "prod", "a * x", "min", "Math.min(a, x)", "max", "Math.max(a, x)");
        }
        return Text.ordered(
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
                .replace("EXPRESSION", expression.replaceAll("\\ba\\b", "a[i]").replaceAll("\\bx\\b", "x[i]"))));
        boolean shifts = this == INTS || this == LONGS;
        folds.append(
                integer
                        ? INTEGER_FINISH.replace("SHORTCUT", shifts ? "\n" + Text.indent(SHORTCUT) : "")
                                + (shifts ? SHIFT : "")
                        : FLOAT_FINISH);
        String text = SCALAR.replace("FOLD_LOOPS", Text.indent(folds.toString()))
                .replace("FOLD_CASES", integer ? INTEGER_CASES : FLOAT_CASES)
                .replace("TRANSFER", Text.indent(this == FLOATS ? FLOAT_TRANSFER : PLAIN_TRANSFER))
                .replace("TILE_FIELDS", this == FLOATS ? FLOAT_TILE : "")
                .replace("TILE_ARRAYS", this == FLOATS ? FLOAT_TILE_ARRAYS : "")
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
                .replace("BITS", this == INTS ? "32" : "64")
                .replace("LAYOUT", type.toUpperCase(Locale.ROOT))
                .replace("NAME", "Scalar" + name);
        // A cast to the type that an expression has already is a warning.
        text = text.replace("CAST", this == BYTES || this == SHORTS ? "(T) " : "");
        return text.replaceAll("\\bT\\b", type);
    }

    private String box() {
        return this == INTS ? "Integer" : Character.toUpperCase(type.charAt(0)) + type.substring(1);
    }

    /** A class of folds of two sources with few elements each. */
    String few() {
        StringBuilder cases = new StringBuilder();
        StringBuilder methods = new StringBuilder();
        folds().forEach((fold, expression) -> {
            String code = fold.replaceAll("([A-Z])", "_$1").toUpperCase(Locale.ROOT);
            cases.append("            case Codes." + code + " -> " + fold + "(s0, s1, dst, count);\n");
            StringBuilder steps = new StringBuilder();
            for (int i = 0; i < FEW_ELEMENTS; i++) {
                steps.append(FEW_STEP.replace("INDEX", "" + i).replace("EXPRESSION", expression));
            }
            methods.append(FEW_FOLD.replace("FOLD", fold)
                    .replace("STEPS", steps.toString().strip()));
        });
        return FEW.replace("CASES", cases.toString().strip())
                .replace("METHODS", methods.toString().stripTrailing())
                .replace("MOST", "" + FEW_ELEMENTS)
                .replace("LAYOUT", type.toUpperCase(Locale.ROOT))
                .replace("BYTES", box() + ".BYTES")
                .replace("NAME", "Few" + name)
                .replace("CAST", this == BYTES || this == SHORTS ? "(T) " : "")
                .replaceAll("\\bT\\b", type);
    }

    private static final int FEW_ELEMENTS = 8;

    /** Without a loop, which the compiler would unroll for many turns; two turns then take longer than all the rest of a small fold. */
    private static final String FEW = """
            import static dev.tutti.reduce.Memory.ALL;

            final class NAME extends PairKernel {
                /** Elements that are few. */
                static final int FEW = MOST;

                NAME(int fold) {
                    super(fold, 0);
                }

                @Override
                void fold(long s0, long s1, long dst, int count) {
                    switch (slot) {
                        CASES
                        default -> throw new IllegalArgumentException("no fold " + slot);
                    }
                }
            METHODS
            }
            """;

    private static final String FEW_FOLD = """

                private static void FOLD(long s0, long s1, long dst, int count) {
                    STEPS
                }
            """;

    private static final String FEW_STEP = """
                    if (count > INDEX) {
                        T a = ALL.get(Memory.LAYOUT, s0 + INDEX * BYTES);
                        T x = ALL.get(Memory.LAYOUT, s1 + INDEX * BYTES);
                        ALL.set(Memory.LAYOUT, dst + INDEX * BYTES, EXPRESSION);
                    }
            """;

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

                /** What a thread begins with: its first call would wait for the pages of a whole tile. */
                private static final int FEW = 32;

                private static final ThreadLocal<Tile> TILES = new ThreadLocal<>() {
                    @Override
                    protected Tile initialValue() {
                        return new Tile(FEW);
                    }
                };

                private static final class Tile {
                    final T[] accumulator;
                    final T[] input;TILE_FIELDS

                    Tile(int elements) {
                        accumulator = new T[elements];
                        input = new T[elements];TILE_ARRAYS
                    }

                    static Tile of(long count) {
                        Tile tile = TILES.get();
                        if (count > tile.input.length && tile.input.length < TILE) {
                            tile = new Tile(TILE);
                            TILES.set(tile);
                        }
                        return tile;
                    }
                }

                private NAME() {}

                static void reduce(
                        int kernel, @Nullable Object own, int ownAt, @Nullable Object out, int outAt, long[] code,
                        int srcAt, int n, long byteOffset, long dst, long count, long aux, int scaled) {
                    int type = Codes.type(kernel);
                    int fold = Codes.fold(kernel);
                    int shift = Codes.shift(type);
                    Tile tile = Tile.of(count);
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
                boolean unsigned = Codes.isUnsigned(type);SHORTCUT
                for (int i = 0; i < m; i++) {
                    a[i] = QUOTIENT;
                }
            }
            """;

    /** Division by a power of two: shifts, which C2 makes vectors of, as it does not of divisions. Negative numbers are rounded up first. */
    private static final String SHIFT = """

            private static void shift(T[] a, int s, int m) {
                for (int i = 0; i < m; i++) {
                    a[i] = (a[i] + (a[i] >> BITS - 1 >>> BITS - s)) >> s;
                }
            }

            private static void unsignedShift(T[] a, int s, int m) {
                for (int i = 0; i < m; i++) {
                    a[i] = a[i] >>> s;
                }
            }
            """;

    private static final String SHORTCUT = """
                int s = Long.numberOfTrailingZeros(d);
                if (s > 0 && d == 1L << s && s < BITS - 1) {
                    if (unsigned) {
                        unsignedShift(a, s, m);
                    } else {
                        shift(a, s, m);
                    }
                    return;
                }""";

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

                    final short[] shorts;
                    final byte[] bytes;""";

    private static final String FLOAT_TILE_ARRAYS = """

                    shorts = new short[elements];
                    bytes = new byte[elements];""";

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
}
