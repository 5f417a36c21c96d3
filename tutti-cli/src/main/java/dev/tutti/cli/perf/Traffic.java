package dev.tutti.cli.perf;

import dev.tutti.cli.common.CommandException;
import dev.tutti.cli.common.Numbers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * How much each rank sends to each in alltoallv: more to ranks further away, or what a file says. The variables are those of
 * nccl-tests: {@code NCCL_TESTS_ALLTOALLV_SPREAD}, {@code _MATRIX_FILE}, {@code _MATRIX_SCALE} and {@code _PRINT_SUMMARY}.
 *
 * @param spread from 0, all the same, to 1, in proportion to the distance
 * @param matrix bytes from each rank (row) to each (column); empty if there is no file
 * @param printsSummary whether each rank's share is printed
 */
record Traffic(double spread, List<long[]> matrix, boolean printsSummary) {
    private static final String PREFIX = "NCCL_TESTS_ALLTOALLV_";

    static Traffic fromEnvironment(Map<String, String> environment, int ranks) {
        double spread = Math.clamp(number(environment, "SPREAD", 1), 0, 1);
        boolean summary = number(environment, "PRINT_SUMMARY", 0) != 0;
        String file = environment.get(PREFIX + "MATRIX_FILE");
        if (file == null) {
            return new Traffic(spread, List.of(), summary);
        }
        List<long[]> matrix = read(file, Math.max(0, number(environment, "MATRIX_SCALE", 1)));
        if (matrix.size() < ranks) {
            throw CommandException.usage(
                    "the matrix in " + file + " is for " + matrix.size() + " ranks, -g asks for " + ranks);
        }
        return new Traffic(spread, matrix, summary);
    }

    private static double number(Map<String, String> environment, String name, double otherwise) {
        String text = environment.get(PREFIX + name);
        try {
            return text == null ? otherwise : Double.parseDouble(text);
        } catch (NumberFormatException notANumber) {
            throw CommandException.usage(PREFIX + name + " is no number: '" + text + "'");
        }
    }

    private static List<long[]> read(String file, double scale) {
        List<long[]> rows = new ArrayList<>();
        try {
            for (String line : Files.readAllLines(Path.of(file))) {
                if (!line.isBlank()) {
                    String[] cells = line.strip().split("\\s+", -1);
                    long[] row = new long[cells.length];
                    for (int i = 0; i < cells.length; i++) {
                        row[i] = (long) (Double.parseDouble(cells[i]) * scale) & -16;
                    }
                    rows.add(row);
                }
            }
        } catch (IOException unreadable) {
            throw CommandException.usage("cannot read the matrix in " + file);
        } catch (NumberFormatException malformed) {
            throw CommandException.usage("row " + rows.size() + " of the matrix in " + file + " is no row of numbers");
        }
        for (long[] row : rows) {
            if (row.length != rows.size()) {
                throw CommandException.usage("the matrix in " + file + " must be square: " + rows.size()
                        + " rows, but one of " + row.length);
            }
        }
        return rows;
    }

    boolean isGenerated() {
        return matrix.isEmpty();
    }

    /** Elements from one rank to another, where each sends about {@code totalBytes} in all. */
    long elements(int from, int to, long totalBytes, int elementBytes, int ranks) {
        return bytes(from, to, totalBytes, ranks) / elementBytes;
    }

    /** The most that any rank sends or receives. */
    long mostElements(long totalBytes, int elementBytes, int ranks) {
        long most = 0;
        for (int rank = 0; rank < ranks; rank++) {
            long sent = 0;
            long received = 0;
            for (int peer = 0; peer < ranks; peer++) {
                sent += elements(rank, peer, totalBytes, elementBytes, ranks);
                received += elements(peer, rank, totalBytes, elementBytes, ranks);
            }
            most = Math.max(most, Math.max(sent, received));
        }
        return most;
    }

    /** Each rank's share and bandwidth, as lines to print. */
    String summary(Shape shape, int ranks, double seconds) {
        long totalBytes = shape.count() * ranks * shape.elementBytes();
        StringBuilder text = new StringBuilder("# " + PREFIX + "PRINT_SUMMARY: mode=");
        text.append(isGenerated() ? "generated" : "matrix").append(" nranks=").append(ranks);
        text.append(isGenerated() ? " total_bytes=" + totalBytes : " matrix_dim=" + matrix.size());
        text.append(isGenerated() ? " spread=" + Numbers.decimal(spread, 3) : "");
        text.append(" time_usec=").append(Numbers.decimal(seconds * 1e6, 2)).append('\n');
        for (int rank = 0; rank < ranks; rank++) {
            long sent = 0;
            long received = 0;
            for (int peer = 0; peer < ranks; peer++) {
                sent += bytes(rank, peer, totalBytes, ranks);
                received += bytes(peer, rank, totalBytes, ranks);
            }
            double bandwidth = Math.max(sent, received) / 1e9 / seconds;
            text.append("#   rank=").append(rank).append(" send_bytes=").append(sent);
            text.append(" recv_bytes=").append(received);
            text.append(" alg_bw=").append(Numbers.decimal(bandwidth, 2));
            text.append(" bus_bw=")
                    .append(Numbers.decimal(bandwidth * (ranks - 1) / ranks, 2))
                    .append('\n');
        }
        return text.toString();
    }

    private long bytes(int from, int to, long totalBytes, int ranks) {
        if (!isGenerated()) {
            return matrix.get(from)[to];
        }
        if (ranks == 1) {
            return totalBytes & -16;
        }
        int distance = (to - from + ranks) % ranks;
        double allDistances = ranks * (ranks - 1L) / 2.0;
        double even = (double) totalBytes / ranks;
        return (long) ((1 - spread) * even + spread * distance * totalBytes / allDistances) & -16;
    }
}
