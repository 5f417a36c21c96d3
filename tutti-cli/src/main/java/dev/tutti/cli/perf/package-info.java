/**
 * {@code tutti perf}: times collectives and prints the table that users of nccl-tests know. Everything it does to a collective
 * goes through the public API.
 */
@NullMarked
package dev.tutti.cli.perf;

import org.jspecify.annotations.NullMarked;
