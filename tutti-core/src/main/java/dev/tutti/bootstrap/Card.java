package dev.tutti.bootstrap;

import dev.tutti.TuttiException;
import dev.tutti.health.ProcessId;
import dev.tutti.posix.ProcessFacts;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a process tells the others about itself before anything else: lines of {@code name=value}.
 *
 * @param process its number
 * @param id itself
 * @param user the user it runs as
 * @param host tells hosts, and containers that cannot see each other's processes, apart
 * @param ranks how many ranks it has
 * @param settings what must be the same everywhere: versions and settings
 * @param facts what only has to be known, such as how many cores it may use; process 0's count
 */
public record Card(
        int process,
        ProcessId id,
        long user,
        String host,
        int ranks,
        Map<String, String> settings,
        Map<String, String> facts) {
    private static final String SETTING = "setting.";
    private static final String FACT = "fact.";

    byte[] encode() {
        StringBuilder text = new StringBuilder();
        line(text, "process", "" + process);
        line(text, "id", id.toString());
        line(text, "user", "" + user);
        line(text, "host", host);
        line(text, "ranks", "" + ranks);
        settings.forEach((name, value) -> line(text, SETTING + name, value));
        facts.forEach((name, value) -> line(text, FACT + name, value));
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static void line(StringBuilder text, String name, String value) {
        text.append(name).append('=').append(value.replace('\n', ' ')).append('\n');
    }

    static Card decode(byte[] bytes) {
        Map<String, String> plain = new TreeMap<>();
        Map<String, String> settings = new TreeMap<>();
        Map<String, String> facts = new TreeMap<>();
        try {
            for (String line : new String(bytes, StandardCharsets.UTF_8).lines().toList()) {
                int equals = line.indexOf('=');
                String name = line.substring(0, equals);
                String value = line.substring(equals + 1);
                if (name.startsWith(SETTING)) {
                    settings.put(name.substring(SETTING.length()), value);
                } else if (name.startsWith(FACT)) {
                    facts.put(name.substring(FACT.length()), value);
                } else {
                    plain.put(name, value);
                }
            }
            return new Card(
                    Integer.parseInt(plain.getOrDefault("process", "")),
                    ProcessId.parse(plain.getOrDefault("id", "")),
                    Long.parseLong(plain.getOrDefault("user", "")),
                    plain.getOrDefault("host", ""),
                    Integer.parseInt(plain.getOrDefault("ranks", "")),
                    settings,
                    facts);
        } catch (IllegalArgumentException | IndexOutOfBoundsException malformed) {
            throw new TuttiException(
                    TuttiException.Category.BROKEN,
                    "a process's card cannot be read: do all ranks run the same Tutti?",
                    malformed);
        }
    }

    /** Different for hosts, and for containers whose processes do not see each other. */
    static String thisHost() {
        return ProcessFacts.bootId() + " " + ProcessFacts.pidNamespace();
    }
}
