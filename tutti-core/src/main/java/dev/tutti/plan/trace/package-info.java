/** What every lane of a plan did when, in a run or in a simulation, and how to write that for viewers of traces. */
@NullMarked
package dev.tutti.plan.trace;

import org.jspecify.annotations.NullMarked;
