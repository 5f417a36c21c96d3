package dev.tutti.exec;

/** A barrier: posts without data. */
final class Meeting extends Exchange {
    private final FirstLook firstLook = new FirstLook();

    Meeting(Shape shape, Program program, Endpoint endpoint) {
        super(shape, program, endpoint);
    }

    @Override
    void bind(long input, long output) {
        // There is none.
    }

    @Override
    void run(long number) {
        long signed = announce(number);
        long launch = endpoint.launch;
        show(number, launch, signed, 1);
        awaitPost(firstLook, awaitedPost(launch), signed);
        finish(launch);
    }
}
