/** Tutti's kernels: their sources, compiled for the device found and kept on disk. */
@NullMarked
package dev.tutti.cuda.kernel;

import org.jspecify.annotations.NullMarked;
