package dev.tutti.bootstrap;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Where the processes of a job meet. */
public sealed interface Venue {
    /** There is one process. */
    record Alone() implements Venue {}

    /**
     * A folder that only this user can look into.
     *
     * @param given the job's own folder, if whoever started the processes has made it; null: it is found by the job's id
     * @param runtimeFolder the folder that the system gives this user for such things, or null
     */
    record Folder(@Nullable Path given, @Nullable Path runtimeFolder) implements Venue {
        static Folder parse(String text) {
            String name = text.substring("file:".length());
            try {
                Path path = Path.of(name);
                if (!path.isAbsolute()) {
                    throw new IllegalArgumentException("TUTTI_RENDEZVOUS=" + text + " must name an absolute path");
                }
                return new Folder(path, null);
            } catch (InvalidPathException malformed) {
                throw new IllegalArgumentException("TUTTI_RENDEZVOUS=" + text + " names no path", malformed);
            }
        }

        static Folder forJob(Map<String, String> environment) {
            String runtime = environment.get("XDG_RUNTIME_DIR");
            return new Folder(null, runtime == null || runtime.isEmpty() ? null : Path.of(runtime));
        }

        @Override
        public String toString() {
            return given == null ? "the folder of their job" : given.toString();
        }
    }

    /** A server in process 0. */
    record Server(String host, int port, Secret secret) implements Venue {
        static Server parse(String text, Secret secret) {
            String address = text.startsWith("tcp:") ? text.substring(4) : text;
            int colon = address.lastIndexOf(':');
            try {
                String host = address.substring(0, colon);
                int port = Integer.parseInt(address.substring(colon + 1));
                if (host.startsWith("[") && host.endsWith("]")) {
                    host = host.substring(1, host.length() - 1);
                }
                if (!host.isEmpty() && port > 0 && port < 1 << 16) {
                    return new Server(host, port, secret);
                }
            } catch (IndexOutOfBoundsException | NumberFormatException malformed) {
                // Said below.
            }
            throw new IllegalArgumentException(
                    "TUTTI_RENDEZVOUS=" + text + " must be HOST:PORT, tcp:HOST:PORT or file:/FOLDER");
        }

        @Override
        public String toString() {
            return host + ":" + port;
        }
    }
}
