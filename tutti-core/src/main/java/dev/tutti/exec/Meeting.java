package dev.tutti.exec;

/** A barrier: posts without data. */
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
        long signed = announce(number);
        long launch = endpoint.launch;
        show(number, launch, signed, 1);
        // Nothing is to be done meanwhile, and who looks too soon takes the line from the peer that is about to write.
        Thread.onSpinWait();
        awaitPost(awaitedPost(launch), signed);
        finish(launch);
    }
}
