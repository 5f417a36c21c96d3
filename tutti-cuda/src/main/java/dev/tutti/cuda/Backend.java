package dev.tutti.cuda;

/** Who carries out the collectives of a {@link DeviceCommunicator}. */
public enum Backend {
    /**
     * The fastest one for where the ranks are, by a rule of four lines, the first that holds. It looks at facts that all ranks know,
     * so all choose alike, and at nothing that was measured just now, so they choose the same tomorrow.
     *
     * <ol>
     *   <li>All in one process on one device: {@link #FUSED}.
     *   <li>All on one device: {@link #IPC}.
     *   <li>Each on a device of its own, and all have NCCL: {@link #NCCL}.
     *   <li>Else {@link #IPC}: NCCL takes no two ranks on one device.
     * </ol>
     */
    AUTO,
    /** One launch for all ranks, which must be in one process and on one device. */
    FUSED,
    /**
     * Ranks that map each other's memory: of several processes on one device, or on devices that reach each other. Where they cannot,
     * through pinned memory of the host.
     */
    IPC,
    /** NCCL, for whatever ranks it can join. */
    NCCL
}
