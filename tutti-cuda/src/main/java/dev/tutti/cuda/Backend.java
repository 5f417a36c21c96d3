package dev.tutti.cuda;

/** Who carries out the collectives of a {@link DeviceCommunicator}. */
public enum Backend {
    /**
     * The best one for where the ranks are: {@link #FUSED} for ranks of one process on one device, {@link #IPC} for ranks of several
     * processes on one device, {@link #NCCL} for all others. It is worked out from facts that all ranks know, so all choose alike.
     */
    AUTO,
    /** One launch for all ranks, which must be in one process and on one device. */
    FUSED,
    /** Ranks of several processes on one device, which map each other's memory. */
    IPC,
    /** NCCL, for whatever ranks it can join. */
    NCCL
}
