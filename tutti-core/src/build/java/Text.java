import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What generators of all kinds need. */
final class Text {
    /** Name of the vector class of a primitive type. */
    static String vectorOf(String primitive) {
        return Character.toUpperCase(primitive.charAt(0)) + primitive.substring(1) + "Vector";
    }

    /** Keys and values in turn. */
    static Map<String, String> ordered(String... pairs) {
        Map<String, String> map = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            map.put(pairs[i], pairs[i + 1]);
        }
        return map;
    }

    static String indent(String text) {
        List<String> lines = new ArrayList<>();
        for (String line : text.split("\n", -1)) {
            lines.add(line.isEmpty() ? line : "    " + line);
        }
        return String.join("\n", lines);
    }

    private Text() {}
}
