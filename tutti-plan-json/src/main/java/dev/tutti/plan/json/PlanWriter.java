package dev.tutti.plan.json;

import dev.tutti.plan.ChannelType;
import dev.tutti.plan.Chunk;
import dev.tutti.plan.Code;
import dev.tutti.plan.Op;
import dev.tutti.plan.Plan;
import dev.tutti.plan.PlanHeader;
import dev.tutti.plan.Protocol;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.Space;
import java.util.List;
import java.util.Set;
import tools.jackson.core.JsonGenerator;

/** Writes a plan as JSON. What the format has no words for goes into objects called {@code tutti}, which other loaders skip. */
final class PlanWriter {
    private static final Set<String> KNOWN =
            Set.of("allreduce", "allgather", "reducescatter", "alltoall", "sendrecv", "test", "custom");

    private final Plan plan;
    private final boolean blocks;
    private final JsonGenerator json;

    PlanWriter(Plan plan, JsonGenerator json) {
        this.plan = plan;
        this.blocks = plan.header().style() == PlanHeader.Style.BLOCKS;
        this.json = json;
    }

    void write() {
        PlanHeader header = plan.header();
        boolean known = KNOWN.contains(header.purpose());
        json.writeStartObject();
        json.writeStringProperty("name", plan.name());
        json.writeStringProperty("collective", known ? header.purpose() : PlanHeader.CUSTOM);
        json.writeStringProperty("protocol", plan.protocol() == Protocol.PACKET ? "LL" : "Simple");
        json.writeBooleanProperty("inplace", header.inPlace());
        json.writeBooleanProperty("reuse_resources", header.reuseResources());
        json.writeArrayPropertyStart("gpus");
        for (RankPlan part : plan.all()) {
            rank(part);
        }
        json.writeEndArray();
        json.writeNumberProperty("num_threads_per_block", header.threadsPerBlock());
        json.writeBooleanProperty("use_double_scratch_buffer", header.doubleScratch());
        json.writeNumberProperty("buffer_alignment", header.alignmentBytes());
        json.writeName("min_message_size");
        json.writeNumber(Long.toUnsignedString(header.minBytes()));
        json.writeName("max_message_size");
        json.writeNumber(Long.toUnsignedString(header.maxBytes()));
        if (blocks || !known || plan.root() != 0) {
            extra(header);
        }
        json.writeEndObject();
    }

    private void extra(PlanHeader header) {
        json.writeObjectPropertyStart("tutti");
        json.writeStringProperty("style", blocks ? "blocks" : "positions");
        json.writeStringProperty("collective", header.purpose());
        json.writeNumberProperty("root", plan.root());
        json.writeStringProperty("reach", plan.reach().name().toLowerCase(java.util.Locale.ROOT));
        json.writeEndObject();
    }

    private void rank(RankPlan part) {
        json.writeStartObject();
        json.writeNumberProperty("id", part.rank());
        json.writeNumberProperty("input_chunks", part.inputChunks());
        json.writeNumberProperty("output_chunks", part.outputChunks());
        json.writeNumberProperty("scratch_chunks", Math.max(part.scratchChunks(), part.packetChunks()));
        WriterTables tables = new WriterTables(part);
        json.writeArrayPropertyStart("threadblocks");
        for (int lane = 0; lane < part.lanes().size(); lane++) {
            WriterTables.Lane table = tables.lane();
            json.writeStartObject();
            json.writeNumberProperty("id", lane);
            json.writeArrayPropertyStart("ops");
            part.lanes().get(lane).forEach(op -> op(op, part, table));
            json.writeEndArray();
            table.write(json);
            json.writeEndObject();
        }
        json.writeEndArray();
        tables.writeChannels(json);
        tables.writeRemoteBuffers(json);
        json.writeArrayPropertyStart("semaphores");
        for (int initial : part.semaphores()) {
            json.writeStartObject();
            json.writeNumberProperty("init_value", initial);
            json.writeEndObject();
        }
        json.writeEndArray();
        if (blocks) {
            json.writeObjectPropertyStart("tutti");
            json.writeNumberProperty("chunks_per_block", part.chunksPerBlock());
            json.writeNumberProperty("scratch_chunks", part.scratchChunks());
            json.writeNumberProperty("packet_chunks", part.packetChunks());
            json.writeEndObject();
        }
        json.writeEndObject();
    }

    private void op(Op op, RankPlan part, WriterTables.Lane table) {
        Code code = op.code();
        json.writeStartObject();
        json.writeStringProperty("name", code.symbol());
        ChannelType via = part.via(op);
        if (code == Code.GROUP_REDUCE) {
            groupReduce(op, part);
        } else {
            boolean fansOut = fansOut(op);
            if (!op.sources().isEmpty()) {
                List<Chunk> sources = fansOut
                        ? java.util.Collections.nCopies(
                                op.destinations().size(), op.sources().getFirst())
                        : op.sources();
                refs("src_buff", op, part, sources, via, table, isGroupSide(op, true));
                refs("dst_buff", op, part, op.destinations(), via, table, isGroupSide(op, false));
            }
        }
        if (via != null) {
            json.writeStringProperty("channel_type", via.toString());
        }
        if (!op.channels().isEmpty()) {
            numbers("channel_ids", table.channels(op));
        }
        if (code.folds() && (op.fold() != null || blocks)) {
            json.writeStringProperty("reduce_op", op.fold() == null ? "sum" : operator(op));
        }
        if (op.slice() != null) {
            json.writeObjectPropertyStart("tbg_info");
            json.writeNumberProperty("tb_id", op.slice().index());
            json.writeNumberProperty("tbg_size", op.slice().of());
            json.writeEndObject();
        }
        if (op.barrier() != null) {
            json.writeNumberProperty("barrier_id", op.barrier().id());
            json.writeNumberProperty("num_threadblocks", op.barrier().lanes());
        }
        if (!op.semaphores().isEmpty()) {
            numbers("semaphore_ids", op.semaphores());
        }
        if (op.loop() != null) {
            json.writeObjectPropertyStart("iter_context");
            json.writeNumberProperty("unit_size", op.loop().unitBytes());
            json.writeNumberProperty("num_chunks", op.loop().chunks());
            json.writeEndObject();
            json.writeArrayPropertyStart("ops");
            op.loop().body().forEach(inner -> op(inner, part, table));
            json.writeEndArray();
        }
        extra(op);
        json.writeEndObject();
    }

    /** What only Tutti's own plans say: where the plain source folds, what scratch is like, which value is final. */
    private void extra(Op op) {
        boolean like = op.sources().stream().anyMatch(chunk -> chunk.like() != null)
                || op.destinations().stream().anyMatch(chunk -> chunk.like() != null);
        int usual = op.code().folds() && op.code().shape() == Code.Shape.PACKET
                ? Math.max(0, op.sources().size() - 1)
                : 0;
        boolean callOperator = op.code().folds() && op.fold() == null && blocks;
        boolean fansOut = fansOut(op);
        if (!like && op.plainPosition() == usual && !op.finishes() && !callOperator && !fansOut) {
            return;
        }
        json.writeObjectPropertyStart("tutti");
        if (op.plainPosition() != usual) {
            json.writeNumberProperty("plain_position", op.plainPosition());
        }
        if (op.finishes()) {
            json.writeBooleanProperty("finishes", true);
        }
        if (callOperator) {
            json.writeBooleanProperty("call_operator", true);
        }
        if (fansOut) {
            json.writeBooleanProperty("fans_out", true);
        }
        if (like) {
            json.writeArrayPropertyStart("like");
            op.sources().forEach(this::like);
            op.destinations().forEach(this::like);
            json.writeEndArray();
        }
        json.writeEndObject();
    }

    private void like(Chunk chunk) {
        if (chunk.like() == null) {
            json.writeNull();
        } else {
            local(chunk.like());
        }
    }

    /** One source to several destinations: the format has pairs, so the source is written once for each. */
    private static boolean fansOut(Op op) {
        return op.sources().size() == 1
                && op.destinations().size() > 1
                && (op.code().isPairwise() || op.code() == Code.COPY);
    }

    private static boolean isGroupSide(Op op, boolean sources) {
        return switch (op.code()) {
            case GROUP_REDUCE_STORE -> true;
            case GROUP_STORE, GROUP_STORE_PACKETS -> !sources;
            default -> false;
        };
    }

    private void refs(
            String name,
            Op op,
            RankPlan part,
            List<Chunk> chunks,
            @org.jspecify.annotations.Nullable ChannelType via,
            WriterTables.Lane table,
            boolean group) {
        json.writeArrayPropertyStart(name);
        if (group) {
            Chunk any = chunks.getFirst();
            json.writeStartObject();
            json.writeNumberProperty("switch_channel_id", table.channels(op).getFirst());
            run(any);
            json.writeEndObject();
        } else {
            for (Chunk chunk : chunks) {
                if (chunk.rank() == part.rank()) {
                    local(chunk);
                } else {
                    json.writeStartObject();
                    json.writeNumberProperty("buffer_id", table.buffer(java.util.Objects.requireNonNull(via), chunk));
                    run(chunk);
                    json.writeEndObject();
                }
            }
        }
        json.writeEndArray();
    }

    private void local(Chunk chunk) {
        json.writeStartObject();
        json.writeStringProperty("type", chunk.space().symbol());
        run(chunk);
        json.writeEndObject();
    }

    private void run(Chunk chunk) {
        json.writeNumberProperty("index", chunk.index());
        json.writeNumberProperty("size", chunk.count());
    }

    private void groupReduce(Op op, RankPlan part) {
        Chunk any = op.sources().getFirst();
        Space space = part.groups().get(op.channels().getFirst()).space();
        json.writeStringProperty("buffer_type", space.symbol());
        json.writeNumberProperty("buffer_offset", any.index());
        json.writeNumberProperty("size", any.count());
        json.writeName("dst_chunk");
        local(op.destinations().getFirst());
    }

    private static String operator(Op op) {
        dev.tutti.ReduceOp fold = java.util.Objects.requireNonNull(op.fold());
        return switch (fold.kind()) {
            case USER, PRE_MUL_SUM ->
                throw new IllegalArgumentException("a plan file cannot hold the operator of " + op);
            default -> fold.toString();
        };
    }

    private void numbers(String name, List<Integer> numbers) {
        json.writeArrayPropertyStart(name);
        numbers.forEach(json::writeNumber);
        json.writeEndArray();
    }
}
