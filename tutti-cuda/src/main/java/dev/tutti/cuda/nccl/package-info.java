/** NCCL, {@code libnccl.so.2}: any version from 2.18; what a version lacks is a capability that is off. */
@NullMarked
package dev.tutti.cuda.nccl;

import org.jspecify.annotations.NullMarked;
