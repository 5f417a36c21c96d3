package dev.tutti.exec;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Where counts are known only pair by pair, ranks first agree on the longest, so that all make the same number of launches. */
final class Lengths implements Agreement.Question {
    private final Agreement agreement = new Agreement();
    private final int ranks;
    private @Nullable Call asking;
    private @Nullable Call asked;

    Lengths(int ranks) {
        this.ranks = ranks;
    }

    /** Begins to ask for a call. */
    Lengths of(Call pairwise) {
        asking = pairwise;
        asked = null;
        return this;
    }

    @Override
    public @Nullable Call next() {
        if (asking != null) {
            asked = asking;
            asking = null;
            return agreement.about(asked.geometry().longest(), ranks);
        }
        Objects.requireNonNull(asked).longestBytes(agreement.agreed());
        return null;
    }
}
