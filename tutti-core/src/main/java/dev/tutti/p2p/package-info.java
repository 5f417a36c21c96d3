/** Sends and receives with tags: matching and moving of messages between two ranks. Uses exec, channel, spi and memory. */
@NullMarked
package dev.tutti.p2p;

import org.jspecify.annotations.NullMarked;
