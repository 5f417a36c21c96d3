package dev.tutti.exec;

/** Both ranks send through slots and counters. */
final class SlotExchange extends Moving {
    private final FirstLook firstLook = new FirstLook();

    SlotExchange(Shape shape, Program program, Endpoint endpoint, Parts parts) {
        super(shape, program, endpoint, parts);
    }

    @Override
    void run(long number) {
        long signed = begin(number);
        long launch = endpoint.launch;
        long berth = program.berth(launch);
        if (sentBytes > 0) {
            send(sentTo(launch) + berth);
        }
        signal(launch, signed);
        keep();
        await(firstLook, launch, signed);
        if (receivedBytes > 0) {
            receive(receivedFrom(launch) + berth);
        }
        finish(launch);
    }

    private void send(long slot) {
        if (kernel == Records.COPY) {
            endpoint.stores.toSlot(sent, slot, sentBytes);
        } else {
            endpoint.stores.toBusyPeersSlot(sent, slot, sentBytes);
        }
    }
}
