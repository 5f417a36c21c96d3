package dev.tutti.cuda;

import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.cuda.kernel.HostCompiler;
import dev.tutti.plan.Plan;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The device's executor of plans, compiled for the host with a thread for each lane. */
final class HostPlans {
    private final MethodHandle player;

    HostPlans(Path folder, DataType type, Arena arena) throws Exception {
        SymbolLookup library = HostCompiler.host(
                folder,
                "plan.cu",
                "extern \"C\" void play_plan(const void* args, int x, int y, int z, int threads) {"
                        + " play_blocks(plan_run, *(const Args*)args, x); }\n",
                List.of("TYPE=" + type.number()),
                arena);
        player = HostCompiler.player(library, "play_plan");
    }

    /** A plan, ready for messages of one length. */
    Ready prepare(Plan plan, long block, DataType type, @Nullable ReduceOp op, Arena arena) {
        return new Ready(plan, block, type, op, arena);
    }

    /** What can be launched. */
    final class Ready {
        private final Arena arena;
        private final PlanLayout layout;
        private final MemorySegment control;

        private Ready(Plan plan, long block, DataType type, @Nullable ReduceOp op, Arena arena) {
            this.arena = arena;
            this.layout = new PlanLayout(plan, new PlanLayout.Memory() {
                @Override
                public long allocate(long bytes) {
                    return arena.allocate(Math.max(1, bytes), 256).address();
                }

                @Override
                public void write(long address, MemorySegment data) {
                    MemorySegment.ofAddress(address)
                            .reinterpret(data.byteSize())
                            .copyFrom(data);
                }
            });
            layout.prepare(block, type, op);
            control = arena.allocate(64 + 8L * layout.lanes(), 64);
        }

        /** Runs all ranks to their end; the arguments have one element for each. */
        void launch(MemorySegment[] inputs, MemorySegment[] outputs, long[] scalars) {
            MemorySegment room = arena.allocate(Math.max(8, layout.imageBytes()), 64);
            PlanLayout.Turn turn = layout.next();
            room.copyFrom(layout.image(turn.half(), room.address(), addresses(inputs), addresses(outputs), scalars)
                    .asSlice(0, room.byteSize()));
            MemorySegment args = arena.allocate(32, 16);
            args.set(ValueLayout.JAVA_LONG, 0, room.address());
            args.set(ValueLayout.JAVA_LONG, 8, control.address());
            args.set(ValueLayout.JAVA_LONG, 16, control.address() + 64);
            args.set(ValueLayout.JAVA_INT, 24, turn.flag());
            HostCompiler.call(player, args, layout.lanes(), 1, 1, 1);
        }

        private static long[] addresses(MemorySegment[] memory) {
            long[] addresses = new long[memory.length];
            for (int i = 0; i < memory.length; i++) {
                addresses[i] = memory[i].address();
            }
            return addresses;
        }
    }
}
