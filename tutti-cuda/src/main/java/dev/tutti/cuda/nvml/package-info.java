/** NVML, the management library, {@code libnvidia-ml.so.1}. */
@NullMarked
package dev.tutti.cuda.nvml;

import org.jspecify.annotations.NullMarked;
