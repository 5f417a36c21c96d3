package dev.tutti;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * All settings of a world, immutable, each with where it came from: set in code, else a {@code TUTTI_*} environment
 * variable, else the default. A {@code TUTTI_*} variable that is no setting is an error, so that a misspelt one is noticed.
 *
 * {@snippet :
 * Config config = Config.fromEnvironment().with(Config.Key.TIMEOUT, "30s");
 * System.out.println(config);   // every value and its origin
 * World.local(4).config(config).run(comm -> comm.barrier());
 * }
 */
public final class Config {
    /** The settings. The environment variable is the name with {@code TUTTI_} before it. */
    public enum Key {
        /** How long an operation may take before it fails, unless the call says otherwise. */
        TIMEOUT("5m", Kind.DURATION),
        /** After how long a waiting operation logs who is missing. */
        WARN_AFTER("10s", Kind.DURATION),
        /** How long the processes of a world may take to find each other. */
        JOIN_TIMEOUT("2m", Kind.DURATION),
        /** Algorithm to use wherever it exists for the collective; empty for the tuner's choice. */
        ALGO("", Kind.TEXT),
        /** Protocol to use wherever it exists for the algorithm; empty for the tuner's choice. */
        PROTO("", Kind.TEXT),
        /** Lanes per rank. */
        LANES("1", Kind.NUMBER),
        /** Channels between each pair of ranks; bounds the lanes. */
        CHANNELS("8", Kind.NUMBER),
        /** Bytes of scratch per rank and launch parity. */
        SCRATCH("2M", Kind.BYTES),
        /** Bytes of packet memory per rank and launch parity. */
        PACKETS("128K", Kind.BYTES),
        /** Number of the first launch of each communicator; tests start it near the end of its 32 bits. */
        FIRST_LAUNCH("0", Kind.NUMBER);

        private final String fallback;
        private final Kind kind;

        Key(String fallback, Kind kind) {
            this.fallback = fallback;
            this.kind = kind;
        }

        /**
         * The environment variable.
         *
         * @return for example {@code TUTTI_TIMEOUT}
         */
        public String variable() {
            return "TUTTI_" + name();
        }
    }

    private enum Kind {
        TEXT,
        NUMBER,
        BYTES,
        DURATION
    }

    private record Value(String text, String origin) {}

    /** Variables that the {@code tutti} script reads; like those that say who a process is, they are no settings. */
    private static final java.util.Set<String> SCRIPT_VARIABLES = java.util.Set.of("TUTTI_JAVA_HOME", "TUTTI_JVM_OPTS");

    /** Far beyond any use, and still a number of nanoseconds. */
    private static final Duration LONGEST = Duration.ofDays(10_000);

    private final Map<Key, Value> values;

    private Config(Map<Key, Value> values) {
        this.values = values;
    }

    /**
     * Settings from this process's environment.
     *
     * @return the settings
     */
    public static Config fromEnvironment() {
        return from(System.getenv());
    }

    /**
     * Settings from given variables.
     *
     * @param environment names and values
     * @return the settings
     */
    public static Config from(Map<String, String> environment) {
        Map<Key, Value> values = new EnumMap<>(Key.class);
        TreeSet<String> unknown = new TreeSet<>();
        for (String name : environment.keySet()) {
            if (name.startsWith("TUTTI_")
                    && !SCRIPT_VARIABLES.contains(name)
                    && !dev.tutti.bootstrap.Job.VARIABLES.contains(name)) {
                unknown.add(name);
            }
        }
        for (Key key : Key.values()) {
            String given = environment.get(key.variable());
            unknown.remove(key.variable());
            values.put(key, given == null ? new Value(key.fallback, "default") : checked(key, given, "environment"));
        }
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException("unknown setting " + String.join(", ", unknown) + "; settings are "
                    + String.join(
                            ", ",
                            java.util.Arrays.stream(Key.values())
                                    .map(Key::variable)
                                    .toList()));
        }
        return new Config(values);
    }

    /**
     * These settings with one changed.
     *
     * @param key which
     * @param text its value as in the environment: {@code 30s}, {@code 4M}, {@code ring}
     * @return the new settings
     */
    public Config with(Key key, String text) {
        Map<Key, Value> copy = new EnumMap<>(values);
        copy.put(key, checked(key, Objects.requireNonNull(text, "text"), "code"));
        return new Config(copy);
    }

    /**
     * A setting as text.
     *
     * @param key which
     * @return its value
     */
    public String text(Key key) {
        return value(key).text();
    }

    /**
     * A number or a size in bytes.
     *
     * @param key which
     * @return its value
     */
    public long number(Key key) {
        return parseBytes(value(key).text());
    }

    /**
     * A duration.
     *
     * @param key which
     * @return its value
     */
    public Duration duration(Key key) {
        return parseDuration(value(key).text());
    }

    private Value value(Key key) {
        return Objects.requireNonNull(values.get(key));
    }

    private static Value checked(Key key, String text, String origin) {
        try {
            switch (key.kind) {
                case NUMBER, BYTES -> {
                    if (parseBytes(text) == 0 && key != Key.FIRST_LAUNCH) {
                        throw new IllegalArgumentException("must be at least 1");
                    }
                }
                case DURATION -> parseDuration(text);
                case TEXT -> {}
            }
        } catch (IllegalArgumentException malformed) {
            throw new IllegalArgumentException(
                    key.variable() + "=" + text + " (" + origin + "): " + malformed.getMessage(), malformed);
        }
        return new Value(text, origin);
    }

    private static long parseBytes(String text) {
        String digits = text.strip().toUpperCase(Locale.ROOT);
        int shift = digits.endsWith("K") ? 10 : digits.endsWith("M") ? 20 : digits.endsWith("G") ? 30 : 0;
        try {
            long value = Long.parseLong(shift == 0 ? digits : digits.substring(0, digits.length() - 1));
            if (value < 0) {
                throw new IllegalArgumentException("must not be negative");
            }
            if (value > Long.MAX_VALUE >> shift) {
                throw new IllegalArgumentException("is too large");
            }
            return value << shift;
        } catch (NumberFormatException notANumber) {
            throw new IllegalArgumentException("expected a number, K, M and G allowed", notANumber);
        }
    }

    private static Duration parseDuration(String text) {
        Duration duration = parseUnits(text);
        if (duration.isNegative() || duration.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("must be between 0 and " + LONGEST.toDays() + " days");
        }
        return duration;
    }

    private static Duration parseUnits(String text) {
        String lower = text.strip().toLowerCase(Locale.ROOT);
        try {
            if (lower.endsWith("ms")) {
                return Duration.ofMillis(Long.parseLong(lower.substring(0, lower.length() - 2)));
            }
            long value = Long.parseLong(lower.substring(0, Math.max(0, lower.length() - 1)));
            return switch (lower.charAt(lower.length() - 1)) {
                case 's' -> Duration.ofSeconds(value);
                case 'm' -> Duration.ofMinutes(value);
                case 'h' -> Duration.ofHours(value);
                default -> throw new IllegalArgumentException("expected a duration such as 500ms, 30s, 5m");
            };
        } catch (NumberFormatException | StringIndexOutOfBoundsException | ArithmeticException malformed) {
            throw new IllegalArgumentException("expected a duration such as 500ms, 30s, 5m", malformed);
        }
    }

    /**
     * Every setting, its value, and where it came from, one a line.
     *
     * @return the table
     */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (Key key : Key.values()) {
            @Nullable Value value = values.get(key);
            if (value != null) {
                text.append(
                        String.format(Locale.ROOT, "%-20s %-10s (%s)%n", key.variable(), value.text(), value.origin()));
            }
        }
        return text.toString();
    }
}
