package dev.tutti.semantics;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.World;

/** Memory of Tutti's own, for helpers that have no communicator at hand. */
final class OwnMemory {
    private static final Communicator ALONE =
            World.local(1).named("memory").open().communicator(0);

    private OwnMemory() {}

    static Buffer allocate(DataType type, long count) {
        return ALONE.allocate(type, count);
    }
}
