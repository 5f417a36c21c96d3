package dev.tutti.cli;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Says in one line what is wrong with a command line, and what was probably meant. */
final class Mistakes {
    private Mistakes() {}

    static String explain(ParameterException exception) {
        CommandSpec command = exception.getCommandLine().getCommandSpec();
        return command.qualifiedName() + ": "
                + switch (exception) {
                    case UnmatchedArgumentException unmatched ->
                        unknown(command, unmatched.getUnmatched().getFirst());
                    case MissingParameterException missing -> missing(command, missing.getMissing());
                    default -> invalid(exception);
                };
    }

    private static String unknown(CommandSpec command, String argument) {
        if (argument.startsWith("-")) {
            return "unknown option " + argument + suggestion(argument, optionNames(command), "");
        }
        return command.subcommands().isEmpty()
                ? "unexpected argument '" + argument + "'"
                : "unknown command '" + argument + "'"
                        + suggestion(
                                argument,
                                command.subcommands().keySet().stream(),
                                "; there are "
                                        + String.join(
                                                ", ", command.subcommands().keySet()));
    }

    private static String missing(CommandSpec command, List<ArgSpec> missing) {
        ArgSpec first = missing.getFirst();
        return first instanceof OptionSpec option
                ? name(option) + " needs a value: " + option.paramLabel()
                : first.paramLabel() + " is missing; see " + command.qualifiedName() + " --help";
    }

    private static String invalid(ParameterException exception) {
        if (exception.getArgSpec() instanceof OptionSpec option && exception.getValue() != null) {
            boolean whole = Stream.of("int", "long", "Integer", "Long")
                    .anyMatch(option.type().getSimpleName()::equals);
            return name(option) + ": '" + exception.getValue() + "' is no "
                    + (whole ? "whole number" : option.paramLabel());
        }
        return String.valueOf(exception.getMessage()).lines().findFirst().orElse("wrong arguments");
    }

    private static String name(OptionSpec option) {
        return option.shortestName();
    }

    private static Stream<String> optionNames(CommandSpec command) {
        return command.options().stream()
                .filter(option -> !option.hidden())
                .flatMap(option -> Stream.of(option.names()));
    }

    /** What was probably meant; without a guess, what else there is to say. */
    private static String suggestion(String given, Stream<String> known, String otherwise) {
        record Candidate(String name, int distance) {}
        Optional<Candidate> nearest = known.filter(name -> name.length() > 2)
                .map(name -> new Candidate(name, distance(given, name)))
                .min(Comparator.comparingInt(Candidate::distance));
        return nearest.filter(candidate -> candidate.distance() <= Math.max(2, given.length() / 3))
                .map(candidate -> "; did you mean " + candidate.name() + "?")
                .orElse(otherwise);
    }

    /** How many letters must be inserted, removed or replaced to make one word of the other. */
    static int distance(String one, String other) {
        int[] previous = new int[other.length() + 1];
        int[] current = new int[other.length() + 1];
        for (int j = 0; j <= other.length(); j++) {
            previous[j] = j;
        }
        for (int i = 1; i <= one.length(); i++) {
            current[0] = i;
            for (int j = 1; j <= other.length(); j++) {
                int replaced = previous[j - 1] + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
                current[j] = Math.min(replaced, 1 + Math.min(previous[j], current[j - 1]));
            }
            int[] swapped = previous;
            previous = current;
            current = swapped;
        }
        return previous[other.length()];
    }
}
