/** Chooses how two ranks reach each other. Uses the transports below it, posix and spi. */
@NullMarked
package dev.tutti.transport;

import org.jspecify.annotations.NullMarked;
