package dev.tutti.plan.verify;

import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The contents of one area as runs of bytes with one value each, cut where operations begin and end. */
final class Cells {
    private final TreeMap<Long, Cell> cells = new TreeMap<>();
    private final long bytes;

    Cells(long bytes, Value first) {
        this.bytes = bytes;
        if (bytes > 0) {
            cells.put(0L, new Cell(0, bytes, first));
        }
    }

    long bytes() {
        return bytes;
    }

    /** The cell that has this byte. */
    Cell at(long offset) {
        Map.Entry<Long, Cell> entry = cells.floorEntry(offset);
        if (entry == null) {
            throw new IndexOutOfBoundsException("byte " + offset + " of " + bytes);
        }
        return entry.getValue();
    }

    /** Makes a cell begin at this byte. */
    void split(long offset) {
        if (offset <= 0 || offset >= bytes) {
            return;
        }
        Cell cell = at(offset);
        if (cell.start != offset) {
            cells.put(offset, cell.splitAt(offset));
        }
    }

    /** The cells from one byte to another, where cells begin at both. */
    Collection<Cell> range(long from, long to) {
        return cells.subMap(from, to).values();
    }

    /** Puts one cell in place of all from its first byte to its last; cells begin at both ends. */
    void replace(Cell cell) {
        cells.subMap(cell.start, cell.end).clear();
        cells.put(cell.start, cell);
    }

    /** A run of bytes with one value, who wrote it, and who has read it since. */
    static final class Cell {
        static final int NOBODY = -1;
        /** No packet. */
        static final int PLAIN = -1;

        final long start;
        long end;
        Value value;
        /** Launch whose flag the packets carry. */
        int flag = PLAIN;

        int writer = NOBODY;
        int writerClock;

        @Nullable
        Step writerStep;
        /** What is known to have happened by whoever sees the flag: of packets only. */
        int @Nullable [] announced;

        int readers;
        private int[] reader = {};
        private int[] readerClock = {};
        private @Nullable Step[] readerStep = {};

        Cell(long start, long end, Value value) {
            this.start = start;
            this.end = end;
            this.value = value;
        }

        private Cell splitAt(long offset) {
            Cell rest = new Cell(offset, end, value.shifted(offset - start));
            rest.flag = flag;
            rest.writer = writer;
            rest.writerClock = writerClock;
            rest.writerStep = writerStep;
            rest.announced = announced;
            rest.readers = readers;
            rest.reader = reader.clone();
            rest.readerClock = readerClock.clone();
            rest.readerStep = readerStep.clone();
            end = offset;
            return rest;
        }

        void addReader(int thread, int clock, @Nullable Step step) {
            int slot = 0;
            while (slot < readers && reader[slot] != thread) {
                slot++;
            }
            if (slot == reader.length) {
                reader = Arrays.copyOf(reader, 2 * slot + 2);
                readerClock = Arrays.copyOf(readerClock, 2 * slot + 2);
                readerStep = Arrays.copyOf(readerStep, 2 * slot + 2);
            }
            readers = Math.max(readers, slot + 1);
            reader[slot] = thread;
            readerClock[slot] = clock;
            readerStep[slot] = step;
        }

        int reader(int slot) {
            return reader[slot];
        }

        int readerClock(int slot) {
            return readerClock[slot];
        }

        @Nullable
        Step readerStep(int slot) {
            return readerStep[slot];
        }
    }
}
