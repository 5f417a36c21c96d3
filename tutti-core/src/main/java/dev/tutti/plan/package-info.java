/** Plans as data and the builder that writes them; built-in algorithms and users' own use the same one. */
@NullMarked
package dev.tutti.plan;

import org.jspecify.annotations.NullMarked;
