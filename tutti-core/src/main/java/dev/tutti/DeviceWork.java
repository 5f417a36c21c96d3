package dev.tutti;

/** An operation on memory of a device, which a module for that device started. Users see it as {@link Work}. */
public non-sealed interface DeviceWork extends Work {}
