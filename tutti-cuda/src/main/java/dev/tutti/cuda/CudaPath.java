package dev.tutti.cuda;

/** How the ranks of a {@link CudaWorld} reach each other's memory and wait for each other. */
public enum CudaPath {
    /** All ranks are in this process and on one device, and their parts are one launch. */
    FUSED,
    /** Ranks map each other's memory, and their kernels wait for each other on the device. */
    DEVICE,
    /** Ranks map each other's memory, and wait for each other on the host: calls return when they are over. */
    HOST,
    /** Through pinned memory of the hosts and their transports: calls return when they are over. */
    STAGED
}
