package dev.tutti.processes;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Runs test classes in several processes at once, each of which is one rank of the worlds that the tests make. */
public final class TestProcesses implements ProcessWorld.Program {
    /** What came of it: complaints, and how many tests were run. */
    public record Result(List<String> complaints, long succeeded) {}

    /** Runs all tests of the classes, in one pool of processes. */
    public static Result run(Path folder, int processes, Duration limit, List<Class<?>> classes)
            throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of(folder.toString()));
        classes.forEach(each -> arguments.add(each.getName()));
        List<String> complaints = ProcessWorld.run(
                List.of(ProcessWorld.QUICKLY),
                TestProcesses.class,
                processes,
                1,
                limit,
                arguments.toArray(String[]::new));
        Path count = folder.resolve("succeeded");
        return new Result(complaints, Files.exists(count) ? Long.parseLong(Files.readString(count)) : 0);
    }

    @Override
    public String run(int ranksHere, String[] arguments) throws IOException {
        System.setProperty("tutti.test.folder", arguments[0]);
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        long succeeded = 0;
        // One after the other: the order of classes is ours, that of methods JUnit's, which is always the same.
        for (int i = 1; i < arguments.length; i++) {
            LauncherFactory.create()
                    .execute(
                            LauncherDiscoveryRequestBuilder.request()
                                    .selectors(DiscoverySelectors.selectClass(arguments[i]))
                                    .build(),
                            listener);
            TestExecutionSummary summary = listener.getSummary();
            succeeded += summary.getTestsSucceededCount();
            if (summary.getTotalFailureCount() > 0) {
                StringWriter text = new StringWriter();
                summary.printFailuresTo(new PrintWriter(text, true), 12);
                return text.toString();
            }
        }
        if (System.getenv("TUTTI_RANK").equals("0")) {
            Files.writeString(Path.of(arguments[0], "succeeded"), "" + succeeded);
        }
        return null;
    }
}
