package dev.tutti.exec;

/**
 * Where the blocks of input and output lie and how long they are, in bytes: of a whole call, or of the piece of it that one
 * launch works on.
 */
public final class Geometry {
    private long[] inputOffsets = new long[1];
    private long[] inputBytes = new long[1];
    private long[] outputOffsets = new long[1];
    private long[] outputBytes = new long[1];
    private int inputBlocks;
    private int outputBlocks;

    /** Sets the number of blocks; offsets and lengths are then given one by one. */
    public void resize(int inputs, int outputs) {
        if (inputOffsets.length < inputs) {
            inputOffsets = new long[inputs];
            inputBytes = new long[inputs];
        }
        if (outputOffsets.length < outputs) {
            outputOffsets = new long[outputs];
            outputBytes = new long[outputs];
        }
        inputBlocks = inputs;
        outputBlocks = outputs;
    }

    public void setInput(int block, long offset, long bytes) {
        inputOffsets[block] = offset;
        inputBytes[block] = bytes;
    }

    public void setOutput(int block, long offset, long bytes) {
        outputOffsets[block] = offset;
        outputBytes[block] = bytes;
    }

    /** Equal blocks, one after the other. */
    public void uniform(int inputs, int outputs, long blockBytes) {
        resize(inputs, outputs);
        for (int block = 0; block < inputs; block++) {
            setInput(block, block * blockBytes, blockBytes);
        }
        for (int block = 0; block < outputs; block++) {
            setOutput(block, block * blockBytes, blockBytes);
        }
    }

    public int inputBlocks() {
        return inputBlocks;
    }

    public int outputBlocks() {
        return outputBlocks;
    }

    public long inputOffset(int block) {
        return inputOffsets[block];
    }

    /** Where what a peer gets from the input begins: the only block, or the peer's. */
    long inputOffsetFor(int peer) {
        return inputBlocks == 1 ? inputOffsets[0] : inputOffsets[peer];
    }

    public long inputBytes(int block) {
        return inputBytes[block];
    }

    public long outputOffset(int block) {
        return outputOffsets[block];
    }

    public long outputBytes(int block) {
        return outputBytes[block];
    }

    /** Length of the longest block. */
    public long longest() {
        long longest = 0;
        for (int block = 0; block < inputBlocks; block++) {
            longest = Math.max(longest, inputBytes[block]);
        }
        for (int block = 0; block < outputBlocks; block++) {
            longest = Math.max(longest, outputBytes[block]);
        }
        return longest;
    }

    /**
     * Sets this to the piece {@code [start, start + window)} of every block of a call. Offsets stay those of the user's memory
     * where it is used in place ({@code stride} negative; the start is then added by the caller), else blocks follow each other at
     * {@code stride}.
     */
    void piece(Geometry call, long start, long window, long inputStride, long outputStride) {
        resize(call.inputBlocks, call.outputBlocks);
        for (int block = 0; block < inputBlocks; block++) {
            long offset = inputStride < 0 ? call.inputOffsets[block] : block * inputStride;
            setInput(block, offset, Math.clamp(call.inputBytes[block] - start, 0, window));
        }
        for (int block = 0; block < outputBlocks; block++) {
            long offset = outputStride < 0 ? call.outputOffsets[block] : block * outputStride;
            setOutput(block, offset, Math.clamp(call.outputBytes[block] - start, 0, window));
        }
    }
}
