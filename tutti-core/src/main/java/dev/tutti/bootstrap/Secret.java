package dev.tutti.bootstrap;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** 256 bits that all ranks of a job know and nobody else does. Never printed. */
public final class Secret {
    static final int BYTES = 32;
    private static final String ALGORITHM = "HmacSHA256";

    private final byte[] key;

    private Secret(byte[] key) {
        this.key = key;
    }

    static Secret random() {
        byte[] key = new byte[BYTES];
        new SecureRandom().nextBytes(key);
        return new Secret(key);
    }

    static Secret of(byte[] key) {
        return new Secret(key.clone());
    }

    /** From {@code TUTTI_SECRET} or the file that {@code TUTTI_SECRET_FILE} names. */
    static Optional<Secret> from(Map<String, String> environment) {
        String text = environment.get("TUTTI_SECRET");
        String file = environment.get("TUTTI_SECRET_FILE");
        if (text != null && file != null) {
            throw new IllegalArgumentException("TUTTI_SECRET and TUTTI_SECRET_FILE are both set; remove one");
        }
        if (text != null) {
            return Optional.of(parse(text, "TUTTI_SECRET"));
        }
        return Optional.ofNullable(file).map(Secret::read);
    }

    private static Secret read(String name) {
        Path file = Path.of(name);
        try {
            PosixFileAttributeView posix = Files.getFileAttributeView(file, PosixFileAttributeView.class);
            if (posix != null) {
                Set<PosixFilePermission> modes = posix.readAttributes().permissions();
                if (modes.contains(PosixFilePermission.OTHERS_WRITE)
                        || modes.contains(PosixFilePermission.GROUP_WRITE)) {
                    throw new IllegalArgumentException(
                            "TUTTI_SECRET_FILE=" + name + " can be written by others; chmod go-w it");
                }
            }
            return parse(Files.readString(file, StandardCharsets.US_ASCII), "TUTTI_SECRET_FILE=" + name);
        } catch (IOException unreadable) {
            throw new IllegalArgumentException(
                    "TUTTI_SECRET_FILE=" + name + " cannot be read: " + unreadable, unreadable);
        }
    }

    private static Secret parse(String text, String origin) {
        String digits = text.strip();
        if (digits.length() != 2 * BYTES || !digits.matches("[0-9a-fA-F]+")) {
            // The text itself is not repeated: it may be nearly right, and messages end up in logs.
            throw new IllegalArgumentException(
                    origin + " must be 64 hexadecimal digits, for example from: openssl rand -hex 32");
        }
        return new Secret(HexFormat.of().parseHex(digits));
    }

    /** The key of one direction of one connection. */
    Secret derive(byte[]... parts) {
        return new Secret(sign(parts));
    }

    byte[] sign(byte[]... parts) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(key, ALGORITHM));
            for (byte[] part : parts) {
                // With its length before it, so that no two different lists of parts give the same bytes.
                mac.update(new byte[] {
                    (byte) (part.length >>> 24),
                    (byte) (part.length >>> 16),
                    (byte) (part.length >>> 8),
                    (byte) part.length
                });
                mac.update(part);
            }
            return mac.doFinal();
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException("every JDK has " + ALGORITHM, impossible);
        }
    }

    String toHex() {
        return HexFormat.of().formatHex(key);
    }

    @Override
    public String toString() {
        return "(secret)";
    }
}
