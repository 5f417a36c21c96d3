/** Plan files: reads and writes the JSON in which collective algorithms are exchanged. */
module dev.tutti.plan.json {
    requires transitive dev.tutti.core;
    requires tools.jackson.core;
    requires static transitive org.jspecify;

    exports dev.tutti.plan.json;
}
