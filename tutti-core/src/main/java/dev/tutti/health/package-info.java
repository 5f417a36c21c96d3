/**
 * Which processes of a world are alive: their identity, and a thread that notices when one ends. Depends on {@code posix} alone.
 */
@NullMarked
package dev.tutti.health;

import org.jspecify.annotations.NullMarked;
