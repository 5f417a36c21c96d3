package dev.tutti.plan.json;

import dev.tutti.plan.ChannelType;
import dev.tutti.plan.Code;
import dev.tutti.plan.Space;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * What stands where in the JSON of a plan. Unknown fields are skipped, known ones must have the right type and range.
 */
final class PlanReader extends JsonValues {
    /** More ranks than a plan can name. */
    static final int MAX_RANKS = 1 << 16;

    PlanReader(JsonParser parser) {
        super(parser);
    }

    Raw.File read() {
        Raw.File file = new Raw.File();
        parser.nextToken();
        object(name -> {
            switch (name) {
                case "name" -> file.name = text();
                case "collective" -> file.collective = text();
                case "protocol" -> file.protocol = text();
                case "inplace" -> file.inPlace = flag();
                case "reuse_resources" -> file.reuseResources = flag();
                case "use_double_scratch_buffer" -> file.doubleScratch = flag();
                case "num_threads_per_block" -> file.threadsPerBlock = number(1, Integer.MAX_VALUE);
                case "buffer_alignment" -> file.alignment = number(1, 1 << 30);
                case "min_message_size" -> file.minBytes = unsigned();
                case "max_message_size" -> file.maxBytes = unsigned();
                case "gpus" -> file.ranks = list(this::rank, MAX_RANKS);
                case "tutti" -> file.extra = extra();
                default -> parser.skipChildren();
            }
        });
        if (parser.nextToken() != null) {
            throw problem("something follows the plan");
        }
        return file;
    }

    private Raw.Extra extra() {
        Raw.Extra extra = new Raw.Extra();
        object(name -> {
            switch (name) {
                case "style" -> extra.style = text();
                case "collective" -> extra.collective = text();
                case "root" -> extra.root = number(0, MAX_RANKS);
                case "reach" -> extra.reach = text();
                default -> parser.skipChildren();
            }
        });
        return extra;
    }

    private Raw.RankExtra rankExtra() {
        Raw.RankExtra extra = new Raw.RankExtra();
        object(name -> {
            switch (name) {
                case "chunks_per_block" -> extra.chunksPerBlock = number(1, Integer.MAX_VALUE);
                case "scratch_chunks" -> extra.scratchChunks = count();
                case "packet_chunks" -> extra.packetChunks = count();
                default -> parser.skipChildren();
            }
        });
        return extra;
    }

    private Raw.Rank rank() {
        Raw.Rank rank = new Raw.Rank();
        object(name -> {
            switch (name) {
                case "id" -> rank.id = number(0, MAX_RANKS);
                case "input_chunks" -> rank.inputChunks = count();
                case "output_chunks" -> rank.outputChunks = count();
                case "scratch_chunks" -> rank.scratchChunks = count();
                case "threadblocks" -> rank.lanes = list(this::lane, Integer.MAX_VALUE);
                case "channels" -> rank.channels = list(this::channel, Integer.MAX_VALUE);
                case "remote_buffers" -> rank.remoteBuffers = list(this::remoteBuffer, Integer.MAX_VALUE);
                case "tutti" -> rank.extra = rankExtra();
                case "semaphores" -> rank.semaphores = list(this::semaphore, Integer.MAX_VALUE);
                default -> parser.skipChildren();
            }
        });
        return rank;
    }

    private Integer semaphore() {
        int[] initial = {Raw.ABSENT};
        object(name -> {
            if (name.equals("init_value")) {
                initial[0] = count();
            } else {
                parser.skipChildren();
            }
        });
        if (initial[0] == Raw.ABSENT) {
            throw problem("a semaphore needs init_value");
        }
        return initial[0];
    }

    private Raw.Channel channel() {
        Raw.Channel channel = new Raw.Channel();
        object(name -> {
            switch (name) {
                case "channel_type" -> channel.type = channelType();
                case "connected_to" -> channel.connectedTo = numbers(0, MAX_RANKS);
                case "buffer_type", "buff" -> channel.space = space();
                case "rank_groups" -> channel.groups = list(this::rankGroup, Integer.MAX_VALUE);
                default -> parser.skipChildren();
            }
        });
        if (channel.type == null) {
            throw problem("a channel needs channel_type");
        }
        return channel;
    }

    private int[] rankGroup() {
        int[][] ranks = {Raw.NONE};
        object(name -> {
            if (name.equals("ranks")) {
                ranks[0] = numbers(0, MAX_RANKS);
            } else {
                parser.skipChildren();
            }
        });
        return ranks[0];
    }

    private Raw.RemoteBuffer remoteBuffer() {
        Raw.RemoteBuffer buffer = new Raw.RemoteBuffer();
        object(name -> {
            switch (name) {
                case "rank" -> buffer.rank = number(0, MAX_RANKS);
                case "type" -> buffer.space = space();
                case "access_channel_types" -> buffer.access = list(this::channelType, Integer.MAX_VALUE);
                default -> parser.skipChildren();
            }
        });
        if (buffer.rank == Raw.ABSENT || buffer.space == null) {
            throw problem("a remote buffer needs rank and type");
        }
        return buffer;
    }

    private Raw.Lane lane() {
        Raw.Lane lane = new Raw.Lane();
        object(name -> {
            switch (name) {
                case "id" -> lane.id = count();
                case "ops" -> lane.ops = list(this::op, Integer.MAX_VALUE);
                case "channels" -> lane.channels = list(this::table, Integer.MAX_VALUE);
                case "remote_buffer_refs" -> lane.buffers = list(this::table, Integer.MAX_VALUE);
                default -> parser.skipChildren();
            }
        });
        return lane;
    }

    private Raw.Table table() {
        Raw.Table table = new Raw.Table();
        object(name -> {
            switch (name) {
                case "channel_type", "access_channel_type" -> table.type = channelType();
                case "channel_ids", "remote_buffer_ids" -> table.ids = numbers(0, Integer.MAX_VALUE);
                default -> parser.skipChildren();
            }
        });
        if (table.type == null) {
            throw problem("needs a channel type");
        }
        return table;
    }

    private Raw.Op op() {
        Raw.Op op = new Raw.Op();
        object(name -> {
            switch (name) {
                case "name" -> op.code = code();
                case "channel_type" -> op.channelType = channelType();
                case "channel_ids" -> op.channelIds = numbers(0, Integer.MAX_VALUE);
                case "src_buff" -> op.sources = list(this::ref, Integer.MAX_VALUE);
                case "dst_buff" -> op.destinations = list(this::ref, Integer.MAX_VALUE);
                case "tbg_info" -> slice(op);
                case "reduce_op" -> op.reduceOp = text();
                case "barrier_id" -> op.barrierId = count();
                case "num_threadblocks" -> op.barrierLanes = number(1, Integer.MAX_VALUE);
                case "semaphore_ids" -> op.semaphores = numbers(0, Integer.MAX_VALUE);
                case "iter_context" -> loop(op);
                case "ops" -> op.body = list(this::op, Integer.MAX_VALUE);
                case "buffer_type" -> op.bufferSpace = space();
                case "buffer_offset" -> op.bufferOffset = count();
                case "size" -> op.size = number(1, Integer.MAX_VALUE);
                case "dst_chunk" -> op.chunk = ref();
                case "tutti" -> op.extra = opExtra();
                default -> parser.skipChildren();
            }
        });
        if (op.code == null) {
            throw problem("an operation needs a name");
        }
        return op;
    }

    private void slice(Raw.Op op) {
        object(name -> {
            switch (name) {
                case "tb_id" -> op.sliceIndex = count();
                case "tbg_size" -> op.sliceOf = number(1, Integer.MAX_VALUE);
                default -> parser.skipChildren();
            }
        });
        if (op.sliceIndex == Raw.ABSENT || op.sliceIndex >= op.sliceOf) {
            throw problem("tbg_info needs tb_id below tbg_size");
        }
    }

    private void loop(Raw.Op op) {
        object(name -> {
            switch (name) {
                case "unit_size" -> op.unitBytes = number(1, Integer.MAX_VALUE);
                case "num_chunks" -> op.loopChunks = count();
                default -> parser.skipChildren();
            }
        });
    }

    private Raw.OpExtra opExtra() {
        Raw.OpExtra extra = new Raw.OpExtra();
        object(name -> {
            switch (name) {
                case "plain_position" -> extra.plainPosition = count();
                case "finishes" -> extra.finishes = flag();
                case "call_operator" -> extra.callOperator = flag();
                case "fans_out" -> extra.fansOut = flag();
                case "like" -> extra.like = list(this::refOrNull, Integer.MAX_VALUE);
                default -> parser.skipChildren();
            }
        });
        return extra;
    }

    private Raw.@Nullable Ref refOrNull() {
        return parser.currentToken() == JsonToken.VALUE_NULL ? null : ref();
    }

    private Raw.Ref ref() {
        Raw.Ref ref = new Raw.Ref();
        object(name -> {
            switch (name) {
                case "type" -> ref.space = space();
                case "buffer_id" -> ref.buffer = count();
                case "switch_channel_id" -> ref.group = count();
                case "index" -> ref.index = count();
                case "size" -> ref.size = number(1, Integer.MAX_VALUE);
                default -> parser.skipChildren();
            }
        });
        return ref;
    }

    private Code code() {
        String symbol = text();
        Code code = Code.of(symbol);
        if (code == null) {
            throw problem("there is no operation '" + symbol + "'");
        }
        return code;
    }

    private ChannelType channelType() {
        String name = text();
        return switch (name) {
            case "memory" -> ChannelType.MEMORY;
            case "port" -> ChannelType.PORT;
            case "switch" -> ChannelType.SWITCH;
            default -> throw problem("a channel is memory, port or switch, not '" + name + "'");
        };
    }

    private Space space() {
        String name = text();
        return switch (name) {
            case "i" -> Space.INPUT;
            case "o" -> Space.OUTPUT;
            case "s" -> Space.SCRATCH;
            default -> throw problem("a buffer is i, o or s, not '" + name + "'");
        };
    }
}
