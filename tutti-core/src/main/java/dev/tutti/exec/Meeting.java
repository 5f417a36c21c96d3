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
        long signed = begin(number);
        long launch = endpoint.launch;
        show(launch, signed, 1);
        // There is nothing to do meanwhile, and who looks too soon takes the line from the peer that is about to write
        // it.
        Thread.onSpinWait();
        awaitPost(launch, signed);
        finish(launch);
    }
}
