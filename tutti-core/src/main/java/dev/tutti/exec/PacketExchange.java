package dev.tutti.exec;

import dev.tutti.memory.Memory;
import org.jspecify.annotations.Nullable;

/** An exchange of packets, which are their own signal: one word with the signature, then a flag beside every four bytes. */
final class PacketExchange extends Exchange {
    private final int bytes;
    private final long sendOperand;
    private final long sendToOperand;
    private final long receiveOperand;
    private final long receiveToOperand;
    /** The rank's own elements: what is folded, or copied to the output. */
    private final long ownOperand;

    private final long ownToOperand;
    private final int kernel;
    private final int scaled;
    private final int plainPosition;
    private final long[] sources = new long[2];

    private final long plainTile;
    private final long packetTile;
    private long send;
    private long sendToEven;
    private long sendToOdd;
    private long receiveEven;
    private long receiveOdd;
    private long receiveTo;
    private long own;
    private long ownTo;

    private PacketExchange(Shape shape, Program program, Endpoint endpoint, int copy, int receive) {
        super(shape, program, endpoint);
        long[] code = program.symbolic[0];
        int plain = receive + Records.OPERANDS;
        boolean folds = copy < 0;
        this.bytes = (int) code[1];
        this.sendOperand = code[Records.OPERANDS];
        this.sendToOperand = code[Records.OPERANDS + 1];
        this.ownOperand = folds ? code[plain] : code[copy + Records.OPERANDS];
        this.ownToOperand = folds ? code[plain + 2] : code[copy + Records.OPERANDS + 1];
        this.receiveOperand = code[folds ? plain + 1 : plain];
        this.receiveToOperand = code[folds ? plain + 2 : plain + 1];
        this.kernel = Records.kernel(code[receive + 2]);
        this.scaled = Records.scaled(code[receive + 2]);
        this.plainPosition = Records.plainPosition(code[receive + 2]);
        this.packetTile = Packets.tile(endpoint, 0);
        this.plainTile = Packets.tile(endpoint, 1);
    }

    /** {@code PACKETS to the peer, PACKETS fold}, or {@code PACKETS to the peer, DATA own block, PACKETS from the peer}. */
    static @Nullable PacketExchange of(Shape shape, Program program, Endpoint endpoint) {
        long[] code = program.symbolic[0];
        int second = Records.words(code[0]);
        if (second >= code.length || Records.destinations(code[0]) != 1 || Records.sources(code[0]) != 0) {
            return null;
        }
        boolean copies = Records.kind(code[second]) == Records.DATA;
        int last = copies ? second + Records.words(code[second]) : second;
        boolean suits = Records.kind(code[0]) == Records.PACKETS
                && last < code.length
                && last + Records.words(code[last]) == code.length
                && Records.kind(code[last]) == Records.PACKETS
                && Records.sources(code[last]) == 1
                && code[last + 1] == code[1]
                && copies == (program.template == Templates.MOVES)
                && (!copies || (Records.destinations(code[second]) == 1 && code[second + 1] == code[1]));
        return suits ? new PacketExchange(shape, program, endpoint, copies ? second : -1, last) : null;
    }

    @Override
    void bind(long input, long output) {
        send = program.address(sendOperand, endpoint, 0, input, output);
        sendToEven = program.address(sendToOperand, endpoint, 0, input, output);
        sendToOdd = program.address(sendToOperand, endpoint, 1, input, output);
        receiveEven = program.address(receiveOperand, endpoint, 0, input, output);
        receiveOdd = program.address(receiveOperand, endpoint, 1, input, output);
        receiveTo = program.address(receiveToOperand, endpoint, 0, input, output);
        own = program.address(ownOperand, endpoint, 0, input, output);
        ownTo = program.address(ownToOperand, endpoint, 0, input, output);
    }

    @Override
    void run(long number) {
        int history = nextHistory();
        long launch = endpoint.launch + 1;
        boolean odd = (launch & 1) != 0;
        long signed = signed(launch, history);
        long packets = odd ? sendToOdd : sendToEven;
        board.publishOperation(number);
        long source = Places.address(send, plainTile, bytes, endpoint);
        Memory.putLongRelease(packets, signed);
        Packets.pack(source, packets + 8, bytes, launch << 32);
        sent(number, launch, history);
        long arriving = odd ? receiveOdd : receiveEven;
        long result = receiveTo < 0 ? plainTile : receiveTo;
        if (kernel == Records.COPY) {
            Templates.copy(own, ownTo, bytes, endpoint);
            Templates.receive(arriving, result, bytes, signed, endpoint);
        } else {
            fold(own == send ? source : Places.address(own, plainTile, bytes, endpoint), arriving, result, signed);
        }
        if (receiveTo < 0) {
            Places.copy(result, receiveTo, bytes, endpoint);
        }
        finish(launch);
    }

    private void fold(long plain, long packets, long result, long signed) {
        if (kernel == Templates.FLOAT_SUM) {
            Templates.addFloats(packets, plain, result, bytes, signed, endpoint);
            return;
        }
        Templates.receive(packets, packetTile, bytes, signed, endpoint);
        sources[plainPosition] = plain;
        sources[1 - plainPosition] = packetTile;
        Transfers.fold(kernel, scaled, sources, 0, 2, 0, result, bytes, endpoint);
    }
}
