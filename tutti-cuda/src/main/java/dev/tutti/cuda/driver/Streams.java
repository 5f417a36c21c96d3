package dev.tutti.cuda.driver;

import dev.tutti.cuda.library.Scratch;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** Streams, events, captures and graphs. */
public final class Streams {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private static final MethodHandle cuStreamCreateWithPriority =
            Driver.LIBRARY.function("cuStreamCreateWithPriority", LONG, INT, INT);

    private static final MethodHandle cuStreamDestroy = Driver.LIBRARY.function("cuStreamDestroy_v2", LONG);

    private static final MethodHandle cuStreamSynchronize = Driver.LIBRARY.function("cuStreamSynchronize", LONG);

    private static final MethodHandle cuStreamQuery = Driver.LIBRARY.function("cuStreamQuery", LONG);

    private static final MethodHandle cuStreamWaitEvent = Driver.LIBRARY.function("cuStreamWaitEvent", LONG, LONG, INT);

    private static final MethodHandle cuLaunchHostFunc = Driver.LIBRARY.function("cuLaunchHostFunc", LONG, LONG, LONG);

    private static final MethodHandle cuStreamIsCapturing = Driver.LIBRARY.function("cuStreamIsCapturing", LONG, LONG);

    private static final MethodHandle cuStreamBeginCapture =
            Driver.LIBRARY.function("cuStreamBeginCapture_v2", LONG, INT);

    private static final MethodHandle cuStreamEndCapture = Driver.LIBRARY.function("cuStreamEndCapture", LONG, LONG);

    private static final MethodHandle cuGraphInstantiateWithFlags =
            Driver.LIBRARY.function("cuGraphInstantiateWithFlags", LONG, LONG, LONG);

    private static final MethodHandle cuGraphLaunch = Driver.LIBRARY.function("cuGraphLaunch", LONG, LONG);

    private static final MethodHandle cuGraphExecDestroy = Driver.LIBRARY.function("cuGraphExecDestroy", LONG);

    private static final MethodHandle cuGraphDestroy = Driver.LIBRARY.function("cuGraphDestroy", LONG);

    private static final MethodHandle cuEventCreate = Driver.LIBRARY.function("cuEventCreate", LONG, INT);

    private static final MethodHandle cuEventRecord = Driver.LIBRARY.function("cuEventRecord", LONG, LONG);

    private static final MethodHandle cuEventQuery = Driver.LIBRARY.function("cuEventQuery", LONG);

    private static final MethodHandle cuEventSynchronize = Driver.LIBRARY.function("cuEventSynchronize", LONG);

    private static final MethodHandle cuEventElapsedTime =
            Driver.LIBRARY.function("cuEventElapsedTime", LONG, LONG, LONG);

    private static final MethodHandle cuEventDestroy = Driver.LIBRARY.function("cuEventDestroy_v2", LONG);

    /** A stream; flag 1: it does not wait for the default stream. */
    public static long create(int flags, int priority) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) cuStreamCreateWithPriority.invokeExact(out.address(), flags, priority);
            if (code != 0) {
                throw Driver.failure(code, "cuStreamCreateWithPriority", "flags " + flags + ", priority " + priority);
            }
            return out.get(ValueLayout.JAVA_LONG, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Ends a stream after what is in it. */
    public static void destroy(long stream) {
        try {
            int code = (int) cuStreamDestroy.invokeExact(stream);
            if (code != 0) {
                throw Driver.failure(code, "cuStreamDestroy", "stream " + stream);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Waits for everything in a stream. */
    public static void synchronise(long stream) {
        try {
            int code = (int) cuStreamSynchronize.invokeExact(stream);
            if (code != 0) {
                throw Driver.failure(code, "cuStreamSynchronize", "stream " + stream);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** 0 if a stream is empty, {@link Driver#NOT_READY} if not. */
    public static int query(long stream) {
        try {
            return (int) cuStreamQuery.invokeExact(stream);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Makes a stream wait for an event. */
    public static void await(long stream, long event, int flags) {
        try {
            int code = (int) cuStreamWaitEvent.invokeExact(stream, event, flags);
            if (code != 0) {
                throw Driver.failure(
                        code, "cuStreamWaitEvent", "stream " + stream + ", event " + event + ", flags " + flags);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Calls a function of the host in stream order. */
    public static void launchHostFunction(long stream, long function, long data) {
        try {
            int code = (int) cuLaunchHostFunc.invokeExact(stream, function, data);
            if (code != 0) {
                throw Driver.failure(
                        code, "cuLaunchHostFunc", "stream " + stream + ", function " + function + ", data " + data);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** 0 if a stream is not captured, 1 if it is. */
    public static int isCapturing(long stream) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) cuStreamIsCapturing.invokeExact(stream, out.address());
            if (code != 0) {
                throw Driver.failure(code, "cuStreamIsCapturing", "stream " + stream);
            }
            return out.get(ValueLayout.JAVA_INT, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** From now on what goes into the stream is recorded. */
    public static void beginCapture(long stream, int mode) {
        try {
            int code = (int) cuStreamBeginCapture.invokeExact(stream, mode);
            if (code != 0) {
                throw Driver.failure(code, "cuStreamBeginCapture", "stream " + stream + ", mode " + mode);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Gives what was recorded. */
    public static long endCapture(long stream) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) cuStreamEndCapture.invokeExact(stream, out.address());
            if (code != 0) {
                throw Driver.failure(code, "cuStreamEndCapture", "stream " + stream);
            }
            return out.get(ValueLayout.JAVA_LONG, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Makes a graph ready to run. */
    public static long instantiate(long graph, long flags) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) cuGraphInstantiateWithFlags.invokeExact(out.address(), graph, flags);
            if (code != 0) {
                throw Driver.failure(code, "cuGraphInstantiateWithFlags", "graph " + graph + ", flags " + flags);
            }
            return out.get(ValueLayout.JAVA_LONG, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Runs a graph. */
    public static void launchGraph(long executable, long stream) {
        try {
            int code = (int) cuGraphLaunch.invokeExact(executable, stream);
            if (code != 0) {
                throw Driver.failure(code, "cuGraphLaunch", "executable " + executable + ", stream " + stream);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Frees an executable graph. */
    public static void destroyExecutable(long executable) {
        try {
            int code = (int) cuGraphExecDestroy.invokeExact(executable);
            if (code != 0) {
                throw Driver.failure(code, "cuGraphExecDestroy", "executable " + executable);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Frees a graph. */
    public static void destroyGraph(long graph) {
        try {
            int code = (int) cuGraphDestroy.invokeExact(graph);
            if (code != 0) {
                throw Driver.failure(code, "cuGraphDestroy", "graph " + graph);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** An event; flag 2: without time, 1: waits sleep. */
    public static long createEvent(int flags) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) cuEventCreate.invokeExact(out.address(), flags);
            if (code != 0) {
                throw Driver.failure(code, "cuEventCreate", "flags " + flags);
            }
            return out.get(ValueLayout.JAVA_LONG, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** The event is what is in the stream now. */
    public static void record(long event, long stream) {
        try {
            int code = (int) cuEventRecord.invokeExact(event, stream);
            if (code != 0) {
                throw Driver.failure(code, "cuEventRecord", "event " + event + ", stream " + stream);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** 0 if an event has happened, {@link Driver#NOT_READY} if not. */
    public static int queryEvent(long event) {
        try {
            return (int) cuEventQuery.invokeExact(event);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Waits for an event. */
    public static void synchroniseEvent(long event) {
        try {
            int code = (int) cuEventSynchronize.invokeExact(event);
            if (code != 0) {
                throw Driver.failure(code, "cuEventSynchronize", "event " + event);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Time between two events. */
    public static float elapsedMillis(long start, long end) {
        try {
            MemorySegment out = Scratch.zeroed();
            int code = (int) cuEventElapsedTime.invokeExact(out.address(), start, end);
            if (code != 0) {
                throw Driver.failure(code, "cuEventElapsedTime", "start " + start + ", end " + end);
            }
            return out.get(ValueLayout.JAVA_FLOAT, 0);
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    /** Frees an event. */
    public static void destroyEvent(long event) {
        try {
            int code = (int) cuEventDestroy.invokeExact(event);
            if (code != 0) {
                throw Driver.failure(code, "cuEventDestroy", "event " + event);
            }
        } catch (Throwable thrown) {
            throw Scratch.rethrown(thrown);
        }
    }

    private Streams() {}
}
