package dev.tutti.algorithm;

import dev.tutti.plan.RankBuilder;
import java.util.function.Consumer;

/**
 * Who writes the plans of a built-in algorithm, and what it costs. Those of a collective are one enum: a lambda for either would be a class that
 * the JVM makes at the start of every process, 144 of them.
 */
interface Author extends Consumer<RankBuilder>, Cost {}
