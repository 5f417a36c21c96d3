package dev.tutti.cli.perf;

import dev.tutti.cli.common.CommandException;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * Groups of ranks that run the program at the same time, each by itself. The variables are those of nccl-tests:
 * {@code NCCL_TESTS_SPLIT}, an operator and a number that give each rank its group, and {@code NCCL_TESTS_SPLIT_MASK}, short for
 * {@code AND} and a hexadecimal number.
 *
 * @param operator one of {@code & | % /}
 * @param number what the rank is combined with
 */
record Split(char operator, int number) {
    /** All ranks in one group. */
    private static final Split NONE = new Split('&', 0);

    private static final Pattern FORM = Pattern.compile("(AND|&|OR|\\||MOD|%|DIV|/)\\s*(0X[0-9A-F]+|[0-9]+)");

    static Split fromEnvironment(Map<String, String> environment) {
        String mask = environment.get("NCCL_TESTS_SPLIT_MASK");
        String text = environment.get("NCCL_TESTS_SPLIT");
        if (text != null) {
            return parse("NCCL_TESTS_SPLIT", text, text);
        }
        return mask == null
                ? NONE
                : parse("NCCL_TESTS_SPLIT_MASK", mask, "&0x" + mask.strip().replaceFirst("^0[xX]", ""));
    }

    private static Split parse(String variable, String given, String text) {
        Matcher matcher = FORM.matcher(text.strip().toUpperCase(Locale.ROOT));
        try {
            if (matcher.matches()) {
                char operator = switch (matcher.group(1)) {
                    case "AND", "&" -> '&';
                    case "OR", "|" -> '|';
                    case "MOD", "%" -> '%';
                    default -> '/';
                };
                int number = Integer.decode(matcher.group(2).replaceFirst("^0+(?=[0-9])", ""));
                if (number > 0 || operator == '&' || operator == '|') {
                    return new Split(operator, number);
                }
            }
        } catch (NumberFormatException tooLarge) {
            // Said below.
        }
        throw CommandException.usage(variable + "='" + given
                + "' is no way to split; there are AND, OR, MOD and DIV with a number, and a hexadecimal mask");
    }

    boolean isNone() {
        return equals(NONE);
    }

    /** The group of a rank. */
    int group(int rank) {
        return switch (operator) {
            case '&' -> rank & number;
            case '|' -> rank | number;
            case '%' -> rank % number;
            default -> rank / number;
        };
    }

    /** How many ranks each group has. */
    int[] sizes(int ranks) {
        int[] groups = IntStream.range(0, ranks).map(this::group).toArray();
        return Arrays.stream(groups)
                .distinct()
                .map(group -> (int)
                        Arrays.stream(groups).filter(each -> each == group).count())
                .toArray();
    }
}
