import java.util.Locale;

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

    boolean isExtreme() {
        return this == MIN || this == MAX;
    }

    String method(int n) {
        String words = name().toLowerCase(Locale.ROOT);
        return words.replace("_sum", "Sum") + (n > 8 ? "N" : n);
    }
}
