/** Memory by address, and users' buffers as operands. Depends on nothing else of Tutti. */
@NullMarked
package dev.tutti.memory;

import org.jspecify.annotations.NullMarked;
