package dev.tutti.bootstrap;

import dev.tutti.health.ProcessId;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Who this process is among those that were started together, as the environment says. Ranks are counted elsewhere: a process
 * may hold several.
 *
 * @param launcher who started it, for messages
 * @param process its number
 * @param processes how many there are
 * @param id names the job; the same for all its processes, and on one host different from every other's
 * @param venue where they meet
 * @param starter the process whose end ends the job, or null
 */
public record Job(
        String launcher,
        int process,
        int processes,
        String id,
        Venue venue,
        @Nullable ProcessId starter) {
    /** Variables of Tutti's own that say who a process is; they are no settings. */
    public static final java.util.Set<String> VARIABLES = java.util.Set.of(
            "TUTTI_RANK",
            "TUTTI_SIZE",
            "TUTTI_JOB",
            "TUTTI_SECRET",
            "TUTTI_SECRET_FILE",
            "TUTTI_RENDEZVOUS",
            "TUTTI_LAUNCHER");

    /** From this process's environment. */
    public static Job fromEnvironment() {
        return from(System.getenv());
    }

    /** From given variables. */
    public static Job from(Map<String, String> environment) {
        return from(environment, ProcessId::self);
    }

    static Job from(Map<String, String> environment, java.util.function.Supplier<ProcessId> self) {
        Optional<Launcher> found = Launcher.find(environment);
        if (found.isEmpty()) {
            return new Job("nobody", 0, 1, "alone", new Venue.Alone(), null);
        }
        Launcher launcher = found.get();
        int process = launcher.rank(environment);
        int processes = launcher.size(environment);
        String starter = environment.get("TUTTI_LAUNCHER");
        ProcessId watched = starter == null ? null : parseStarter(starter);
        if (processes == 1) {
            return new Job(launcher.label, 0, 1, "alone", new Venue.Alone(), watched);
        }
        String given = environment.get("TUTTI_JOB");
        String id = given != null ? "TUTTI_JOB " + given : launcher.id(environment);
        String rendezvous = environment.get("TUTTI_RENDEZVOUS");
        if (rendezvous != null && rendezvous.startsWith("file:")) {
            return new Job(launcher.label, process, processes, id, Venue.Folder.parse(rendezvous), watched);
        }
        if (rendezvous != null) {
            Secret secret = Secret.from(environment)
                    .orElseThrow(() -> new IllegalArgumentException("TUTTI_RENDEZVOUS=" + rendezvous
                            + " needs a secret: set TUTTI_SECRET (openssl rand -hex 32) or TUTTI_SECRET_FILE, the same for"
                            + " all processes"));
            Venue.Server server = Venue.Server.parse(rendezvous, secret);
            if (String.valueOf(server.port()).equals(environment.get("MASTER_PORT"))) {
                throw new IllegalArgumentException("TUTTI_RENDEZVOUS=" + rendezvous
                        + " has the port of MASTER_PORT, which is the launcher's: name another free port");
            }
            return new Job(launcher.label, process, processes, id, server, watched);
        }
        OptionalInt here = launcher.localSize(environment);
        if (here.isPresent() && here.getAsInt() < processes) {
            throw new IllegalArgumentException("the " + processes + " processes of " + launcher.label
                    + " are on several hosts: set TUTTI_RENDEZVOUS=HOST:PORT (a free port of the host of process 0) and"
                    + " TUTTI_SECRET or TUTTI_SECRET_FILE, the same for all; no port of the launcher's own is used");
        }
        if (given == null) {
            id += " " + ancestor(launcher, self.get());
        }
        return new Job(launcher.label, process, processes, id, Venue.Folder.forJob(environment), watched);
    }

    /**
     * The nearest process above this one that is no rank itself: whoever started the ranks. Some launchers give a job no name, and
     * some the same name to every job; this one is different for any two jobs of one host.
     */
    private static String ancestor(Launcher launcher, ProcessId self) {
        Optional<ProcessId> above = self.parent();
        while (above.isPresent() && above.get().hasVariable(launcher.rankVariable)) {
            above = above.get().parent();
        }
        return above.map(ProcessId::toString).orElse("");
    }

    private static ProcessId parseStarter(String text) {
        try {
            return ProcessId.parse(text);
        } catch (IllegalArgumentException malformed) {
            throw new IllegalArgumentException("TUTTI_LAUNCHER: " + malformed.getMessage(), malformed);
        }
    }
}
