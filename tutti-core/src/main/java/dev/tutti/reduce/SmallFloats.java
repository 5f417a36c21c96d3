package dev.tutti.reduce;

/**
 * Conversions between float32 and the types that accumulate in it. To float32 they are exact; back they round once, to
 * nearest even. float16 is not here: {@link Float} has it, as an intrinsic.
 *
 * <p>The 8-bit formats are OCP's: e4m3 has no infinities and one NaN (0x7F) per sign, e5m2 is the upper half of a
 * float16. Conversion to both saturates: what is too large, infinities included, becomes the largest finite value.
 */
public final class SmallFloats {
    private static final float[] E4M3 = new float[256];
    private static final float[] E5M2 = new float[256];

    static {
        for (int i = 0; i < 256; i++) {
            E4M3[i] = e4m3(i);
            E5M2[i] = Float.float16ToFloat((short) (i << 8));
        }
    }

    private SmallFloats() {}

    public static float bfloat16ToFloat(short bits) {
        return Float.intBitsToFloat(bits << 16);
    }

    public static short floatToBfloat16(float value) {
        int bits = Float.floatToRawIntBits(value);
        // Rounding would carry a NaN into infinity or zero.
        int rounded = (bits & 0x7FFFFFFF) > 0x7F800000 ? bits | 0x400000 : bits + 0x7FFF + (bits >>> 16 & 1);
        return (short) (rounded >>> 16);
    }

    public static float e4m3ToFloat(byte bits) {
        return E4M3[bits & 0xFF];
    }

    public static float e5m2ToFloat(byte bits) {
        return E5M2[bits & 0xFF];
    }

    public static byte floatToE4m3(float value) {
        int bits = Float.floatToRawIntBits(value);
        int magnitude = bits & 0x7FFFFFFF;
        int sign = bits >>> 24 & 0x80;
        if (magnitude > 0x7F800000) {
            return (byte) (sign | 0x7F);
        }
        int finite = Math.min(magnitude, 0x43E00000); // 448
        // Adding 2^20 times the value's power of two leaves mantissa of 3 bits, rounded by the adder; below the
        // smallest
        // normal (2^-6) the power stays, so that subnormals come out of the same sum.
        int power = Math.max(finite & 0x7F800000, 121 << 23);
        int anchor = power + (20 << 23);
        int mantissa = Float.floatToRawIntBits(Float.intBitsToFloat(finite) + Float.intBitsToFloat(anchor)) - anchor;
        return (byte) (sign | (power >>> 20) - (121 << 3) + mantissa);
    }

    public static byte floatToE5m2(float value) {
        int bits = Float.floatToRawIntBits(value);
        int magnitude = bits & 0x7FFFFFFF;
        int sign = bits >>> 24 & 0x80;
        if (magnitude > 0x7F800000) {
            return (byte) (sign | 0x7F);
        }
        int finite = Math.min(magnitude, 0x47600000); // 57344
        int power = Math.max(finite & 0x7F800000, 113 << 23);
        int anchor = power + (21 << 23);
        int mantissa = Float.floatToRawIntBits(Float.intBitsToFloat(finite) + Float.intBitsToFloat(anchor)) - anchor;
        return (byte) (sign | (power >>> 21) - (113 << 2) + mantissa);
    }

    private static float e4m3(int bits) {
        int magnitude = bits & 0x7F;
        if (magnitude == 0x7F) {
            return Float.NaN;
        }
        // Put exponent and mantissa where float32 has them; the factor corrects the bias and normalises subnormals.
        float value = Float.intBitsToFloat(magnitude << 20) * 0x1p120f;
        return bits > 0x7F ? -value : value;
    }
}
