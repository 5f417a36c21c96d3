package dev.tutti.cuda;

import org.junit.jupiter.api.Assumptions;

/** The device for tests; where there is none, the test is skipped and says why. */
public final class Gpu {
    private Gpu() {}

    public static CudaDevice device() {
        String cause = Cuda.unavailabilityCause();
        if (cause != null) {
            System.out.println("skipped, no GPU: " + cause);
        }
        Assumptions.assumeTrue(cause == null, cause);
        return Cuda.device(0);
    }
}
