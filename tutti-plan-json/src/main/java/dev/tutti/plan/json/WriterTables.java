package dev.tutti.plan.json;

import dev.tutti.plan.ChannelType;
import dev.tutti.plan.Chunk;
import dev.tutti.plan.Op;
import dev.tutti.plan.RankPlan;
import dev.tutti.plan.Space;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tools.jackson.core.JsonGenerator;

/** The tables through which a file names channels and remote buffers, made from what operations use. */
final class WriterTables {
    private record Remote(int rank, Space space) {}

    private final RankPlan part;
    /** By channel: its id among those of its type. */
    private final int[] idInType;

    private final Map<Remote, Set<ChannelType>> remotes = new LinkedHashMap<>();
    private final List<Remote> remoteIds = new ArrayList<>();

    WriterTables(RankPlan part) {
        this.part = part;
        this.idInType = new int[part.channels().size()];
        Map<ChannelType, Integer> counts = new EnumMap<>(ChannelType.class);
        for (int id = 0; id < idInType.length; id++) {
            idInType[id] = counts.merge(part.channels().get(id).type(), 1, Integer::sum) - 1;
        }
    }

    Lane lane() {
        return new Lane();
    }

    /** One lane's own numbering. */
    final class Lane {
        private final Map<ChannelType, List<Integer>> channels = new EnumMap<>(ChannelType.class);
        private final Map<ChannelType, List<Integer>> buffers = new EnumMap<>(ChannelType.class);

        /** The lane's numbers of an operation's channels. */
        List<Integer> channels(Op op) {
            List<Integer> numbers = new ArrayList<>();
            for (int id : op.channels()) {
                if (op.code().isGroup()) {
                    numbers.add(number(channels, ChannelType.SWITCH, id));
                } else {
                    ChannelType type = part.channels().get(id).type();
                    if (type != part.via(op)) {
                        throw new IllegalArgumentException(op + " of rank " + part.rank()
                                + " mixes memory and port channels: use one operation each");
                    }
                    numbers.add(number(channels, type, idInType[id]));
                }
            }
            return numbers;
        }

        /** The lane's number of a peer's memory. */
        int buffer(ChannelType via, Chunk chunk) {
            Remote remote = new Remote(chunk.rank(), chunk.space());
            remotes.computeIfAbsent(remote, absent -> {
                        remoteIds.add(remote);
                        return EnumSet.noneOf(ChannelType.class);
                    })
                    .add(via);
            return number(buffers, via, remoteIds.indexOf(remote));
        }

        private static int number(Map<ChannelType, List<Integer>> table, ChannelType type, int id) {
            List<Integer> ids = table.computeIfAbsent(type, absent -> new ArrayList<>());
            int at = ids.indexOf(id);
            if (at < 0) {
                ids.add(id);
                at = ids.size() - 1;
            }
            return at;
        }

        void write(JsonGenerator json) {
            table(json, "channels", "channel_type", "channel_ids", channels);
            table(json, "remote_buffer_refs", "access_channel_type", "remote_buffer_ids", buffers);
        }

        private static void table(
                JsonGenerator json, String name, String type, String ids, Map<ChannelType, List<Integer>> table) {
            json.writeArrayPropertyStart(name);
            table.forEach((key, numbers) -> {
                json.writeStartObject();
                json.writeStringProperty(type, key.toString());
                json.writeArrayPropertyStart(ids);
                numbers.forEach(json::writeNumber);
                json.writeEndArray();
                json.writeEndObject();
            });
            json.writeEndArray();
        }
    }

    void writeChannels(JsonGenerator json) {
        json.writeArrayPropertyStart("channels");
        for (ChannelType type : List.of(ChannelType.MEMORY, ChannelType.PORT)) {
            List<Integer> peers = part.channels().stream()
                    .filter(channel -> channel.type() == type)
                    .map(RankPlan.Channel::peer)
                    .toList();
            if (!peers.isEmpty()) {
                json.writeStartObject();
                json.writeStringProperty("channel_type", type.toString());
                json.writeArrayPropertyStart("connected_to");
                peers.forEach(json::writeNumber);
                json.writeEndArray();
                json.writeEndObject();
            }
        }
        for (RankPlan.Group group : part.groups()) {
            json.writeStartObject();
            json.writeStringProperty("channel_type", "switch");
            json.writeStringProperty("buffer_type", group.space().symbol());
            json.writeArrayPropertyStart("rank_groups");
            json.writeStartObject();
            json.writeNumberProperty("size", group.ranks().size());
            json.writeArrayPropertyStart("ranks");
            group.ranks().forEach(json::writeNumber);
            json.writeEndArray();
            json.writeEndObject();
            json.writeEndArray();
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    void writeRemoteBuffers(JsonGenerator json) {
        json.writeArrayPropertyStart("remote_buffers");
        remotes.forEach((remote, access) -> {
            json.writeStartObject();
            json.writeNumberProperty("rank", remote.rank());
            json.writeStringProperty("type", remote.space().symbol());
            json.writeArrayPropertyStart("access_channel_types");
            access.forEach(type -> json.writeString(type.toString()));
            json.writeEndArray();
            json.writeEndObject();
        });
        json.writeEndArray();
    }
}
