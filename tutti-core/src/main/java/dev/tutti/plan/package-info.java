/**
 * Plans: what each rank does in a collective, as data. A plan can be built, checked, simulated, saved and run; Tutti's
 * own algorithms and users' plans are written with the same builder. Knows data types and operators, never a channel.
 */
@NullMarked
package dev.tutti.plan;

import org.jspecify.annotations.NullMarked;
