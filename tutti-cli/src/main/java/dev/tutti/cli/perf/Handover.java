package dev.tutti.cli.perf;

import dev.tutti.cli.common.SizeOptions;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Options as words {@code field=value} for the processes that this command starts. They need not read a command line again then: the
 * parser takes a fifth of a second to load, in each of them, while they share the cores.
 */
final class Handover {
    private Handover() {}

    /** Whatever is not as it would be without any option. */
    static List<String> words(PerfOptions options) {
        List<String> words = new ArrayList<>();
        PerfOptions unset = new PerfOptions();
        addWords(words, PerfOptions.class, options, unset);
        addWords(words, SizeOptions.class, options.sizeOptions, unset.sizeOptions);
        return words;
    }

    /** Sets what {@link #words} said. */
    static void read(List<String> words, PerfOptions options) {
        for (String word : words) {
            int end = word.indexOf('=');
            String name = word.substring(0, end);
            String text = word.substring(end + 1);
            try {
                Field field = find(name, PerfOptions.class);
                if (field != null) {
                    set(field, options, text);
                } else {
                    set(Objects.requireNonNull(find(name, SizeOptions.class), name), options.sizeOptions, text);
                }
            } catch (IllegalAccessException impossible) {
                throw new AssertionError(word, impossible);
            }
        }
    }

    private static void addWords(List<String> words, Class<?> type, Object options, Object unset) {
        try {
            for (Field field : type.getDeclaredFields()) {
                if (!isOption(field)) {
                    continue;
                }
                field.setAccessible(true);
                Object value = field.get(options);
                if (value instanceof List<?> several) {
                    several.forEach(each -> words.add(field.getName() + "=" + each));
                } else if (value != null && !value.equals(field.get(unset))) {
                    words.add(field.getName() + "=" + value);
                }
            }
        } catch (IllegalAccessException impossible) {
            throw new AssertionError(type.getName(), impossible);
        }
    }

    private static @Nullable Field find(String name, Class<?> type) {
        for (Field field : type.getDeclaredFields()) {
            if (isOption(field) && field.getName().equals(name)) {
                field.setAccessible(true);
                return field;
            }
        }
        return null;
    }

    /** What options set is not private; groups of options are looked into, those for GPUs are at their defaults. */
    private static boolean isOption(Field field) {
        return (field.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC)) == 0
                && field.getType() != SizeOptions.class
                && field.getType() != GpuOptions.class
                && !field.isSynthetic();
    }

    private static void set(Field field, Object options, String text) throws IllegalAccessException {
        Class<?> type = field.getType();
        if (type == int.class || type == Integer.class) {
            field.set(options, Integer.valueOf(text));
        } else if (type == Long.class) {
            field.set(options, Long.valueOf(text));
        } else if (type == boolean.class) {
            field.set(options, Boolean.valueOf(text));
        } else if (type == Path.class) {
            field.set(options, Path.of(text));
        } else if (type == String.class) {
            field.set(options, text);
        } else if (field.get(options) instanceof List<?> list) {
            @SuppressWarnings("unchecked")
            List<Path> paths = (List<Path>) list;
            paths.add(Path.of(text));
        } else {
            throw new IllegalStateException("cannot hand over " + field);
        }
    }
}
