// Which part of a grid this launch is: all of it, or, with APART, the part of one rank of several that are processes: 1 if they
// share a device, 2 if not. Such ranks meet before they touch each other's memory, and after. Every rank has a line of counters for every other; only that other one
// writes the first words of it, counters always to a larger number, and plain stores will do.
//
// Whatever waits looks at a word of the host's and at the clock, so a rank that never comes ends the launch and not the device.
// Few enough blocks must be in the launch that those of all ranks fit the device at once.
#pragma once
#include "element.cuh"

struct Part {
  u64 block, blocks;
  DEVICE u64 thread() const { return block * blockDim.x + threadIdx.x; }
  DEVICE u64 threads() const { return blocks * blockDim.x; }
};

#if !APART

#define MEETING
#define EACH_ROW(args, row) for (u32 row = blockIdx.y, more = 1; more; more = 0)
#define EACH_COLUMN(args, column) for (u32 column = blockIdx.z, next = 1; next; next = 0)
#define LAUNCH_BOUNDS __launch_bounds__(THREADS)
#define PART(args) (Part{blockIdx.x, gridDim.x})
#define ARRIVE(args)
#define LEAVE(args)

#else

#define MEETING Meeting meeting;
// Rows and columns of the grid that a block stands for one after the other: the grid itself must stay small.
#define EACH_ROW(args, row) for (u32 row = blockIdx.y; row < args.meeting.rows; row += gridDim.y)
#define EACH_COLUMN(args, column) for (u32 column = blockIdx.z; column < args.meeting.columns; column += gridDim.z)
#define LAUNCH_BOUNDS __launch_bounds__(THREADS, 2)
#define PART(args) (Part{(u64)args.meeting.part * gridDim.x + blockIdx.x, (u64)args.meeting.parts * gridDim.x})
#define ARRIVE(args) \
  if (!arrive(args.meeting)) return;
#define LEAVE(args) leave(args.meeting);

#define MOST_MEETING 96
#define LOOKS 256

// A line: words of 8 bytes.
#define LINE 16
#define CAME 0     // how often, and in the low bits what was called
#define LEFT 1
#define SENT 2     // messages that are ready
#define TAKEN 3    // messages that were fetched
#define MET 8      // this rank's own: how often they met
#define MY_SENT 9
#define MY_TAKEN 10
#define CALL_BITS 24

// Words of 4 bytes at the host's.
#define NOT_COME 1
#define NOT_LEFT 2
#define OTHER_CALL 3
#define GIVE_UP 0
#define GAVE_UP 1
#define MISSED 2

struct Meeting {
  u64* lines;           // of this rank
  u64* const* others;   // of each other rank: its line for this one
  u32* ended;           // blocks of this launch
  volatile u32* host;   // [GIVE_UP] by the host; [GAVE_UP], [MISSED + rank] by the device: a reason below
  u64 patienceNanos;
  u64 called;           // what ranks must agree on; 0: nothing
  u32 part, parts;
  u32 rows, columns;
  u32 ranks;
  u32 delays;           // not 0: wait a little here and there, differently for each seed
  u8 times[MOST_MEETING];  // whether this launch meets each rank; for messages, how many it sends to each
};

#ifndef TUTTI_HOST
#if APART == 1
#define SCOPE "gpu"
DEVICE void fence_for_peers() { __threadfence(); }
#else
#define SCOPE "sys"
DEVICE void fence_for_peers() { __threadfence_system(); }
#endif
DEVICE u64 load_from_peer(u64* p) {
  u64 v;
  asm volatile("ld.acquire." SCOPE ".global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
}
DEVICE void store_to_peer(u64* p, u64 v) {
  asm volatile("st.release." SCOPE ".global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}
DEVICE u32 add_one(u32* p) { return atomicAdd(p, 1u); }
DEVICE bool any_of_block(bool mine) { return __syncthreads_or(mine) != 0; }
DEVICE void pause_waiting() {}
DEVICE void pause_nanos(u32 nanos) { __nanosleep(nanos); }
DEVICE u64 clock_nanos() {
  u64 t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}
#endif

DEVICE u64 block_number() { return blockIdx.x + (u64)gridDim.x * (blockIdx.y + (u64)gridDim.y * blockIdx.z); }

DEVICE void delayed(const Meeting& m, u32 place) {
  if (m.delays) pause_nanos(mixed(m.delays ^ mixed((u32)block_number() * 0x9E37u + m.part * 31u + place)) & 0xFFFF);
}

DEVICE void give_up(const Meeting& m, u32 rank, u32 reason) {
  m.host[MISSED + rank] = reason;
  m.host[GAVE_UP] = 1;
}

// Waits until a word is large enough; 0: gave up.
DEVICE u64 await_word(const Meeting& m, u32 rank, u64* word, u64 wanted, u32 reason) {
  u64 start = 0, seen;
  for (u32 spins = 1; (seen = load_from_peer(word)) < wanted; spins++) {
    pause_waiting();
    if (spins % LOOKS) continue;
    u64 now = clock_nanos();
    if (!start) start = now;
    if (!m.host[GIVE_UP] && now - start < m.patienceNanos) continue;
    give_up(m, rank, reason);
    return 0;
  }
  return seen;
}

// What came before this launch in this rank's stream is done; says so, and waits until all others have said so.
DEVICE bool arrive(const Meeting& m) {
  delayed(m, 1);
  bool failed = false;
  u64 called = m.called & ((1u << CALL_BITS) - 1);
  if (block_number() == 0)
    for (u32 r = threadIdx.x; r < m.ranks; r += blockDim.x)
      if (m.times[r]) store_to_peer(m.others[r] + CAME, (m.lines[r * LINE + MET] + m.times[r]) << CALL_BITS | called);
  for (u32 r = threadIdx.x; r < m.ranks; r += blockDim.x) {
    if (!m.times[r]) continue;
    u64* line = m.lines + r * LINE;
    u64 seen = await_word(m, r, line + CAME, (line[MET] + m.times[r]) << CALL_BITS, NOT_COME);
    if (seen && (seen ^ called) << (64 - CALL_BITS)) give_up(m, r, OTHER_CALL), seen = 0;
    if (!seen) failed = true;
  }
  failed = any_of_block(failed);
  delayed(m, 2);
  return !failed;
}

// Whether all other blocks of this launch have ended their work, which whoever hears of it from here sees.
DEVICE bool is_last_block(const Meeting& m) {
  any_of_block(false);
  u32 blocks = gridDim.x * gridDim.y * gridDim.z;
  if (blocks == 1) return true;
  bool last = false;
  if (threadIdx.x == 0) {
    fence_for_peers();
    last = add_one(m.ended) == blocks - 1;
    fence_for_peers();
  }
  return any_of_block(last);
}

// The last block says that this rank's part is done, and waits until those of all others are.
DEVICE void leave(const Meeting& m) {
  delayed(m, 3);
  if (!is_last_block(m)) return;
  for (u32 r = threadIdx.x; r < m.ranks; r += blockDim.x)
    if (m.times[r]) store_to_peer(m.others[r] + LEFT, m.lines[r * LINE + MET] + m.times[r]);
  for (u32 r = threadIdx.x; r < m.ranks; r += blockDim.x) {
    u64* line = m.lines + r * LINE;
    u64 wanted = line[MET] + m.times[r];
    if (m.times[r] && await_word(m, r, line + LEFT, wanted, NOT_LEFT)) line[MET] = wanted;
  }
  if (threadIdx.x == 0) *m.ended = 0;
}

// ---- messages: whoever sends says that it is ready, and waits until it was fetched; whoever receives waits, fetches, and says so.
// What one end makes together the other may make one by one. ----

DEVICE bool await_senders(const Meeting& m, const u8* receives) {
  delayed(m, 1);
  bool failed = false;
  if (block_number() == 0)
    for (u32 r = threadIdx.x; r < m.ranks; r += blockDim.x)
      if (m.times[r]) store_to_peer(m.others[r] + SENT, m.lines[r * LINE + MY_SENT] + m.times[r]);
  for (u32 r = threadIdx.x; r < m.ranks; r += blockDim.x) {
    u64* line = m.lines + r * LINE;
    if (receives[r] && !await_word(m, r, line + SENT, line[MY_TAKEN] + receives[r], NOT_COME)) failed = true;
  }
  failed = any_of_block(failed);
  delayed(m, 2);
  return !failed;
}

DEVICE void tell_senders(const Meeting& m, const u8* receives) {
  delayed(m, 3);
  if (!is_last_block(m)) return;
  for (u32 r = threadIdx.x; r < m.ranks; r += blockDim.x) {
    u64* line = m.lines + r * LINE;
    if (receives[r]) store_to_peer(m.others[r] + TAKEN, line[MY_TAKEN] += receives[r]);
  }
  for (u32 r = threadIdx.x; r < m.ranks; r += blockDim.x) {
    u64* line = m.lines + r * LINE;
    u64 wanted = line[MY_SENT] + m.times[r];
    if (m.times[r] && await_word(m, r, line + TAKEN, wanted, NOT_LEFT)) line[MY_SENT] = wanted;
  }
  if (threadIdx.x == 0) *m.ended = 0;
}

#endif
