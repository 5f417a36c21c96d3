package dev.tutti.plan.json;

import dev.tutti.plan.ChannelType;
import dev.tutti.plan.Code;
import dev.tutti.plan.Space;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.TokenStreamContext;

/**
 * Reads the JSON of a plan token by token. Unknown fields are skipped, known ones must have the right type and range. Memory is
 * bounded by the length of the file.
 */
final class PlanReader {
    /** More ranks than a plan can name. */
    static final int MAX_RANKS = 1 << 16;

    private static final BigInteger MAX_UNSIGNED = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);

    private final JsonParser parser;

    PlanReader(JsonParser parser) {
        this.parser = parser;
    }

    /** What to do with the value of a field; the parser stands on its first token. */
    private interface Field {
        /** Returns false for a field that is not known. */
        boolean read(String name);
    }

    Raw.File read() {
        Raw.File file = new Raw.File();
        parser.nextToken();
        object(name -> switch (name) {
            case "name" -> set(file.name = text());
            case "collective" -> set(file.collective = text());
            case "protocol" -> set(file.protocol = text());
            case "inplace" -> set(file.inPlace = flag());
            case "reuse_resources" -> set(file.reuseResources = flag());
            case "use_double_scratch_buffer" -> set(file.doubleScratch = flag());
            case "num_threads_per_block" -> set(file.threadsPerBlock = number(1, Integer.MAX_VALUE));
            case "buffer_alignment" -> set(file.alignment = number(1, 1 << 30));
            case "min_message_size" -> set(file.minBytes = unsigned());
            case "max_message_size" -> set(file.maxBytes = unsigned());
            case "gpus" -> set(file.ranks = list(this::rank, MAX_RANKS));
            case "tutti" -> set(file.extra = extra());
            default -> false;
        });
        if (parser.nextToken() != null) {
            throw problem("something follows the plan");
        }
        return file;
    }

    private Raw.Extra extra() {
        Raw.Extra extra = new Raw.Extra();
        object(name -> switch (name) {
            case "style" -> set(extra.style = text());
            case "collective" -> set(extra.collective = text());
            case "root" -> set(extra.root = number(0, MAX_RANKS));
            case "reach" -> set(extra.reach = text());
            default -> false;
        });
        return extra;
    }

    private Raw.RankExtra rankExtra() {
        Raw.RankExtra extra = new Raw.RankExtra();
        object(name -> switch (name) {
            case "chunks_per_block" -> set(extra.chunksPerBlock = number(1, Integer.MAX_VALUE));
            case "scratch_chunks" -> set(extra.scratchChunks = count());
            case "packet_chunks" -> set(extra.packetChunks = count());
            default -> false;
        });
        return extra;
    }

    private Raw.Rank rank() {
        Raw.Rank rank = new Raw.Rank();
        object(name -> switch (name) {
            case "id" -> set(rank.id = number(0, MAX_RANKS));
            case "input_chunks" -> set(rank.inputChunks = count());
            case "output_chunks" -> set(rank.outputChunks = count());
            case "scratch_chunks" -> set(rank.scratchChunks = count());
            case "threadblocks" -> set(rank.lanes = list(this::lane, Integer.MAX_VALUE));
            case "channels" -> set(rank.channels = list(this::channel, Integer.MAX_VALUE));
            case "remote_buffers" -> set(rank.remoteBuffers = list(this::remoteBuffer, Integer.MAX_VALUE));
            case "tutti" -> set(rank.extra = rankExtra());
            case "semaphores" -> set(rank.semaphores = list(this::semaphore, Integer.MAX_VALUE));
            default -> false;
        });
        return rank;
    }

    private Integer semaphore() {
        int[] initial = {Raw.ABSENT};
        object(name -> name.equals("init_value") && set(initial[0] = count()));
        if (initial[0] == Raw.ABSENT) {
            throw problem("a semaphore needs init_value");
        }
        return initial[0];
    }

    private Raw.Channel channel() {
        Raw.Channel channel = new Raw.Channel();
        object(name -> switch (name) {
            case "channel_type" -> set(channel.type = channelType());
            case "connected_to" -> set(channel.connectedTo = numbers(0, MAX_RANKS));
            case "buffer_type", "buff" -> set(channel.space = space());
            case "rank_groups" -> set(channel.groups = list(this::rankGroup, Integer.MAX_VALUE));
            default -> false;
        });
        if (channel.type == null) {
            throw problem("a channel needs channel_type");
        }
        return channel;
    }

    private int[] rankGroup() {
        int[][] ranks = {Raw.NONE};
        object(name -> name.equals("ranks") && set(ranks[0] = numbers(0, MAX_RANKS)));
        return ranks[0];
    }

    private Raw.RemoteBuffer remoteBuffer() {
        Raw.RemoteBuffer buffer = new Raw.RemoteBuffer();
        object(name -> switch (name) {
            case "rank" -> set(buffer.rank = number(0, MAX_RANKS));
            case "type" -> set(buffer.space = space());
            case "access_channel_types" -> set(buffer.access = list(this::channelType, Integer.MAX_VALUE));
            default -> false;
        });
        if (buffer.rank == Raw.ABSENT || buffer.space == null) {
            throw problem("a remote buffer needs rank and type");
        }
        return buffer;
    }

    private Raw.Lane lane() {
        Raw.Lane lane = new Raw.Lane();
        object(name -> switch (name) {
            case "id" -> set(lane.id = count());
            case "ops" -> set(lane.ops = list(this::op, Integer.MAX_VALUE));
            case "channels" -> set(lane.channels = list(this::table, Integer.MAX_VALUE));
            case "remote_buffer_refs" -> set(lane.buffers = list(this::table, Integer.MAX_VALUE));
            default -> false;
        });
        return lane;
    }

    private Raw.Table table() {
        Raw.Table table = new Raw.Table();
        object(name -> switch (name) {
            case "channel_type", "access_channel_type" -> set(table.type = channelType());
            case "channel_ids", "remote_buffer_ids" -> set(table.ids = numbers(0, Integer.MAX_VALUE));
            default -> false;
        });
        if (table.type == null) {
            throw problem("needs a channel type");
        }
        return table;
    }

    private Raw.Op op() {
        Raw.Op op = new Raw.Op();
        object(name -> switch (name) {
            case "name" -> set(op.code = code());
            case "channel_type" -> set(op.channelType = channelType());
            case "channel_ids" -> set(op.channelIds = numbers(0, Integer.MAX_VALUE));
            case "src_buff" -> set(op.sources = list(this::ref, Integer.MAX_VALUE));
            case "dst_buff" -> set(op.destinations = list(this::ref, Integer.MAX_VALUE));
            case "tbg_info" -> slice(op);
            case "reduce_op" -> set(op.reduceOp = text());
            case "barrier_id" -> set(op.barrierId = count());
            case "num_threadblocks" -> set(op.barrierLanes = number(1, Integer.MAX_VALUE));
            case "semaphore_ids" -> set(op.semaphores = numbers(0, Integer.MAX_VALUE));
            case "iter_context" -> loop(op);
            case "ops" -> set(op.body = list(this::op, Integer.MAX_VALUE));
            case "buffer_type" -> set(op.bufferSpace = space());
            case "buffer_offset" -> set(op.bufferOffset = count());
            case "size" -> set(op.size = number(1, Integer.MAX_VALUE));
            case "dst_chunk" -> set(op.chunk = ref());
            case "tutti" -> set(op.extra = opExtra());
            default -> false;
        });
        if (op.code == null) {
            throw problem("an operation needs a name");
        }
        return op;
    }

    private boolean slice(Raw.Op op) {
        object(name -> switch (name) {
            case "tb_id" -> set(op.sliceIndex = count());
            case "tbg_size" -> set(op.sliceOf = number(1, Integer.MAX_VALUE));
            default -> false;
        });
        if (op.sliceIndex == Raw.ABSENT || op.sliceIndex >= op.sliceOf) {
            throw problem("tbg_info needs tb_id below tbg_size");
        }
        return true;
    }

    private boolean loop(Raw.Op op) {
        object(name -> switch (name) {
            case "unit_size" -> set(op.unitBytes = number(1, Integer.MAX_VALUE));
            case "num_chunks" -> set(op.loopChunks = count());
            default -> false;
        });
        return true;
    }

    private Raw.OpExtra opExtra() {
        Raw.OpExtra extra = new Raw.OpExtra();
        object(name -> switch (name) {
            case "plain_position" -> set(extra.plainPosition = count());
            case "finishes" -> set(extra.finishes = flag());
            case "call_operator" -> set(extra.callOperator = flag());
            case "fans_out" -> set(extra.fansOut = flag());
            case "like" -> set(extra.like = list(this::refOrNull, Integer.MAX_VALUE));
            default -> false;
        });
        return extra;
    }

    private Raw.@Nullable Ref refOrNull() {
        return parser.currentToken() == JsonToken.VALUE_NULL ? null : ref();
    }

    private Raw.Ref ref() {
        Raw.Ref ref = new Raw.Ref();
        object(name -> switch (name) {
            case "type" -> set(ref.space = space());
            case "buffer_id" -> set(ref.buffer = count());
            case "switch_channel_id" -> set(ref.group = count());
            case "index" -> set(ref.index = count());
            case "size" -> set(ref.size = number(1, Integer.MAX_VALUE));
            default -> false;
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

    private void object(Field field) {
        if (parser.currentToken() != JsonToken.START_OBJECT) {
            throw wrongType("an object");
        }
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String name = parser.currentName();
            parser.nextToken();
            if (!field.read(name)) {
                parser.skipChildren();
            }
        }
    }

    private interface Element<T extends @Nullable Object> {
        T read();
    }

    private <T extends @Nullable Object> List<T> list(Element<T> element, int limit) {
        if (parser.currentToken() != JsonToken.START_ARRAY) {
            throw wrongType("a list");
        }
        List<T> list = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            if (list.size() == limit) {
                throw problem("more than " + limit + " elements");
            }
            list.add(element.read());
        }
        return list;
    }

    private int[] numbers(int least, int most) {
        if (parser.currentToken() != JsonToken.START_ARRAY) {
            throw wrongType("a list of numbers");
        }
        int[] numbers = new int[4];
        int length = 0;
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            if (length == numbers.length) {
                numbers = Arrays.copyOf(numbers, 2 * length);
            }
            numbers[length++] = number(least, most);
        }
        return Arrays.copyOf(numbers, length);
    }

    private String text() {
        if (parser.currentToken() != JsonToken.VALUE_STRING) {
            throw wrongType("a text");
        }
        return parser.getString();
    }

    private boolean flag() {
        return switch (parser.currentToken()) {
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            default -> throw wrongType("true or false");
        };
    }

    private int count() {
        return number(0, Integer.MAX_VALUE);
    }

    private int number(int least, int most) {
        BigInteger value = whole();
        if (value.bitLength() > 31 || value.intValue() < least || value.intValue() > most) {
            throw problem("must be in " + least + ".." + most + ", is " + brief(value));
        }
        return value.intValue();
    }

    private long unsigned() {
        BigInteger value = whole();
        if (value.signum() < 0 || value.compareTo(MAX_UNSIGNED) > 0) {
            throw problem("must be in 0..2^64-1, is " + brief(value));
        }
        return value.longValue();
    }

    private BigInteger whole() {
        if (parser.currentToken() != JsonToken.VALUE_NUMBER_INT) {
            throw wrongType("a whole number");
        }
        return parser.getBigIntegerValue();
    }

    private static String brief(BigInteger value) {
        return value.bitLength() > 128 ? "a number of " + value.bitLength() + " bits" : value.toString();
    }

    /** Makes an assignment an answer. */
    @SuppressWarnings("unused")
    private static boolean set(Object assigned) {
        return true;
    }

    private PlanFormatException wrongType(String wanted) {
        JsonToken token = parser.currentToken();
        return problem("must be " + wanted + ", is " + (token == null ? "missing" : describe(token)));
    }

    private static String describe(JsonToken token) {
        return switch (token) {
            case START_OBJECT -> "an object";
            case START_ARRAY -> "a list";
            case VALUE_STRING -> "a text";
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> "a number";
            case VALUE_TRUE, VALUE_FALSE -> "true or false";
            case VALUE_NULL -> "null";
            default -> token.toString();
        };
    }

    PlanFormatException problem(String text) {
        return new PlanFormatException(path(parser.streamReadContext()), text, null);
    }

    /** Where the parser stands, in the form {@code gpus[0].threadblocks[2].ops}. */
    static String path(TokenStreamContext context) {
        StringBuilder path = new StringBuilder();
        for (TokenStreamContext at = context; at != null && !at.inRoot(); at = at.getParent()) {
            if (at.inArray()) {
                path.insert(0, "[" + at.getCurrentIndex() + "]");
            } else if (at.currentName() != null) {
                path.insert(0, (at.getParent().inRoot() ? "" : ".") + at.currentName());
            }
        }
        return path.toString();
    }
}
