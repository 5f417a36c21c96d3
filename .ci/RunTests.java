import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/** Runs test classes, one after the other until one fails, and prints the names of tests that fail. */
final class RunTests {
    public static void main(String[] classes) {
        for (String each : classes) {
            SummaryGeneratingListener summary = new SummaryGeneratingListener();
            LauncherFactory.create()
                    .execute(
                            LauncherDiscoveryRequestBuilder.request()
                                    .selectors(DiscoverySelectors.selectClass(each))
                                    .build(),
                            summary,
                            new Printer(each.substring(each.lastIndexOf('.') + 1)));
            if (summary.getSummary().getTotalFailureCount() > 0
                    || summary.getSummary().getTestsStartedCount() == 0) {
                System.exit(1);
            }
        }
        System.exit(0);
    }

    private record Printer(String name) implements TestExecutionListener {
        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            if (result.getStatus() == TestExecutionResult.Status.FAILED) {
                System.out.println("FAILED " + name + " " + test.getDisplayName());
                result.getThrowable().ifPresent(Throwable::printStackTrace);
                if (Boolean.getBoolean("tutti.matrix.failfast")) {
                    System.out.flush();
                    Runtime.getRuntime().halt(1);
                }
            }
        }
    }
}
