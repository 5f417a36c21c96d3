package dev.tutti.transport.shm;

import dev.tutti.memory.Memory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * A file that only its user may open, for systems without memfd. It loses its name as soon as everybody has mapped it. Pages come
 * when they are first written: running out of space is not noticed before, as no portable call reserves them.
 */
final class FileBacking implements Backing {
    private final Path path;
    private final Arena arena;
    private final long bytes;
    private final long address;
    private boolean named;

    private FileBacking(Path path, long bytes, boolean named) {
        this.path = path;
        this.bytes = bytes;
        this.named = named;
        this.arena = Arena.ofShared();
        try (FileChannel channel =
                FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.SPARSE)) {
            this.address =
                    channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena).address();
        } catch (IOException thrown) {
            arena.close();
            throw new UncheckedIOException(thrown);
        }
    }

    static FileBacking create(String name, long bytes) {
        try {
            Path path = Files.createTempFile(
                    name + "-",
                    ".region",
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            path.toFile().deleteOnExit();
            return new FileBacking(path, bytes, true);
        } catch (IOException thrown) {
            throw new UncheckedIOException(thrown);
        }
    }

    static FileBacking open(String handle, long bytes) {
        return new FileBacking(Path.of(handle), bytes, false);
    }

    @Override
    public long address() {
        return address;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public void reserve(long offset, long length) {}

    @Override
    public void punch(long offset, long length) {
        Memory.fill(address + offset, length, (byte) 0);
    }

    @Override
    public String handle() {
        return path.toString();
    }

    @Override
    public void everybodyHasIt() {
        if (named) {
            named = false;
            try {
                Files.deleteIfExists(path);
            } catch (IOException leftToTheEnd) {
                named = true;
            }
        }
    }

    @Override
    public void close() {
        everybodyHasIt();
        arena.close();
    }
}
