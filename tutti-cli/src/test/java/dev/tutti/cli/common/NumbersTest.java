package dev.tutti.cli.common;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every expected text is what C's printf gives. */
class NumbersTest {
    @ParameterizedTest
    @CsvSource(
            ignoreLeadingAndTrailingWhitespace = false,
            value = {
                "0,7,'   0.00'",
                "12.345,7,'  12.35'",
                "0.125,7,'   0.12'", // a tie goes to the even digit
                "0.375,7,'   0.38'",
                "2.675,7,'   2.67'", // whose double is a little less
                "9999.994,7,9999.99",
                "9999.996,7,10000.0",
                "99999.94,7,99999.9",
                "99999.96,7,' 100000'",
                "9999999,7,9999999",
                "99999995,7,1.0e+08",
                "12345678,7,1.2e+07",
                "123.456,6,123.46",
                "999.996,6,1000.0",
                "12345.67,6,' 12346'",
                "999999.4,6,999999",
                "999999.6,6,' 1e+06'",
                "1234567,6,' 1e+06'",
                "2500000,6,' 2e+06'",
                "-1.005,7,'  -1.00'",
                "Infinity,6,'   inf'",
                "NaN,6,'   nan'"
            })
    void shouldDropDecimalsAndThenTakeAnExponentWhenTooWide(double value, int width, String expected) {
        assertThat(Numbers.fixed(value, width)).isEqualTo(expected).hasSize(width);
    }

    @ParameterizedTest
    @CsvSource({
        "0,0",
        "1,1",
        "100000,100000",
        "1000000,1e+06",
        "1234567,1.23457e+06",
        "0.0001,0.0001",
        "0.00001234567,1.23457e-05",
        "3.14159265,3.14159",
        "2.5,2.5",
        "-17.25,-17.25"
    })
    void shouldLookLikePercentG(double value, String expected) {
        assertThat(Numbers.general(value)).isEqualTo(expected);
    }
}
