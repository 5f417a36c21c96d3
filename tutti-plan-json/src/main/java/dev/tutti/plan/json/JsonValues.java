package dev.tutti.plan.json;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.TokenStreamContext;

/**
 * Reads JSON token by token, each value with its type and range, and says where in the file something else stands. Memory is bounded by the
 * length of the file.
 */
abstract class JsonValues {
    private static final BigInteger MAX_UNSIGNED = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);

    final JsonParser parser;

    JsonValues(JsonParser parser) {
        this.parser = parser;
    }

    /** What to do with the value of a field; the parser stands on its first token. */
    interface Field {
        void read(String name);
    }

    /** Reads an object field by field. */
    final void object(Field field) {
        if (parser.currentToken() != JsonToken.START_OBJECT) {
            throw wrongType("an object");
        }
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String name = parser.currentName();
            parser.nextToken();
            field.read(name);
        }
    }

    /** Reads an element of a list; the parser stands on its first token. */
    interface Element<T extends @Nullable Object> {
        T read();
    }

    final <T extends @Nullable Object> List<T> list(Element<T> element, int limit) {
        if (parser.currentToken() != JsonToken.START_ARRAY) {
            throw wrongType("a list");
        }
        List<T> list = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            if (list.size() == limit) {
                throw problem("more than " + limit + " elements");
            }
            list.add(element.read());
        }
        return list;
    }

    final int[] numbers(int least, int most) {
        if (parser.currentToken() != JsonToken.START_ARRAY) {
            throw wrongType("a list of numbers");
        }
        int[] numbers = new int[4];
        int length = 0;
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            if (length == numbers.length) {
                numbers = Arrays.copyOf(numbers, 2 * length);
            }
            numbers[length++] = number(least, most);
        }
        return Arrays.copyOf(numbers, length);
    }

    final String text() {
        if (parser.currentToken() != JsonToken.VALUE_STRING) {
            throw wrongType("a text");
        }
        return parser.getString();
    }

    final boolean flag() {
        return switch (parser.currentToken()) {
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            default -> throw wrongType("true or false");
        };
    }

    final int count() {
        return number(0, Integer.MAX_VALUE);
    }

    final int number(int least, int most) {
        BigInteger value = whole();
        if (value.bitLength() > 31 || value.intValue() < least || value.intValue() > most) {
            throw problem("must be in " + least + ".." + most + ", is " + brief(value));
        }
        return value.intValue();
    }

    final long unsigned() {
        BigInteger value = whole();
        if (value.signum() < 0 || value.compareTo(MAX_UNSIGNED) > 0) {
            throw problem("must be in 0..2^64-1, is " + brief(value));
        }
        return value.longValue();
    }

    private BigInteger whole() {
        if (parser.currentToken() != JsonToken.VALUE_NUMBER_INT) {
            throw wrongType("a whole number");
        }
        return parser.getBigIntegerValue();
    }

    private static String brief(BigInteger value) {
        return value.bitLength() > 128 ? "a number of " + value.bitLength() + " bits" : value.toString();
    }

    private PlanFormatException wrongType(String wanted) {
        JsonToken token = parser.currentToken();
        return problem("must be " + wanted + ", is " + (token == null ? "missing" : describe(token)));
    }

    private static String describe(JsonToken token) {
        return switch (token) {
            case START_OBJECT -> "an object";
            case START_ARRAY -> "a list";
            case VALUE_STRING -> "a text";
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> "a number";
            case VALUE_TRUE, VALUE_FALSE -> "true or false";
            case VALUE_NULL -> "null";
            default -> token.toString();
        };
    }

    final PlanFormatException problem(String text) {
        return new PlanFormatException(path(parser.streamReadContext()), text, null);
    }

    /** Where the parser stands, in the form {@code gpus[0].threadblocks[2].ops}. */
    static String path(TokenStreamContext context) {
        StringBuilder path = new StringBuilder();
        for (TokenStreamContext at = context; at != null && !at.inRoot(); at = at.getParent()) {
            if (at.inArray()) {
                path.insert(0, "[" + at.getCurrentIndex() + "]");
            } else if (at.currentName() != null) {
                path.insert(0, (at.getParent().inRoot() ? "" : ".") + at.currentName());
            }
        }
        return path.toString();
    }
}
