/** Ranks that are processes, or threads of several processes, on one host. Uses memory, posix and spi. */
@NullMarked
package dev.tutti.transport.shm;

import org.jspecify.annotations.NullMarked;
