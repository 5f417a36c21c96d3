package dev.tutti.bench.deoptimisation;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Whether compiled code is thrown away once everything is warm: runs {@link Calls} in a JVM that logs deoptimisations, and shows how
 * many there were while it warmed up and which there were afterwards.
 *
 * <pre>DeoptimisationBench [warm-up seconds (20)] [measured seconds (20)]</pre>
 */
public final class DeoptimisationBench {
    private static final Pattern UPTIME = Pattern.compile("^\\[([0-9.]+)s]");

    private DeoptimisationBench() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        String warm = args.length > 0 ? args[0] : "20";
        String measured = args.length > 1 ? args[1] : "20";
        Path log = Files.createTempFile("tutti-deoptimisation", ".log");
        try {
            double[] times = run(warm, measured, log);
            report(Files.readAllLines(log), times[0], times[1]);
        } finally {
            Files.delete(log);
        }
    }

    /** Returns the JVM's uptimes, in seconds, when it was warm and when it had made all calls. */
    private static double[] run(String warm, String measured, Path log) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-modules",
                "jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "-Xlog:deoptimization=debug:file=" + log + ":uptime",
                "-cp",
                System.getProperty("java.class.path"),
                Calls.class.getName(),
                warm,
                measured));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        double[] times = null;
        for (String line : process.inputReader().lines().toList()) {
            if (line.startsWith(Calls.WARM)) {
                times = Stream.of(line.substring(Calls.WARM.length()).split(" "))
                        .mapToDouble(millis -> Long.parseLong(millis) / 1e3)
                        .toArray();
            } else {
                System.out.println(line);
            }
        }
        if (process.waitFor() != 0 || times == null) {
            throw new IOException("the calls ended with status " + process.exitValue());
        }
        return times;
    }

    private static void report(List<String> lines, double warmAt, double endAt) {
        List<String> late = new ArrayList<>();
        double lastOfOurs = 0;
        int early = 0;
        for (String line : lines) {
            Matcher uptime = UPTIME.matcher(line);
            if (!uptime.find()) {
                continue;
            }
            double at = Double.parseDouble(uptime.group(1));
            if (line.contains("dev/tutti") || line.contains("dev.tutti")) {
                lastOfOurs = at;
            }
            if (at <= warmAt) {
                early++;
            } else if (at <= endAt) {
                late.add(line);
            }
        }
        System.out.printf(
                Locale.ROOT,
                "%d deoptimisations in %.1f s of warm-up, %d in the %.1f s afterwards; the last one in Tutti's code at %.1f s%n",
                early,
                warmAt,
                late.size(),
                endAt - warmAt,
                lastOfOurs);
        late.forEach(System.out::println);
    }
}
