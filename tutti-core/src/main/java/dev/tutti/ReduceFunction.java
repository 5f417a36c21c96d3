package dev.tutti;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * A reduction of the user's own, on whole elements. Every rank must pass a function of the same name and type. A function
 * that is not commutative runs only on algorithms that fold in rank order.
 *
 * {@snippet :
 * ReduceFunction hypot = new ReduceFunction("hypot", DataType.FLOAT64, true, (acc, in, count) -> {
 *     for (long i = 0; i < count; i++) {
 *         double h = Math.hypot(acc.getAtIndex(JAVA_DOUBLE, i), in.getAtIndex(JAVA_DOUBLE, i));
 *         acc.setAtIndex(JAVA_DOUBLE, i, h);
 *     }
 * });
 * comm.allReduce(x, ReduceOp.of(hypot));
 * }
 *
 * @param name what messages call it; ranks compare it
 * @param type the elements it works on
 * @param commutative whether operands may change places
 * @param body the function
 */
public record ReduceFunction(String name, DataType type, boolean commutative, Body body) {

    /** Checks that nothing is missing. */
    public ReduceFunction {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(body, "body");
    }

    /** Combines two arrays into the first. */
    @FunctionalInterface
    public interface Body {
        /**
         * Sets {@code accumulator[i] = accumulator[i] op input[i]} for every element. Both segments are 64-byte aligned, exactly
         * {@code count} elements long, and must not be kept. If it throws, the communicator is aborted with that cause.
         *
         * @param accumulator left operand and result
         * @param input right operand
         * @param count number of elements
         */
        void accept(MemorySegment accumulator, MemorySegment input, long count);
    }
}
