/**
 * The API: worlds, communicators, buffers, and the values that collectives are called with. Everything below is
 * reached from here; of this package, the packages below may use only the plain value types.
 *
 * @serial exclude
 */
@NullMarked
package dev.tutti;

import org.jspecify.annotations.NullMarked;
