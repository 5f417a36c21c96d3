package dev.tutti.exec;

/** Shapes of tiny plans that have code of their own. */
final class Templates {
    static final int NONE = 0;

    private Templates() {}

    static int recognise(long[] symbolic) {
        return NONE;
    }

    static void run(int template, long[] code, Endpoint endpoint) {
        Interpreter.run(code, endpoint);
    }
}
