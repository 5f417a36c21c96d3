/**
 * Proves plans right before they run, and replays what is wrong with the others.
 *
 * <p>{@link dev.tutti.plan.verify.Verifier} is the entry. It knows plans as data and nothing of what runs them.
 */
@NullMarked
package dev.tutti.plan.verify;

import org.jspecify.annotations.NullMarked;
