package dev.tutti.exec;

import org.jspecify.annotations.Nullable;

/**
 * What one of two ranks does in a program that has a {@link Templates template}, whichever way they tell each other:
 *
 * <pre>
 *   input --&gt; slot                      sent, before the peer is told
 *   input --&gt; output                    the rank's own block, where a collective has one
 *   slot  --&gt; output, or                received, when the peer has told
 *   input op slot --&gt; output
 * </pre>
 *
 * A slot is scratch or a post. Operands are as in the records; bytes are 0 where there is nothing to move.
 */
final class Parts {
    private static final Copy NOTHING = new Copy(0, 0, 0);

    /** Bytes that go from one operand to another. */
    record Copy(long from, long to, int bytes) {}

    /** Where the record is that tells the peer; negative if none does. */
    int telling = -1;
    /** Where the record is that waits for it; negative if none does. */
    int waiting = -1;

    Copy sent = NOTHING;
    Copy own = NOTHING;
    Copy received = NOTHING;
    /** The input that is folded with the slot, unless the kernel is {@link Records#COPY}. */
    long folded;

    int kernel = Records.COPY;
    int scaled = -1;
    /** Which source of the fold is the slot. */
    int slotPosition;

    private Parts() {}

    /** The parts of a program; null if it has others as well. */
    static @Nullable Parts of(Program program) {
        long[] code = program.symbolic[0];
        Parts parts = new Parts();
        for (int pc = 0; pc < code.length; pc += Records.words(code[pc])) {
            if (!parts.take(code, pc)) {
                return null;
            }
        }
        return parts;
    }

    /** Whether a rank sends and receives, and not only one of the two. */
    boolean isTwoWay() {
        return telling >= 0 && waiting >= 0;
    }

    /** Whether the slot and the input are folded as they are: by one of the library's kernels, and neither of them multiplied. */
    boolean hasPair() {
        return kernel < Records.EACH_SCALED && scaled < 0;
    }

    /** Takes the next record, if it is one of the parts and they are in order. */
    private boolean take(long[] code, int pc) {
        long header = code[pc];
        return switch (Records.kind(header)) {
            case Records.POST -> tell(pc);
            case Records.SIGNAL -> Records.sources(header) == 1 && tell(pc);
            case Records.WAIT, Records.FETCH -> Records.sources(header) == 1 && await(pc);
            case Records.DATA -> waiting < 0 ? copy(code, pc) : receive(code, pc);
            default -> false;
        };
    }

    private boolean tell(int pc) {
        boolean inOrder = telling < 0 && waiting < 0;
        telling = pc;
        return inOrder;
    }

    private boolean await(int pc) {
        boolean inOrder = waiting < 0;
        waiting = pc;
        return inOrder;
    }

    /** A copy to a slot, to the output, or both. */
    private boolean copy(long[] code, int pc) {
        int first = pc + Records.OPERANDS;
        if (Records.sources(code[pc]) > 1 || Records.kernel(code[pc + 2]) != Records.COPY || isSlot(code[first])) {
            return false;
        }
        for (int i = first + 1; i < pc + Records.words(code[pc]); i++) {
            boolean toSlot = isSlot(code[i]);
            if (toSlot ? sent.bytes > 0 || telling >= 0 : own.bytes > 0) {
                return false;
            }
            Copy copy = new Copy(code[first], code[i], (int) code[pc + 1]);
            sent = toSlot ? copy : sent;
            own = toSlot ? own : copy;
        }
        return true;
    }

    /** A copy of a slot to the output, or a fold of the slot and the input. */
    private boolean receive(long[] code, int pc) {
        int first = pc + Records.OPERANDS;
        int slot = isSlot(code[first]) ? 0 : 1;
        int destination = pc + Records.words(code[pc]) - 1;
        int sources = destination - first;
        kernel = Records.kernel(code[pc + 2]);
        if (received.bytes > 0 || slot >= sources || sources > 2 || (sources == 1) != (kernel == Records.COPY)) {
            return false;
        }
        received = new Copy(code[first + slot], code[destination], (int) code[pc + 1]);
        folded = sources == 2 ? code[first + 1 - slot] : 0;
        scaled = Records.scaled(code[pc + 2]);
        slotPosition = slot;
        return !isSlot(code[destination]);
    }

    private static boolean isSlot(long operand) {
        return Records.base(operand) == Records.SCRATCH;
    }
}
