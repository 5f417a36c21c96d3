package dev.tutti.matrix;

import dev.tutti.DataType;
import dev.tutti.algorithm.Algorithm;
import dev.tutti.algorithm.Algorithms;
import dev.tutti.plan.RankPlan;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * One case of the matrix. Prints itself so that it can be run alone: {@code -Dtutti.matrix.cell=...}.
 *
 * @param algorithm forced algorithm, or {@code auto}
 * @param protocol forced protocol, or {@code auto}
 * @param shift elements (of arrays and allocated memory) or bytes (of segments) by which the input is misaligned; the output is
 *     misaligned differently
 * @param inPlace whether input and output are the same memory; {@code out} then says nothing
 * @param root of collectives that have one, else 0
 * @param variant chooses among what is not worth an axis: counts of ragged operations, overloads, ways to wait
 */
record Cell(
        Operation operation,
        String algorithm,
        String protocol,
        DataType type,
        Operator operator,
        int ranks,
        Extent extent,
        Form form,
        Placement in,
        Placement out,
        boolean inPlace,
        int shift,
        int root,
        int lanes,
        Setting setting,
        int variant) {
    static final String AUTO = "auto";

    /** Memory of all ranks together that a cell may take. */
    private static final long MOST_BYTES = 12 << 20;

    private static final long CHUNK_BYTES = 128 << 10;

    /** Plans take long to make, and there are thousands of cells. */
    private static final ConcurrentHashMap<ChunksKey, Chunks> CHUNKS = new ConcurrentHashMap<>();

    private record ChunksKey(Algorithm algorithm, int ranks, int lanes) {}

    /** How many chunks a rank's part of a plan has. */
    private record Chunks(int scratch, int packets, int perBlock) {
        static Chunks of(ChunksKey key) {
            RankPlan part = key.algorithm.plan(key.ranks, 0, key.lanes).rank(0);
            return new Chunks(part.scratchChunks(), part.packetChunks(), part.chunksPerBlock());
        }
    }

    /** How the executor cuts long messages; the window is all chunks of a block. */
    private record Sizes(long chunkBytes, int chunksPerBlock) {}

    /** What cells must share to run in one world. */
    record WorldKey(int ranks, String algorithm, String protocol, int lanes, Setting setting, boolean virtual) {}

    WorldKey world() {
        return new WorldKey(ranks, algorithm, protocol, lanes, setting, form == Form.VIRTUAL);
    }

    /** The algorithm that chunk and window are worked out for. */
    Algorithm planned() {
        return Algorithms.of(operation.collective).stream()
                .filter(each -> algorithm.equals(AUTO) || each.name().equals(algorithm))
                .filter(each ->
                        protocol.equals(AUTO) || each.protocol().toString().equals(protocol))
                .findFirst()
                .orElseThrow();
    }

    private Sizes sizes() {
        Chunks chunks = CHUNKS.computeIfAbsent(new ChunksKey(planned(), ranks, lanes), Chunks::of);
        long chunk = CHUNK_BYTES;
        if (chunks.scratch > 0) {
            chunk = Math.min(chunk, setting.scratchBytes / chunks.scratch / 128 * 128);
        }
        if (chunks.packets > 0) {
            chunk = Math.min(chunk, (setting.packetBytes / chunks.packets / 64 * 64 - 8) / 2 / 64 * 64);
        }
        return new Sizes(chunk, chunks.perBlock);
    }

    /** Elements of a block; of the longest where they differ. */
    long count() {
        if (!extent.needsWindow()) {
            return extent.count(type, ranks, 0, 0);
        }
        Sizes sizes = sizes();
        return extent.count(type, ranks, sizes.chunkBytes, sizes.chunkBytes * sizes.chunksPerBlock);
    }

    /** Says why there is no such case, or null if there is. */
    String illegal() {
        Algorithm plan = planned();
        boolean reducing = operation.collective.isReducing();
        if (reducing == (operator == Operator.NONE) || !operator.accepts(type)) {
            return "operator";
        }
        if (operation.collective.name().endsWith("SCAN") && operator == Operator.AVG) {
            return "avg of a scan";
        }
        if (operator.isUser() && protocol.equals("packet")) {
            return "user function in packets";
        }
        if (operator == Operator.USER_IN_ORDER && !algorithm.equals(AUTO) && !plan.foldsInRankOrder()) {
            return "order";
        }
        if (operation.isRagged() && !algorithm.equals(AUTO) && !plan.ragged()) {
            return "ragged";
        }
        if (inPlace ? !operation.hasInPlace() : !operation.hasOutOfPlace()) {
            return "in place";
        }
        boolean blocks = form == Form.BLOCKING || form == Form.VIRTUAL;
        if (!blocks && (in == Placement.CONFINED || ((!inPlace || operation.isList()) && out == Placement.CONFINED))) {
            return "confined in the background";
        }
        if (plan.direct() && !algorithm.equals(AUTO) && !isRegistered()) {
            return "direct";
        }
        if (operation.collective.isRooted() && !inPlace && isAllocated(in) != isAllocated(out)) {
            return "registered on some ranks only";
        }
        if (root != 0 && (!operation.collective.isRooted() || root >= ranks)) {
            return "root";
        }
        if (operation == Operation.BARRIER && (extent != Extent.ZERO || type != DataType.INT8)) {
            return "barrier";
        }
        if (sizes().chunkBytes < 64) {
            return "too little scratch";
        }
        long blockCount = Math.max(operation.collective.inputBlocks(ranks), operation.collective.outputBlocks(ranks));
        return ranks * blockCount * count() * type.bytes() > MOST_BYTES ? "too large" : null;
    }

    /** Whether every rank passes registered memory only. */
    private boolean isRegistered() {
        return isAllocated(in) && (inPlace || isAllocated(out)) && !operation.isList();
    }

    private static boolean isAllocated(Placement placement) {
        return placement == Placement.ALLOCATED;
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "op=%s,algo=%s,proto=%s,type=%s,by=%s,n=%d,extent=%s,form=%s,in=%s,out=%s,inplace=%b,shift=%d,root=%d,lanes=%d,"
                        + "setting=%s,variant=%d",
                operation,
                algorithm,
                protocol,
                type.name(),
                operator,
                ranks,
                extent,
                form,
                in,
                out,
                inPlace,
                shift,
                root,
                lanes,
                setting,
                variant);
    }

    static Cell parse(String text) {
        Map<String, String> values = Arrays.stream(text.strip().split(","))
                .map(pair -> pair.split("=", 2))
                .collect(Collectors.toMap(pair -> pair[0], pair -> pair[1]));
        return new Cell(
                Operation.valueOf(values.get("op")),
                values.get("algo"),
                values.get("proto"),
                DataType.valueOf(values.get("type")),
                Operator.valueOf(values.get("by")),
                Integer.parseInt(values.get("n")),
                Extent.valueOf(values.get("extent")),
                Form.valueOf(values.get("form")),
                Placement.valueOf(values.get("in")),
                Placement.valueOf(values.get("out")),
                Boolean.parseBoolean(values.get("inplace")),
                Integer.parseInt(values.get("shift")),
                Integer.parseInt(values.get("root")),
                Integer.parseInt(values.get("lanes")),
                Setting.valueOf(values.get("setting")),
                Integer.parseInt(values.get("variant")));
    }
}
