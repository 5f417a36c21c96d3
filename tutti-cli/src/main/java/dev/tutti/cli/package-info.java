/** The {@code tutti} command. */
@NullMarked
package dev.tutti.cli;

import org.jspecify.annotations.NullMarked;
