package dev.tutti.cuda;

import dev.tutti.MismatchException;
import dev.tutti.cuda.driver.Streams;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Calls of several ranks that one thread makes together: none waits for another of the same group. Sends and receives of a group
 * that match are one launch; so is each collective. A group can be run again and again; then nothing is worked out anew. Where ranks
 * are in several processes, each has a group of its own calls, and all run theirs again or none does.
 *
 * {@snippet :
 * CudaGroup step = world.group();
 * for (int rank = 0; rank < world.size(); rank++) {
 *     step.add(world.communicator(rank), CudaCall.allReduce(in[rank], out[rank], ReduceOp.SUM));
 * }
 * step.run().await();
 * }
 */
public final class CudaGroup implements AutoCloseable {
    private final CudaWorld world;
    private final List<Entry> entries = new ArrayList<>();
    private boolean ran;
    private @Nullable Form form;
    private @Nullable Fused fused;

    /** What the whole group comes down to if its ranks share a stream. */
    private enum Form {
        /** One collective of all ranks. */
        COLLECTIVE,
        /** Messages whose two ends are both here. */
        MESSAGES,
        /** Anything else: ends and ranks elsewhere have to be waited for. */
        APART
    }

    private record Entry(CudaCommunicator communicator, CudaCall call, Distant.Memo memo) {}

    CudaGroup(CudaWorld world) {
        this.world = world;
    }

    /**
     * Adds a call.
     *
     * @param communicator whose
     * @param call that rank's part
     * @return this
     */
    public CudaGroup add(CudaCommunicator communicator, CudaCall call) {
        if (communicator.world() != world) {
            throw new IllegalArgumentException("the rank is of another world");
        }
        world.check(communicator.rank(), call);
        entries.add(new Entry(communicator, call, new Distant.Memo()));
        drop();
        return this;
    }

    /**
     * Makes all the calls.
     *
     * @return what to wait for: the end of the last of them
     */
    public CudaWork run() {
        Distant distant = world.distant();
        if (distant != null) {
            return java.util.Objects.requireNonNull(runDistant(distant, true));
        }
        CudaStream stream = begin();
        if (stream != null) {
            launchAll(stream);
            Completion end = stream.isCapturing() ? null : world.completion(stream.handle());
            return new CudaWork(end, world.notice(), world.timeoutNanos(), entries.size() + " ranks' " + calls()[0]);
        }
        return runApart();
    }

    /**
     * Makes all the calls and notes no end: wait for the streams instead. With all ranks of the world here and one stream for all of
     * them, this is one launch and nothing else.
     */
    public void enqueue() {
        Distant distant = world.distant();
        if (distant != null) {
            runDistant(distant, false);
            return;
        }
        CudaStream stream = begin();
        if (stream != null) {
            launchAll(stream);
        } else {
            runApart();
        }
    }

    /** Collectives in their order, then all messages together. */
    private @Nullable CudaWork runDistant(Distant distant, boolean noted) {
        ran = true;
        if (entries.isEmpty()) {
            throw new IllegalStateException("the group is empty");
        }
        world.requireActive();
        CudaCommunicator communicator = world.communicator();
        CudaWork last = null;
        List<CudaCall> messages = new ArrayList<>();
        for (Entry entry : entries) {
            entry.call().requireOpen();
            if (entry.call().collective == null) {
                messages.add(entry.call());
            } else if (noted) {
                last = distant.start(entry.call(), communicator.stream(), communicator.nextNumber(), entry.memo());
            } else {
                distant.enqueue(entry.call(), communicator.stream(), communicator.nextNumber(), entry.memo());
            }
        }
        if (!messages.isEmpty()) {
            last = distant.exchange(messages, communicator.stream());
        }
        return last;
    }

    /** The stream of all ranks if the whole group can be put into it at once, else null. */
    private @Nullable CudaStream begin() {
        ran = true;
        if (entries.isEmpty()) {
            throw new IllegalStateException("the group is empty");
        }
        world.requireActive();
        world.device().enter();
        Form known = form;
        if (known == null) {
            known = isOneCollective() ? Form.COLLECTIVE : isMessages() ? Form.MESSAGES : Form.APART;
            form = known;
        }
        CudaStream stream = entries.getFirst().communicator().stream();
        if (known == Form.APART || (known == Form.MESSAGES && !world.messages().isIdle())) {
            return null;
        }
        for (int i = 1; i < entries.size(); i++) {
            CudaCommunicator communicator = entries.get(i).communicator();
            if (communicator.stream().handle() != stream.handle()
                    || (known == Form.COLLECTIVE
                            && !communicator.isAt(entries.getFirst().communicator()))) {
                return null;
            }
        }
        return stream;
    }

    private boolean isOneCollective() {
        for (int rank = 0; rank < entries.size(); rank++) {
            if (entries.get(rank).communicator().rank() != rank
                    || entries.get(rank).call().collective == null) {
                return false;
            }
        }
        return entries.size() == world.size();
    }

    private boolean isMessages() {
        return entries.stream().allMatch(entry -> entry.call().collective == null)
                && Messages.matched(ends()).size() * 2 == entries.size();
    }

    private List<Messages.End> ends() {
        return entries.stream()
                .map(entry ->
                        new Messages.End(entry.communicator().rank(), entry.call(), entry.communicator().stream(), 0))
                .toList();
    }

    private void launchAll(CudaStream stream) {
        Fused ready = fused;
        if (ready == null) {
            ready = form == Form.COLLECTIVE ? collective() : messages();
            fused = ready;
        } else {
            for (int i = 0; i < entries.size(); i++) {
                entries.get(i).call().requireOpen();
            }
        }
        if (form == Form.COLLECTIVE) {
            for (int i = 0; i < entries.size(); i++) {
                entries.get(i).communicator().nextNumber();
            }
        }
        ready.launch(stream.handle());
    }

    private Fused collective() {
        CudaCall[] calls = calls();
        Mismatch.check(entries.getFirst().communicator().number() + 1, calls).ifPresent(this::mismatch);
        return Fused.of(world.device(), calls, world.functions());
    }

    private Fused messages() {
        List<Messages.Pair> pairs = Messages.matched(ends());
        pairs.forEach(pair -> pair.mismatch().ifPresent(this::mismatch));
        return Fused.copies(
                world.device(), pairs.stream().map(Messages.Pair::copy).toList());
    }

    private void mismatch(String text) {
        RuntimeException mismatch = new MismatchException(text, null);
        world.abort(mismatch);
        throw mismatch;
    }

    private CudaCall[] calls() {
        return entries.stream().map(Entry::call).toArray(CudaCall[]::new);
    }

    private CudaWork runApart() {
        Map<Long, Long> ready = readyEvents();
        List<Round> rounds = new ArrayList<>(entries.size());
        List<Messages.End> ends = new ArrayList<>();
        List<Messages.Pair> pairs = new ArrayList<>();
        for (Entry entry : entries) {
            CudaStream stream = entry.communicator().stream();
            int rank = entry.communicator().rank();
            if (entry.call().collective != null) {
                rounds.add(world.rounds()
                        .post(
                                entry.communicator().nextNumber(),
                                new Round.Post(rank, entry.call(), stream, ready.getOrDefault(stream.handle(), 0L))));
            } else {
                long event = world.events().take();
                Streams.record(event, stream.handle());
                Messages.End end = new Messages.End(rank, entry.call(), stream, event);
                ends.add(end);
                world.messages().offer(end).ifPresent(pairs::add);
            }
        }
        if (!pairs.isEmpty()) {
            world.messages().launch(pairs, pairs.getFirst().receiver().stream);
        }
        return finish(rounds, ends);
    }

    private CudaWork finish(List<Round> rounds, List<Messages.End> ends) {
        CudaWork last = null;
        int round = 0;
        int end = 0;
        for (Entry entry : entries) {
            last = entry.call().collective == null
                    ? world.messages().finish(ends.get(end++))
                    : entry.communicator().finish(rounds.get(round++), entry.call(), entry.communicator().stream());
        }
        return java.util.Objects.requireNonNull(last);
    }

    /** One event per stream; none if all ranks of the world are here and share one. */
    private Map<Long, Long> readyEvents() {
        Map<Long, CudaCommunicator> streams = new LinkedHashMap<>();
        for (Entry entry : entries) {
            streams.putIfAbsent(entry.communicator().stream().handle(), entry.communicator());
        }
        Map<Long, Long> events = new HashMap<>();
        boolean onlyHere = streams.size() == 1 && entries.size() >= world.size();
        if (!onlyHere) {
            streams.forEach((handle, owner) -> events.put(handle, owner.ready(owner.stream())));
        }
        return events;
    }

    /** Runs the group if nobody has, and waits for its end. */
    @Override
    public void close() {
        if (!ran && !entries.isEmpty()) {
            run().await();
        }
        drop();
    }

    private void drop() {
        form = null;
        if (fused != null) {
            if (fused.hasTables()) {
                world.device().synchronise();
            }
            fused.close();
            fused = null;
        }
    }
}
