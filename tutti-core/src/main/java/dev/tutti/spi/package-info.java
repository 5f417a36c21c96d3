/**
 * What a transport must offer: memory of all members of a communicator, laid out by {@link dev.tutti.spi.RegionLayout}. Depends on
 * nothing.
 */
@NullMarked
package dev.tutti.spi;

import org.jspecify.annotations.NullMarked;
