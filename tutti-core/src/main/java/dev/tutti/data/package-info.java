/**
 * Data whose reduction is known exactly beforehand, whatever the order and grouping; for the benchmark's check and for tests.
 * Touches memory that it is handed, and nothing else.
 */
@NullMarked
package dev.tutti.data;

import org.jspecify.annotations.NullMarked;
