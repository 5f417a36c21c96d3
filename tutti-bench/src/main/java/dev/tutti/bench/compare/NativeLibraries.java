package dev.tutti.bench.compare;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Finds Open MPI and MPICH, compiles the benchmark with each, and with loops by hand, and says how to start it. */
final class NativeLibraries {
    private static final Map<String, String> ENVIRONMENT =
            Map.of("OMPI_ALLOW_RUN_AS_ROOT", "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    private static final List<String> FLAGS = List.of("-O3", "-march=native", "-w");

    private final Path directory;
    private final Path source;

    /** A library that was found: how it starts, what the benchmark is called there. */
    record Found(String version, String launcher, Path program) {}

    NativeLibraries(Path directory) throws IOException {
        this.directory = directory;
        this.source = unpack("race.c");
    }

    private Path unpack(String name) throws IOException {
        Path file = directory.resolve(name);
        try (InputStream resource = NativeLibraries.class.getResourceAsStream(name)) {
            if (resource == null) {
                throw new IOException(name + " is missing from the class path");
            }
            Files.copy(resource, file);
        }
        return file;
    }

    @Nullable
    Found openMpi() throws IOException, InterruptedException {
        String launcher = launcher("Open MPI", "mpirun.openmpi", "mpirun");
        if (launcher == null) {
            System.out.println("Open MPI: not found; on Debian: apt-get install openmpi-bin libopenmpi-dev");
            return null;
        }
        Path program = directory.resolve("race-openmpi");
        boolean compiled = compile(program, "mpicc.openmpi")
                || compile(program, sibling(launcher, "mpicc"))
                || compileWithoutHeader(program, launcher);
        return compiled ? new Found(firstLine(launcher, "--version"), launcher, program) : null;
    }

    @Nullable
    Found mpich() throws IOException, InterruptedException {
        String launcher = launcher("HYDRA", "mpirun.mpich", "mpirun");
        if (launcher == null) {
            System.out.println("MPICH: not found; on Debian: apt-get install mpich libmpich-dev");
            return null;
        }
        Path program = directory.resolve("race-mpich");
        boolean compiled = compile(program, "mpicc.mpich") || compile(program, sibling(launcher, "mpicc"));
        return compiled
                ? new Found(
                        "MPICH " + output("mpichversion").lines().findFirst().orElse(""), launcher, program)
                : null;
    }

    /** The same program with copies and sums by hand in the place of a library, or null if this machine's compiler cannot make it. */
    @Nullable
    Path byHand() throws IOException {
        unpack("by-hand.h");
        Path program = directory.resolve("race-by-hand");
        return compile(program, "gcc", "-DTUTTI_BY_HAND") ? program : null;
    }

    static void startByHand(Contestant contestant, Path program, String way) throws IOException {
        contestant.start(List.of(program.toString(), contestant.directory().toString()), Map.of("BY_HAND", way));
    }

    static void startOpenMpi(Contestant contestant, Found found, int ranks, boolean sharedMemoryCollectives)
            throws IOException {
        List<String> command = new ArrayList<>(List.of(found.launcher, "-n", "" + ranks, "--oversubscribe"));
        command.addAll(List.of("--bind-to", "none", "--mca", "pml", "ob1", "--mca", "btl", "vader,self"));
        if (sharedMemoryCollectives) {
            command.addAll(List.of("--mca", "coll_sm_priority", "100"));
        }
        command.addAll(List.of(found.program.toString(), contestant.directory().toString()));
        contestant.start(command, ENVIRONMENT);
    }

    static void startMpich(Contestant contestant, Found found, int ranks) throws IOException {
        contestant.start(
                List.of(
                        found.launcher,
                        "-n",
                        "" + ranks,
                        "-bind-to",
                        "none",
                        found.program.toString(),
                        contestant.directory().toString()),
                Map.of());
    }

    /** The first of these commands whose version text has these words. */
    private static @Nullable String launcher(String words, String... names) throws InterruptedException {
        return Stream.of(names)
                .filter(name -> output(name, "--version").contains(words))
                .findFirst()
                .orElse(null);
    }

    private boolean compile(Path program, String compiler, String... libraries) {
        List<String> command = new ArrayList<>(List.of(compiler));
        command.addAll(FLAGS);
        command.addAll(List.of(source.toString(), "-o", program.toString()));
        command.addAll(List.of(libraries));
        String output = output(command.toArray(String[]::new));
        if (!Files.isExecutable(program) && !output.isEmpty()) {
            System.out.println(compiler + ": " + output.lines().findFirst().orElse(""));
        }
        return Files.isExecutable(program);
    }

    /** Some machines have the library and its launcher but neither compiler wrapper nor header. */
    private boolean compileWithoutHeader(Path program, String launcher) {
        for (String library : libraries(launcher)) {
            for (String compiler : List.of("gcc", "cc", "clang")) {
                if (compile(program, compiler, "-DTUTTI_OMPI_WITHOUT_HEADER", library)) {
                    return true;
                }
            }
        }
        System.out.println("Open MPI: found " + launcher + " but could not compile with it;"
                + " on Debian: apt-get install libopenmpi-dev gcc");
        return false;
    }

    private static List<String> libraries(String launcher) {
        List<String> libraries = new ArrayList<>(List.of("-lmpi"));
        Path bin = Path.of(launcher).isAbsolute()
                ? Path.of(launcher)
                : Path.of(output("which", launcher).strip());
        Path prefix =
                bin.getParent() == null ? Path.of("/usr") : bin.getParent().resolveSibling("lib");
        Stream.of(prefix, Path.of("/usr/lib/x86_64-linux-gnu"), Path.of("/usr/lib64"), Path.of("/usr/lib"))
                .flatMap(folder -> Stream.of("libmpi.so.40", "libmpi.so").map(folder::resolve))
                .filter(Files::exists)
                .forEach(file -> libraries.add(file.toString()));
        return libraries;
    }

    private static String sibling(String launcher, String name) {
        Path folder = Path.of(launcher).getParent();
        return folder == null ? name : folder.resolve(name).toString();
    }

    private static String firstLine(String... command) {
        return output(command).lines().findFirst().orElse("");
    }

    /** What a command prints; empty if it is not there. */
    private static String output(String... command) {
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            process.waitFor(60, TimeUnit.SECONDS);
            return output;
        } catch (IOException notThere) {
            return "";
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return "";
        }
    }
}
