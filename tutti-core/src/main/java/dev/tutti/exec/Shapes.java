package dev.tutti.exec;

import dev.tutti.plan.Plan;
import java.util.Arrays;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The shapes of this rank's calls, kept: the last one by five compares, a few hundred others by a hash. */
final class Shapes {
    private static final int SLOTS = 256;

    private final Endpoint endpoint;
    private final Function<Call, Plan> chooser;
    private final @Nullable Shape[] slots = new @Nullable Shape[SLOTS];
    private @Nullable Shape last;
    /** How often all have been forgotten: which choice of plans counts. */
    private int generation;

    Shapes(Endpoint endpoint, Function<Call, Plan> chooser) {
        this.endpoint = endpoint;
        this.chooser = chooser;
    }

    Shape of(Call call) {
        Shape shape = call.shape;
        if (shape == null || shape.generation != generation) {
            shape = last;
            if (shape == null || !shape.matches(call)) {
                shape = find(call);
                last = shape;
            }
            call.shape = call.isPairwise() ? null : shape;
        }
        return shape;
    }

    /** Whether calls of this shape still take its plan. */
    boolean isCurrent(Shape shape) {
        return shape.generation == generation;
    }

    private Shape find(Call call) {
        long hash = Signature.mix(call.count() * 31
                + call.collective().ordinal()
                + ((long) call.type().ordinal() << 8)
                + ((long) call.root() << 16)
                + (call.isRegistered() ? 1L << 62 : 0)
                + (call.op() == null ? 0 : (call.op().kind().ordinal() + 1L) << 32));
        int slot = (int) hash & (SLOTS - 1);
        Shape shape = slots[slot];
        if (shape == null || shape.generation != generation || !shape.matches(call)) {
            shape = new Shape(call, chooser.apply(call), endpoint);
            shape.generation = generation;
            slots[slot] = shape;
        }
        return shape;
    }

    /** Calls may take other plans from now on. */
    void forget() {
        Arrays.fill(slots, null);
        last = null;
        generation++;
    }
}
