package dev.tutti.exec;

import org.jspecify.annotations.Nullable;

/**
 * What two ranks move when both send, as one of them finds it in its records, whichever way they tell each other:
 *
 * <pre>
 *   input --&gt; slot                      (before the peer is told)
 *   input --&gt; output                    (the rank's own block, where a collective has one)
 *   slot  --&gt; output, or input op slot --&gt; output
 * </pre>
 *
 * Operands are as in the records; bytes are 0 where there is nothing to move.
 *
 * @param telling where the record is that tells the peer
 * @param waiting where the record is that waits for it
 * @param folded the input that is folded with the slot
 * @param slotPosition which source of the fold is the slot
 */
record Swap(
        int telling,
        int waiting,
        Copy sent,
        Copy own,
        Copy received,
        long folded,
        int kernel,
        int scaled,
        int slotPosition) {

    private static final Copy NOTHING = new Copy(0, 0, 0);

    /** Bytes that go from one operand to another. */
    record Copy(long from, long to, int bytes) {}

    /** The swap that records are in which these kinds tell and wait; null if they are something else. */
    static @Nullable Swap of(long[] code, int tells, int waits) {
        int telling = only(code, tells);
        int waiting = only(code, waits);
        if (telling < 0 || waiting < telling) {
            return null;
        }
        Copy sent = NOTHING;
        Copy own = NOTHING;
        for (int pc = 0; pc < waiting; pc += Records.words(code[pc])) {
            if (pc == telling) {
                continue;
            }
            int next = pc + Records.words(code[pc]);
            if (Records.kind(code[pc]) != Records.DATA
                    || Records.sources(code[pc]) != 1
                    || Records.kernel(code[pc + 2]) != Records.COPY) {
                return null;
            }
            for (int i = pc + Records.OPERANDS + 1; i < next; i++) {
                Copy copy = new Copy(code[pc + Records.OPERANDS], code[i], (int) code[pc + 1]);
                boolean toSlot = Records.base(code[i]) == Records.SCRATCH;
                if (toSlot ? sent.bytes > 0 || pc > telling : own.bytes > 0) {
                    return null;
                }
                sent = toSlot ? copy : sent;
                own = toSlot ? own : copy;
            }
        }
        int last = waiting + Records.words(code[waiting]);
        return last == code.length
                ? new Swap(telling, waiting, sent, own, NOTHING, 0, Records.COPY, -1, 0)
                : receiving(code, telling, waiting, last, sent, own);
    }

    private static @Nullable Swap receiving(long[] code, int telling, int waiting, int pc, Copy sent, Copy own) {
        int sources = Records.sources(code[pc]);
        int first = pc + Records.OPERANDS;
        int kernel = Records.kernel(code[pc + 2]);
        if (pc + Records.words(code[pc]) != code.length
                || Records.kind(code[pc]) != Records.DATA
                || kernel == Records.USER
                || Records.destinations(code[pc]) != 1
                || sources > 2
                || (sources == 1) != (kernel == Records.COPY)) {
            return null;
        }
        int slot = Records.base(code[first]) == Records.SCRATCH ? 0 : 1;
        if (slot >= sources) {
            return null;
        }
        Copy received = new Copy(code[first + slot], code[first + sources], (int) code[pc + 1]);
        long folded = sources == 2 ? code[first + 1 - slot] : 0;
        return new Swap(telling, waiting, sent, own, received, folded, kernel, Records.scaled(code[pc + 2]), slot);
    }

    /** Where the only record of a kind is, if it tells one peer, or waits for one; else negative. */
    private static int only(long[] code, int kind) {
        int found = -1;
        for (int pc = 0; pc < code.length; pc += Records.words(code[pc])) {
            int each = Records.kind(code[pc]);
            if (each == kind && (found >= 0 || (Records.sources(code[pc]) != 1 && kind != Records.POST))) {
                return -1;
            }
            found = each == kind ? pc : found;
        }
        return found;
    }
}
