import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Plants faults and runs the tests that should notice. Works in a temporary clone of HEAD: compiles it once, then for each fault
 * compiles the one changed file into a directory that comes first on the class path.
 */
final class Faults {
    private static final int LIMIT_SECONDS = 120;
    private static final int SHORT = 3;
    /** Short waits, the first failure ends a run, and always the same cells. */
    private static final List<String> TEST_FLAGS = List.of(
            "-Dtutti.matrix.timeout=5s", "-Dtutti.matrix.failfast=true", "-Dtutti.matrix.seconds=60", "-Dtutti.seed=20");

    /** Consecutive lines to replace, compared without indentation; they must occur exactly once. */
    record Fault(String name, String file, List<String> tests, List<String> before, List<String> after) {}

    private final Path clone;
    private final String javaHome = System.getenv("JAVA_HOME");
    private String classPath = "";

    private Faults(Path clone) {
        this.clone = clone;
    }

    public static void main(String[] arguments) throws Exception {
        List<String> names = new ArrayList<>(List.of(arguments));
        boolean few = names.remove("--short");
        List<Fault> all = parse(Files.readAllLines(Path.of(".ci/faults.txt")));
        List<Fault> chosen = all.stream()
                .filter(fault -> names.isEmpty() || names.stream().anyMatch(fault.name::contains))
                .toList();
        if (few) {
            long day = LocalDate.now().toEpochDay();
            chosen = Stream.iterate(0, i -> i < SHORT, i -> i + 1)
                    .map(i -> all.get((int) ((day * SHORT + i) % all.size())))
                    .toList();
        }
        // Whichever are chosen, none may be out of date.
        for (Fault fault : all) {
            replaced(Files.readAllLines(Path.of("tutti-core").resolve(fault.file)), fault);
        }
        Path temporary = Files.createTempDirectory("tutti-faults");
        try {
            boolean caught = new Faults(temporary.resolve("clone")).run(chosen);
            System.exit(caught ? 0 : 1);
        } finally {
            delete(temporary);
        }
    }

    private boolean run(List<Fault> faults) throws Exception {
        prepare();
        // Without a fault all of these tests must pass, or else they prove nothing.
        List<String> tests = faults.stream().flatMap(fault -> fault.tests.stream()).distinct().toList();
        Outcome sound = test(tests, List.of(), 4 * LIMIT_SECONDS);
        if (!sound.passed) {
            System.out.println("without any fault: " + sound.what);
            return false;
        }
        System.out.printf("%-34s %-60s %8s  %s%n", "fault", "caught by", "seconds", "");
        int missed = 0;
        for (Fault fault : faults) {
            long start = System.nanoTime();
            Outcome outcome = plant(fault);
            boolean caught = !outcome.passed && !outcome.late;
            missed += caught ? 0 : 1;
            System.out.printf(
                    "%-34s %-60s %8.1f  %s%n",
                    fault.name,
                    caught ? outcome.what : String.join(", ", fault.tests),
                    (System.nanoTime() - start) / 1e9,
                    caught ? "CAUGHT" : outcome.late ? "MISSED: no end within " + LIMIT_SECONDS + " s" : "MISSED");
        }
        System.out.printf("%d faults, %d caught, %d missed%n", faults.size(), faults.size() - missed, missed);
        return missed == 0;
    }

    private void prepare() throws Exception {
        require(Path.of("."), "git", "clone", "-q", "--local", "--no-hardlinks", ".", clone.toString());
        Path list = clone.resolve("class-path.txt");
        require(
                clone,
                "mvn", "-B", "-ntp", "-q", "-Pquick", "-Dmaven.test.skip=false", "-pl", "tutti-core", "test-compile",
                "dependency:build-classpath", "-Dmdep.outputFile=" + list, "-Dmdep.includeScope=test");
        String dependencies = Files.readString(list).strip();
        String launcher = Stream.of(dependencies.split(":"))
                .filter(path -> path.contains("junit-platform-engine"))
                .findFirst()
                .orElseThrow()
                .replace("junit-platform-engine", "junit-platform-launcher");
        if (!Files.exists(Path.of(launcher))) {
            String version = Path.of(launcher).getParent().getFileName().toString();
            require(clone, "mvn", "-B", "-ntp", "-q", "dependency:get",
                    "-Dartifact=org.junit.platform:junit-platform-launcher:" + version);
        }
        Path core = clone.resolve("tutti-core/target");
        classPath = core.resolve("test-classes") + ":" + core.resolve("classes") + ":" + dependencies + ":" + launcher;
        Path runner = Files.createDirectories(clone.resolve("runner"));
        require(clone, javaHome + "/bin/javac", "-cp", classPath, "-d", runner.toString(), ".ci/RunTests.java");
        classPath += ":" + runner;
    }

    private Outcome plant(Fault fault) throws Exception {
        Path file = clone.resolve("tutti-core").resolve(fault.file);
        List<String> sound = Files.readAllLines(file);
        Path patched = Files.createDirectories(clone.resolve("patched"));
        Files.write(file, replaced(sound, fault));
        try {
            require(clone, javaHome + "/bin/javac", "-nowarn", "-proc:none", "--release", "25", "-cp", classPath,
                    "--add-modules", "jdk.incubator.vector", "-d", patched.toString(), file.toString());
            return test(fault.tests, List.of(patched.toString()), LIMIT_SECONDS);
        } finally {
            Files.write(file, sound);
            delete(patched);
        }
    }

    private static List<String> replaced(List<String> lines, Fault fault) {
        List<Integer> places = new ArrayList<>();
        for (int at = 0; at + fault.before.size() <= lines.size(); at++) {
            List<String> here = lines.subList(at, at + fault.before.size()).stream().map(String::strip).toList();
            if (here.equals(fault.before)) {
                places.add(at);
            }
        }
        if (places.size() != 1) {
            throw new IllegalStateException("fault '" + fault.name + "': its lines occur " + places.size() + " times in "
                    + fault.file + "; bring .ci/faults.txt up to date");
        }
        List<String> result = new ArrayList<>(lines.subList(0, places.getFirst()));
        result.addAll(fault.after);
        result.addAll(lines.subList(places.getFirst() + fault.before.size(), lines.size()));
        return result;
    }

    private record Outcome(boolean passed, boolean late, String what) {}

    private Outcome test(List<String> tests, List<String> first, int seconds) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                javaHome + "/bin/java", "-ea", "-Xmx3g", "--add-modules", "jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED"));
        command.addAll(TEST_FLAGS);
        command.addAll(List.of("-cp", String.join(":", Stream.concat(first.stream(), Stream.of(classPath)).toList())));
        command.add("RunTests");
        command.addAll(tests);
        Path output = clone.resolve("output.txt");
        Process process = new ProcessBuilder(command)
                .directory(clone.resolve("tutti-core").toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
            process.destroyForcibly().waitFor();
            return new Outcome(false, true, "no end");
        }
        String failed = Files.readAllLines(output).stream()
                .filter(line -> line.startsWith("FAILED "))
                .map(line -> line.substring(7))
                .findFirst()
                .orElse(process.exitValue() > 128 ? "a crash of the JVM in " + tests.getFirst() : "no test");
        return new Outcome(process.exitValue() == 0, false, failed);
    }

    private static void require(Path directory, String... command) throws Exception {
        Process process =
                new ProcessBuilder(command).directory(directory.toFile()).inheritIO().start();
        if (process.waitFor() != 0) {
            throw new IllegalStateException(String.join(" ", command) + " failed");
        }
    }

    private static List<Fault> parse(List<String> lines) {
        List<Fault> faults = new ArrayList<>();
        Fault current = null;
        for (String line : lines) {
            if (line.startsWith("fault: ")) {
                current = new Fault(line.substring(7), "", new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
                faults.add(current);
            } else if (line.startsWith("file: ")) {
                current = new Fault(current.name, line.substring(6), current.tests, current.before, current.after);
                faults.set(faults.size() - 1, current);
            } else if (line.startsWith("test: ")) {
                current.tests.add(line.substring(6));
            } else if (line.startsWith("-")) {
                current.before.add(line.substring(1).strip());
            } else if (line.startsWith("+")) {
                current.after.add(line.substring(1).strip());
            } else if (!line.isBlank() && !line.startsWith("#")) {
                throw new IllegalStateException("cannot read in .ci/faults.txt: " + line);
            }
        }
        return faults;
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
