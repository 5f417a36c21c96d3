package dev.tutti.cuda.library;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Where CUDA's libraries are when the loader does not know them: its own folders, and the wheels that Python installs. */
final class Folders {
    private Folders() {}

    /** Files in the folders that the user named, which come before anything else. */
    static List<Path> asked(List<String> names) {
        String given = System.getProperty("tutti.cuda.libraries");
        Set<Path> folders = new LinkedHashSet<>();
        for (String each : given == null || given.isEmpty() ? new String[0] : given.split(":", -1)) {
            folders.add(Path.of(each));
        }
        return existing(names, folders);
    }

    /** Existing files of these names, the best place first. */
    static List<Path> candidates(List<String> names) {
        Set<Path> folders = new LinkedHashSet<>();
        for (String variable : List.of("CUDA_HOME", "CUDA_PATH")) {
            String home = System.getenv(variable);
            if (home != null && !home.isEmpty()) {
                folders.add(Path.of(home, "lib64"));
                folders.add(Path.of(home, "lib"));
            }
        }
        folders.add(Path.of("/usr/local/cuda/lib64"));
        for (Path each : matching(Path.of("/usr/local"), "cuda-*")) {
            folders.add(each.resolve("lib64"));
        }
        for (String each : List.of(
                "/usr/local/nvidia/lib64",
                "/usr/local/nvidia/lib",
                "/usr/lib/x86_64-linux-gnu",
                "/usr/lib/aarch64-linux-gnu",
                "/usr/lib64",
                "/usr/lib/wsl/lib",
                "/opt/cuda/lib64")) {
            folders.add(Path.of(each));
        }
        for (Path packages : pythonPackages()) {
            for (Path wheel : matching(packages.resolve("nvidia"), "*")) {
                folders.add(wheel.resolve("lib"));
            }
        }
        return existing(names, folders);
    }

    private static List<Path> existing(List<String> names, Set<Path> folders) {
        List<Path> files = new ArrayList<>();
        for (String name : names) {
            for (Path folder : folders) {
                Path file = folder.resolve(name);
                if (Files.isRegularFile(file)) {
                    files.add(file);
                }
            }
        }
        return files;
    }

    private static List<Path> pythonPackages() {
        List<Path> roots = new ArrayList<>();
        addRoot(roots, System.getenv("VIRTUAL_ENV"));
        addRoot(roots, System.getenv("CONDA_PREFIX"));
        String path = System.getenv("PATH");
        for (String folder : path == null ? new String[0] : path.split(":", -1)) {
            Path python = Path.of(folder, "python3");
            if (Files.isExecutable(python)) {
                // The folder as given: in a virtual environment the program itself is a link to somewhere else.
                addRoot(roots, Path.of(folder).resolveSibling("").toString());
            }
        }
        addRoot(roots, System.getProperty("user.home") + "/.local");
        addRoot(roots, "/usr/local");
        addRoot(roots, "/usr");
        List<Path> packages = new ArrayList<>();
        for (Path root : roots) {
            for (Path version : matching(root.resolve("lib"), "python3*")) {
                packages.add(version.resolve("site-packages"));
                packages.add(version.resolve("dist-packages"));
            }
        }
        return packages;
    }

    private static void addRoot(List<Path> roots, @Nullable String root) {
        if (root != null && !root.isEmpty()) {
            roots.add(Path.of(root));
        }
    }

    /** Newest first, as far as names tell. */
    private static List<Path> matching(Path folder, String glob) {
        List<Path> found = new ArrayList<>();
        if (Files.isDirectory(folder)) {
            try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, glob)) {
                entries.forEach(found::add);
            } catch (IOException unreadable) {
                return List.of();
            }
        }
        found.sort(java.util.Comparator.reverseOrder());
        return found;
    }
}
