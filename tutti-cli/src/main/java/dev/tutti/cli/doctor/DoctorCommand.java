package dev.tutti.cli.doctor;

import dev.tutti.cli.Version;
import dev.tutti.cuda.Cuda;
import dev.tutti.cuda.CudaCapabilities;
import dev.tutti.cuda.CudaDevice;
import dev.tutti.cuda.CudaHealth;
import dev.tutti.cuda.CudaTopology;
import dev.tutti.reduce.Kernels;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The subcommand {@code doctor}. */
@Command(
        name = "doctor",
        header = "Says what of this machine Tutti can use, and what is missing for the rest.",
        sortOptions = false,
        usageHelpWidth = 100,
        footer = {"", "Exit status: 0. Something that is missing is no error: Tutti works without it."})
public final class DoctorCommand implements Callable<Integer> {
    @Option(names = "--json", description = "for programs")
    boolean json;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "show this")
    boolean help;

    private final PrintStream out;

    /**
     * Makes one.
     *
     * @param out where the report goes
     */
    public DoctorCommand(PrintStream out) {
        this.out = out;
    }

    @Override
    public Integer call() {
        out.print(json ? json() : text());
        out.flush();
        return 0;
    }

    private static String text() {
        StringBuilder text = new StringBuilder();
        line(text, "tutti", Version.text());
        line(text, "java", Runtime.version() + ", " + System.getProperty("java.vm.name"));
        line(text, "processors", Integer.toString(Runtime.getRuntime().availableProcessors()));
        line(text, "vector kernels", orYes(Kernels.unavailabilityCause()));
        line(text, "CUDA", orYes(Cuda.unavailabilityCause()));
        for (Cuda.Library library : Cuda.libraries()) {
            line(text, library.name(), library.found());
        }
        for (CudaDevice device : Cuda.devices()) {
            text.append(System.lineSeparator()).append(device.capabilities().text());
            text.append(CudaHealth.of(device).text());
        }
        if (Cuda.isAvailable()) {
            text.append(System.lineSeparator()).append(CudaTopology.read().text());
        }
        return text.toString();
    }

    private static String json() {
        List<String> parts = new ArrayList<>();
        parts.add(member("tutti", Version.text()));
        parts.add(member("java", Runtime.version().toString()));
        parts.add("\"processors\": " + Runtime.getRuntime().availableProcessors());
        parts.add(member("vectorKernels", orYes(Kernels.unavailabilityCause())));
        parts.add(member("cuda", orYes(Cuda.unavailabilityCause())));
        for (Cuda.Library library : Cuda.libraries()) {
            parts.add(member(library.name(), library.found()));
        }
        List<String> devices = Cuda.devices().stream()
                .map(CudaDevice::capabilities)
                .map(CudaCapabilities::json)
                .toList();
        parts.add("\"devices\": [" + String.join(", ", devices) + "]");
        List<String> health = Cuda.devices().stream()
                .map(CudaHealth::of)
                .map(CudaHealth::json)
                .toList();
        parts.add("\"health\": [" + String.join(", ", health) + "]");
        parts.add("\"topology\": " + CudaTopology.read().json());
        return "{" + String.join(", ", parts) + "}" + System.lineSeparator();
    }

    private static String member(String name, String value) {
        return "\"" + name + "\": \"" + value.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }

    private static void line(StringBuilder text, String name, String value) {
        text.append(String.format("%-18s %s%n", name, value));
    }

    private static String orYes(@Nullable String cause) {
        return cause == null ? "yes" : "no: " + cause;
    }
}
