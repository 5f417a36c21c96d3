package dev.tutti.reduce;

/** Folds two sources on native memory. */
abstract class PairKernel {
    /** Which of a class's folds this is. */
    final int slot;

    final long aux;

    PairKernel(int slot, long aux) {
        this.slot = slot;
        this.aux = aux;
    }

    abstract void fold(long s0, long s1, long dst, int count);
}
