/**
 * Picks algorithm, protocol and lanes for a call: a pure function of facts that are equal on every rank. Uses
 * algorithms and plans.
 */
@NullMarked
package dev.tutti.tune;

import org.jspecify.annotations.NullMarked;
