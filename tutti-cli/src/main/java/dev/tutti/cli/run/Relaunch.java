package dev.tutti.cli.run;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** How this program was started, so that it can be started again. */
final class Relaunch {
    private static final String MAIN = "dev.tutti.cli.Main";

    private Relaunch() {}

    /** The JVM, its flags and a class; arguments follow. */
    static List<String> command(Class<?> main) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(flags());
        command.add(main.getName());
        return command;
    }

    private static List<String> flags() {
        try {
            String line = Files.readString(Path.of("/proc/self/cmdline"), StandardCharsets.UTF_8);
            List<String> words = Arrays.asList(line.split("\0"));
            int main = words.indexOf(MAIN);
            if (main > 0) {
                return words.subList(1, main);
            }
        } catch (IOException notLinux) {
            // The usual ones, then.
        }
        return List.of(
                "--add-modules=jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"));
    }
}
