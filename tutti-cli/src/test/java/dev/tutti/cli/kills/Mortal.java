package dev.tutti.cli.kills;

import dev.tutti.Buffer;
import dev.tutti.Communicator;
import dev.tutti.DataType;
import dev.tutti.ReduceOp;
import dev.tutti.TuttiException;
import java.util.Random;

/**
 * A rank that does one thing over and over until it is killed or notices that another was. Prints {@code UP}, {@code READY} and
 * {@code FAILED}, each with what the harness needs.
 */
public final class Mortal {
    private static final int MOST = 1 << 18;

    private Mortal() {}

    /**
     * Runs until something fails.
     *
     * @param arguments the phase and a seed that is the same for all ranks
     */
    public static void main(String[] arguments) {
        Kill.Phase phase = Kill.Phase.valueOf(arguments[0]);
        Random random = new Random(Long.parseLong(arguments[1]));
        say("UP " + ProcessHandle.current().pid());
        try {
            if (phase == Kill.Phase.CLOSE) {
                openAndClose(random);
            } else {
                try (Communicator comm = Communicator.fromEnvironment()) {
                    comm.barrier();
                    say("READY");
                    repeat(comm, phase, random);
                }
            }
        } catch (TuttiException failure) {
            say("FAILED " + System.nanoTime() + " " + failure.category() + " "
                    + failure.ranks().toString().replace(" ", "") + " "
                    + String.valueOf(failure.getMessage()).replace('\n', ' '));
            System.exit(3);
        } catch (RuntimeException | Error unexpected) {
            say("FAILED " + System.nanoTime() + " UNEXPECTED [] " + unexpected);
            unexpected.printStackTrace();
            System.exit(4);
        }
    }

    private static void say(String line) {
        System.out.println(line);
    }

    private static void openAndClose(Random random) {
        boolean ready = false;
        while (true) {
            try (Communicator comm = Communicator.fromEnvironment()) {
                comm.barrier();
                for (int i = random.nextInt(3); i > 0; i--) {
                    comm.allReduce(new float[random.nextInt(1000)], ReduceOp.SUM);
                }
                if (!ready) {
                    ready = true;
                    say("READY");
                }
            }
        }
    }

    private static void repeat(Communicator comm, Kill.Phase phase, Random random) {
        int ranks = comm.size();
        Buffer one = comm.allocate(DataType.FLOAT32, MOST);
        Buffer other = comm.allocate(DataType.FLOAT32, MOST);
        while (true) {
            // From nothing to what takes many windows; the same on all ranks.
            long count = (long) Math.pow(MOST / (double) ranks, random.nextDouble());
            int root = random.nextInt(ranks);
            Buffer part = one.slice(0, count);
            Buffer whole = other.slice(0, count * ranks);
            switch (phase) {
                case BOOTSTRAP, BARRIER -> comm.barrier();
                case ALL_REDUCE -> comm.allReduce(part, ReduceOp.SUM);
                case BROADCAST -> comm.broadcast(part, root);
                case REDUCE -> comm.reduce(part, ReduceOp.SUM, root);
                case ALL_GATHER -> comm.allGather(part, whole);
                case REDUCE_SCATTER -> comm.reduceScatter(whole, part, ReduceOp.SUM);
                case GATHER -> comm.gather(part, comm.rank() == root ? whole : null, root);
                case SCATTER -> comm.scatter(comm.rank() == root ? whole : null, part, root);
                case ALL_TO_ALL -> comm.allToAll(whole, one.slice(0, count * ranks));
                case SCAN -> comm.scan(part, part, ReduceOp.SUM);
                case SEND_RECV ->
                    comm.sendRecv(
                            part,
                            (comm.rank() + 1) % ranks,
                            0,
                            other.slice(0, count),
                            (comm.rank() + ranks - 1) % ranks,
                            0);
                case BETWEEN -> {
                    comm.barrier();
                    rest();
                }
                case CLOSE -> throw new IllegalStateException();
            }
        }
    }

    private static void rest() {
        try {
            Thread.sleep(20);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
