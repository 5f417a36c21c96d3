import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

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
    /** float16 again, for more sources than its loops take. */
    PACKED_FLOAT16(FLOAT16, 2),
    /** The small floats again, for minimum and maximum: these need no arithmetic, but an order of the bits. */
    ORDERED_FLOAT16(FLOAT16, 1),
    ORDERED_BFLOAT16(BFLOAT16, 1),
    ORDERED_E4M3(E4M3, 1),
    ORDERED_E5M2(E5M2, 1);

    final String name;
    final String storage;
    final String box;
    final String accumulation;
    final int bytes;
    final int parts;
    /** Which type this is again, or null if it is a type. */
    private final Lane type;

    Lane(String name, String storage, String box, String accumulation, int bytes, int parts) {
        this.name = name;
        this.storage = storage;
        this.box = box;
        this.accumulation = accumulation;
        this.bytes = bytes;
        this.parts = parts;
        this.type = null;
    }

    /** A type again, with other parts. */
    Lane(Lane type, int parts) {
        this.name = type.name;
        this.storage = type.storage;
        this.box = type.box;
        this.accumulation = type.accumulation;
        this.bytes = type.bytes;
        this.parts = parts;
        this.type = type;
    }

    boolean isInteger() {
        return !isSmallFloat() && this != FLOAT32 && this != FLOAT64;
    }

    boolean isPacked() {
        return parts > 1;
    }

    /** Whether this is a type, and not one of them again. */
    boolean isType() {
        return type == null;
    }

    boolean isOrdered() {
        return type != null && parts == 1;
    }

    boolean isBfloat16() {
        return name.equals("Bfloat16");
    }

    boolean isSmallFloat() {
        return !accumulation.equals(storage);
    }

    /** What this type's kernel of a fold and a number of sources works on. */
    Lane forFold(VectorFold fold, int n, boolean heap) {
        if (isSmallFloat() && fold.isExtreme()) {
            return valueOf("ORDERED_" + name());
        }
        // Eight sources, each with a factor, are more than C2 makes vectors of.
        boolean manyFactors = fold == VectorFold.MUL_SUM && n == 8 && !heap;
        return this == FLOAT16 && (n > 8 || manyFactors) ? PACKED_FLOAT16 : this;
    }

    String species() {
        return isOrdered() ? "STORED" : "SPECIES";
    }

    /** Vector class of the accumulators. */
    String vector() {
        return Text.vectorOf(isOrdered() ? storage : accumulation);
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
            folds.removeAll(List.of(VectorFold.AND, VectorFold.OR, VectorFold.XOR, VectorFold.UMIN, VectorFold.UMAX));
        }
        return folds;
    }

    /** Source counts with a method of their own; 9 stands for one that takes any number. */
    int[] counts(VectorFold fold) {
        boolean single = fold.isAverage() || fold == VectorFold.MUL_SUM;
        if (parts == 4) {
            return single ? new int[] {1, 2, 9} : new int[] {2, 9};
        }
        boolean many = isBfloat16() || this == FLOAT16 && !fold.isExtreme();
        return IntStream.rangeClosed(single ? 1 : 2, many ? 9 : 8).toArray();
    }
}
