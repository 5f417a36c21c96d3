/** What the API promises in words, sentence by sentence: one class for each promise. */
package dev.tutti.semantics;
