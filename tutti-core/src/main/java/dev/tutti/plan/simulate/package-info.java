/**
 * Runs plans on machines that may not exist: a topology says what signals, bytes and operations cost, and an event queue says when
 * everything happens. It may use the plan model and nothing else.
 */
@NullMarked
package dev.tutti.plan.simulate;

import org.jspecify.annotations.NullMarked;
