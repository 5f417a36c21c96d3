package dev.tutti.exec;

/** A barrier: a signal each way, and nothing moves. */
final class Meeting extends Exchange {
    Meeting(Shape shape, Program program, Endpoint endpoint) {
        super(shape, program, endpoint);
    }

    @Override
    void bind(long input, long output) {
        // There is none.
    }

    @Override
    void run(long number) {
        long signed = begin(number);
        long launch = endpoint.launch;
        signal(launch, signed);
        await(launch, signed);
        finish(launch);
    }
}
