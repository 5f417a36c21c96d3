package dev.tutti.cuda;

/**
 * A call that was checked once, to be made many times on the same buffers. When all ranks run prepared calls again, the launch is
 * not worked out again either.
 */
public final class CudaPrepared {
    private final DeviceCommunicator communicator;
    private final CudaCall call;
    private final Distant.Memo memo = new Distant.Memo();

    CudaPrepared(DeviceCommunicator communicator, CudaCall call) {
        this.communicator = communicator;
        this.call = call;
    }

    /**
     * Makes the call.
     *
     * @return what to wait for
     */
    public CudaWork start() {
        return communicator.start(call, memo);
    }

    /** Makes the call and waits for its end. */
    public void run() {
        start().await();
    }
}
