/**
 * The built-in collectives: each a short method that writes a plan with the same builder that users have. Uses plans
 * and nothing that runs them.
 */
@NullMarked
package dev.tutti.algorithm;

import org.jspecify.annotations.NullMarked;
