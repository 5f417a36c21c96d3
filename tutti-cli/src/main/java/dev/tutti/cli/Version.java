package dev.tutti.cli;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/** Which Tutti this is. */
public final class Version {
    private static final String DESCRIPTOR = "/META-INF/maven/dev.tutti/tutti-cli/pom.properties";

    private Version() {}

    /**
     * The versions of Tutti and of Java, in the style of nccl-tests' first line.
     *
     * @return for example {@code tutti version 0.1.0 java=25.0.1}
     */
    public static String text() {
        return "tutti version " + number() + " java=" + System.getProperty("java.version");
    }

    /**
     * Tutti's version.
     *
     * @return the version, or {@code development} where there is no jar
     */
    public static String number() {
        try (InputStream in = Version.class.getResourceAsStream(DESCRIPTOR)) {
            if (in == null) {
                return "development";
            }
            Properties properties = new Properties();
            properties.load(in);
            return properties.getProperty("version", "development");
        } catch (IOException unreadable) {
            return "development";
        }
    }
}
