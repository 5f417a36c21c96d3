package dev.tutti.matrix;

import dev.tutti.Config;

/** Settings of a world beside algorithm, protocol and lanes. */
enum Setting {
    DEFAULT(2 << 20, 128 << 10, 0),
    /** Little scratch, so that few elements already need several windows. */
    SMALL(64 << 10, 64 << 10, 0),
    /** The flag of packets wraps between the first and the second launch. */
    WRAPPING(64 << 10, 64 << 10, 0xFFFF_FFFEL);

    final long scratchBytes;
    final long packetBytes;
    private final long firstLaunch;

    Setting(long scratchBytes, long packetBytes, long firstLaunch) {
        this.scratchBytes = scratchBytes;
        this.packetBytes = packetBytes;
        this.firstLaunch = firstLaunch;
    }

    Config apply(Config config) {
        return config.with(Config.Key.SCRATCH, "" + scratchBytes)
                .with(Config.Key.PACKETS, "" + packetBytes)
                .with(Config.Key.FIRST_LAUNCH, "" + firstLaunch);
    }
}
