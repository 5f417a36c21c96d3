/** {@code tutti plan}: what can be done with plan files. */
@NullMarked
package dev.tutti.cli.plan;

import org.jspecify.annotations.NullMarked;
