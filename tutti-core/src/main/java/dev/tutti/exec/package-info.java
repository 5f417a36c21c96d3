/** Runs plans: resolves sizes into records, binds addresses, interprets. Uses plan, channel, reduce and memory. */
@NullMarked
package dev.tutti.exec;

import org.jspecify.annotations.NullMarked;
