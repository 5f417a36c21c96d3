package dev.tutti.bootstrap;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * How bytes go between a process and the server of a rendezvous.
 *
 * <pre>
 *   frame      4  length of the rest, at most what this moment allows
 *              n  the rest
 *
 *   client     "TUTT"  version 2  world 4  nonce 32            the first frame, 42 bytes
 *   server     "TUTT"  version 2  world 4  nonce 32  proof 32  or, from another world, without the proof
 *   client     proof 32  process 4  processes 4
 *   then       number 8  kind 1  key  value  proof 32     the server's first one, of number 0, lets the client in or says why not
 * </pre>
 *
 * Everything after the first two frames is signed with keys made from the secret and both nonces, one for each direction, and
 * numbered, so that nothing can be changed, left out, repeated or sent back.
 */
final class Wire {
    static final int VERSION = 3;
    static final int NONCE_BYTES = 32;
    static final int PROOF_BYTES = 32;
    /** Before somebody has proved to know the secret, frames are this short. */
    static final int GREETING_BYTES = 128;
    /** The longest frame: a note and what is around it. */
    static final int MAX_BYTES =
            dev.tutti.spi.Rendezvous.MAX_VALUE_BYTES + dev.tutti.spi.Rendezvous.MAX_KEY_LENGTH + 128;

    /** In a GET: refuse it if the value is not there yet. */
    static final byte[] AT_ONCE = {1};

    private static final int MAGIC = 0x54555454;

    private Wire() {}

    /** What a frame after the greeting says. */
    enum Kind {
        PUT,
        GET,
        CHECK,
        LEAVE,
        DONE,
        VALUE,
        REFUSED,
        FAILED
    }

    /**
     * One frame after the greeting.
     *
     * @param number which request it is, or answers
     * @param kind what it says
     * @param key a key, or empty
     * @param value a value or a text
     */
    @SuppressWarnings("ArrayRecordComponent") // nobody compares or changes them
    record Message(long number, Kind kind, String key, byte[] value) {
        byte[] encode() {
            byte[] name = key.getBytes(StandardCharsets.US_ASCII);
            return ByteBuffer.allocate(11 + name.length + value.length)
                    .putLong(number)
                    .put((byte) kind.ordinal())
                    .putShort((short) name.length)
                    .put(name)
                    .put(value)
                    .array();
        }

        static Message decode(byte[] bytes) throws ProtocolException {
            if (bytes.length < 11) {
                throw new ProtocolException("a message of " + bytes.length + " bytes");
            }
            ByteBuffer in = ByteBuffer.wrap(bytes);
            long number = in.getLong();
            int kind = in.get();
            int keyBytes = in.getShort();
            if (kind < 0 || kind >= Kind.values().length || keyBytes < 0 || keyBytes > in.remaining()) {
                throw new ProtocolException("kind " + kind + " with a key of " + keyBytes + " bytes");
            }
            byte[] key = new byte[keyBytes];
            in.get(key);
            byte[] value = new byte[in.remaining()];
            in.get(value);
            return new Message(number, Kind.values()[kind], new String(key, StandardCharsets.US_ASCII), value);
        }

        String text() {
            return new String(value, StandardCharsets.UTF_8);
        }
    }

    /** The first frame of either side. */
    @SuppressWarnings("ArrayRecordComponent")
    record Greeting(int version, int world, byte[] nonce, byte[] proof) {
        byte[] encode() {
            return ByteBuffer.allocate(10 + nonce.length + proof.length)
                    .putInt(MAGIC)
                    .putShort((short) version)
                    .putInt(world)
                    .put(nonce)
                    .put(proof)
                    .array();
        }

        static Greeting decode(byte[] bytes) throws ProtocolException {
            if (bytes.length != 10 + NONCE_BYTES && bytes.length != 10 + NONCE_BYTES + PROOF_BYTES) {
                throw new ProtocolException("a greeting of " + bytes.length + " bytes");
            }
            ByteBuffer in = ByteBuffer.wrap(bytes);
            if (in.getInt() != MAGIC) {
                throw new ProtocolException("no greeting of Tutti's");
            }
            int version = in.getShort();
            int world = in.getInt();
            byte[] nonce = new byte[NONCE_BYTES];
            in.get(nonce);
            byte[] proof = new byte[in.remaining()];
            in.get(proof);
            return new Greeting(version, world, nonce, proof);
        }
    }

    static void write(OutputStream out, byte[] frame) throws IOException {
        // One write: a frame is one segment where it can be.
        byte[] all = ByteBuffer.allocate(4 + frame.length)
                .putInt(frame.length)
                .put(frame)
                .array();
        DataOutputStream data = new DataOutputStream(out);
        data.write(all);
        data.flush();
    }

    /** Reads a frame. Its length is checked before anything is allocated, and memory grows with what has really arrived. */
    static byte[] read(InputStream in, int maxBytes) throws IOException {
        int length = new DataInputStream(in).readInt();
        if (length < 1 || length > maxBytes) {
            throw new ProtocolException(
                    "a frame of " + Integer.toUnsignedString(length) + " bytes; at most " + maxBytes);
        }
        byte[] frame = in.readNBytes(length);
        if (frame.length < length) {
            throw new EOFException("a frame of " + length + " bytes ended after " + frame.length);
        }
        return frame;
    }
}
