package dev.tutti.bench.compare;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Processes that stay alive over the whole race. Between turns every rank sleeps in a read of its own pipe, so contestants can
 * alternate row by row without starting anew and without taking time from each other.
 */
final class Contestant implements AutoCloseable {
    private final String name;
    private final Path directory;
    private final List<Process> processes = new ArrayList<>();
    private final List<RandomAccessFile> commands = new ArrayList<>();
    private final RandomAccessFile answers;
    private final BlockingQueue<String> answered = new LinkedBlockingQueue<>();
    private final File log;
    private @Nullable String failure;

    /** What one turn gave: microseconds per operation of each batch. */
    record Turn(int iterations, double[] micros) {}

    Contestant(String name, int ranks) throws IOException, InterruptedException {
        this.name = name;
        this.directory = Files.createTempDirectory("tutti-race-" + name + "-");
        this.log = directory.resolve("log").toFile();
        List<String> make = new ArrayList<>(
                List.of("mkfifo", "-m", "600", directory.resolve("out").toString()));
        for (int rank = 0; rank < ranks; rank++) {
            make.add(directory.resolve(rank + ".in").toString());
        }
        if (new ProcessBuilder(make).inheritIO().start().waitFor() != 0) {
            throw new IOException("cannot make pipes in " + directory);
        }
        // Opened for reading too, so that opening does not wait for the other side.
        for (int rank = 0; rank < ranks; rank++) {
            commands.add(new RandomAccessFile(directory.resolve(rank + ".in").toFile(), "rw"));
        }
        answers = new RandomAccessFile(directory.resolve("out").toFile(), "rw");
        Thread.ofPlatform().daemon().name("answers of " + name).start(this::readAnswers);
    }

    String name() {
        return name;
    }

    /** Where its pipes are. */
    Path directory() {
        return directory;
    }

    void start(List<String> command, Map<String, String> environment) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log))
                .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")));
        builder.environment().putAll(environment);
        processes.add(builder.start());
    }

    /** Why it takes no further part, or null. */
    @Nullable
    String failure() {
        return failure;
    }

    /** One turn, or null if the contestant has failed. */
    @Nullable
    Turn measure(String command, int seconds) throws IOException, InterruptedException {
        if (failure != null) {
            return null;
        }
        answered.clear();
        for (RandomAccessFile pipe : commands) {
            pipe.write((command + "\n").getBytes(StandardCharsets.US_ASCII));
        }
        String answer = null;
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (answer == null && System.nanoTime() < end && processes.stream().allMatch(Process::isAlive)) {
            answer = answered.poll(100, TimeUnit.MILLISECONDS);
        }
        if (answer == null || !answer.startsWith("ok ")) {
            fail(command + (answer == null ? ": no answer" : ": " + answer));
            return null;
        }
        String[] words = answer.split(" ");
        double[] micros = new double[words.length - 2];
        for (int i = 0; i < micros.length; i++) {
            micros[i] = Double.parseDouble(words[i + 2]);
        }
        return new Turn(Integer.parseInt(words[1]), micros);
    }

    private void fail(String what) throws IOException {
        List<String> lines = Files.readAllLines(log.toPath(), StandardCharsets.ISO_8859_1);
        failure = what
                + lines.stream()
                        .skip(Math.max(0, lines.size() - 12))
                        .reduce("", (text, line) -> text + "\n    " + line);
        end();
    }

    private void readAnswers() {
        try (BufferedReader reader = Files.newBufferedReader(directory.resolve("out"), StandardCharsets.US_ASCII)) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                answered.add(line);
            }
        } catch (IOException closed) {
            // The race is over.
        }
    }

    private void end() {
        for (Process process : processes) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    @Override
    public void close() throws IOException {
        try {
            for (RandomAccessFile pipe : commands) {
                pipe.write("quit\n".getBytes(StandardCharsets.US_ASCII));
            }
            for (Process process : processes) {
                process.waitFor(5, TimeUnit.SECONDS);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        } finally {
            end();
            for (RandomAccessFile pipe : commands) {
                pipe.close();
            }
            // Lets the reader of answers see the end.
            answers.write("over\n".getBytes(StandardCharsets.US_ASCII));
            answers.close();
            try (Stream<Path> files = Files.walk(directory)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(file);
                }
            }
        }
    }
}
