package dev.tutti.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tutti.cuda.library.NativeLibrary;
import dev.tutti.cuda.nccl.Nccl;
import dev.tutti.cuda.nvml.Nvml;
import dev.tutti.cuda.nvrtc.Nvrtc;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LibrariesTest {
    @Test
    void shouldSayWhatIsMissingWhenALibraryIsNotThere() {
        NativeLibrary none = NativeLibrary.open("Nothing", List.of("libtutti-none.so.7"), "install nothing");
        assertThat(none.isAvailable()).isFalse();
        assertThat(none.unavailabilityCause()).contains("no Nothing", "libtutti-none.so.7", "install nothing");
        MethodHandle missing = none.function("cuNothing", ValueLayout.JAVA_LONG);
        assertThatThrownBy(() -> {
                    int ignored = (int) missing.invokeExact(1L);
                })
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("libtutti-none.so.7");
    }

    @Test
    void shouldNameTheFunctionWhenALibraryIsTooOld() {
        NativeLibrary c = NativeLibrary.open("C library", List.of("libc.so.6"), "");
        assertThat(c.isAvailable()).isTrue();
        assertThat(c.has("getpid")).isTrue();
        assertThat(c.has("cuInit")).isFalse();
        MethodHandle missing = c.function("cuInit", ValueLayout.JAVA_INT);
        assertThatThrownBy(() -> {
                    int ignored = (int) missing.invokeExact(0);
                })
                .hasMessageContaining("libc.so.6")
                .hasMessageContaining("no cuInit");
    }

    @Test
    void shouldAnswerWithoutAGpuToo() {
        assertThat(Cuda.isAvailable()).isEqualTo(Cuda.unavailabilityCause() == null);
        assertThat(Cuda.peerMatrix().length).isEqualTo(Cuda.devices().size());
        for (String cause :
                new String[] {Nvrtc.unavailabilityCause(), Nvml.unavailabilityCause(), Nccl.unavailabilityCause()}) {
            assertThat(cause == null || !cause.isBlank()).isTrue();
        }
        if (!Cuda.isAvailable()) {
            assertThatThrownBy(() -> Cuda.device(0))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessage(Cuda.unavailabilityCause());
        }
    }
}
