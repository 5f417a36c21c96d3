/**
 * The few calls to the C library and the kernel that Tutti makes, by the foreign function API. Each class is about one thing,
 * says whether it is available and why not, and turns failing calls into {@link dev.tutti.posix.PosixException}. Depends on nothing.
 */
@NullMarked
package dev.tutti.posix;

import org.jspecify.annotations.NullMarked;
