package dev.tutti.posix;

import java.util.Map;

/** A call to the operating system failed; the text has the call, its arguments and the name of the error. */
public final class PosixException extends RuntimeException {
    public static final int EPERM = 1;
    public static final int ENOENT = 2;
    public static final int ESRCH = 3;
    public static final int EINTR = 4;
    public static final int EAGAIN = 11;
    public static final int ENOMEM = 12;
    public static final int EACCES = 13;
    public static final int EFAULT = 14;
    public static final int EINVAL = 22;
    public static final int EMFILE = 24;
    public static final int EFBIG = 27;
    public static final int ENOSPC = 28;
    public static final int ENOSYS = 38;
    public static final int EOPNOTSUPP = 95;
    public static final int ETIMEDOUT = 110;

    private static final long serialVersionUID = 1;

    private static final Map<Integer, String> NAMES = Map.ofEntries(
            Map.entry(EPERM, "EPERM, not permitted"),
            Map.entry(ENOENT, "ENOENT, does not exist"),
            Map.entry(ESRCH, "ESRCH, no such process"),
            Map.entry(EINTR, "EINTR, interrupted by a signal"),
            Map.entry(EAGAIN, "EAGAIN, try again"),
            Map.entry(ENOMEM, "ENOMEM, not enough memory or address space"),
            Map.entry(EACCES, "EACCES, permission denied"),
            Map.entry(EFAULT, "EFAULT, bad address"),
            Map.entry(EINVAL, "EINVAL, invalid argument"),
            Map.entry(EMFILE, "EMFILE, too many open files"),
            Map.entry(EFBIG, "EFBIG, file too large"),
            Map.entry(ENOSPC, "ENOSPC, no space left"),
            Map.entry(ENOSYS, "ENOSYS, not implemented by this kernel"),
            Map.entry(EOPNOTSUPP, "EOPNOTSUPP, not supported"),
            Map.entry(ETIMEDOUT, "ETIMEDOUT, timed out"));

    private final int errno;

    PosixException(String call, int errno) {
        super(call + " failed: " + NAMES.getOrDefault(errno, "errno " + errno));
        this.errno = errno;
    }

    /** The error's number on Linux. */
    public int errno() {
        return errno;
    }
}
