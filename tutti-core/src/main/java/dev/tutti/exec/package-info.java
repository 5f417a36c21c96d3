/**
 * Runs this rank's lanes of a plan: resolves sizes once per launch, then steps through operations on channels. Uses
 * channels, memory and reductions; does not know which algorithm wrote the plan.
 */
@NullMarked
package dev.tutti.exec;

import org.jspecify.annotations.NullMarked;
