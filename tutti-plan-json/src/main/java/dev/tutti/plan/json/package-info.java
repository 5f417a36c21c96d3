/** Plan files in and out; depends on the plan model and a streaming JSON parser alone. */
@NullMarked
package dev.tutti.plan.json;

import org.jspecify.annotations.NullMarked;
