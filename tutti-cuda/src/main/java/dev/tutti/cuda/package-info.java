/**
 * Device memory, streams, and collectives of ranks that share a CUDA device. The packages below hold one native library
 * each, and of this package use only the exceptions.
 *
 * @serial exclude
 */
@NullMarked
package dev.tutti.cuda;

import org.jspecify.annotations.NullMarked;
