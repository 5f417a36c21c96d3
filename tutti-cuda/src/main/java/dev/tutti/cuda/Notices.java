package dev.tutti.cuda;

import dev.tutti.cuda.driver.Streams;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Tells of ends of operations: by the driver's callback, or by one thread that looks. */
final class Notices {
    private static final AtomicLong NUMBERS = new AtomicLong();
    private static final Map<Long, Completion> CALLED = new ConcurrentHashMap<>();
    private static final Queue<Completion> WATCHED = new ConcurrentLinkedQueue<>();
    private static final long PARK_NANOS = 50_000;

    private Notices() {}

    /** Made when the first callback is asked for. */
    private static final class Stub {
        static final MemorySegment ADDRESS = make();

        private static MemorySegment make() {
            try {
                return Linker.nativeLinker()
                        .upcallStub(
                                MethodHandles.lookup()
                                        .findStatic(
                                                Notices.class, "called", MethodType.methodType(void.class, long.class)),
                                FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG),
                                Arena.global());
            } catch (ReflectiveOperationException impossible) {
                throw new IllegalStateException(impossible);
            }
        }
    }

    private static final class Watcher {
        static final Thread THREAD =
                Thread.ofPlatform().daemon().name("tutti-cuda-watch").start(Notices::watchAll);
    }

    /** Has the driver call back at this place of a stream. */
    static void callBack(Completion completion, long stream) {
        long number = NUMBERS.incrementAndGet();
        CALLED.put(number, completion);
        boolean launched = false;
        try {
            Streams.launchHostFunction(stream, Stub.ADDRESS.address(), number);
            launched = true;
        } finally {
            if (!launched) {
                CALLED.remove(number);
            }
        }
    }

    /** On a thread of the driver's: nothing here may throw or call CUDA. */
    @SuppressWarnings("unused") // called by the driver
    private static void called(long number) {
        try {
            Completion completion = CALLED.remove(number);
            if (completion != null) {
                completion.finish(null);
            }
        } catch (Throwable thrown) {
            Thread current = Thread.currentThread();
            current.getUncaughtExceptionHandler().uncaughtException(current, thrown);
        }
    }

    /** Has somebody look for the end, unless the driver will say. */
    static void watch(Completion completion, CudaWork.Notice notice) {
        if (notice != CudaWork.Notice.CALLBACK) {
            WATCHED.add(completion);
            LockSupport.unpark(Watcher.THREAD);
        }
    }

    private static void watchAll() {
        while (true) {
            WATCHED.removeIf(Completion::isDone);
            if (WATCHED.isEmpty()) {
                LockSupport.park(WATCHED);
            } else {
                LockSupport.parkNanos(WATCHED, PARK_NANOS);
            }
        }
    }
}
