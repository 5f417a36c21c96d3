package dev.tutti.cuda.kernel;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** Runs compilers on the kernel sources. */
public final class HostCompiler {
    private HostCompiler() {}

    /** Skips the test, with a reason, where a program is missing. */
    public static void require(String program) {
        boolean there = java.util.Arrays.stream(System.getenv("PATH").split(":"))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
        if (!there) {
            System.out.println("skipped: no " + program + " on the PATH");
        }
        Assumptions.assumeTrue(there, "no " + program + " on the PATH");
    }

    /** The sources as files. */
    public static void unpack(Path folder) throws IOException {
        for (String name : Sources.FILES) {
            Files.writeString(folder.resolve(name), Sources.text(name));
        }
        for (String name : Sources.HEADERS) {
            Files.writeString(folder.resolve(name), Sources.text(name));
        }
    }

    /** Runs a program and fails with its output if it fails. */
    public static void run(Path folder, List<String> command) throws IOException, InterruptedException {
        Path log = Files.createTempFile(folder, "log", ".txt");
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        if (!process.waitFor(120, TimeUnit.SECONDS) || process.exitValue() != 0) {
            process.destroyForcibly();
            throw new AssertionError(command + " failed:\n" + Files.readString(log));
        }
    }

    /** Does all of it, as much at a time as there are cores: compilers use one each. */
    public static void all(List<Callable<Void>> tasks) throws InterruptedException, ExecutionException {
        try (ExecutorService cores =
                Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors())) {
            for (Future<Void> each : cores.invokeAll(tasks)) {
                each.get();
            }
        }
    }

    /** Compiles a source for the host, with functions that play its kernels, and loads it. */
    public static SymbolLookup host(Path folder, String file, String kernels, List<String> defines, Arena arena)
            throws IOException, InterruptedException {
        unpack(folder);
        Path shim = folder.resolve("host.h");
        try (var stream = HostCompiler.class.getResourceAsStream("host.h")) {
            Files.write(shim, java.util.Objects.requireNonNull(stream).readAllBytes());
        }
        String tag = file.replace('.', '_') + "_" + String.join("_", defines).replaceAll("[^A-Za-z0-9]", "_");
        Path source = folder.resolve(tag + ".cpp");
        Files.writeString(source, "#include \"host.h\"\n#include \"" + file + "\"\n" + kernels);
        Path library = folder.resolve(tag + ".so");
        List<String> command = new ArrayList<>(List.of(
                "g++", "-std=c++17", "-O1", "-w", "-fPIC", "-shared", "-pthread", "-ffp-contract=off", "-fwrapv"));
        defines.forEach(each -> command.add("-D" + each));
        command.addAll(List.of("-o", library.toString(), source.toString()));
        run(folder, command);
        return SymbolLookup.libraryLookup(library, arena);
    }

    /** A function {@code void f(const void* args, int x, int y, int z, int threads)}. */
    public static MethodHandle player(SymbolLookup library, String name) {
        return Linker.nativeLinker()
                .downcallHandle(
                        library.find(name).orElseThrow(),
                        FunctionDescriptor.ofVoid(
                                ValueLayout.ADDRESS,
                                ValueLayout.JAVA_INT,
                                ValueLayout.JAVA_INT,
                                ValueLayout.JAVA_INT,
                                ValueLayout.JAVA_INT));
    }

    /** The C++ of such a function for a kernel. */
    public static String playing(String kernel, String args) {
        return "extern \"C\" void play_" + kernel
                + "(const void* args, int x, int y, int z, int threads) { play(" + kernel + ", *(const " + args
                + "*)args, x, y, z, threads); }\n";
    }

    public static void call(MethodHandle player, MemorySegment args, int x, int y, int z, int threads) {
        try {
            player.invoke(args, x, y, z, threads);
        } catch (Throwable thrown) {
            throw new AssertionError(thrown);
        }
    }
}
