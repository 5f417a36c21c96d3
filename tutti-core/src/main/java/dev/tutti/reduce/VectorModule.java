package dev.tutti.reduce;

import org.jspecify.annotations.Nullable;

/** Whether the Vector API is there. It is an incubator module: nobody has it without asking for it. */
final class VectorModule {
    private static final String NAME = "jdk.incubator.vector";

    static final @Nullable String CAUSE = probe();

    private VectorModule() {}

    private static @Nullable String probe() {
        String hint = "; pass --add-modules " + NAME + " to java";
        try {
            Class<?> vector = Class.forName(NAME + ".Vector", false, VectorModule.class.getClassLoader());
            if (!VectorModule.class.getModule().canRead(vector.getModule())) {
                return "module " + NAME + " is not readable from Tutti's module" + hint;
            }
            return null;
        } catch (ClassNotFoundException | LinkageError absent) {
            return "module " + NAME + " is not there" + hint;
        }
    }

    /** One line, where there is something to gain. */
    static void report() {
        if (CAUSE != null) {
            System.getLogger("dev.tutti").log(System.Logger.Level.WARNING, "Tutti reduces with scalar code: " + CAUSE);
        }
    }
}
