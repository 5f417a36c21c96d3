package dev.tutti.cli.perf;

import dev.tutti.cli.common.CommandException;
import dev.tutti.cli.common.ExitCode;
import picocli.CommandLine.Option;

/** What nccl-tests has for GPUs only: accepted as long as it says what is the case anyway. */
final class GpuOptions {
    @Option(
            names = {"-p", "--parallel_init"},
            paramLabel = "0",
            hidden = true)
    int parallelInit = 0;

    @Option(
            names = {"-y", "--stream_null"},
            paramLabel = "0",
            hidden = true)
    int nullStream = 0;

    @Option(
            names = {"-G", "--cudagraph"},
            paramLabel = "0",
            hidden = true)
    int cudaGraph = 0;

    @Option(
            names = {"-x", "--cta_policy"},
            paramLabel = "-1",
            hidden = true)
    int ctaPolicy = -1;

    @Option(
            names = {"-D", "--device_implementation"},
            paramLabel = "0",
            hidden = true)
    int deviceImplementation = 0;

    @Option(
            names = {"-V", "--device_cta_count"},
            paramLabel = "16",
            hidden = true)
    int deviceCtas = 16;

    @Option(
            names = {"-M", "--memory"},
            paramLabel = "0",
            hidden = true)
    int memoryReport = 0;

    void requireDefaults() {
        requireDefault("-p", parallelInit, 0);
        requireDefault("-y", nullStream, 0);
        requireDefault("-G", cudaGraph, 0);
        requireDefault("-x", ctaPolicy, -1);
        requireDefault("-D", deviceImplementation, 0);
        requireDefault("-V", deviceCtas, 16);
        requireDefault("-M", memoryReport, 0);
    }

    private static void requireDefault(String option, int value, int onlyValue) {
        if (value != onlyValue) {
            throw notHere(option + " " + value);
        }
    }

    static CommandException notHere(String what) {
        return new CommandException(
                ExitCode.NOT_IMPLEMENTED, what + " is for GPUs and does nothing among threads; leave it out");
    }
}
