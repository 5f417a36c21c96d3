package dev.tutti.exec;

import dev.tutti.memory.Memory;

/** An exchange of packets, which are their own signal: one word with the signature, then a flag beside every four bytes. */
final class PacketExchange extends Moving {
    private final long packetTile;
    private final long plainTile;

    PacketExchange(Shape shape, Program program, Endpoint endpoint, Parts parts) {
        super(shape, program, endpoint, parts);
        this.packetTile = Packets.tile(endpoint, 0);
        this.plainTile = Packets.tile(endpoint, 1);
    }

    @Override
    void run(long number) {
        long signed = begin(number);
        long launch = endpoint.launch;
        long packets = sentTo(launch);
        long source = Places.address(sent, plainTile, sentBytes, endpoint);
        Memory.putLongRelease(packets, signed);
        Packets.pack(source, packets + 8, sentBytes, launch << 32);
        wake();
        keep();
        long arriving = receivedFrom(launch);
        long result = receivedTo < 0 ? plainTile : receivedTo;
        if (kernel == Records.COPY) {
            Templates.receive(arriving, result, receivedBytes, signed, endpoint);
        } else {
            long input = folded == sent ? source : Places.address(folded, plainTile, receivedBytes, endpoint);
            fold(input, arriving, result, signed);
        }
        if (receivedTo < 0) {
            Places.copy(result, receivedTo, receivedBytes, endpoint);
        }
        finish(launch);
    }

    private void fold(long input, long packets, long result, long signed) {
        if (kernel == Templates.FLOAT_SUM) {
            Templates.addFloats(packets, input, result, receivedBytes, signed, endpoint);
        } else {
            Templates.receive(packets, packetTile, receivedBytes, signed, endpoint);
            fold(input, packetTile, result);
        }
    }
}
