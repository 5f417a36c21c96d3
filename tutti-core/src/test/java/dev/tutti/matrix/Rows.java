package dev.tutti.matrix;

import dev.tutti.DataType;
import dev.tutti.data.ExactData;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** Inputs and reductions for a type, an operator and a number of ranks; made once, as drawing them takes a while. */
final class Rows {
    private record Key(DataType type, Operator operator, int ranks) {}

    private static final ConcurrentHashMap<Key, Rows> KNOWN = new ConcurrentHashMap<>();
    private static final int MOST_KNOWN = 512;
    private static final long SEED = 20_25;

    private final Key key;
    private final ExactData data;
    private final Row[] inputs;
    /** Reductions of the first ranks, made when first asked for. */
    private final AtomicReferenceArray<Row> reduced;

    private Rows(Key key) {
        this.key = key;
        boolean moving = key.operator == Operator.NONE || key.operator.isUser();
        this.data = moving
                ? ExactData.moving(key.type, key.ranks)
                : ExactData.reducing(key.type, key.operator.kind(), key.ranks);
        this.inputs = new Row[key.ranks];
        for (int rank = 0; rank < key.ranks; rank++) {
            inputs[rank] = Row.of(data.input(rank, SEED));
        }
        this.reduced = new AtomicReferenceArray<>(key.ranks + 1);
    }

    static Rows of(DataType type, Operator operator, int ranks) {
        if (KNOWN.size() > MOST_KNOWN) {
            KNOWN.clear();
        }
        return KNOWN.computeIfAbsent(new Key(type, operator, ranks), Rows::new);
    }

    Row input(int rank) {
        return inputs[rank];
    }

    /** The reduction of the first {@code count} ranks' rows. */
    Row reduced(int count) {
        Row row = reduced.get(count);
        if (row == null) {
            row = key.operator.isUser()
                    ? Row.folded(key.type, key.operator, inputs, count)
                    : Row.of(data.reduced(count, SEED));
            reduced.set(count, row);
        }
        return row;
    }
}
