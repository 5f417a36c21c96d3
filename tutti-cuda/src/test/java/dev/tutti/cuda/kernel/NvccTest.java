package dev.tutti.cuda.kernel;

import dev.tutti.DataType;
import dev.tutti.reduce.Fold;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
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
        List<Callable<Void>> tasks = new ArrayList<>();
        for (DataType type : DataType.values()) {
            // Each type with some operator and each operator with some type; the host test has more of them.
            Fold[] folds = java.util.Arrays.stream(Fold.values())
                    .filter(fold -> fold.accepts(type))
                    .toArray(Fold[]::new);
            int number = type.number();
            tasks.add(compile(
                    folder,
                    "fused.cu",
                    "-DTYPE=" + number,
                    "-DFOLD=" + folds[number % folds.length].ordinal(),
                    "-DRANKS=" + RANKS[number % RANKS.length],
                    "-DAPART=" + number % 3));
        }
        for (int apart = 0; apart < 3; apart++) {
            tasks.add(compile(folder, "copy.cu", "-DAPART=" + apart, "-DPLACES=" + new int[] {96, 4, 8}[apart]));
        }
        for (DataType type : List.of(DataType.FLOAT32, DataType.FLOAT64, DataType.FLOAT8E4M3, DataType.INT16)) {
            tasks.add(compile(folder, "plan.cu", "-DTYPE=" + type.number()));
        }
        HostCompiler.all(tasks);
    }

    private static Callable<Void> compile(Path folder, String file, String... defines) {
        List<String> command = new ArrayList<>(
                List.of("nvcc", "-arch=sm_90", "-cubin", "--fmad=false", "-std=c++17", "-Werror", "all-warnings"));
        command.addAll(List.of(defines));
        command.addAll(List.of("-o", file + String.join("", defines) + ".cubin", file));
        return () -> {
            HostCompiler.run(folder, command);
            return null;
        };
    }
}
