package dev.tutti;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tutti.processes.TestWorld;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Send and receive as users see them, between ranks that are threads. */
@Timeout(60)
public class MessagesTest {
    private static final int[] SIZES = {
        0, 1, 7, 8, 9, 55, 56, 57, 4095, 8191, 8192, 8193, 16383, 16384, 16385, 65535, 65536, 65537, 1 << 20, 5_000_001
    };

    /** Ways to hold bytes. */
    enum Kind {
        BYTES,
        SHORTS,
        INTS,
        FLOATS,
        LONGS,
        DOUBLES,
        OFFSET_BYTES,
        HEAP_SEGMENT,
        CONFINED,
        SHARED,
        AUTOMATIC,
        UNALIGNED,
        ALLOCATED;

        int elementBytes() {
            return switch (this) {
                case SHORTS -> 2;
                case INTS, FLOATS -> 4;
                case LONGS, DOUBLES -> 8;
                default -> 1;
            };
        }

        /** A buffer of at least so many bytes, rounded up to whole elements. */
        Buffer make(Communicator comm, Arena arena, int bytes) {
            int count = (bytes + elementBytes() - 1) / elementBytes();
            return switch (this) {
                case BYTES -> Buffer.of(new byte[count], DataType.INT8);
                case SHORTS -> Buffer.of(new short[count], DataType.BFLOAT16);
                case INTS -> Buffer.of(new int[count]);
                case FLOATS -> Buffer.of(new float[count]);
                case LONGS -> Buffer.of(new long[count]);
                case DOUBLES -> Buffer.of(new double[count]);
                case OFFSET_BYTES -> Buffer.of(new byte[count + 9], 5, count, DataType.INT8);
                case HEAP_SEGMENT ->
                    Buffer.of(MemorySegment.ofArray(new byte[count + 4]).asSlice(3, count), DataType.INT8);
                case CONFINED, SHARED -> Buffer.of(arena.allocate(count), DataType.INT8);
                case AUTOMATIC -> Buffer.of(Arena.ofAuto().allocate(count), DataType.INT8);
                case UNALIGNED -> Buffer.of(Arena.ofAuto().allocate(count + 8L).asSlice(5, count), DataType.INT8);
                case ALLOCATED -> comm.allocate(DataType.INT8, count);
            };
        }

        Arena arena() {
            return this == SHARED ? Arena.ofShared() : Arena.ofConfined();
        }
    }

    /** By arrays, here and below: code that is not compiled well takes long to reach into segments. */
    static void fill(Buffer buffer, long seed) {
        byte[] bytes = contents(seed, (int) buffer.bytes());
        MemorySegment.copy(bytes, 0, buffer.segment(), ValueLayout.JAVA_BYTE, 0, bytes.length);
    }

    private static byte[] contents(long seed, int count) {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = (byte) (seed * 31 + i + (i >> 8) * 7);
        }
        return bytes;
    }

    static void check(Buffer buffer, long seed, long bytes) {
        byte[] found = buffer.segment().asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
        assertThat(Arrays.mismatch(found, contents(seed, found.length)))
                .as("first wrong byte")
                .isEqualTo(-1);
    }

    static Buffer bytes(int count) {
        return Buffer.of(new byte[count], DataType.INT8);
    }

    static Buffer one(long value) {
        return Buffer.of(new long[] {value});
    }

    private static void pingPong(Kind kind, int size) {
        TestWorld.of(2).run(comm -> {
            try (Arena arena = kind.arena()) {
                Buffer buffer = kind.make(comm, arena, size);
                if (comm.rank() == 0) {
                    fill(buffer, size + 1);
                    comm.send(buffer, 1, 3);
                    fill(buffer, 0);
                    Received received = comm.recv(buffer, 1, 4);
                    assertThat(received).isEqualTo(new Received(1, 4, buffer.count()));
                } else {
                    Received received = comm.recv(buffer, 0, 3);
                    assertThat(received).isEqualTo(new Received(0, 3, buffer.count()));
                    check(buffer, size + 1, buffer.bytes());
                    comm.send(buffer, 0, 4);
                }
                check(buffer, size + 1, buffer.bytes());
                buffer.close();
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void shouldDeliverSameBytesWhenSentThereAndBack(Kind kind) {
        for (int size : SIZES) {
            pingPong(kind, size);
        }
    }

    @Test
    void shouldDeliverToAnotherKindOfMemoryWhenEitherIsOfBytes() {
        TestWorld.of(2).run(comm -> {
            int size = 100_000;
            for (Kind from : Kind.values()) {
                for (Kind to : Kind.values()) {
                    if (from != to && from.elementBytes() > 1 && to.elementBytes() > 1) {
                        continue;
                    }
                    try (Arena arena = (comm.rank() == 0 ? from : to).arena()) {
                        if (comm.rank() == 0) {
                            Buffer buffer = from.make(comm, arena, size);
                            fill(buffer, 9);
                            comm.send(buffer, 1, 0);
                        } else {
                            Buffer buffer = to.make(comm, arena, size);
                            comm.recv(buffer, 0, 0);
                            check(buffer, 9, size);
                        }
                    }
                }
            }
        });
    }

    @Test
    void shouldSayHowManyElementsCameWhenMessageIsShorterThanBuffer() {
        TestWorld.of(2).run(comm -> {
            for (int count : new int[] {0, 1, 1000, 50_000}) {
                if (comm.rank() == 0) {
                    comm.send(Buffer.of(new float[count]), 1, count);
                } else {
                    float[] into = new float[60_000];
                    Arrays.fill(into, 7);
                    assertThat(comm.recv(Buffer.of(into), 0, count)).isEqualTo(new Received(0, count, count));
                    assertThat(into[count]).isEqualTo(7);
                }
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 20_000})
    void shouldKeepOrderWhenSourceAndTagAreTheSame(int size) {
        TestWorld.of(2).run(comm -> {
            int messages = 3000;
            for (int i = 0; i < messages; i++) {
                if (comm.rank() == 0) {
                    long[] payload = new long[size / 8];
                    payload[0] = i;
                    comm.send(Buffer.of(payload), 1, i % 3);
                } else {
                    long[] payload = new long[size / 8];
                    comm.recv(Buffer.of(payload), 0, i % 3);
                    assertThat(payload[0]).isEqualTo(i);
                }
            }
        });
    }

    @Test
    void shouldKeepOrderWhenSmallAndLargeMessagesShareTag() {
        TestWorld.of(2).run(comm -> {
            Random sizes = new Random(5);
            List<Work> works = new ArrayList<>();
            List<long[]> received = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                long[] payload = new long[1 + sizes.nextInt(3) * 2000];
                if (comm.rank() == 0) {
                    Arrays.fill(payload, i);
                    works.add(comm.sendAsync(Buffer.of(payload), 1, 6));
                } else {
                    received.add(payload);
                    works.add(comm.recvAsync(Buffer.of(payload), 0, 6));
                }
            }
            works.forEach(Work::await);
            for (int i = 0; i < received.size(); i++) {
                assertThat(received.get(i)).containsOnly(i);
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2000})
    void shouldFindMessageWhenTagsAreReceivedInReverse(int longs) {
        TestWorld.of(2).run(comm -> {
            int tags = 200;
            List<Work> works = new ArrayList<>();
            for (int i = 0; i < tags; i++) {
                long[] payload = new long[longs];
                if (comm.rank() == 0) {
                    Arrays.fill(payload, i);
                    works.add(comm.sendAsync(Buffer.of(payload), 1, i));
                } else {
                    comm.recv(Buffer.of(payload), 0, tags - 1 - i);
                    assertThat(payload).containsOnly(tags - 1 - i);
                }
            }
            works.forEach(Work::await);
        });
    }

    @Test
    void shouldTakeFirstThatCameWhenTagIsAny() {
        TestWorld.of(2).run(comm -> {
            if (comm.rank() == 0) {
                for (int tag : new int[] {4, 2, 9}) {
                    comm.send(one(tag * 10), 1, tag);
                }
            } else {
                long[] value = new long[1];
                for (int tag : new int[] {4, 2, 9}) {
                    Received received = comm.recv(Buffer.of(value), 0, Communicator.ANY_TAG);
                    assertThat(received).isEqualTo(new Received(0, tag, 1));
                    assertThat(value[0]).isEqualTo(tag * 10L);
                }
            }
        });
    }

    @Test
    void shouldGiveToReceiveThatWasPostedFirstWhenSeveralMatch() {
        TestWorld.of(2).run(comm -> {
            if (comm.rank() == 1) {
                long[][] values = new long[4][1];
                List<Work> works = List.of(
                        comm.recvAsync(Buffer.of(values[0]), Communicator.ANY_SOURCE, Communicator.ANY_TAG),
                        comm.recvAsync(Buffer.of(values[1]), 0, 5),
                        comm.recvAsync(Buffer.of(values[2]), Communicator.ANY_SOURCE, 5),
                        comm.recvAsync(Buffer.of(values[3]), 0, Communicator.ANY_TAG));
                comm.barrier();
                works.forEach(Work::await);
                assertThat(values).isDeepEqualTo(new long[][] {{1}, {2}, {3}, {4}});
            } else {
                comm.barrier();
                for (int i = 1; i <= 4; i++) {
                    comm.send(one(i), 1, 5);
                }
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 40_000})
    void shouldServeEverySenderWhenSourceIsAny(int size) {
        int ranks = 5;
        int each = 200;
        TestWorld.of(ranks).run(comm -> {
            if (comm.rank() == 0) {
                long[] next = new long[ranks];
                long[] payload = new long[size / 8];
                for (int i = 0; i < each * (ranks - 1); i++) {
                    Received received = comm.recv(Buffer.of(payload), Communicator.ANY_SOURCE, 1);
                    assertThat(payload[0]).isEqualTo(next[received.source()]++);
                }
                assertThat(next).isEqualTo(new long[] {0, each, each, each, each});
            } else {
                long[] payload = new long[size / 8];
                for (int i = 0; i < each; i++) {
                    payload[0] = i;
                    comm.send(Buffer.of(payload), 0, 1);
                }
            }
        });
    }

    /** Clients that never stop asking must not keep the others from being answered. */
    @Test
    void shouldAnswerEveryClientWhenOneRankServes() {
        int ranks = 6;
        int calls = 100;
        TestWorld.of(ranks).run(comm -> {
            long[] value = new long[1];
            if (comm.rank() == 0) {
                for (int left = ranks - 1; left > 0; ) {
                    Received request = comm.recv(Buffer.of(value), Communicator.ANY_SOURCE, Communicator.ANY_TAG);
                    left -= request.tag() == 99 ? 1 : 0;
                    comm.send(one(value[0] * 2), request.source(), request.tag());
                }
            } else {
                for (int i = 1; i <= calls; i++) {
                    int tag = i == calls ? 99 : i % 7;
                    comm.sendRecv(one(i), 0, tag, Buffer.of(value), 0, tag);
                    assertThat(value[0]).isEqualTo(2L * i);
                }
            }
        });
    }

    @Test
    void shouldTellWhoSentWhenReceiveWasStarted() {
        TestWorld.of(3).run(comm -> {
            if (comm.rank() == 0) {
                long[] value = new long[4];
                boolean[] heard = new boolean[3];
                for (int i = 1; i < 3; i++) {
                    ReceiveWork arriving =
                            comm.recvAsync(Buffer.of(value), Communicator.ANY_SOURCE, Communicator.ANY_TAG);
                    arriving.await();
                    Received received = arriving.received();
                    assertThat(received).isEqualTo(new Received((int) value[0], 10 + (int) value[0], 1));
                    heard[received.source()] = true;
                }
                assertThat(heard).containsExactly(false, true, true);
                ReceiveWork pending = comm.recvAsync(Buffer.of(value), 0, 0);
                assertThatThrownBy(pending::received)
                        .isInstanceOf(TuttiException.class)
                        .hasMessageContaining("await");
                comm.send(one(7), 0, 0);
                pending.await();
                assertThat(pending.received()).isEqualTo(new Received(0, 0, 1));
            } else {
                comm.send(one(comm.rank()), 0, 10 + comm.rank());
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 300_000})
    void shouldExchangeWhenStartedOrPrepared(int count) {
        TestWorld.of(3).run(comm -> {
            int next = (comm.rank() + 1) % 3;
            int previous = (comm.rank() + 2) % 3;
            long[] mine = new long[count];
            long[] theirs = new long[count];
            Buffer out = Buffer.of(mine);
            Buffer in = Buffer.of(theirs);
            Prepared exchange = comm.prepareSendRecv(out, next, 1, in, previous, 1);
            Prepared send = comm.prepareSend(out, next, 2);
            Prepared receive = comm.prepareRecv(in, Communicator.ANY_SOURCE, 2);
            for (int round = 0; round < 4; round++) {
                Arrays.fill(mine, 10 * round + comm.rank());
                Arrays.fill(theirs, -1);
                switch (round) {
                    case 0 -> {
                        ReceiveWork work = comm.sendRecvAsync(out, next, 1, in, previous, 1);
                        work.await();
                        assertThat(work.received()).isEqualTo(new Received(previous, 1, count));
                    }
                    case 1, 2 -> exchange.run();
                    default -> {
                        Work sent = send.start();
                        Work received = receive.start();
                        received.await();
                        sent.await();
                        assertThat(((ReceiveWork) received).received()).isEqualTo(new Received(previous, 2, count));
                    }
                }
                long[] expected = new long[count];
                Arrays.fill(expected, 10 * round + previous);
                assertThat(theirs).isEqualTo(expected);
            }
        });
    }

    @Test
    void shouldRefuseToStartPreparedMessageTwice() {
        TestWorld.of(1).run(comm -> {
            Prepared receive = comm.prepareRecv(one(0), 0, 0);
            Work pending = receive.start();
            assertThatThrownBy(receive::start)
                    .isInstanceOf(TuttiException.class)
                    .hasMessageContaining("still running");
            comm.send(one(1), 0, 0);
            pending.await();
            Work again = receive.start();
            comm.send(one(2), 0, 0);
            again.await();
            assertThatThrownBy(() -> comm.prepareSend(one(0), 1, 0)).isInstanceOf(IllegalArgumentException.class);
        });
    }

    /** All requests are there before the first is taken: then the sources take turns. */
    @Test
    void shouldTakeSourcesInTurnWhenAllHaveSent() {
        int ranks = 5;
        TestWorld.of(ranks).run(comm -> {
            if (comm.rank() > 0) {
                for (int i = 0; i < 10; i++) {
                    comm.send(one(i), 0, 0);
                }
            }
            comm.barrier();
            if (comm.rank() == 0) {
                int[] served = new int[ranks];
                long[] value = new long[1];
                for (int i = 0; i < 40; i++) {
                    served[
                            comm.recv(Buffer.of(value), Communicator.ANY_SOURCE, 0)
                                    .source()]++;
                    int[] sorted = Arrays.copyOfRange(served, 1, ranks);
                    Arrays.sort(sorted);
                    assertThat(sorted[ranks - 2] - sorted[0]).isLessThanOrEqualTo(1);
                }
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 8, 8192, 8200, 65536, 65544, 1 << 20})
    void shouldReceiveFromItselfWhenSendingToItself(int size) {
        for (int ranks = 1; ranks <= 2; ranks++) {
            TestWorld.of(ranks).run(comm -> {
                for (Kind from : new Kind[] {Kind.BYTES, Kind.ALLOCATED, Kind.SHARED}) {
                    for (Kind to : new Kind[] {Kind.LONGS, Kind.AUTOMATIC}) {
                        try (Arena arena = Arena.ofShared()) {
                            Buffer out = from.make(comm, arena, size);
                            Buffer in = to.make(comm, arena, size);
                            fill(out, 3);
                            // Receive first, send first, and both at once.
                            Work received = comm.recvAsync(in, comm.rank(), 1);
                            comm.send(out, comm.rank(), 1);
                            received.await();
                            check(in, 3, size);
                            fill(in, 4);
                            Work sent = comm.sendAsync(out, comm.rank(), 2);
                            assertThat(comm.recv(in, Communicator.ANY_SOURCE, 2).source())
                                    .isEqualTo(comm.rank());
                            sent.await();
                            check(in, 3, size);
                            fill(in, 4);
                            comm.sendRecv(out, comm.rank(), 0, in, comm.rank(), Communicator.ANY_TAG);
                            check(in, 3, size);
                        }
                    }
                }
            });
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 3_000_000})
    void shouldGoRoundWhenAllSendToTheNextAtOnce(int size) {
        TestWorld.of(4).run(comm -> {
            int next = (comm.rank() + 1) % comm.size();
            int previous = (comm.rank() + comm.size() - 1) % comm.size();
            Buffer mine = bytes(size);
            Buffer theirs = bytes(size);
            fill(mine, comm.rank());
            comm.sendRecv(mine, next, 0, theirs, previous, 0);
            check(theirs, previous, size);
            fill(theirs, 100);
            try (Group group = comm.world().group()) {
                group.send(comm, mine, next, 1);
                group.recv(comm, theirs, previous, 1);
            }
            check(theirs, previous, size);
        });
    }

    @Test
    void shouldExchangeWithAllWhenEveryPairTalks() {
        int ranks = 6;
        TestWorld.of(ranks).run(comm -> {
            for (int size : new int[] {0, 100, 9000, 200_000}) {
                List<Buffer> in = new ArrayList<>();
                Work work;
                Group group = comm.world().group();
                for (int peer = 0; peer < ranks; peer++) {
                    Buffer out = bytes(size + peer);
                    fill(out, comm.rank() * 100L + peer);
                    group.send(comm, out, peer, size);
                    in.add(bytes(size + comm.rank()));
                    group.recv(comm, in.get(peer), peer, size);
                }
                work = group.start();
                work.await(Duration.ofSeconds(50));
                for (int peer = 0; peer < ranks; peer++) {
                    check(in.get(peer), peer * 100L + comm.rank(), size + comm.rank());
                }
            }
        });
    }

    /** Nobody receives before all have sent: what was not asked for has to wait somewhere. */
    @Test
    void shouldTakeAllThatCameWhenEveryoneSendsBeforeReceiving() {
        TestWorld.of(4).run(comm -> {
            int messages = 3000;
            for (int i = 0; i < messages; i++) {
                for (int peer = 0; peer < comm.size(); peer++) {
                    comm.send(one(i), peer, i % 2);
                }
            }
            long[] value = new long[1];
            for (int peer = 0; peer < comm.size(); peer++) {
                for (int tag = 1; tag >= 0; tag--) {
                    for (int i = tag; i < messages; i += 2) {
                        comm.recv(Buffer.of(value), peer, tag);
                        assertThat(value[0]).isEqualTo(i);
                    }
                }
            }
        });
    }

    @Test
    void shouldDeliverEachWhenManyTagsAreOpenAtOnce() {
        TestWorld.of(2).run(comm -> {
            int tags = 5000;
            List<Integer> order =
                    new ArrayList<>(IntStream.range(0, tags).boxed().toList());
            Collections.shuffle(order, new Random(11 + comm.rank()));
            List<Work> works = new ArrayList<>();
            long[][] values = new long[tags][1];
            for (int tag : order) {
                works.add(
                        comm.rank() == 0
                                ? comm.sendAsync(one(tag), 1, tag)
                                : comm.recvAsync(Buffer.of(values[tag]), 0, tag));
            }
            works.forEach(Work::await);
            if (comm.rank() == 1) {
                for (int tag = 0; tag < tags; tag++) {
                    assertThat(values[tag][0]).isEqualTo(tag);
                }
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {100, 9000, 300_000})
    void shouldStayUsableWhenMessageWasLongerThanBuffer(int size) {
        TestWorld.of(2).run(comm -> {
            for (boolean expectedFirst : new boolean[] {true, false}) {
                int tag = expectedFirst ? 7 : 8;
                if (comm.rank() == 0) {
                    if (expectedFirst) {
                        comm.barrier();
                    }
                    Work sent = comm.sendAsync(bytes(size), 1, tag);
                    comm.send(one(1), 1, 100);
                    sent.await();
                } else {
                    Buffer small = bytes(size - 1);
                    Work received;
                    if (expectedFirst) {
                        received = comm.recvAsync(small, 0, tag);
                        comm.barrier();
                    } else {
                        comm.recv(one(0), 0, 100);
                        received = comm.recvAsync(small, 0, tag);
                    }
                    assertThatThrownBy(received::await)
                            .isInstanceOf(TuttiException.class)
                            .hasMessageContaining("message of " + size + " bytes")
                            .hasMessageContaining("tag " + tag)
                            .hasMessageContaining("from rank 0 to rank 1")
                            .hasMessageContaining((size - 1) + " bytes of the buffer")
                            .extracting(thrown -> ((TuttiException) thrown).category())
                            .isEqualTo(TuttiException.Category.USAGE);
                    if (expectedFirst) {
                        comm.recv(one(0), 0, 100);
                    }
                }
                Buffer after = bytes(size);
                fill(after, comm.rank());
                comm.sendRecv(after, 1 - comm.rank(), 1, after = bytes(size), 1 - comm.rank(), 1);
                check(after, 1 - comm.rank(), size);
            }
        });
    }

    @Test
    void shouldFailThatReceiveWhenMessageToItselfIsLongerThanBuffer() {
        TestWorld.of(1).run(comm -> {
            for (int size : new int[] {10, 10_000, 100_000}) {
                Work sent = comm.sendAsync(bytes(size), 0, 1);
                assertThatThrownBy(() -> comm.recv(bytes(size - 1), 0, 1)).isInstanceOf(TuttiException.class);
                sent.await();
            }
        });
    }

    @Test
    void shouldRefuseMessageWhenItHasHalfAnElement() {
        TestWorld.of(2).run(comm -> {
            if (comm.rank() == 0) {
                comm.send(bytes(7), 1, 0);
                comm.send(bytes(20_001), 1, 0);
                comm.send(bytes(8), 1, 0);
            } else {
                for (int i = 0; i < 2; i++) {
                    assertThatThrownBy(() -> comm.recv(Buffer.of(new float[10_000]), 0, 0))
                            .isInstanceOf(TuttiException.class)
                            .hasMessageContaining("no whole number of elements of 4 bytes");
                }
                assertThat(comm.recv(Buffer.of(new float[2]), 0, 0).count()).isEqualTo(2);
            }
        });
    }

    @Test
    void shouldThrowBeforeAnythingIsSentWhenArgumentsAreWrong() {
        TestWorld.of(2).run(comm -> {
            Buffer buffer = bytes(8);
            assertThatThrownBy(() -> comm.send(buffer, 2, 0)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> comm.send(buffer, -1, 0)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> comm.send(buffer, 1, -1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> comm.recv(buffer, 0, -2)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> comm.recv(buffer, 5, 0)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> comm.sendRecv(buffer, 1, -1, buffer, 1, 0))
                    .isInstanceOf(IllegalArgumentException.class);
            Buffer closed = comm.allocate(DataType.INT8, 8);
            closed.close();
            assertThatThrownBy(() -> comm.sendRecv(closed, 1, 0, buffer, 1, 0))
                    .isInstanceOf(IllegalStateException.class);
            try (Group group = comm.world().group()) {
                assertThatThrownBy(() -> group.send(comm, buffer, 1, -1)).isInstanceOf(IllegalArgumentException.class);
            }
            try (Arena arena = Arena.ofConfined()) {
                Buffer confined = Buffer.of(arena.allocate(8), DataType.INT8);
                assertThatThrownBy(() -> comm.sendAsync(confined, 1, 0)).isInstanceOf(IllegalArgumentException.class);
                Buffer readOnly = Buffer.of(arena.allocate(8).asReadOnly(), DataType.INT8);
                assertThatThrownBy(() -> comm.recv(readOnly, 1, 0)).isInstanceOf(IllegalArgumentException.class);
            }
            comm.sendRecv(one(comm.rank()), 1 - comm.rank(), 0, buffer, 1 - comm.rank(), 0);
        });
    }

    @Test
    void shouldNotMixMessagesWhenCommunicatorsDiffer() {
        TestWorld.of(3).run(comm -> {
            Communicator other = comm.dup();
            Communicator reversed = comm.split(0, -comm.rank());
            int next = (comm.rank() + 1) % 3;
            int previous = (comm.rank() + 2) % 3;
            comm.send(one(1), next, 0);
            other.send(one(2), next, 0);
            reversed.send(one(3), 2 - next, 0);
            long[] value = new long[1];
            reversed.recv(Buffer.of(value), Communicator.ANY_SOURCE, 0);
            assertThat(value[0]).isEqualTo(3);
            other.recv(Buffer.of(value), previous, 0);
            assertThat(value[0]).isEqualTo(2);
            comm.recv(Buffer.of(value), previous, Communicator.ANY_TAG);
            assertThat(value[0]).isEqualTo(1);
        });
    }
}
