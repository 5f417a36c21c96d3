/** {@code tutti run}: starts ranks as processes, carries their output, and ends them all when one fails. */
@NullMarked
package dev.tutti.cli.run;

import org.jspecify.annotations.NullMarked;
