package dev.tutti;

import static dev.tutti.MessagesTest.bytes;
import static dev.tutti.MessagesTest.check;
import static dev.tutti.MessagesTest.fill;
import static dev.tutti.MessagesTest.one;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Many messages, many threads, and what they cost. */
@Timeout(120)
class MessagesStressTest {
    @Test
    void shouldKeepThreadsApartWhenSeveralOfOneRankTalk() {
        int threads = 4;
        int messages = 300;
        World.local(2).run(comm -> {
            int peer = 1 - comm.rank();
            List<Callable<Void>> bodies = new ArrayList<>();
            for (int t = 0; t < threads; t++) {
                int tag = t;
                bodies.add(() -> {
                    Random sizes = new Random(tag);
                    for (int i = 0; i < messages; i++) {
                        int size = sizes.nextInt(10) == 0 ? 30_000 : 16;
                        Buffer in = bytes(size);
                        Buffer out = bytes(size);
                        fill(out, tag * 1000L + i);
                        if (i % 3 == 0) {
                            comm.sendRecv(out, peer, tag, in, peer, tag);
                        } else {
                            Work received = comm.recvAsync(in, peer, tag);
                            comm.send(out, peer, tag);
                            received.await();
                        }
                        check(in, tag * 1000L + i, size);
                    }
                    return null;
                });
            }
            try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
                for (Future<Void> each : executor.invokeAll(bodies)) {
                    each.get();
                }
            }
        });
    }

    @Test
    void shouldDeliverWhenRanksAreVirtualThreads() {
        int ranks = 8;
        World.local(ranks).virtualThreads().run(comm -> {
            for (int size : new int[] {8, 5000, 100_000}) {
                for (int distance = 1; distance < ranks; distance++) {
                    Buffer out = bytes(size);
                    Buffer in = bytes(size);
                    int to = (comm.rank() + distance) % ranks;
                    int from = (comm.rank() + ranks - distance) % ranks;
                    fill(out, comm.rank());
                    comm.sendRecv(out, to, distance, in, from, distance);
                    check(in, from, size);
                }
            }
            // A blocking chain: each waits for the one before it.
            long[] value = {0};
            if (comm.rank() > 0) {
                comm.recv(Buffer.of(value), comm.rank() - 1, 0);
            }
            value[0]++;
            if (comm.rank() < ranks - 1) {
                comm.send(Buffer.of(value), comm.rank() + 1, 0);
            } else {
                assertThat(value[0]).isEqualTo(ranks);
            }
        });
    }

    /** More than may wait in the receiver's heap: the rest waits at the sender, and other tags go past it. */
    @Test
    void shouldReachOtherTagsWhenFloodedWithMessagesNobodyAskedFor() {
        int messages = 6000;
        int size = 8000;
        World.local(2).run(comm -> {
            if (comm.rank() == 0) {
                List<Work> flood = new ArrayList<>();
                for (int i = 0; i < messages; i++) {
                    flood.add(comm.sendAsync(filled(size, i), 1, 1));
                }
                Buffer large = bytes(500_000);
                fill(large, 2);
                Work second = comm.sendAsync(large, 1, 2);
                comm.send(one(33), 1, 3);
                second.await();
                long ended = flood.stream().filter(Work::isDone).count();
                assertThat(ended * size).isBetween(10L << 20, 17L << 20);
                comm.send(one(0), 1, 4);
                flood.forEach(Work::await);
            } else {
                long[] value = new long[1];
                comm.recv(Buffer.of(value), 0, 3);
                assertThat(value[0]).isEqualTo(33);
                Buffer large = bytes(500_000);
                comm.recv(large, 0, 2);
                check(large, 2, 500_000);
                comm.recv(Buffer.of(value), 0, 4);
                Buffer in = bytes(size);
                for (int i = 0; i < messages; i++) {
                    comm.recv(in, 0, 1);
                    check(in, i, 16);
                }
            }
        });
    }

    private static Buffer filled(int size, long seed) {
        Buffer buffer = bytes(size);
        fill(buffer, seed);
        return buffer;
    }

    @Test
    void shouldReachOtherTagsWhenFloodedWithEmptyMessages() {
        int messages = 135_000;
        World.local(2).run(comm -> {
            Buffer nothing = bytes(0);
            if (comm.rank() == 0) {
                List<Work> works = new ArrayList<>();
                for (int i = 0; i < messages; i++) {
                    works.add(comm.sendAsync(nothing, 1, 1));
                }
                works.add(comm.sendAsync(one(7), 1, 2));
                works.forEach(Work::await);
            } else {
                comm.recv(one(0), 0, 2);
                for (int i = 0; i < messages; i++) {
                    comm.recv(nothing, 0, 1);
                }
            }
        });
    }

    @Test
    void shouldMakeOneObjectWhenSmallMessageIsSentOrReceived() {
        int messages = 2_000;
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        List<Long> allocated = World.local(2).call(comm -> {
            Buffer buffer = comm.allocate(DataType.INT64, 4);
            long least = Long.MAX_VALUE;
            // Whoever has to sleep for its peer makes more; some batches go without.
            for (int batch = 0; batch < 60; batch++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                for (int i = 0; i < messages; i++) {
                    if (comm.rank() == 0) {
                        comm.send(buffer, 1, 0);
                        comm.recv(buffer, 1, 0);
                    } else {
                        comm.recv(buffer, 0, 0);
                        comm.send(buffer, 0, 0);
                    }
                }
                least = Math.min(least, (threads.getCurrentThreadAllocatedBytes() - before) / messages);
            }
            return least;
        });
        System.out.println("bytes allocated per send and receive: " + allocated);
        // One send, one receive, and what the receive returns.
        assertThat(allocated).allSatisfy(each -> assertThat(each).isLessThan(2 * 160 + 32));
    }

    /** What a rank is to get from another with a tag, as everybody knows. */
    private record Stream(int from, int to, int tag) {
        int size(long seed, int number) {
            Random random = new Random(seed * 31 + hashCode() * 17L + number);
            return switch (random.nextInt(12)) {
                case 0 -> 0;
                case 1 -> 8150 + random.nextInt(100);
                case 2 -> random.nextInt(60_000);
                case 3 -> random.nextInt(400_000);
                default -> random.nextInt(200);
            };
        }

        long content(int number) {
            return hashCode() * 1000L + number;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5, 8})
    void shouldAgreeWithModelWhenEverythingIsRandom(int ranks) {
        long seed = System.nanoTime();
        System.out.println("MessagesStressTest seed " + seed + " ranks " + ranks);
        int tags = 4;
        int each = 400 / (ranks * ranks) + 3;
        World.local(ranks).run(comm -> {
            Random random = new Random(seed + comm.rank());
            // Tag 0 is received from any source; the order of each source is checked.
            List<Stream> steps = new ArrayList<>();
            for (int peer = 0; peer < ranks; peer++) {
                for (int tag = 0; tag < tags; tag++) {
                    steps.addAll(Collections.nCopies(each, new Stream(comm.rank(), peer, tag)));
                    steps.addAll(Collections.nCopies(each, new Stream(peer, comm.rank(), tag + tags)));
                }
            }
            Collections.shuffle(steps, random);
            Map<Stream, Integer> numbers = new HashMap<>();
            Map<Work, Runnable> checks = new java.util.LinkedHashMap<>();
            Map<Integer, Integer> anyNumbers = new HashMap<>();
            List<MessageWork> anyWorks = new ArrayList<>();
            List<Buffer> anyBuffers = new ArrayList<>();
            for (Stream step : steps) {
                boolean send = step.tag < tags;
                Stream stream = new Stream(step.from, step.to, step.tag % tags);
                int number = numbers.merge(step, 1, Integer::sum);
                int size = stream.size(seed, number);
                if (send) {
                    Buffer out = filled(size, stream.content(number));
                    if (size < 8000 && random.nextBoolean()) {
                        comm.send(out, stream.to, stream.tag);
                    } else {
                        checks.put(comm.sendAsync(out, stream.to, stream.tag), () -> {});
                    }
                } else if (stream.tag == 0) {
                    Buffer in = bytes(400_000);
                    anyWorks.add((MessageWork) comm.recvAsync(in, Communicator.ANY_SOURCE, 0));
                    anyBuffers.add(in);
                } else {
                    Buffer in = bytes(size + random.nextInt(3));
                    MessageWork work = (MessageWork) comm.recvAsync(in, stream.from, stream.tag);
                    checks.put(work, () -> {
                        assertThat(work.received()).isEqualTo(new Received(stream.from, stream.tag, size));
                        check(in, stream.content(number), size);
                    });
                }
            }
            checks.forEach((work, check) -> {
                work.await();
                check.run();
            });
            // Receives from any source were posted in order, so each source's messages are in order among them.
            for (int i = 0; i < anyWorks.size(); i++) {
                anyWorks.get(i).await();
                Received received = anyWorks.get(i).received();
                Stream stream = new Stream(received.source(), comm.rank(), 0);
                int number = anyNumbers.merge(received.source(), 1, Integer::sum);
                assertThat(received.count()).isEqualTo(stream.size(seed, number));
                check(anyBuffers.get(i), stream.content(number), received.count());
            }
            assertThat(anyNumbers.values()).allMatch(count -> count == each).hasSize(ranks);
        });
    }
}
