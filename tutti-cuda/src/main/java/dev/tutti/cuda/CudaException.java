package dev.tutti.cuda;

import dev.tutti.TuttiException;

/** A call of a native library that returned an error. The text has the call, its arguments, the error's name and text. */
public final class CudaException extends TuttiException {
    private static final long serialVersionUID = 1L;

    private final String call;
    private final int code;
    private final String codeName;

    /**
     * Makes one.
     *
     * @param call the C function
     * @param code what it returned
     * @param codeName the name of that value
     * @param message who, what, and what to do
     */
    public CudaException(String call, int code, String codeName, String message) {
        super(Category.BROKEN, message, null);
        this.call = call;
        this.code = code;
        this.codeName = codeName;
    }

    /**
     * The C function that failed.
     *
     * @return for example {@code cuMemAlloc}
     */
    public String call() {
        return call;
    }

    /**
     * What it returned.
     *
     * @return a number of that library's
     */
    public int code() {
        return code;
    }

    /**
     * The name of what it returned.
     *
     * @return for example {@code CUDA_ERROR_OUT_OF_MEMORY}
     */
    public String codeName() {
        return codeName;
    }
}
