/** NVRTC, the run-time compiler of CUDA C++, {@code libnvrtc.so}. */
@NullMarked
package dev.tutti.cuda.nvrtc;

import org.jspecify.annotations.NullMarked;
