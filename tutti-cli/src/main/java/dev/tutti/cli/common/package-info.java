/** What several commands share: sizes, names of types and operators, how they end, how numbers, results and charts look. */
@NullMarked
package dev.tutti.cli.common;

import org.jspecify.annotations.NullMarked;
