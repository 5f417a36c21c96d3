package dev.tutti.cuda.kernel;

import dev.tutti.DataType;
import dev.tutti.reduce.Fold;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Kernels must compile where there is a compiler, GPU or not. */
@Timeout(300)
class NvccTest {
    private static final int[] RANKS = {0, 2, 4, 8};

    @Test
    void shouldCompileEveryKernel(@TempDir Path folder) throws Exception {
        HostCompiler.require("nvcc");
        HostCompiler.unpack(folder);
        List<List<String>> variants = new ArrayList<>();
        for (DataType type : DataType.values()) {
            // Each type with some operator and each operator with some type; the host test has more of them.
            Fold[] folds = java.util.Arrays.stream(Fold.values())
                    .filter(fold -> fold.accepts(type))
                    .toArray(Fold[]::new);
            int number = type.number();
            variants.add(List.of(
                    "-DTYPE=" + number,
                    "-DFOLD=" + folds[number % folds.length].ordinal(),
                    "-DRANKS=" + RANKS[number % RANKS.length],
                    "-DAPART=" + number % 3));
        }
        for (List<String> variant : variants) {
            compile(folder, "fused.cu", variant);
        }
        for (int apart = 0; apart < 3; apart++) {
            compile(folder, "copy.cu", List.of("-DAPART=" + apart, "-DPLACES=" + new int[] {96, 4, 8}[apart]));
        }
        for (DataType type : List.of(DataType.FLOAT32, DataType.FLOAT64, DataType.FLOAT8E4M3, DataType.INT16)) {
            compile(folder, "plan.cu", List.of("-DTYPE=" + type.number()));
        }
    }

    private static void compile(Path folder, String file, List<String> defines) throws Exception {
        List<String> command = new ArrayList<>(
                List.of("nvcc", "-arch=sm_90", "-cubin", "--fmad=false", "-std=c++17", "-Werror", "all-warnings"));
        command.addAll(defines);
        command.addAll(List.of("-o", "out.cubin", file));
        HostCompiler.run(folder, command);
    }
}
