package dev.tutti.bootstrap;

import dev.tutti.TuttiException;
import dev.tutti.spi.Rendezvous;

/** What every rendezvous demands of keys and values, and says when they do not come. */
final class Keys {
    private Keys() {}

    static void check(String key, byte[] value) {
        check(key);
        if (value.length > Rendezvous.MAX_VALUE_BYTES) {
            throw new IllegalArgumentException(
                    "the value of " + key + " has " + value.length + " bytes, more than " + Rendezvous.MAX_VALUE_BYTES);
        }
    }

    static void check(String key) {
        if (!isKey(key)) {
            throw new IllegalArgumentException(
                    "a key has 1.." + Rendezvous.MAX_KEY_LENGTH + " letters, digits and . _ - /, got '" + key + "'");
        }
    }

    static boolean isKey(String key) {
        return !key.isEmpty()
                && key.length() <= Rendezvous.MAX_KEY_LENGTH
                && key.chars()
                        .allMatch(c -> (c >= 'a' && c <= 'z')
                                || (c >= 'A' && c <= 'Z')
                                || (c >= '0' && c <= '9')
                                || "._-/".indexOf(c) >= 0);
    }

    static TuttiException late(String key, String where) {
        return new TuttiException(
                TuttiException.Category.TIMEOUT, "nobody has put " + key + " " + where + " before the deadline", null);
    }

    static TuttiException taken(String key) {
        return new TuttiException(
                TuttiException.Category.USAGE,
                key
                        + " is there already with another value: two processes claim to be the same, or two jobs have the same"
                        + " name (TUTTI_JOB)",
                null);
    }
}
