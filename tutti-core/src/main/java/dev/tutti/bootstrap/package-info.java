/**
 * How processes that were started together find each other: who this process is, by the variables of whoever started it, and
 * a rendezvous (a folder on one host, an authenticated server otherwise) where they exchange cards. Depends on {@code spi},
 * {@code health} and {@code posix}.
 */
@NullMarked
package dev.tutti.bootstrap;

import org.jspecify.annotations.NullMarked;
