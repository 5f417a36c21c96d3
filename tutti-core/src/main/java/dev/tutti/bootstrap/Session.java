package dev.tutti.bootstrap;

import dev.tutti.bootstrap.Wire.Greeting;
import dev.tutti.bootstrap.Wire.Message;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.ProtocolException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Optional;

/**
 * A connection on which both sides have proved that they know the secret and mean the same job. Neither gives the other anything to
 * prove it with: each proof has the side in it and both nonces.
 */
final class Session implements AutoCloseable {
    /** Whoever does not get through the greeting in this time is not one of us. */
    static final int GREETING_MILLIS = 10_000;

    private final Socket socket;
    private final InputStream in;
    private final Secret sending;
    private final Secret receiving;
    /** Who is at the other end; at the client 0. */
    private final int process;

    private long sent;
    private long received;

    private Session(Socket socket, InputStream in, Secret sending, Secret receiving, int process) {
        this.socket = socket;
        this.in = in;
        this.sending = sending;
        this.receiving = receiving;
        this.process = process;
    }

    /**
     * The client's side. Returns when the server has let this process in, so that whoever comes later finds it there.
     *
     * @return empty if the server serves another world of the same job: later it may serve this one
     */
    static Optional<Session> greet(Socket socket, Secret secret, String job, int world, int process, int processes)
            throws IOException {
        prepare(socket);
        InputStream in = new BufferedInputStream(socket.getInputStream());
        byte[] mine = nonce();
        Wire.write(socket.getOutputStream(), new Greeting(Wire.VERSION, world, mine, new byte[0]).encode());
        Greeting theirs = Greeting.decode(Wire.read(in, Wire.GREETING_BYTES));
        if (theirs.version() != Wire.VERSION) {
            throw new RefusedException("the rendezvous speaks version " + theirs.version() + ", this process "
                    + Wire.VERSION + ": all ranks need the same Tutti");
        }
        if (theirs.world() != world && theirs.proof().length == 0) {
            return Optional.empty();
        }
        byte[] context = context(job, world, mine, theirs.nonce());
        if (!MessageDigest.isEqual(theirs.proof(), secret.sign(bytes("server"), context))) {
            throw new RefusedException("the rendezvous does not know this job's secret: TUTTI_SECRET and the job's name"
                    + " (TUTTI_JOB) must be the same for all processes");
        }
        byte[] self = ByteBuffer.allocate(8).putInt(process).putInt(processes).array();
        byte[] proof = secret.sign(bytes("client"), context, self);
        Wire.write(socket.getOutputStream(), concat(proof, self));
        Session session = new Session(
                socket, in, secret.derive(bytes("to server"), context), secret.derive(bytes("to client"), context), 0);
        Message welcome = session.receive();
        if (welcome.kind() != Wire.Kind.DONE) {
            throw new RefusedException(welcome.text());
        }
        socket.setSoTimeout(0);
        return Optional.of(session);
    }

    /**
     * The server's side. {@link #welcome} or {@link #refuse} has to follow.
     *
     * @return empty if this is no process of the job; it is not told why
     */
    static Optional<Session> receive(Socket socket, Secret secret, String job, int world, int processes)
            throws IOException {
        prepare(socket);
        InputStream in = new BufferedInputStream(socket.getInputStream());
        Greeting theirs = Greeting.decode(Wire.read(in, Wire.GREETING_BYTES));
        byte[] mine = nonce();
        if (theirs.world() != world || theirs.version() != Wire.VERSION) {
            Wire.write(socket.getOutputStream(), new Greeting(Wire.VERSION, world, mine, new byte[0]).encode());
            return Optional.empty();
        }
        byte[] context = context(job, world, theirs.nonce(), mine);
        byte[] proof = secret.sign(bytes("server"), context);
        Wire.write(socket.getOutputStream(), new Greeting(Wire.VERSION, world, mine, proof).encode());
        byte[] answer = Wire.read(in, Wire.GREETING_BYTES);
        if (answer.length != Wire.PROOF_BYTES + 8) {
            throw new ProtocolException("a proof of " + answer.length + " bytes");
        }
        byte[] self = Arrays.copyOfRange(answer, Wire.PROOF_BYTES, answer.length);
        byte[] theirProof = Arrays.copyOf(answer, Wire.PROOF_BYTES);
        if (!MessageDigest.isEqual(theirProof, secret.sign(bytes("client"), context, self))) {
            return Optional.empty();
        }
        int process = ByteBuffer.wrap(self).getInt(0);
        Session session = new Session(
                socket,
                in,
                secret.derive(bytes("to client"), context),
                secret.derive(bytes("to server"), context),
                process);
        int theirProcesses = ByteBuffer.wrap(self).getInt(4);
        if (process < 0 || process >= processes || theirProcesses != processes) {
            session.refuse("process " + process + " says that there are " + theirProcesses
                    + " processes, process 0 says " + processes);
            return Optional.empty();
        }
        socket.setSoTimeout(0);
        return Optional.of(session);
    }

    /** Tells a client that it is in. */
    void welcome() throws IOException {
        send(new Message(0, Wire.Kind.DONE, "", new byte[0]));
    }

    /** Tells a client that knows the secret why it is not let in all the same. */
    void refuse(String why) throws IOException {
        send(new Message(0, Wire.Kind.FAILED, "", bytes(why)));
    }

    private static void prepare(Socket socket) throws IOException {
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(GREETING_MILLIS);
    }

    private static byte[] nonce() {
        byte[] nonce = new byte[Wire.NONCE_BYTES];
        new SecureRandom().nextBytes(nonce);
        return nonce;
    }

    private static byte[] context(String job, int world, byte[] clientNonce, byte[] serverNonce) {
        byte[] name = bytes(job);
        return ByteBuffer.allocate(8 + name.length + clientNonce.length + serverNonce.length)
                .putInt(world)
                .putInt(name.length)
                .put(name)
                .put(clientNonce)
                .put(serverNonce)
                .array();
    }

    int process() {
        return process;
    }

    synchronized void send(Message message) throws IOException {
        byte[] body = message.encode();
        Wire.write(socket.getOutputStream(), concat(body, sending.sign(number(sent++), body)));
    }

    /** Used by one thread. */
    Message receive() throws IOException {
        byte[] frame = Wire.read(in, Wire.MAX_BYTES);
        if (frame.length < Wire.PROOF_BYTES) {
            throw new ProtocolException("a frame of " + frame.length + " bytes");
        }
        int bodyBytes = frame.length - Wire.PROOF_BYTES;
        byte[] body = Arrays.copyOf(frame, bodyBytes);
        byte[] proof = Arrays.copyOfRange(frame, bodyBytes, frame.length);
        if (!MessageDigest.isEqual(proof, receiving.sign(number(received++), body))) {
            throw new ProtocolException("a frame that nobody of this job has sent");
        }
        return Message.decode(body);
    }

    private static byte[] number(long number) {
        return ByteBuffer.allocate(8).putLong(number).array();
    }

    private static byte[] concat(byte[] one, byte[] other) {
        byte[] all = Arrays.copyOf(one, one.length + other.length);
        System.arraycopy(other, 0, all, one.length, other.length);
        return all;
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException alreadyGone) {
            // It is closed then.
        }
    }

    /** The other side is no server of this job, or wants none like this process; trying again would not help. */
    static final class RefusedException extends IOException {
        private static final long serialVersionUID = 1L;

        RefusedException(String message) {
            super(message);
        }
    }
}
