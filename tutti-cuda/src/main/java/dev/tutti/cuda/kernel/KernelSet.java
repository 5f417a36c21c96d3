package dev.tutti.cuda.kernel;

import dev.tutti.DataType;
import dev.tutti.reduce.Fold;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The kernels of one context: compiled and loaded when first asked for. */
public final class KernelSet {
    /** In place of a fold's number: a function of the user's. */
    public static final int USER_FOLD = 9;

    /** All ranks are in one launch. */
    public static final int TOGETHER = 0;

    /** Ranks are processes on one device. */
    public static final int ONE_DEVICE = 1;

    /** Ranks are on several devices. */
    public static final int SEVERAL_DEVICES = 2;

    /** Ranks that parameters of copying kernels have room for. */
    public static final int MOST_PLACES = 96;

    private static final int MOST_TASKS = 128;

    private final String architecture;
    private final Cubins cubins;
    private final Map<Key, Module> modules = new ConcurrentHashMap<>();

    private record Key(String file, int type, int fold, int ranks, int apart, String user) {}

    /**
     * Makes an empty set.
     *
     * @param architecture for example {@code sm_90}
     */
    public KernelSet(String architecture) {
        this(architecture, new Cubins());
    }

    /** With a cache of its own. */
    public KernelSet(String architecture, Cubins cubins) {
        this.architecture = architecture;
        this.cubins = cubins;
    }

    /**
     * Kernels that move bytes.
     *
     * @param places how many parameters they have, from {@link #places}
     * @param apart {@link #TOGETHER}, {@link #ONE_DEVICE} or {@link #SEVERAL_DEVICES}
     */
    public Module copies(int places, int apart) {
        return module(new Key("copy.cu", 1, 0, places, apart, ""), List.of("PLACES=" + places, apart(apart)));
    }

    /** Ranks that copying kernels have parameters for, enough for so many ranks and copies; or the most there are. */
    public static int places(int ranks, int copies) {
        for (int places : new int[] {4, 8}) {
            if (ranks <= places && copies <= tasks(places)) {
                return places;
            }
        }
        return MOST_PLACES;
    }

    /** Copies that one launch of such kernels has parameters for. */
    public static int tasks(int places) {
        return places < MOST_PLACES ? places * places : MOST_TASKS;
    }

    /** Fused reductions of a type with an operator; numbers of ranks that are common have code of their own. */
    public Module fused(DataType type, Fold fold, int ranks, int apart) {
        return fused(type.number(), fold.ordinal(), special(ranks), apart, "");
    }

    /** Fused reductions with a function of the user's, given as CUDA C++ that defines {@code A user(A a, A x)}. */
    public Module fusedUser(DataType type, String source, int ranks, int apart) {
        return fused(type.number(), USER_FOLD, special(ranks), apart, source);
    }

    /** The executor of plans on a type; operators are the plan's. */
    public Module plans(DataType type) {
        return module(new Key("plan.cu", type.number(), 0, 0, TOGETHER, ""), List.of("TYPE=" + type.number()));
    }

    /** The number of ranks that the compiler is told, 0 for none. */
    public static int special(int ranks) {
        return ranks == 2 || ranks == 4 || ranks == 8 ? ranks : 0;
    }

    private Module fused(int type, int fold, int ranks, int apart, String user) {
        return module(
                new Key("fused.cu", type, fold, ranks, apart, user),
                List.of("TYPE=" + type, "FOLD=" + fold, "RANKS=" + ranks, apart(apart)));
    }

    private static String apart(int apart) {
        return "APART=" + apart;
    }

    private Module module(Key key, List<String> defines) {
        Module known = modules.get(key);
        if (known != null) {
            return known;
        }
        Map<String, String> headers = new LinkedHashMap<>(Sources.headers());
        if (!key.user().isEmpty()) {
            headers.put("user.cuh", key.user());
        }
        // Two threads may compile the same at once; one of the two modules is dropped.
        byte[] cubin = cubins.get(key.file(), Sources.text(key.file()), headers, architecture, defines);
        Module made = new Module(cubin);
        Module before = modules.putIfAbsent(key, made);
        if (before == null) {
            return made;
        }
        made.unload();
        return before;
    }
}
