package dev.tutti.cli.common;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** JSON in and out, as maps, lists, strings, numbers, booleans and null; as much of it as result files need. */
public final class Json {
    private static final int DEEPEST = 100;

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** Text of a value; floating-point numbers with six decimals, as nccl-tests has them. */
    public static String write(@Nullable Object value) {
        StringBuilder out = new StringBuilder();
        append(out, value);
        return out.toString();
    }

    private static void append(StringBuilder out, @Nullable Object value) {
        switch (value) {
            case null -> out.append("null");
            case Double number when !Double.isFinite(number) -> append(out, "nan");
            case Double number -> out.append(Numbers.decimal(number, 6));
            case Number number -> out.append(number);
            case Boolean truth -> out.append(truth);
            case Map<?, ?> map -> {
                String separator = "";
                out.append('{');
                for (Map.Entry<?, ?> entry : map.entrySet()) {
                    out.append(separator);
                    append(out, String.valueOf(entry.getKey()));
                    append(out.append(':'), entry.getValue());
                    separator = ",";
                }
                out.append('}');
            }
            case List<?> list -> {
                String separator = "";
                out.append('[');
                for (Object each : list) {
                    append(out.append(separator), each);
                    separator = ",";
                }
                out.append(']');
            }
            default -> appendString(out, value.toString());
        }
    }

    private static void appendString(StringBuilder out, String string) {
        out.append('"');
        for (int i = 0; i < string.length(); i++) {
            char c = string.charAt(i);
            switch (c) {
                case '"', '\\' -> out.append('\\').append(c);
                case '\n' -> out.append("\\n");
                case '\t' -> out.append("\\t");
                default -> {
                    if (c < ' ') {
                        out.append(String.format("\\u%04x", (int) c));
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        out.append('"');
    }

    /**
     * Reads a text.
     *
     * @throws IllegalArgumentException saying where it is malformed
     */
    public static @Nullable Object read(String text) {
        Json json = new Json(text);
        Object value = json.value(0);
        json.skipSpace();
        if (json.at < text.length()) {
            throw json.malformed("the end");
        }
        return value;
    }

    private @Nullable Object value(int depth) {
        skipSpace();
        if (depth > DEEPEST) {
            throw malformed("less depth");
        }
        return switch (at < text.length() ? text.charAt(at) : ' ') {
            case '{' -> object(depth);
            case '[' -> list(depth);
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Map<String, @Nullable Object> object(int depth) {
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        at++;
        while (!isNext('}')) {
            if (!map.isEmpty()) {
                expect(',');
                skipSpace();
            }
            String key = string();
            expect(':');
            map.put(key, value(depth + 1));
        }
        at++;
        return map;
    }

    private List<@Nullable Object> list(int depth) {
        List<@Nullable Object> list = new ArrayList<>();
        at++;
        while (!isNext(']')) {
            if (!list.isEmpty()) {
                expect(',');
            }
            list.add(value(depth + 1));
        }
        at++;
        return list;
    }

    private String string() {
        expect('"');
        StringBuilder string = new StringBuilder();
        while (at < text.length() && text.charAt(at) != '"') {
            char c = text.charAt(at++);
            string.append(c == '\\' ? escaped() : c);
        }
        expect('"');
        return string.toString();
    }

    private char escaped() {
        char c = at < text.length() ? text.charAt(at++) : ' ';
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'n' -> '\n';
            case 't' -> '\t';
            case 'r' -> '\r';
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'u' -> {
                if (at + 4 > text.length()) {
                    throw malformed("four digits");
                }
                at += 4;
                try {
                    yield (char) Integer.parseInt(text.substring(at - 4, at), 16);
                } catch (NumberFormatException notHex) {
                    throw malformed("four digits");
                }
            }
            default -> throw malformed("an escape");
        };
    }

    private @Nullable Object word(String word, @Nullable Object meaning) {
        if (!text.startsWith(word, at)) {
            throw malformed("a value");
        }
        at += word.length();
        return meaning;
    }

    private Double number() {
        int start = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        try {
            return Double.valueOf(text.substring(start, at));
        } catch (NumberFormatException notANumber) {
            throw malformed("a value");
        }
    }

    private boolean isNext(char c) {
        skipSpace();
        if (at >= text.length()) {
            throw malformed("'" + c + "'");
        }
        return text.charAt(at) == c;
    }

    private void expect(char c) {
        if (!isNext(c)) {
            throw malformed("'" + c + "'");
        }
        at++;
    }

    private void skipSpace() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }

    private IllegalArgumentException malformed(String expected) {
        return new IllegalArgumentException("not JSON: expected " + expected + " at character " + at);
    }
}
