package dev.tutti;

import java.util.Locale;

/**
 * The element types that every collective works on. The first twelve carry NCCL's numbers, so that a reader of NCCL's
 * headers, plan files and benchmarks finds what is expected; the 16-bit integers stand beside them.
 *
 * <p>{@code float[]}, {@code double[]}, {@code int[]} and {@code long[]} imply {@link #FLOAT32}, {@link #FLOAT64},
 * {@link #INT32} and {@link #INT64}; a {@code short[]} or {@code byte[]} is given together with one of these.
 *
 * {@snippet :
 * Buffer gradients = comm.allocate(DataType.BFLOAT16, 1 << 20);
 * comm.allReduce(gradients, ReduceOp.AVG);
 * }
 */
public enum DataType {
    /** Signed 8-bit integer. */
    INT8(0, 1, Kind.SIGNED),
    /** Unsigned 8-bit integer. */
    UINT8(1, 1, Kind.UNSIGNED),
    /** Signed 32-bit integer. */
    INT32(2, 4, Kind.SIGNED),
    /** Unsigned 32-bit integer. */
    UINT32(3, 4, Kind.UNSIGNED),
    /** Signed 64-bit integer. */
    INT64(4, 8, Kind.SIGNED),
    /** Unsigned 64-bit integer. */
    UINT64(5, 8, Kind.UNSIGNED),
    /** IEEE 754 half precision; reductions accumulate in float32. */
    FLOAT16(6, 2, Kind.FLOAT),
    /** IEEE 754 single precision. */
    FLOAT32(7, 4, Kind.FLOAT),
    /** IEEE 754 double precision. */
    FLOAT64(8, 8, Kind.FLOAT),
    /** The upper half of a float32; reductions accumulate in float32. */
    BFLOAT16(9, 2, Kind.FLOAT),
    /** 8-bit float, 4 exponent and 3 mantissa bits, no infinities; reductions accumulate in float32 and saturate. */
    FLOAT8E4M3(10, 1, Kind.FLOAT),
    /** 8-bit float, 5 exponent and 2 mantissa bits; reductions accumulate in float32 and saturate. */
    FLOAT8E5M2(11, 1, Kind.FLOAT),
    /** Signed 16-bit integer; NCCL has no number for it. */
    INT16(12, 2, Kind.SIGNED),
    /** Unsigned 16-bit integer; NCCL has no number for it. */
    UINT16(13, 2, Kind.UNSIGNED);

    /** What the bits of an element mean. */
    public enum Kind {
        /** Two's complement. */
        SIGNED,
        /** Plain binary. */
        UNSIGNED,
        /** Sign, exponent, mantissa. */
        FLOAT
    }

    private final int number;
    private final int bytes;
    private final Kind kind;

    DataType(int number, int bytes, Kind kind) {
        this.number = number;
        this.bytes = bytes;
        this.kind = kind;
    }

    /**
     * NCCL's number of this type; 12 and 13 are Tutti's own.
     *
     * @return the number
     */
    public int number() {
        return number;
    }

    /**
     * Size of one element.
     *
     * @return bytes per element: 1, 2, 4 or 8
     */
    public int bytes() {
        return bytes;
    }

    /**
     * Signed integer, unsigned integer or float.
     *
     * @return the kind of number
     */
    public Kind kind() {
        return kind;
    }

    /**
     * Whether the bitwise operators apply.
     *
     * @return true for the signed and unsigned integers
     */
    public boolean isInteger() {
        return kind != Kind.FLOAT;
    }

    /**
     * The name on the command line and in messages, for example {@code float32}.
     *
     * @return the lower-case name
     */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
