/** {@code tutti doctor}: what of this machine Tutti can use, and what is missing for the rest. */
@NullMarked
package dev.tutti.cli.doctor;

import org.jspecify.annotations.NullMarked;
