package dev.tutti.cuda;

import java.util.Map;
import java.util.StringJoiner;

/** Maps, lists, strings, numbers and booleans as JSON. */
final class Json {
    private Json() {}

    static String of(Object value) {
        return switch (value) {
            case Map<?, ?> map -> {
                StringJoiner members = new StringJoiner(", ", "{", "}");
                map.forEach((key, member) -> members.add(of(key.toString()) + ": " + of(member)));
                yield members.toString();
            }
            case Iterable<?> list -> {
                StringJoiner elements = new StringJoiner(", ", "[", "]");
                list.forEach(element -> elements.add(of(element)));
                yield elements.toString();
            }
            case String text ->
                '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replaceAll("\\p{Cntrl}", " ") + '"';
            default -> value.toString();
        };
    }
}
