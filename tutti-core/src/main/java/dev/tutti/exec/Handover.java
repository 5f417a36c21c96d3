package dev.tutti.exec;

import org.jspecify.annotations.Nullable;

/**
 * One rank gives and the other takes, or the others do where they find it in a {@link Posts post}: a short broadcast. Who gives hears
 * nothing, so it looks whether there is room before it writes.
 *
 * <pre>
 *   who gives                          who takes
 *   ---------                          ---------
 *   input --&gt; slot
 *   signal                             wait for it
 *   input --&gt; output                   slot --&gt; output
 * </pre>
 */
final class Handover extends Moving {
    private final boolean gives;

    private Handover(Shape shape, Program program, Endpoint endpoint, Parts parts) {
        super(shape, program, endpoint, parts);
        this.gives = parts.telling >= 0;
    }

    static @Nullable Moving of(Shape shape, Program program, Endpoint endpoint, Parts parts) {
        boolean takesAlone = parts.own.bytes() == 0 && parts.kernel == Records.COPY;
        if (parts.telling < 0 && !takesAlone) {
            return null;
        }
        return program.posts
                ? new PostHandover(shape, program, endpoint, parts)
                : new Handover(shape, program, endpoint, parts);
    }

    @Override
    void run(long number) {
        long signed = begin(number);
        long launch = endpoint.launch;
        if (gives) {
            give(launch, signed);
        } else {
            take(launch, signed);
        }
        endpoint.finishLaunch(program);
    }

    private void give(long launch, long signed) {
        for (int turn = 0; !endpoint.mayWrite(program); ) {
            turn = stall.pause(turn);
        }
        endpoint.stores.toBusyPeersSlot(sent, sentTo(launch) + program.berth(launch), sentBytes);
        signal(launch, signed);
        keep();
    }

    private void take(long launch, long signed) {
        await(launch, signed);
        receive(receivedFrom(launch) + program.berth(launch));
    }
}
