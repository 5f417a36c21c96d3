package dev.tutti;

import dev.tutti.exec.Call;
import dev.tutti.memory.Operand;
import dev.tutti.spi.Transport;
import org.jspecify.annotations.Nullable;

/** What requests of equal and of uneven shares have in common: whose they are, and what is checked for both. */
abstract sealed class RequestForms permits Requests, RaggedRequests {
    final int rank;
    final int size;
    final Arguments arguments;
    private final long timeoutNanos;
    private final Transport transport;
    private final int worldRank;

    RequestForms(World world, Member member, long timeoutNanos) {
        this.rank = member.rank();
        this.size = member.size();
        this.arguments = member.arguments();
        this.timeoutNanos = timeoutNanos;
        this.transport = world.transport();
        this.worldRank = member.worldRank(rank);
    }

    void describeBoth(Call call, DataType type, @Nullable Object in, Object out, boolean background) {
        arguments.describe(call.output(), out, type, "output", true, background);
        if (in == out) {
            call.input().set(call.output());
        } else if (in != null) {
            arguments.describe(call.input(), in, type, "input", false, background);
        }
    }

    void hold(Call call, @Nullable Object in, @Nullable Object out) {
        call.timeoutNanos(timeoutNanos);
        call.hold(in, out);
        call.registered((in != null || out != null) && isRegistered(in) && isRegistered(out));
    }

    private boolean isRegistered(@Nullable Object memory) {
        return memory == null || (memory instanceof Buffer buffer && buffer.isRegistered(transport, worldRank));
    }

    void requireApartOrSame(Call call) {
        Operand in = call.input();
        Operand out = call.output();
        if (!in.isSame(out) && in.overlaps(0, in.bytes(), out, 0, out.bytes())) {
            throw arguments.wrong("input and output overlap: they must be apart, or begin at the same place");
        }
    }

    void requireApartOrAt(Operand whole, long at, Operand part) {
        if (whole.overlaps(0, whole.bytes(), part, 0, part.bytes()) && !whole.overlaps(at, 1, part, 0, 1)) {
            throw arguments.wrong(
                    "input and output overlap: they must be apart, or one must be block " + rank + " of the other");
        }
    }

    void requireCount(long actual, long expected, String what, String why) {
        if (actual != expected) {
            throw arguments.wrong(what + " has " + actual + " elements instead of " + expected + ", " + why);
        }
    }

    <T> T required(@Nullable T value, String what) {
        if (value == null) {
            throw arguments.wrong(what);
        }
        return value;
    }
}
