package dev.tutti.exec;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.memory.Operand;
import dev.tutti.plan.Plan;
import dev.tutti.spi.Allocation;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Runs the calls of one rank of one communicator, one at a time, either on the calling thread ({@link #run}) or step by step
 * ({@link #begin}, {@link #advance}). Long messages go through in windows: each round launches the plan on one window.
 */
public final class Execution {
    private static final int WAITING = 0;
    private static final int ENTERING = 1;
    private static final int RUNNING = 2;
    private static final int LEAVING = 3;

    /** The call is over. */
    public static final int DONE = 2;
    /** Something happened; more may at once. */
    public static final int MOVED = 1;
    /** Nothing can happen before a peer does something. */
    public static final int BLOCKED = 0;

    private final Endpoint endpoint;
    private final LaneMachine machine;
    private final Shapes shapes;
    private final Staging staging;
    private final Lengths lengths;
    private final Geometry pieces = new Geometry();
    private @Nullable PlanCalls planCalls;
    private @Nullable Shape configured;
    /** The call that was run last, if that was by an exchange and nothing has been decided since: then it has heard from whom it must. */
    private @Nullable Call exchanged;

    private long operation;

    /** What comes after a small call in which ranks agree on its length. */
    private @Nullable Call afterAgreement;

    private @Nullable Call call;
    private @Nullable Shape shape;
    private @Nullable Program program;
    private long round;
    private int phase;
    private long output;

    /** The executor of one rank for plans that never reach into peers' memory. */
    public Execution(Endpoint endpoint, Function<Call, Plan> chooser) {
        this(endpoint, chooser, bytes -> {
            throw new IllegalStateException("this executor was given no registered memory");
        });
    }

    /**
     * The executor of one rank.
     *
     * @param chooser gives the plan of a call
     * @param registered gives memory of this rank that peers can reach
     */
    public Execution(Endpoint endpoint, Function<Call, Plan> chooser, LongFunction<Allocation> registered) {
        this.endpoint = endpoint;
        this.machine = new LaneMachine(endpoint);
        this.shapes = new Shapes(endpoint, chooser);
        this.staging = new Staging(registered);
        this.lengths = new Lengths(endpoint.size);
    }

    /** Number of the operation that was begun last. */
    public long operation() {
        return operation;
    }

    /** Runs a call to its end on this thread. */
    public void run(Call call) {
        if (planCalls != null && beginPlan(planCalls, call)) {
            planCalls.run();
            return;
        }
        Program again = call.again;
        Shape known = call.shape;
        if (again != null && known != null && shapes.isCurrent(known)) {
            runKnown(call, again, known);
        } else if (call.isPairwise()) {
            publish(call, Signature.meta(call), digest(call));
            Call first = lengths.before(call);
            runRounds(first, configure(first, shapes.of(first)));
            lengths.tell(call);
            runRounds(call, configure(call, shapes.of(call)));
        } else {
            Shape shape = shapes.of(call);
            if (!runOnOtherMemory(call, shape)) {
                publish(call, shape.meta, shape.digest);
                runRounds(call, configure(call, shape));
            }
        }
    }

    /** Runs a small call of a shape that has been run before, though not on this memory, in one piece; else does nothing. */
    private boolean runOnOtherMemory(Call call, Shape shape) {
        Exchange exchange = shape.exchange(call);
        if (exchange == null) {
            return false;
        }
        call.againInput = base(call.input(), Places.INPUT);
        call.againOutput = call.isInPlace() ? call.againInput : base(call.output(), Places.OUTPUT);
        if (call.mayRunAgain()) {
            call.exchange = exchange;
        }
        return turnTo(call, exchange);
    }

    /** The very same small call as before: everything is known but the launch number. */
    private void runKnown(Call call, Program program, Shape shape) {
        publish(call, shape.meta, shape.digest);
        configure(call, shape);
        endpoint.nextLaunch();
        if (!endpoint.mayWrite(program)) {
            awaitPeers(program);
        }
        long[] bound = program.bind(endpoint, call.againInput, call.againOutput)[0];
        if (program.reachesPeers) {
            publishBuffers(call, program, call.againInput, call.againOutput, 0);
        }
        if (program.template != Templates.NONE) {
            Templates.run(program.template, bound, endpoint);
        } else {
            Interpreter.run(bound, endpoint);
        }
        finish(program);
        requireAgreement(shape);
        call.exchange = shape.exchange(program, endpoint);
    }

    /**
     * Runs a small call that has been made before in the shortest way; else does nothing.
     *
     * @return whether it has run
     */
    boolean runAgain(Call call) {
        Exchange exchange = call.exchange;
        if (exchange == null) {
            return false;
        }
        if (call == exchanged && (int) endpoint.launch != -1) {
            exchange.run(++operation);
            return true;
        }
        return turnTo(call, exchange);
    }

    private boolean turnTo(Call call, Exchange exchange) {
        if (planCalls != null || !shapes.isCurrent(exchange.shape) || !exchange.isReady()) {
            return false;
        }
        operation++;
        announce(call, exchange.shape.meta);
        configure(call, exchange.shape);
        exchange.bind(call.againInput, call.againOutput);
        exchanged = call;
        exchange.run(operation);
        return true;
    }

    private void requireAgreement(Shape shape) {
        if (shape.hearsFromSome) {
            endpoint.stall.requireAgreement(shape.meta, shape.count, shape.extra);
        }
    }

    private void runRounds(Call call, Shape shape) {
        boolean inputStaged = call.isInputStaged(shape.takesPlaces);
        boolean outputStaged = call.isOutputStaged(shape.takesPlaces);
        for (long round = 0; round < shape.rounds; round++) {
            endpoint.nextLaunch();
            long piece = shape.piece(round);
            Program program = shape.program(call, piece, inputStaged, outputStaged, pieces, endpoint);
            long input = inputBase(call, shape, piece, inputStaged);
            long output = outputBase(call, shape, piece, outputStaged, input);
            if (!endpoint.mayWrite(program)) {
                awaitPeers(program);
            }
            long[][] bound = program.bind(endpoint, input, output);
            if (program.reachesPeers) {
                enter(call, program, input, output, piece * shape.window);
            }
            if (program.template != Templates.NONE) {
                Templates.run(program.template, bound[0], endpoint);
            } else if (program.singleLane) {
                Interpreter.run(bound[0], endpoint);
            } else {
                runLanes(program, bound);
            }
            if (program.exit != null) {
                Interpreter.run(program.exit[0], endpoint);
            }
            finish(program);
            if (outputStaged) {
                staging.store(call, shape, program, piece, output);
            }
            boolean staged = inputStaged || outputStaged;
            if (program.isRunAlone() && shape.rounds == 1 && !staged && call.isUniform()) {
                shape.countRun(program, endpoint);
                if (call.mayRunAgain()) {
                    call.again = program;
                    call.againInput = input;
                    call.againOutput = output;
                }
            }
        }
        requireAgreement(shape);
    }

    /** Begins a launch that reaches into peers' memory and lets them reach into this rank's. */
    private void enter(Call call, Program program, long input, long output, long done) {
        publishBuffers(call, program, input, output, done);
        if (program.entry != null) {
            Interpreter.run(program.entry[0], endpoint);
        }
    }

    private void publishBuffers(Call call, Program program, long input, long output, long done) {
        // A program of such a call was made just now, of these pieces.
        Geometry blocks = call.isPairwise() ? pieces : null;
        endpoint.peerBuffers.publish(program, call.input(), input, call.output(), output, done, blocks);
    }

    private void finish(Program program) {
        endpoint.finishLaunch(program);
        endpoint.peerBuffers.finished();
    }

    /** After a failure, when nothing of this rank runs any more: whether no peer touches its memory either. */
    public boolean isWithdrawn() {
        return endpoint.peerBuffers.isWithdrawn(operation);
    }

    /** Forgets that peers may have been told of this rank's memory. */
    void abandonBuffers() {
        endpoint.peerBuffers.finished();
    }

    /** From now on a plan of a file serves calls with messages of these lengths, as far as it can. All ranks do this together. */
    public void use(PlanContext context, long minBytes, long maxBytes) {
        if (planCalls == null) {
            planCalls = new PlanCalls(endpoint);
        }
        exchanged = null;
        planCalls.add(context, minBytes, maxBytes);
    }

    /** Forgets which plans calls took, as they may take others from now on, and every plan of a file if asked to. */
    public void reconsider(boolean forgetPlans) {
        if (forgetPlans) {
            planCalls = null;
        }
        shapes.forget();
        exchanged = null;
    }

    /** Starts a call that a plan of a file serves; false if none does. */
    private boolean beginPlan(PlanCalls plans, Call call) {
        if (!plans.serves(call)) {
            return false;
        }
        publish(call, Signature.meta(call), digest(call));
        plans.begin();
        return true;
    }

    /** Starts a call that {@link #advance} then moves. */
    public void begin(Call call) {
        if (planCalls != null && beginPlan(planCalls, call)) {
            return;
        }
        program = null;
        if (call.isPairwise()) {
            publish(call, Signature.meta(call), digest(call));
            afterAgreement = call;
            start(lengths.before(call));
        } else {
            Shape found = shapes.of(call);
            publish(call, found.meta, found.digest);
            afterAgreement = null;
            start(call);
        }
    }

    private void start(Call call) {
        round = 0;
        this.call = call;
        this.shape = configure(call, shapes.of(call));
    }

    /**
     * Moves the call that was begun as far as it goes without waiting.
     *
     * @return {@link #DONE}, {@link #MOVED} or {@link #BLOCKED}
     */
    public int advance() {
        if (planCalls != null && planCalls.isServing()) {
            int moved = planCalls.advance();
            if (moved == BLOCKED) {
                endpoint.stall.check();
            }
            return moved;
        }
        Call call = Objects.requireNonNull(this.call);
        Shape shape = Objects.requireNonNull(this.shape);
        boolean inputStaged = call.isInputStaged(shape.takesPlaces);
        boolean outputStaged = call.isOutputStaged(shape.takesPlaces);
        long piece = shape.piece(round);
        Program program = this.program;
        if (program == null) {
            endpoint.nextLaunch();
            program = shape.program(call, piece, inputStaged, outputStaged, pieces, endpoint);
            this.program = program;
            phase = WAITING;
        }
        boolean moved = false;
        if (phase == WAITING) {
            if (!endpoint.mayWrite(program)) {
                endpoint.stall.check();
                return BLOCKED;
            }
            long input = inputBase(call, shape, piece, inputStaged);
            output = outputBase(call, shape, piece, outputStaged, input);
            long[][] bound = program.bind(endpoint, input, output);
            if (program.reachesPeers) {
                publishBuffers(call, program, input, output, piece * shape.window);
            }
            phase = program.entry != null ? ENTERING : RUNNING;
            machine.start(program, program.entry != null ? program.entry : bound);
            moved = true;
        }
        moved |= machine.step();
        if (!machine.isDone() || !nextPhase(program)) {
            if (!moved) {
                endpoint.stall.check();
            }
            return moved ? MOVED : BLOCKED;
        }
        finish(program);
        if (outputStaged) {
            staging.store(call, shape, program, piece, output);
        }
        this.program = null;
        round++;
        if (round < shape.rounds) {
            return MOVED;
        }
        Call next = afterAgreement;
        if (next != null) {
            afterAgreement = null;
            lengths.tell(next);
            start(next);
            return MOVED;
        }
        this.call = null;
        this.shape = null;
        requireAgreement(shape);
        return DONE;
    }

    /** Goes on from the meeting before the plan to the plan, and to the meeting after it; true when there is no more. */
    private boolean nextPhase(Program program) {
        if (phase == ENTERING) {
            phase = RUNNING;
            machine.start(program, program.bound((int) endpoint.launch & 1));
            return false;
        }
        if (phase == RUNNING && program.exit != null) {
            phase = LEAVING;
            machine.start(program, program.exit);
            return false;
        }
        return true;
    }

    /** Announces an operation that this executor does not run itself, so that peers see where this rank is. */
    public void announce(Call call) {
        publish(call, Signature.meta(call), digest(call));
    }

    private void publish(Call call, long meta, int digest) {
        exchanged = null;
        operation++;
        endpoint.history = Signature.chain(endpoint.history, digest);
        announce(call, meta);
    }

    private void announce(Call call, long meta) {
        endpoint.board.publishOperation(operation, meta, call.count(), call.extra());
        endpoint.stall.begin(operation, call);
    }

    private static int digest(Call call) {
        return Signature.digest(Signature.meta(call), call.count(), call.extra());
    }

    /**
     * Tells the endpoint what this call's ranks must agree on and what its folds need. Mostly that is what the last call told it:
     * then nothing is stored, as storing references costs a barrier each.
     */
    private Shape configure(Call call, Shape shape) {
        endpoint.signature = endpoint.history;
        if (endpoint.input != call.input()) {
            endpoint.input = call.input();
            endpoint.output = call.output();
        }
        if (shape != configured || shape.dependsOnCall) {
            configured = shape;
            endpoint.stores.stream(shape.streamed(call));
            endpoint.pairs = call.isPairwise() ? call.pairCounts() : null;
            endpoint.elementShift = shape.elementShift;
            ReduceOp op = call.op();
            endpoint.aux = op == null ? 0 : aux(op, shape);
            endpoint.function =
                    op == null || op.function() == null ? null : op.function().body();
        }
        return shape;
    }

    private long aux(ReduceOp op, Shape shape) {
        return switch (op.kind()) {
            case AVG -> endpoint.size;
            case PRE_MUL_SUM -> scalarBits(shape.type, op.scalar());
            default -> 0;
        };
    }

    /** The scalar as the kernels want it: raw bits in the type that sums are accumulated in. */
    static long scalarBits(DataType type, double scalar) {
        if (type.isInteger()) {
            return (long) scalar;
        }
        return type == DataType.FLOAT64 ? Double.doubleToRawLongBits(scalar) : Float.floatToRawIntBits((float) scalar);
    }

    private void awaitPeers(Program program) {
        int turns = 0;
        while (!endpoint.mayWrite(program)) {
            turns = endpoint.stall.pause(turns);
        }
    }

    private void runLanes(Program program, long[][] bound) {
        machine.start(program, bound);
        int turns = 0;
        while (!machine.isDone()) {
            turns = machine.step() ? 0 : endpoint.stall.pause(turns);
        }
    }

    private long inputBase(Call call, Shape shape, long piece, boolean staged) {
        return staged ? staging.load(call, shape, piece) : base(call.input(), Places.INPUT) + piece * shape.window;
    }

    private long outputBase(Call call, Shape shape, long piece, boolean staged, long input) {
        if (call.isInPlace()) {
            return input;
        }
        return staged ? staging.output(call, shape) : base(call.output(), Places.OUTPUT) + piece * shape.window;
    }

    private static long base(Operand operand, long place) {
        return operand.isDirect() ? operand.address() : place;
    }

    /** Frees memory that peers can reach, when none does. */
    void close() {
        staging.close();
    }
}
