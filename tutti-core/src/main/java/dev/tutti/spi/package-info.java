/**
 * For those who add to Tutti: transports, which make channels between two ranks, and tuners.
 */
@NullMarked
package dev.tutti.spi;

import org.jspecify.annotations.NullMarked;
