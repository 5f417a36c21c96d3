package dev.tutti.bootstrap;

import dev.tutti.PeerFailedException;
import dev.tutti.TuttiException;
import dev.tutti.bootstrap.Wire.Kind;
import dev.tutti.bootstrap.Wire.Message;
import dev.tutti.spi.Rendezvous;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Notes at a {@link RendezvousServer}; process 0 has it, and every process, 0 too, a connection to it. */
final class TcpRendezvous implements Rendezvous {
    private static final long FIRST_PAUSE_NANOS = 20_000_000;
    private static final long LONGEST_PAUSE_NANOS = 500_000_000;
    private static final long TAKEN_NANOS = 3_000_000_000L;
    /** What the server may take to answer what needs no waiting. */
    private static final long ANSWER_NANOS = 5_000_000_000L;

    private static final int CONNECT_MILLIS = 2_000;

    private final String where;
    private final Session session;
    private final @Nullable RendezvousServer server;
    private final long deadlineNanos;
    private final AtomicLong numbers = new AtomicLong();
    private final Map<Long, CompletableFuture<Message>> requests = new ConcurrentHashMap<>();
    private volatile @Nullable TuttiException broken;
    private boolean closed;

    private TcpRendezvous(String where, Session session, @Nullable RendezvousServer server, long deadlineNanos) {
        this.where = where;
        this.session = session;
        this.server = server;
        this.deadlineNanos = deadlineNanos;
        Thread.ofVirtual().name("tutti-rendezvous-answers").start(this::read);
    }

    static TcpRendezvous join(
            Venue.Server venue, String job, int world, int process, int processes, long deadlineNanos) {
        InetSocketAddress address = resolve(venue);
        RendezvousServer server = process == 0 ? serve(venue, address, job, world, processes, deadlineNanos) : null;
        try {
            Session session = connect(venue, address, job, world, process, processes, deadlineNanos);
            return new TcpRendezvous(venue.toString(), session, server, deadlineNanos);
        } catch (TuttiException failed) {
            if (server != null) {
                server.close();
            }
            throw failed;
        }
    }

    private static InetSocketAddress resolve(Venue.Server venue) {
        try {
            return new InetSocketAddress(InetAddress.getByName(venue.host()), venue.port());
        } catch (UnknownHostException unknown) {
            throw new TuttiException(
                    TuttiException.Category.USAGE,
                    "TUTTI_RENDEZVOUS=" + venue + ": the host's name is not known here",
                    unknown);
        }
    }

    private static RendezvousServer serve(
            Venue.Server venue, InetSocketAddress address, String job, int world, int processes, long deadlineNanos) {
        // The last world's server may still be closing; a stranger would not go away.
        long giveUp = System.nanoTime() + Math.min(TAKEN_NANOS, Math.max(0, deadlineNanos - System.nanoTime()));
        while (true) {
            try {
                return new RendezvousServer(address, venue.secret(), job, world, processes);
            } catch (BindException taken) {
                if (!pause(giveUp, FIRST_PAUSE_NANOS)) {
                    throw cannotServe(venue, taken);
                }
            } catch (IOException refused) {
                throw cannotServe(venue, refused);
            }
        }
    }

    private static TuttiException cannotServe(Venue.Server venue, IOException cause) {
        return new TuttiException(
                TuttiException.Category.USAGE,
                "process 0 cannot listen at TUTTI_RENDEZVOUS=" + venue + " (" + cause.getMessage()
                        + "): name a free port and an address of the host of process 0",
                cause);
    }

    private static Session connect(
            Venue.Server venue,
            InetSocketAddress address,
            String job,
            int world,
            int process,
            int processes,
            long deadlineNanos) {
        long wait = FIRST_PAUSE_NANOS;
        while (true) {
            Socket socket = new Socket();
            IOException last;
            try {
                socket.connect(address, CONNECT_MILLIS);
                Optional<Session> session = Session.greet(socket, venue.secret(), job, world, process, processes);
                if (session.isPresent()) {
                    return session.get();
                }
                last = new IOException("it serves another world of this job");
            } catch (Session.RefusedException refused) {
                closeQuietly(socket);
                throw new TuttiException(TuttiException.Category.USAGE, venue + ": " + refused.getMessage(), refused);
            } catch (IOException notYet) {
                last = notYet;
            }
            closeQuietly(socket);
            if (!pause(deadlineNanos, wait)) {
                throw new TuttiException(
                        TuttiException.Category.TIMEOUT,
                        "process " + process + " could not reach process 0 at TUTTI_RENDEZVOUS=" + venue
                                + " before the deadline (" + last.getMessage() + ")",
                        last);
            }
            wait = Math.min(2 * wait, LONGEST_PAUSE_NANOS);
        }
    }

    /** Waits a little; false if there is no time left. */
    private static boolean pause(long deadlineNanos, long nanos) {
        long left = deadlineNanos - System.nanoTime();
        if (left <= 0 || Thread.currentThread().isInterrupted()) {
            return false;
        }
        LockSupport.parkNanos(Math.min(left, nanos));
        return true;
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException gone) {
            // It is closed then.
        }
    }

    private void read() {
        try {
            while (true) {
                Message answer = session.receive();
                CompletableFuture<Message> request = requests.remove(answer.number());
                if (request != null) {
                    request.complete(answer);
                }
            }
        } catch (IOException ended) {
            breakAll(new PeerFailedException(
                    "process 0, which keeps the rendezvous at " + where + ", has gone (" + ended.getMessage() + ")",
                    ended));
        }
    }

    private void breakAll(TuttiException why) {
        broken = why;
        requests.values().forEach(request -> request.completeExceptionally(why));
    }

    @Override
    public void put(String key, byte[] value) {
        Keys.check(key, value);
        Message answer = ask(Kind.PUT, key, value, deadlineNanos);
        if (answer.kind() == Kind.REFUSED) {
            throw new TuttiException(TuttiException.Category.USAGE, answer.text(), null);
        }
    }

    @Override
    public byte[] await(String key, long untilNanos) {
        Keys.check(key);
        boolean late = untilNanos - System.nanoTime() <= 0;
        Message answer = late
                ? ask(Kind.GET, key, Wire.AT_ONCE, System.nanoTime() + ANSWER_NANOS)
                : ask(Kind.GET, key, new byte[0], untilNanos);
        if (answer.kind() == Kind.REFUSED) {
            throw Keys.late(key, "at " + where);
        }
        return answer.value();
    }

    @Override
    public void requireEverybody() {
        ask(Kind.CHECK, "", new byte[0], System.nanoTime() + ANSWER_NANOS);
    }

    private Message ask(Kind kind, String key, byte[] value, long untilNanos) {
        long number = numbers.incrementAndGet();
        CompletableFuture<Message> answer = new CompletableFuture<>();
        requests.put(number, answer);
        try {
            session.send(new Message(number, kind, key, value));
            TuttiException already = broken;
            if (already != null) {
                throw already;
            }
            Message got = answer.get(Math.max(0, untilNanos - System.nanoTime()), TimeUnit.NANOSECONDS);
            if (got.kind() == Kind.FAILED) {
                throw new PeerFailedException(got.text(), null);
            }
            return got;
        } catch (TimeoutException late) {
            throw Keys.late(key, "at " + where);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new TuttiException(
                    TuttiException.Category.BROKEN, "interrupted while waiting for " + key, interrupted);
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof TuttiException known
                    ? new PeerFailedException(String.valueOf(known.getMessage()), known)
                    : new TuttiException(TuttiException.Category.BROKEN, String.valueOf(failed.getCause()), failed);
        } catch (IOException ended) {
            TuttiException already = broken;
            throw already != null
                    ? already
                    : new PeerFailedException("the rendezvous at " + where + " has gone: " + ended, ended);
        } finally {
            requests.remove(number);
        }
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            ask(Kind.LEAVE, "", new byte[0], System.nanoTime() + ANSWER_NANOS);
        } catch (TuttiException gone) {
            // Nobody is left to say goodbye to.
        }
        session.close();
        if (server != null) {
            server.awaitAllLeft(deadlineNanos);
            server.close();
        }
    }
}
