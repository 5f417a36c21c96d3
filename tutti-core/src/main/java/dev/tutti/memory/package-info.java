/**
 * Where elements lie: heap arrays, native segments and regions that peers map, and how each becomes an address. Uses
 * reductions' types at most; does not know ranks.
 */
@NullMarked
package dev.tutti.memory;

import org.jspecify.annotations.NullMarked;
