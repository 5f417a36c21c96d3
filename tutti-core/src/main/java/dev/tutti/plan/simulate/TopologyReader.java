package dev.tutti.plan.simulate;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Reads the text of a topology: one thing per line, a word and its values, {@code #} begins a comment. */
final class TopologyReader {
    private static final String WORDS =
            "name, about, ranks, cores, call, op, touch, switch, spin, sleep, read, fold, write, packet, "
                    + "stream, chunk, level, torus";

    private final List<LevelNetwork.Level> levels = new ArrayList<>();
    private final List<Costs.Stream> streams = new ArrayList<>();
    private final String text;
    private String name = "";
    private String about = "";
    private int ranks = 2;
    private int cores;
    private double call;
    private double op;
    private double touch;
    private double switching;
    private double spin;
    private double patience;
    private double wake;
    private double read;
    private double fold;
    private double write;
    private double packet;
    private long chunk = 128 << 10;
    private int dimensions;
    private double hop;
    private double link;
    private String line = "";
    private int number;

    TopologyReader(String text) {
        this.text = text;
    }

    Topology read() {
        for (String each : text.lines().toList()) {
            number++;
            int comment = each.indexOf('#');
            line = (comment < 0 ? each : each.substring(0, comment)).strip();
            if (!line.isEmpty()) {
                List<String> words = new ArrayList<>(Arrays.asList(line.split("\\s+", -1)));
                take(words.removeFirst(), words);
            }
        }
        number = 0;
        line = "";
        require(!name.isEmpty(), "needs a line 'name'");
        require(levels.isEmpty() != (dimensions == 0), "needs lines 'level' or one line 'torus', not both");
        for (int i = 0; i < levels.size() - 1; i++) {
            require(levels.get(i).size() > 0, "only the outermost level can have the size '*'");
        }
        Costs costs = new Costs(
                cores, call, op, touch, switching, spin, patience, wake, read, fold, write, packet, streams, chunk);
        return new Topology(name, about, ranks, costs, levels, dimensions, hop, link);
    }

    private void take(String word, List<String> values) {
        switch (word) {
            case "name" -> name = String.join(" ", values);
            case "about" -> about = String.join(" ", values);
            case "ranks" -> ranks = integer(one(values));
            case "cores" -> cores = integer(one(values));
            case "call" -> call = nanos(values);
            case "op" -> op = nanos(values);
            case "touch" -> touch = nanos(values);
            case "switch" -> switching = nanos(values);
            case "spin" -> spin = nanos(values);
            case "sleep" -> {
                require(values.size() == 4, "'sleep' takes two times, as in: sleep 5 us 10 us");
                patience = nanos(values.subList(0, 2));
                wake = nanos(values.subList(2, 4));
            }
            case "read" -> read = nanosPerByte(values);
            case "fold" -> fold = nanosPerByte(values);
            case "write" -> write = nanosPerByte(values);
            case "packet" -> packet = nanosPerByte(values);
            case "chunk" -> chunk = bytes(values);
            case "stream" -> {
                require(values.size() == 4, "'stream' takes a size and a rate, as in: stream 32 MiB 10 GB/s");
                long beyond = bytes(values.subList(0, 2));
                require(
                        streams.isEmpty() || streams.getLast().beyondBytes() < beyond,
                        "'stream' lines go from the smallest cache to the largest");
                streams.add(new Costs.Stream(beyond, nanosPerByte(values.subList(2, 4))));
            }
            case "level" -> level(values);
            case "torus" -> {
                require(values.size() == 7, "as in: torus 3 latency 1 us bandwidth 50 GB/s");
                dimensions = integer(values.getFirst());
                require(dimensions >= 1 && dimensions <= 6, "a torus has 1 to 6 dimensions");
                hop = nanos(after("latency", values));
                link = nanosPerByte(after("bandwidth", values));
            }
            default -> throw wrong("'" + word + "' is not known; lines begin with " + WORDS);
        }
    }

    private void level(List<String> values) {
        require(
                values.size() == 10 && values.get(8).equals("port"),
                "as in: level node 8 latency 700 ns bandwidth 450 GB/s port rank");
        int size = values.get(1).equals("*") ? 0 : integer(values.get(1));
        require(size > 0 || values.get(1).equals("*"), "a level has at least one child, or '*'");
        String port = values.get(9);
        require(port.equals("rank") || port.equals("group"), "'port' is rank or group");
        levels.add(new LevelNetwork.Level(
                values.getFirst(),
                size,
                nanos(after("latency", values)),
                nanosPerByte(after("bandwidth", values)),
                port.equals("rank")));
    }

    private List<String> after(String word, List<String> values) {
        int at = values.indexOf(word);
        require(at >= 0 && at + 2 < values.size(), "needs '" + word + "' and a value with its unit");
        return values.subList(at + 1, at + 3);
    }

    private String one(List<String> values) {
        require(values.size() == 1, "takes one value");
        return values.getFirst();
    }

    private double nanos(List<String> values) {
        require(values.size() == 2, "takes a time, as in 700 ns");
        return decimal(values.getFirst())
                * switch (values.get(1)) {
                    case "ns" -> 1;
                    case "us", "µs" -> 1e3;
                    case "ms" -> 1e6;
                    default -> throw wrong("'" + values.get(1) + "' is no unit of time: ns, us or ms");
                };
    }

    /** A rate as the time of one byte. */
    private double nanosPerByte(List<String> values) {
        require(values.size() == 2, "takes a rate, as in 450 GB/s");
        double rate = decimal(values.getFirst())
                * switch (values.get(1)) {
                    case "GB/s" -> 1;
                    case "MB/s" -> 1e-3;
                    case "Gb/s" -> 0.125;
                    default -> throw wrong("'" + values.get(1) + "' is no rate: GB/s, MB/s or Gb/s");
                };
        return rate == 0 ? 0 : 1 / rate;
    }

    private long bytes(List<String> values) {
        require(values.size() == 2, "takes a size, as in 128 KiB");
        return (long) (decimal(values.getFirst())
                * switch (values.get(1).toLowerCase(Locale.ROOT)) {
                    case "b" -> 1;
                    case "kib" -> 1L << 10;
                    case "mib" -> 1L << 20;
                    case "gib" -> 1L << 30;
                    default -> throw wrong("'" + values.get(1) + "' is no size: B, KiB, MiB or GiB");
                });
    }

    private int integer(String value) {
        try {
            int parsed = Integer.parseInt(value);
            require(parsed >= 0 && parsed <= 1 << 24, "'" + value + "' is out of range");
            return parsed;
        } catch (NumberFormatException notANumber) {
            throw wrong("'" + value + "' is no number");
        }
    }

    private double decimal(String value) {
        try {
            double parsed = Double.parseDouble(value);
            require(parsed >= 0 && parsed < 1e15, "'" + value + "' is out of range");
            return parsed;
        } catch (NumberFormatException notANumber) {
            throw wrong("'" + value + "' is no number");
        }
    }

    private void require(boolean holds, String problem) {
        if (!holds) {
            throw wrong(problem);
        }
    }

    private IllegalArgumentException wrong(String problem) {
        return new IllegalArgumentException(
                "topology" + (number == 0 ? "" : ", line " + number + " (" + line + ")") + ": " + problem);
    }
}
