/**
 * Collective communication for the JVM: ranks that are threads, processes or hosts combine and exchange arrays.
 *
 * <p>{@code dev.tutti} is the API. The Vector API is optional at run time: without it the scalar kernels run.
 */
module dev.tutti.core {
    requires static jdk.incubator.vector;
    requires static transitive org.jspecify;

    // The API.
    exports dev.tutti;
    exports dev.tutti.plan;
    exports dev.tutti.plan.verify;
    exports dev.tutti.plan.language;
    exports dev.tutti.plan.simulate;
    exports dev.tutti.plan.trace;
    exports dev.tutti.spi;

    // For Tutti's own modules. A package can stand here once it has a class.
    exports dev.tutti.algorithm to
            dev.tutti.cli,
            dev.tutti.cuda,
            dev.tutti.bench,
            dev.tutti.stress;
    exports dev.tutti.bootstrap to
            dev.tutti.cli,
            dev.tutti.bench;
    exports dev.tutti.channel to
            dev.tutti.cli,
            dev.tutti.cuda,
            dev.tutti.bench,
            dev.tutti.stress;
    exports dev.tutti.data to
            dev.tutti.cli,
            dev.tutti.cuda,
            dev.tutti.bench,
            dev.tutti.stress;
    exports dev.tutti.exec to
            dev.tutti.cli,
            dev.tutti.cuda,
            dev.tutti.bench,
            dev.tutti.stress;
    exports dev.tutti.health to
            dev.tutti.cli;
    exports dev.tutti.memory to
            dev.tutti.cli,
            dev.tutti.cuda,
            dev.tutti.bench,
            dev.tutti.stress;
    exports dev.tutti.posix to
            dev.tutti.cli,
            dev.tutti.cuda,
            dev.tutti.bench,
            dev.tutti.stress;
    exports dev.tutti.reduce to
            dev.tutti.cli,
            dev.tutti.cuda,
            dev.tutti.bench,
            dev.tutti.stress;
    exports dev.tutti.transport.shm to
            dev.tutti.cli,
            dev.tutti.bench,
            dev.tutti.stress;
    exports dev.tutti.transport.local to
            dev.tutti.cli,
            dev.tutti.cuda,
            dev.tutti.bench,
            dev.tutti.stress;
}
