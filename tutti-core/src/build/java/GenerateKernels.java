import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Writes the reduction kernels of {@code dev.tutti.reduce}: {@code java GenerateKernels.java OUTPUT_DIRECTORY}.
 *
 * <p>One template per kind of kernel, filled from small tables of what differs between types and folds: {@link ScalarTwin} has the
 * scalar twins and folds of few elements, {@link VectorClass} the classes of vector kernels, {@link VectorKernel} and {@link Float16Kernel} one kernel of those.
 */
public final class GenerateKernels {
    private static final String HEADER = """
            // Written by GenerateKernels; change that instead.
            package dev.tutti.reduce;

            """;

    public static void main(String[] args) throws IOException {
        Path directory = Path.of(args[0], "dev", "tutti", "reduce");
        Files.createDirectories(directory);
        for (ScalarTwin scalar : ScalarTwin.values()) {
            Files.writeString(directory.resolve("Scalar" + scalar.name + ".java"), HEADER + scalar.source());
            Files.writeString(directory.resolve("Few" + scalar.name + ".java"), HEADER + scalar.few());
        }
        for (boolean heap : new boolean[] {false, true}) {
            String form = heap ? "Heap" : "Native";
            for (Lane lane : Lane.values()) {
                if (!lane.isType()) {
                    continue;
                }
                Files.writeString(
                        directory.resolve(form + lane.name + ".java"), HEADER + new VectorClass(lane, heap).source());
            }
        }
    }

    private GenerateKernels() {}
}
