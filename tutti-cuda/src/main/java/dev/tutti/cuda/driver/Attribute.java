package dev.tutti.cuda.driver;

/** Numbers of the device attributes that Tutti asks for, as {@code cuda.h} has them. */
public final class Attribute {
    public static final int MULTIPROCESSORS = 16;
    public static final int L2_BYTES = 38;
    public static final int COMPUTE_MAJOR = 75;
    public static final int COMPUTE_MINOR = 76;
    public static final int COOPERATIVE_LAUNCH = 95;
    public static final int VIRTUAL_MEMORY = 102;
    public static final int POSIX_HANDLES = 103;
    public static final int MEMORY_POOLS = 115;
    public static final int FABRIC_HANDLES = 128;
    public static final int MULTICAST = 132;
    public static final int MPS = 133;

    private Attribute() {}
}
