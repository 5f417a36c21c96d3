/**
 * Collective communication for the JVM: ranks that are threads, processes or hosts combine and exchange arrays.
 *
 * <p>{@code dev.tutti} is the API. The Vector API is optional at run time: without it the scalar kernels run.
 */
module dev.tutti.core {
    requires static jdk.incubator.vector;
    requires static transitive org.jspecify;

    exports dev.tutti;
    exports dev.tutti.plan;
    exports dev.tutti.reduce to
            dev.tutti.cli,
            dev.tutti.bench,
            dev.tutti.stress;
}
