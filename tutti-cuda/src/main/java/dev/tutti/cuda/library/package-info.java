/** Finds shared libraries and their functions, and keeps the cause when there are none. */
@NullMarked
package dev.tutti.cuda.library;

import org.jspecify.annotations.NullMarked;
