package dev.tutti;

import dev.tutti.exec.Call;
import dev.tutti.exec.Schedule;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How calls get from the API to the executor. A blocking call fills the communicator's own call under its lock and runs on the
 * caller's thread, allocating nothing; if others are before it, or the caller is a virtual thread, it queues like a started one.
 */
abstract sealed class CollectiveCalls permits StartedCollectives {
    final World world;
    final Member member;
    final Schedule schedule;
    final long timeoutNanos;
    final Requests requests;
    final RaggedRequests ragged;
    private final RecentCalls recent = new RecentCalls();
    private final List<Call> spare = new ArrayList<>();

    CollectiveCalls(World world, Member member, long timeoutNanos) {
        this.world = world;
        this.member = member;
        this.schedule = member.schedule();
        this.timeoutNanos = timeoutNanos;
        this.requests = new Requests(world, member, timeoutNanos);
        this.ragged = new RaggedRequests(world, member, timeoutNanos);
    }

    final Communicator self() {
        return (Communicator) this;
    }

    /** The call to fill for a blocking operation; {@link #leave} must follow. */
    final Call begin() {
        return schedule.enter() ? recent.other() : take();
    }

    /** The same for a barrier; null if it has been made just now, in the shortest way, as it had been made before. Then nothing must follow. */
    final @Nullable Call beginBarrier() {
        if (!schedule.enter()) {
            return take();
        }
        Call call = recent.barrier();
        return again(call) ? null : call;
    }

    /** The same for an operation with arguments that may have been called with them before. */
    final @Nullable Call begin(
            Collective which,
            DataType type,
            @Nullable Object in,
            @Nullable Object out,
            @Nullable ReduceOp op,
            int root) {
        if (!schedule.enter()) {
            return take();
        }
        Call call = recent.find(which, type, in, out, op, root);
        return again(call) ? null : call;
    }

    /**
     * Makes a small call that has been made before in the shortest way, and leaves.
     *
     * @return false, and nothing has been done, if it has to be made in the ordinary way
     */
    private boolean again(Call call) {
        if (!call.mayRunShort()) {
            return false;
        }
        try {
            Object in = call.inputHolder();
            Object out = call.outputHolder();
            long inputOwner = requireOpen(in);
            schedule.uses(inputOwner, in == out ? inputOwner : requireOpen(out));
            if (!schedule.runAgain(call)) {
                return false;
            }
        } catch (Throwable failed) {
            quarantine(call);
            leave(call);
            throw failed;
        }
        schedule.exit();
        return true;
    }

    final void end(Call call) {
        if (call.isInline()) {
            runInline(call);
        } else {
            retainBuffers(call);
            submit(new CollectiveWork(self(), schedule, call, null)).await();
        }
    }

    final void leave(Call call) {
        if (call.isInline()) {
            call.forget();
            schedule.exit();
        }
    }

    final void runInline(Call call) {
        Object input = call.inputHolder();
        Object output = call.outputHolder();
        if (output instanceof List<?>) {
            runCounted(call);
            return;
        }
        long inputOwner = requireOpen(input);
        schedule.uses(inputOwner, input == output ? inputOwner : requireOpen(output));
        try {
            schedule.run(call);
        } catch (Throwable failed) {
            quarantine(call);
            throw failed;
        }
    }

    /** Keeps memory that a peer may still touch after a failure from being freed. */
    final void quarantine(Call call) {
        if (call.isStillReached()) {
            if (call.inputHolder() instanceof Buffer buffer) {
                buffer.quarantine();
            }
            if (call.outputHolder() instanceof Buffer buffer) {
                buffer.quarantine();
            }
        }
    }

    /** For calls that use more buffers than the gate has room to name. */
    private void runCounted(Call call) {
        schedule.uses(0, 0);
        retainBuffers(call);
        try {
            schedule.run(call);
        } finally {
            releaseBuffers(call);
        }
    }

    /** The call to fill for an operation that is started. */
    final Call take() {
        synchronized (spare) {
            return spare.isEmpty() ? new Call() : spare.removeLast();
        }
    }

    final Work start(Call call) {
        retainBuffers(call);
        return submit(new CollectiveWork(self(), schedule, call, null));
    }

    final CollectiveWork submit(CollectiveWork work) {
        try {
            schedule.submit(work);
        } catch (RuntimeException refused) {
            work.complete(refused);
            throw refused;
        }
        return work;
    }

    final void recycle(Call call) {
        call.drop();
        synchronized (spare) {
            spare.add(call);
        }
    }

    final void retainBuffers(Call call) {
        if (call.inputHolder() == call.outputHolder()) {
            retain(call.inputHolder());
            return;
        }
        retain(call.inputHolder());
        try {
            retain(call.outputHolder());
        } catch (RuntimeException closed) {
            release(call.inputHolder());
            throw closed;
        }
    }

    final void releaseBuffers(Call call) {
        release(call.inputHolder());
        if (call.inputHolder() != call.outputHolder()) {
            release(call.outputHolder());
        }
    }

    private static long requireOpen(@Nullable Object holder) {
        return holder instanceof Buffer buffer ? buffer.requireOpen() : 0;
    }

    private static void retain(@Nullable Object holder) {
        if (holder instanceof Buffer buffer) {
            buffer.retain();
        } else if (holder instanceof List<?> list) {
            int retained = 0;
            try {
                for (; retained < list.size(); retained++) {
                    retain(list.get(retained));
                }
            } catch (RuntimeException closed) {
                list.subList(0, retained).forEach(CollectiveCalls::release);
                throw closed;
            }
        }
    }

    private static void release(@Nullable Object holder) {
        if (holder instanceof Buffer buffer) {
            buffer.release();
        } else if (holder instanceof List<?> list) {
            list.forEach(CollectiveCalls::release);
        }
    }

    /** The type of whichever buffer is there. */
    final DataType typeOf(@Nullable Buffer in, @Nullable Buffer out) {
        if (in != null) {
            return in.type();
        }
        if (out != null) {
            return out.type();
        }
        throw member.arguments().wrong("neither input nor output was given");
    }
}
