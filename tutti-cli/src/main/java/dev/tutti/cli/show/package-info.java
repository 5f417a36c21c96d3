/** Pictures of plans: a drawing made of a few kinds of shapes, written as SVG, PNG or a page that answers to the mouse. */
@NullMarked
package dev.tutti.cli.show;

import org.jspecify.annotations.NullMarked;
