/** What ranks tell each other beside data: who is where, who has gone, who aborted. Uses memory and spi. */
@NullMarked
package dev.tutti.channel;

import org.jspecify.annotations.NullMarked;
