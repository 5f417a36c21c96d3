package dev.tutti.bench.kernels;

import dev.tutti.DataType;
import dev.tutti.reduce.Fold;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The same kernels in C, compiled on the spot for this machine. */
final class CTwin {
    private static final List<String> FLAGS = List.of("-O3", "-march=native", "-ffp-contract=off", "-fPIC", "-shared");

    private final SymbolLookup symbols;

    private CTwin(SymbolLookup symbols) {
        this.symbols = symbols;
    }

    static CTwin compile() throws IOException, InterruptedException {
        Path directory = Files.createTempDirectory("tutti-kernels");
        Path source = directory.resolve("kernels.c");
        Path library = directory.resolve("kernels.so");
        try (InputStream resource = CTwin.class.getResourceAsStream("kernels.c")) {
            if (resource == null) {
                throw new IOException("kernels.c is missing from the class path");
            }
            Files.copy(resource, source);
        }
        for (String compiler : List.of("gcc", "cc", "clang")) {
            if (run(compiler, source, library)) {
                SymbolLookup symbols = SymbolLookup.libraryLookup(library, Arena.global());
                Files.delete(library);
                Files.delete(source);
                Files.delete(directory);
                return new CTwin(symbols);
            }
        }
        throw new IOException("No C compiler (gcc, cc, clang) could compile " + source
                + "; install one, for example with: apt-get install gcc, or dnf install gcc");
    }

    private static boolean run(String compiler, Path source, Path library) throws IOException, InterruptedException {
        List<String> command = new java.util.ArrayList<>(List.of(compiler));
        command.addAll(FLAGS);
        command.addAll(List.of(source.toString(), "-o", library.toString()));
        Process process;
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException notInstalled) {
            return false;
        }
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        boolean compiled = process.waitFor(60, TimeUnit.SECONDS) && process.exitValue() == 0;
        if (!compiled) {
            System.err.println(compiler + ": " + output);
        }
        return compiled;
    }

    /** {@code void (MemorySegment a, MemorySegment b, MemorySegment c, long count, long aux)}; segments may be arrays. */
    MethodHandle kernel(DataType type, Fold fold) {
        return kernel(symbols.findOrThrow(name(type, fold)));
    }

    /** The same, with Tutti's promises about NaN and the sign of zero, where the loop above has not got them. */
    Optional<MethodHandle> exact(DataType type, Fold fold) {
        return symbols.find(name(type, fold) + "_exact").map(CTwin::kernel);
    }

    private static String name(DataType type, Fold fold) {
        return type + "_" + fold.name().toLowerCase(Locale.ROOT);
    }

    private static MethodHandle kernel(MemorySegment symbol) {
        return Linker.nativeLinker()
                .downcallHandle(
                        symbol,
                        FunctionDescriptor.ofVoid(
                                ValueLayout.ADDRESS,
                                ValueLayout.ADDRESS,
                                ValueLayout.ADDRESS,
                                ValueLayout.JAVA_LONG,
                                ValueLayout.JAVA_LONG),
                        Linker.Option.critical(true));
    }
}
