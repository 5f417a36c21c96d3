/**
 * The language in which plans for all ranks are written at once: ranks, buffers and chunks, channels, semaphores, groups of lanes, loops;
 * and the passes that turn what was written into a plan. It may use the plan model and nothing else.
 */
@NullMarked
package dev.tutti.plan.language;

import org.jspecify.annotations.NullMarked;
