package dev.tutti.plan.json;

import dev.tutti.plan.ChannelType;
import dev.tutti.plan.Code;
import dev.tutti.plan.Space;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A plan file as it stands there: ids not yet looked up, because the tables that they refer to come after them. */
final class Raw {
    /** Stands for a number that is not there. */
    static final int ABSENT = -1;

    static final int[] NONE = {};

    private Raw() {}

    static final class File {
        @Nullable
        String name;

        @Nullable
        String collective;

        @Nullable
        String protocol;

        @Nullable
        Boolean inPlace;

        boolean reuseResources;
        boolean doubleScratch;
        int threadsPerBlock = 1024;
        int alignment = 16;
        long minBytes;
        long maxBytes = -1;

        @Nullable
        List<Rank> ranks;

        @Nullable
        Extra extra;
    }

    static final class Rank {
        int id = ABSENT;
        int inputChunks = ABSENT;
        int outputChunks = ABSENT;
        int scratchChunks = ABSENT;
        List<Lane> lanes = new ArrayList<>();
        List<Channel> channels = new ArrayList<>();
        List<RemoteBuffer> remoteBuffers = new ArrayList<>();
        List<Integer> semaphores = new ArrayList<>();

        @Nullable
        RankExtra extra;
    }

    /** The object {@code tutti} of a rank. */
    static final class RankExtra {
        int chunksPerBlock = ABSENT;
        int scratchChunks = ABSENT;
        int packetChunks = ABSENT;
    }

    /** An entry of {@code gpus[].channels}. */
    static final class Channel {
        @Nullable
        ChannelType type;

        @Nullable
        Space space;

        int[] connectedTo = NONE;
        List<int[]> groups = new ArrayList<>();
    }

    static final class RemoteBuffer {
        int rank = ABSENT;

        @Nullable
        Space space;

        List<ChannelType> access = new ArrayList<>();
    }

    static final class Lane {
        int id = ABSENT;
        List<Op> ops = new ArrayList<>();
        List<Table> channels = new ArrayList<>();
        List<Table> buffers = new ArrayList<>();
    }

    /** A lane's own numbering of channels or remote buffers of one type. */
    static final class Table {
        @Nullable
        ChannelType type;

        int[] ids = NONE;
    }

    static final class Op {
        @Nullable
        Code code;

        @Nullable
        ChannelType channelType;

        int @Nullable [] channelIds;
        List<Ref> sources = List.of();
        List<Ref> destinations = List.of();
        int sliceIndex = ABSENT;
        int sliceOf = ABSENT;

        @Nullable
        String reduceOp;

        int barrierId = ABSENT;
        int barrierLanes = ABSENT;
        int[] semaphores = NONE;
        long unitBytes = ABSENT;
        int loopChunks = ABSENT;

        @Nullable
        List<Op> body;

        @Nullable
        Space bufferSpace;

        int bufferOffset = ABSENT;
        int size = ABSENT;

        @Nullable
        Ref chunk;

        @Nullable
        OpExtra extra;
    }

    static final class Ref {
        @Nullable
        Space space;

        int buffer = ABSENT;
        int group = ABSENT;
        int index = ABSENT;
        int size = ABSENT;
    }

    /** The object {@code tutti} at the top: what the format has no words for. */
    static final class Extra {
        String style = "positions";

        @Nullable
        String collective;

        @Nullable
        String reach;

        int root;
    }

    /** The object {@code tutti} of an operation. */
    static final class OpExtra {
        int plainPosition = ABSENT;
        boolean finishes;
        boolean callOperator;
        boolean fansOut;

        /** For each operand, sources first, the chunk that it is like, or null. */
        List<@Nullable Ref> like = new ArrayList<>();
    }
}
