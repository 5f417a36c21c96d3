package dev.tutti.reduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tutti.DataType;
import org.junit.jupiter.api.Test;

class CodesTest {
    @Test
    void shouldAgreeWithTheEnumsWhenPackedIntoAnId() throws ReflectiveOperationException {
        for (DataType type : DataType.values()) {
            assertThat(Codes.class.getDeclaredField(type.name()).getInt(null)).isEqualTo(type.number());
            assertThat(1 << Codes.shift(type.number())).isEqualTo(type.bytes());
            assertThat(Codes.isInteger(type.number())).isEqualTo(type.isInteger());
            assertThat(Codes.isUnsigned(type.number())).isEqualTo(type.kind() == DataType.Kind.UNSIGNED);
            for (Fold fold : Fold.values()) {
                assertThat(Codes.class.getDeclaredField(fold.name()).getInt(null))
                        .isEqualTo(fold.ordinal());
                if (fold.accepts(type)) {
                    int kernel = Kernels.id(type, fold);
                    assertThat(kernel).isBetween(0, 255);
                    assertThat(Codes.type(kernel)).isEqualTo(type.number());
                    assertThat(Codes.fold(kernel)).isEqualTo(fold.ordinal());
                }
            }
        }
    }

    @Test
    void shouldRefuseWhenABitwiseFoldMeetsAFloat() {
        assertThatThrownBy(() -> Kernels.id(DataType.FLOAT16, Fold.XOR))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("XOR does not apply to float16");
    }
}
