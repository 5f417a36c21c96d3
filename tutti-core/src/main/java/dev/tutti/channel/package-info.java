/**
 * One direction between two ranks: signal, wait, put, get and packets, and the layout of the memory they share. Uses
 * memory; does not know plans.
 */
@NullMarked
package dev.tutti.channel;

import org.jspecify.annotations.NullMarked;
