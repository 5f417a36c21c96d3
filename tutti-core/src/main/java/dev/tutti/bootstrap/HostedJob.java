package dev.tutti.bootstrap;

import dev.tutti.health.ProcessId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Map;

/** A job that this process starts on this host: its name, its folder, and what each of its processes must be told. */
public final class HostedJob implements AutoCloseable {
    private final String name;
    private final ProcessId starter;
    private final Path folder;

    private HostedJob(String name, ProcessId starter, Path folder) {
        this.name = name;
        this.starter = starter;
        this.folder = folder;
    }

    /**
     * Makes one, and removes what dead ones have left.
     *
     * @param environment of this process; says where the user's folder is
     */
    public static HostedJob create(Map<String, String> environment) {
        byte[] random = new byte[16];
        new SecureRandom().nextBytes(random);
        String name = HexFormat.of().formatHex(random);
        ProcessId self = ProcessId.self();
        PrivateFolder user =
                PrivateFolder.ofUser(Venue.Folder.forJob(environment).runtimeFolder());
        return new HostedJob(name, self, JobFolder.create(user, name, self));
    }

    /** Where the processes meet. */
    public Path folder() {
        return folder;
    }

    /** Makes an environment that of one of the processes. */
    public void describe(Map<String, String> environment, int process, int processes) {
        Job.VARIABLES.forEach(environment::remove);
        environment.put("TUTTI_RANK", "" + process);
        environment.put("TUTTI_SIZE", "" + processes);
        environment.put("TUTTI_JOB", name);
        environment.put("TUTTI_RENDEZVOUS", "file:" + folder);
        environment.put("TUTTI_LAUNCHER", starter.toString());
    }

    /** Tells those who are still joining that one will not come. */
    public void ended(int process) {
        try {
            Files.createFile(folder.resolve(JobFolder.ENDED + process));
        } catch (IOException gone) {
            // Then nobody is joining.
        }
    }

    /** Removes the folder. */
    @Override
    public void close() {
        JobFolder.remove(folder);
    }
}
