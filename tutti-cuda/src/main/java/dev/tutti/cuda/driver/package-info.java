/** The CUDA driver, {@code libcuda.so.1}: every call checked, pointers and handles as {@code long}. */
@NullMarked
package dev.tutti.cuda.driver;

import org.jspecify.annotations.NullMarked;
