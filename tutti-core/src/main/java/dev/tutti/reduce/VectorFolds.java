package dev.tutti.reduce;

import java.util.List;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.LongVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/** What the generated vector kernels share. A fold's number is the first of its slots, one per source count. */
final class VectorFolds {
    static final int SOURCES = 8;

    /** The last slot is for any number of sources that is larger, where a kernel takes them. */
    static final int SLOTS = SOURCES + 1;

    static final int SUM = Codes.SUM * SLOTS;
    static final int PROD = Codes.PROD * SLOTS;
    static final int MIN = Codes.MIN * SLOTS;
    static final int MAX = Codes.MAX * SLOTS;
    static final int AND = Codes.AND * SLOTS;
    static final int OR = Codes.OR * SLOTS;
    static final int XOR = Codes.XOR * SLOTS;
    static final int AVG = Codes.AVG * SLOTS;
    static final int MUL_SUM = Codes.MUL_SUM * SLOTS;
    static final int SCALED_SUM = Codes.FOLDS * SLOTS;
    static final int UMIN = SCALED_SUM + SLOTS;
    static final int UMAX = UMIN + SLOTS;

    /** Whether a fence between stores is no instruction, and keeps nobody but the compiler from reordering. */
    static final boolean FENCES_ARE_FREE = System.getProperty("os.arch", "").equals("amd64");

    private VectorFolds() {}

    /** Loads the classes behind all species that kernels use. */
    static void loadAll() {
        for (VectorSpecies<?> species : List.of(
                ByteVector.SPECIES_PREFERRED,
                ShortVector.SPECIES_PREFERRED,
                IntVector.SPECIES_PREFERRED,
                LongVector.SPECIES_PREFERRED,
                FloatVector.SPECIES_PREFERRED,
                DoubleVector.SPECIES_PREFERRED)) {
            species.broadcast(1).compare(VectorOperators.GT, 0).not();
        }
    }

    static float canonical(float value) {
        return Float.intBitsToFloat(Float.floatToIntBits(value));
    }
}
