package dev.tutti.cuda;

import dev.tutti.AbortedException;
import dev.tutti.CollectiveTimeoutException;
import dev.tutti.Communicator;
import dev.tutti.MismatchException;
import dev.tutti.Prepared;
import dev.tutti.TuttiException;
import dev.tutti.cuda.driver.Modules;
import dev.tutti.cuda.kernel.KernelSet;
import dev.tutti.exec.Signature;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Ranks that map each other's memory: in several processes on one device, or on devices that reach each other. With every call they
 * tell each other on the host what they call and where their memory is; so everybody has come, or is named, before anything is launched.
 * Then each launches its part of the grid. What is still in the ranks' streams is waited for on the device, or, where kernels of
 * two processes do not run at the same time, on the host.
 */
final class Processes implements Distant {
    private static final int REMEMBERED = 64;
    private static final long GUARD_NANOS = 5_000_000;
    private static final long WITHDRAWAL_NANOS = 2_000_000_000L;

    private final CudaWorld world;
    private final Communicator host;
    private final CudaPath path;
    private final Part.Ranks ranks;
    private final Control control;
    private final Imports imports;
    private final Exports exports;
    private final Bounce bounce;
    private final Notes notes;
    private final Prepared barrier;
    private final ProcessMessages messages;
    private final Turns turns;
    private final Set<Long> loaded = new HashSet<>();
    private final LinkedHashMap<Key, Fused> remembered = new LinkedHashMap<>(16, 0.75f, true);
    private final Thread guard;
    private @Nullable CudaStream lastOn;
    private int delays;
    private volatile boolean closed;

    /** What was exchanged for a call, and so what its launch depends on. */
    private record Key(long[] words) {
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Key key && java.util.Arrays.equals(words, key.words);
        }

        @Override
        public int hashCode() {
            return java.util.Arrays.hashCode(words);
        }
    }

    /** Takes over what the introduction made. */
    Processes(CudaWorld world, Communicator host, Introduction introduction) {
        this.world = world;
        this.host = host;
        this.path = introduction.path();
        this.ranks = new Part.Ranks(
                host.rank(),
                host.size(),
                path == CudaPath.DEVICE,
                introduction.isOneDevice() ? KernelSet.ONE_DEVICE : KernelSet.SEVERAL_DEVICES,
                introduction.blocks());
        this.control = introduction.control();
        this.imports = introduction.imports();
        this.exports = introduction.exports();
        this.bounce = new Bounce(world.device(), exports);
        this.notes = new Notes(host, world.device(), exports, imports);
        this.barrier = host.prepareBarrier();
        this.messages = new ProcessMessages(this, host, world, exports, imports);
        this.turns = new Turns(host);
        this.guard = Thread.ofVirtual().name("tutti-cuda-guard").start(this::watch);
    }

    @Override
    public CudaPath path() {
        return path;
    }

    @Override
    public int rank() {
        return host.rank();
    }

    @Override
    public CudaMemory allocate(long bytes) {
        return exports.allocate(world.device(), bytes);
    }

    @Override
    public CudaWork start(CudaCall call, CudaStream on, long number, @Nullable Memo memo) {
        enqueue(call, on, number, memo);
        return work(on, call, number);
    }

    @Override
    public void enqueue(CudaCall call, CudaStream on, long number, @Nullable Memo memo) {
        guarded(call, number, () -> put(call, on, number, memo));
    }

    private synchronized void put(CudaCall call, CudaStream on, long number, @Nullable Memo memo) {
        begin(on);
        Fused known = memo == null || delays != 0 ? null : memo.launch;
        turns.come(number, known == null);
        if (known != null) {
            known.launch(on.handle());
            return;
        }
        load(call);
        CudaCall mine = bounce.in(call, on);
        if (path == CudaPath.HOST) {
            drain(on, call);
        }
        notes.exchange(mine, memo != null && path == CudaPath.DEVICE && mine == call && isKept(call));
        Fused launch = resolve(mine, number);
        launch.launch(on.handle());
        if (memo != null && notes.areKept()) {
            memo.launch = launch;
        }
        if (path == CudaPath.HOST) {
            drain(on, call);
            barrier.run();
        }
        bounce.out(call, mine, on);
    }

    /** Of another library's memory nobody says when it is freed. */
    private static boolean isKept(CudaCall call) {
        return (call.in == null || call.in.kind() != CudaBuffer.Kind.EXTERNAL)
                && (call.out == null || call.out.kind() != CudaBuffer.Kind.EXTERNAL);
    }

    @Override
    public synchronized CudaWork exchange(List<CudaCall> calls, CudaStream on) {
        CudaCall first = calls.getFirst();
        guarded(first, 0, () -> {
            begin(on);
            load(first);
            messages.run(calls, on);
        });
        return work(on, first, 0);
    }

    /** Launches of one communicator run one after the other, whatever their streams are. */
    private void begin(CudaStream on) {
        on.enter();
        if (path == CudaPath.HOST && on.isCapturing()) {
            throw new IllegalStateException(
                    "a graph cannot hold calls of ranks that wait for each other on the host, as here: "
                            + "it needs MPS");
        }
        CudaStream before = lastOn;
        if (before != null && before.handle() != on.handle()) {
            if (before.isOpen()) {
                world.completion(before.handle()).order(on.handle());
            } else {
                world.device().synchronise();
            }
        }
        lastOn = on;
    }

    private CudaWork work(CudaStream on, CudaCall call, long number) {
        Completion end = on.isCapturing() ? null : world.completion(on.handle());
        CudaWork.Watch watch = new CudaWork.Watch() {
            @Override
            public void look() {
                // The guard looks, whether anybody waits or not.
            }

            @Override
            public String late() {
                return Processes.this.late(call, number);
            }
        };
        return new CudaWork(end, world.notice(), world.timeoutNanos(), "rank " + rank() + "'s " + call, watch);
    }

    private Fused resolve(CudaCall mine, long number) {
        Key key = new Key(notes.words());
        Fused known = delays == 0 && mine.count >= 0 ? remembered.get(key) : null;
        if (known != null) {
            return known;
        }
        Fused made = Fused.of(world.device(), notes.calls(mine, number), world.functions(), part(mine));
        if (delays == 0 && mine.count >= 0) {
            remembered.put(key, made);
            if (remembered.size() > REMEMBERED) {
                remembered.pollFirstEntry();
            }
        }
        return made;
    }

    /** This rank's part of a launch of all ranks. */
    private Part part(CudaCall call) {
        long called = Signature.mix(call.meta() ^ Signature.mix(call.count ^ Signature.mix(call.extra)));
        return new Part(control.place(), ranks, world.timeoutNanos(), seed(), called, null);
    }

    /** A launch for messages, which this rank makes by itself; on the path of the host nothing is waited for. */
    Part messages(byte[] sends, byte[] receives) {
        return new Part(control.place(), ranks, world.timeoutNanos(), seed(), 0, new Part.Messages(sends, receives));
    }

    private int seed() {
        return delays == 0 ? 0 : (delays = delays * 0x9E3779B1 + 1) | 1;
    }

    /** Kernels are compiled and loaded before anybody waits for this rank. */
    private void load(CudaCall call) {
        for (long function : Fused.load(world.device(), call, host.size(), world.functions(), ranks.apart())) {
            if (loaded.add(function)) {
                Modules.blocksPerProcessor(function, Grid.LARGE_THREADS, 0);
            }
        }
    }

    /** Waits for what is in a stream, on the host. */
    void drain(CudaStream on, CudaCall call) {
        new CudaWork(
                        world.completion(on.handle()),
                        CudaWork.Notice.POLL,
                        world.timeoutNanos(),
                        "what comes before rank " + rank() + "'s " + call)
                .await();
    }

    /** Why another rank has ended the world, which may have seen it first. */
    private RuntimeException orDisagreement(TuttiException ended) {
        return ended instanceof AbortedException ? Objects.requireNonNullElse(turns.disagreement(), ended) : ended;
    }

    /** What goes wrong on one rank ends the world for all. */
    private void guarded(CudaCall call, long number, Runnable body) {
        try {
            body.run();
        } catch (AbortedException ended) {
            RuntimeException cause = orDisagreement(ended);
            world.abort(cause);
            throw cause;
        } catch (CollectiveTimeoutException late) {
            RuntimeException named = new CollectiveTimeoutException(
                    named(call, number) + ": " + late.getMessage(),
                    late,
                    new TuttiException.Facts(host.name(), call + " #" + number, late.ranks()));
            world.abort(named);
            throw named;
        } catch (RuntimeException failure) {
            world.abort(failure);
            throw failure;
        }
    }

    private String named(CudaCall call, long number) {
        return "rank " + rank() + " of " + host.size() + " on " + world.device() + " in " + call
                + (number == 0 ? "" : " #" + number);
    }

    /** A deadline has passed while a launch waits on the device: ends it, and says for whom it waited. */
    private String late(CudaCall call, long number) {
        control.giveUp();
        long deadline = System.nanoTime() + WITHDRAWAL_NANOS;
        while (!control.gaveUp() && System.nanoTime() - deadline < 0) {
            LockSupport.parkNanos(this, 100_000);
        }
        RuntimeException cause = control.gaveUp()
                ? failure(named(call, number) + " waited on the device: ")
                : new CollectiveTimeoutException(
                        named(call, number) + " is in its stream but not over: something before it does not end", null);
        world.abort(cause);
        throw world.cause(cause);
    }

    /** What a launch that gave up says. */
    private RuntimeException failure(String who) {
        RuntimeException disagreement = turns.disagreement();
        if (disagreement != null) {
            return disagreement;
        }
        List<Integer> others = control.missed(Control.Reason.OTHER_CALL);
        if (!others.isEmpty()) {
            return new MismatchException(
                    who + "ranks " + others
                            + " have made another call; all ranks must make the same calls in the same order",
                    null,
                    new TuttiException.Facts(host.name(), null, others));
        }
        List<Integer> absent = control.missed(Control.Reason.NOT_COME);
        String what = absent.isEmpty()
                ? "ranks " + control.missed(Control.Reason.NOT_LEFT) + " have not finished their part"
                : "ranks " + absent + " have not come; see what they do and what is before it in their streams";
        return new CollectiveTimeoutException(who + what, null, new TuttiException.Facts(host.name(), null, absent));
    }

    /** Asked when a launch has ended: a launch that gave up has no result. */
    @Nullable
    Throwable verdict() {
        if (!control.gaveUp()) {
            return null;
        }
        RuntimeException cause = failure("rank " + rank() + " of " + host.size() + " on " + world.device() + " waited "
                + Duration.ofNanos(world.timeoutNanos()) + " on the device: ");
        world.abort(cause);
        return world.cause(cause);
    }

    /** Looks after launches that wait on the device for ranks that have failed meanwhile. */
    private void watch() {
        long before = 0;
        while (!closed) {
            try {
                host.requireActive();
                long now = turns.own();
                MismatchException disagreement = now == before ? turns.disagreement() : null;
                if (disagreement != null) {
                    throw disagreement;
                }
                before = now;
            } catch (TuttiException failure) {
                if (!closed) {
                    world.abort(orDisagreement(failure));
                }
                return;
            }
            LockSupport.parkNanos(this, GUARD_NANOS);
        }
    }

    @Override
    public void abort(RuntimeException cause) {
        control.giveUp();
        host.abort(String.valueOf(cause.getMessage()));
    }

    @Override
    public synchronized void delay(int seed) {
        delays = seed;
    }

    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(guard);
        try {
            guard.join();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        synchronized (this) {
            bounce.close();
            imports.close();
            control.close();
            turns.close();
            notes.close();
        }
    }
}
