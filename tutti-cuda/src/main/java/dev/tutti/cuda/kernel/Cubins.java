package dev.tutti.cuda.kernel;

import dev.tutti.cuda.nvrtc.Nvrtc;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * Machine code of kernel sources: compiled once and kept on disk under a name made of everything that it depends on: sources,
 * architecture, options, and the compiler's version. A file that cannot be written costs time, nothing else.
 */
public final class Cubins {
    private final Path folder;

    /** A cache in the user's folder for such things. */
    public Cubins() {
        this(defaultFolder());
    }

    /** A cache in a folder of its own. */
    public Cubins(Path folder) {
        this.folder = folder;
    }

    /** Where cubins are kept. */
    public Path folder() {
        return folder;
    }

    /**
     * The machine code of a source.
     *
     * @param name of the source
     * @param source its text
     * @param headers what it includes
     * @param architecture for example {@code sm_90}
     * @param defines for example {@code TYPE=7}
     * @return a cubin, compiled now if it was not there
     */
    public byte[] get(
            String name, String source, Map<String, String> headers, String architecture, List<String> defines) {
        List<String> options = new java.util.ArrayList<>(List.of(
                "--gpu-architecture=" + architecture,
                // One rounding per operation, as on hosts.
                "--fmad=false",
                "--std=c++17"));
        defines.forEach(each -> options.add("-D" + each));
        Path file = folder.resolve(name.replace('.', '-') + "-" + key(source, headers, options) + ".cubin");
        try {
            if (Files.isRegularFile(file)) {
                return Files.readAllBytes(file);
            }
        } catch (IOException unreadable) {
            // compiled again below
        }
        byte[] cubin = Nvrtc.compile(name, source, headers, options);
        keep(file, cubin);
        return cubin;
    }

    private void keep(Path file, byte[] cubin) {
        try {
            Files.createDirectories(folder);
            // Written elsewhere and moved, so that nobody reads half of it.
            Path part = Files.createTempFile(folder, "part", ".tmp");
            try {
                Files.write(part, cubin);
                Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.deleteIfExists(part);
            }
        } catch (IOException cannotKeep) {
            // the next process compiles it again
        }
    }

    private static String key(String source, Map<String, String> headers, List<String> options) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(Nvrtc.version().getBytes(StandardCharsets.UTF_8));
            digest.update(String.join("\n", options).getBytes(StandardCharsets.UTF_8));
            digest.update(source.getBytes(StandardCharsets.UTF_8));
            headers.forEach((name, text) -> digest.update((name + "\n" + text).getBytes(StandardCharsets.UTF_8)));
            return HexFormat.of().formatHex(digest.digest(), 0, 16);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static Path defaultFolder() {
        String cache = System.getenv("XDG_CACHE_HOME");
        Path base =
                cache == null || cache.isEmpty() ? Path.of(System.getProperty("user.home"), ".cache") : Path.of(cache);
        return base.resolve("tutti").resolve("cubins");
    }
}
