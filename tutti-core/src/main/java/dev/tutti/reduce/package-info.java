/**
 * Reduction kernels: one pass over one or more sources, for each type and fold, as vector code and as its scalar twin
 * with the same bits. Touches memory that it is handed, and nothing else.
 */
@NullMarked
package dev.tutti.reduce;

import org.jspecify.annotations.NullMarked;
