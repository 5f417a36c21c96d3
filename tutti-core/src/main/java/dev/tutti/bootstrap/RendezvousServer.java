package dev.tutti.bootstrap;

import dev.tutti.bootstrap.Wire.Kind;
import dev.tutti.bootstrap.Wire.Message;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the notes of one world's processes, in process 0. Every connection has a virtual thread that reads; whoever puts a note
 * answers those who waited for it. A connection that ends before its process has left means that the process has failed: then all
 * who wait are told.
 */
final class RendezvousServer implements AutoCloseable {
    /** So many connections may be in their greeting at once; strangers cannot take more. */
    private static final int MOST_STRANGERS = 256;

    private static final long PAUSE_NANOS = 10_000_000;

    private record Waiter(Session session, long number) {}

    private final ServerSocket listening;
    private final Secret secret;
    private final String job;
    private final int world;
    private final int processes;
    private final Semaphore strangers = new Semaphore(MOST_STRANGERS);
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    // Guarded by this.
    private final Map<String, byte[]> notes = new HashMap<>();
    private final Map<String, List<Waiter>> waiters = new HashMap<>();
    private final Set<Integer> present = new HashSet<>();
    private final Set<Integer> left = new HashSet<>();
    private @Nullable String failure;

    RendezvousServer(InetSocketAddress address, Secret secret, String job, int world, int processes)
            throws IOException {
        this.secret = secret;
        this.job = job;
        this.world = world;
        this.processes = processes;
        this.listening = new ServerSocket();
        listening.setReuseAddress(true);
        try {
            listening.bind(address, 1024);
        } catch (IOException taken) {
            listening.close();
            throw taken;
        }
        Thread.ofVirtual().name("tutti-rendezvous").start(this::accept);
    }

    int port() {
        return listening.getLocalPort();
    }

    private void accept() {
        while (!listening.isClosed()) {
            try {
                Socket socket = listening.accept();
                if (!strangers.tryAcquire()) {
                    socket.close();
                    continue;
                }
                sockets.add(socket);
                Thread.ofVirtual().name("tutti-rendezvous-connection").start(() -> serve(socket));
            } catch (IOException closedOrOutOfDescriptors) {
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            Session session;
            try {
                session = Session.receive(socket, secret, job, world, processes).orElse(null);
            } finally {
                strangers.release();
            }
            if (session != null) {
                serve(session);
            }
        } catch (IOException notOneOfUs) {
            // Whoever it was is gone.
        } finally {
            sockets.remove(socket);
        }
    }

    private void serve(Session session) throws IOException {
        int process = session.process();
        if (!enter(process)) {
            session.refuse("process " + process + " is there twice; give each job its own port");
            return;
        }
        try {
            session.welcome();
            while (true) {
                Message request = session.receive();
                switch (request.kind()) {
                    case PUT -> session.send(put(request));
                    case GET -> get(session, request);
                    case CHECK -> session.send(check(request));
                    case LEAVE -> {
                        leave(process);
                        session.send(new Message(request.number(), Kind.DONE, "", new byte[0]));
                        return;
                    }
                    default -> throw new IOException("a request of kind " + request.kind());
                }
            }
        } catch (IOException ended) {
            fail(process);
            throw ended;
        }
    }

    private synchronized boolean enter(int process) {
        return present.add(process);
    }

    private synchronized void leave(int process) {
        left.add(process);
        notifyAll();
    }

    private Message put(Message request) throws IOException {
        if (!Keys.isKey(request.key())) {
            throw new IOException("no key: " + request.key());
        }
        List<Waiter> waiting;
        synchronized (this) {
            byte[] there = notes.putIfAbsent(request.key(), request.value());
            if (there != null && !Arrays.equals(there, request.value())) {
                String refusal = Keys.taken(request.key()).getMessage();
                return new Message(request.number(), Kind.REFUSED, "", Session.bytes(String.valueOf(refusal)));
            }
            waiting = waiters.getOrDefault(request.key(), List.of());
            waiters.remove(request.key());
        }
        waiting.forEach(waiter -> answer(waiter, Kind.VALUE, request.value()));
        if (request.key().startsWith(Bootstrap.GAVE_UP)) {
            String process = request.key().substring(Bootstrap.GAVE_UP.length());
            failAll(String.valueOf(Bootstrap.gaveUp(process, request.text()).getMessage()));
        }
        return new Message(request.number(), Kind.DONE, "", new byte[0]);
    }

    private void get(Session session, Message request) {
        Waiter waiter = new Waiter(session, request.number());
        byte[] value;
        String broken;
        synchronized (this) {
            value = notes.get(request.key());
            broken = failure;
            if (value == null && broken == null && request.value().length == 0) {
                waiters.computeIfAbsent(request.key(), key -> new ArrayList<>()).add(waiter);
                return;
            }
        }
        if (value != null) {
            answer(waiter, Kind.VALUE, value);
        } else if (broken != null) {
            answer(waiter, Kind.FAILED, Session.bytes(broken));
        } else {
            answer(waiter, Kind.REFUSED, new byte[0]);
        }
    }

    private synchronized Message check(Message request) {
        return failure == null
                ? new Message(request.number(), Kind.DONE, "", new byte[0])
                : new Message(request.number(), Kind.FAILED, "", Session.bytes(failure));
    }

    private void fail(int process) {
        synchronized (this) {
            if (!left.add(process)) {
                return;
            }
        }
        failAll("process " + process + " ended while the ranks were joining");
    }

    private void failAll(String text) {
        List<Waiter> waiting = new ArrayList<>();
        synchronized (this) {
            if (failure == null) {
                failure = text;
            }
            waiters.values().forEach(waiting::addAll);
            waiters.clear();
            notifyAll();
        }
        waiting.forEach(waiter -> answer(waiter, Kind.FAILED, Session.bytes(text)));
    }

    private static void answer(Waiter waiter, Kind kind, byte[] value) {
        try {
            waiter.session.send(new Message(waiter.number, kind, "", value));
        } catch (IOException gone) {
            // Its own thread notices.
        }
    }

    /** After a failure nobody needs to wait for those who have not come. */
    private boolean allLeft() {
        return left.size() >= processes || (failure != null && left.containsAll(present));
    }

    /** Waits until every process has left or failed, so that none finds the door closed. */
    synchronized void awaitAllLeft(long deadlineNanos) {
        long remaining = deadlineNanos - System.nanoTime();
        while (!allLeft() && remaining > 0) {
            try {
                wait(remaining / 1_000_000 + 1);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                return;
            }
            remaining = deadlineNanos - System.nanoTime();
        }
    }

    @Override
    public void close() {
        try {
            listening.close();
            for (Socket socket : sockets) {
                socket.close();
            }
        } catch (IOException alreadyClosed) {
            // Nothing is left to do.
        }
    }
}
