package dev.tutti.cli.run;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * Carries what a process prints to where it belongs, whole lines at a time, so that lines of different ranks never mix. Each
 * line may get a tag.
 */
final class LinePump implements Runnable {
    private static final int CHUNK_BYTES = 64 << 10;
    /** A line that is longer goes in pieces. */
    private static final int LONGEST_LINE_BYTES = 1 << 20;

    private final InputStream in;
    private final OutputStream out;
    private final byte[] tag;
    private final LastLines last;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();
    private final ByteArrayOutputStream ready = new ByteArrayOutputStream();

    /**
     * Makes one.
     *
     * @param in what the process prints
     * @param out where it goes; shared by several pumps, which take turns by its monitor
     * @param tag stands before each line; may be empty
     * @param last remembers the end
     */
    LinePump(InputStream in, OutputStream out, String tag, LastLines last) {
        this.in = in;
        this.out = out;
        this.tag = tag.getBytes(StandardCharsets.UTF_8);
        this.last = last;
    }

    @Override
    public void run() {
        byte[] chunk = new byte[CHUNK_BYTES];
        try (in) {
            for (int read = in.read(chunk); read >= 0; read = in.read(chunk)) {
                take(chunk, read);
                write();
            }
        } catch (IOException gone) {
            // The process has ended, and with it its output.
        }
        if (line.size() > 0) {
            line.write('\n');
            endLine();
        }
        write();
    }

    private void take(byte[] chunk, int bytes) {
        int from = 0;
        for (int i = 0; i < bytes; i++) {
            if (chunk[i] == '\n') {
                line.write(chunk, from, i + 1 - from);
                endLine();
                from = i + 1;
            }
        }
        line.write(chunk, from, bytes - from);
        if (line.size() > LONGEST_LINE_BYTES) {
            endLine();
        }
    }

    private void endLine() {
        byte[] whole = line.toByteArray();
        line.reset();
        last.add(whole);
        ready.writeBytes(tag);
        ready.writeBytes(whole);
    }

    private void write() {
        if (ready.size() == 0) {
            return;
        }
        synchronized (out) {
            try {
                ready.writeTo(out);
                out.flush();
            } catch (IOException closed) {
                throw new UncheckedIOException(closed);
            }
        }
        ready.reset();
    }
}
