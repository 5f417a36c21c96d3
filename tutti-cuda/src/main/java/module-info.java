/**
 * Tutti on CUDA devices: device memory, streams, collectives of several ranks on one device, and NCCL as a backend.
 * Libraries are found and loaded when first needed; {@code dev.tutti.cuda} is the API.
 */
module dev.tutti.cuda {
    requires transitive dev.tutti.core;
    requires static transitive org.jspecify;

    exports dev.tutti.cuda;
}
