/** Ranks that are threads of one process. */
@NullMarked
package dev.tutti.transport.local;

import org.jspecify.annotations.NullMarked;
