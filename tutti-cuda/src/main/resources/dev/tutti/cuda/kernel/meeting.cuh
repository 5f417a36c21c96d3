// Which blocks of a grid this launch stands for: all of them, or, with APART, those of one rank of several that are processes: 1 if they
// share a device, 2 if not. Such ranks meet before they touch each other's memory, and after. Every rank has words that only one other
// writes, counters always to a larger number, and plain stores will do.
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

// A block of the grid that one launch of all ranks would have: a part of one row and column.
struct Cell {
  Part part;
  u32 row, column;
  u32 number;
};

#if !APART

#define MEETING
#define EACH_CELL(args, cell) \
  for (Cell cell = {{blockIdx.x, gridDim.x}, blockIdx.y, blockIdx.z, 0}; cell.number == 0; cell.number = 1)
#define LAUNCH_BOUNDS __launch_bounds__(THREADS)
#define ARRIVE(args)
#define ARRIVE_FETCHING(args, cell, fetch)
#define LEAVE(args)

#else

#define MEETING Meeting meeting;
// Blocks of all ranks take the cells in turn.
#define EACH_CELL(args, cell)                                            \
  for (Cell cell = FIRST_CELL(args); cell.column < args.meeting.columns; \
       cell = cell_of(args.meeting, cell.number + args.meeting.parts * gridDim.x))
#define LAUNCH_BOUNDS __launch_bounds__(THREADS, 2)
#define FIRST_CELL(args) cell_of(args.meeting, args.meeting.part * gridDim.x + blockIdx.x)
#define ARRIVE(args)      \
  announce(args.meeting); \
  if (!have_arrived(args.meeting)) return;
// What a block will read first is fetched into the cache of the device they share while it waits: there it is never old.
// Measured: reductions and all-gather gain by it, other copies lose.
#if APART == 1
#define ARRIVE_FETCHING(args, cell, fetch)         \
  announce(args.meeting);                          \
  {                                                \
    Cell cell = FIRST_CELL(args);                  \
    if (cell.column < args.meeting.columns) fetch; \
  }                                                \
  if (!have_arrived(args.meeting)) return;
#else
#define ARRIVE_FETCHING(args, cell, fetch) ARRIVE(args)
#endif
#define LEAVE(args) leave(args.meeting);
#define CACHE_LINE 128

#define MOST_MEETING 96
#define MOST_BLOCKS 512
#define LOOKS 256

// Counters of a rank, in words of 8 bytes: a line for each rank, words of its own, and a word for each block of each rank.
#define LINE 16
#define CAME 0      // by that rank: how often it came, and in the low bits what was called
#define SENT 2      // messages that are ready
#define TAKEN 3     // messages that were fetched
#define MY_SENT 9   // by this rank itself
#define MY_TAKEN 10
#define MET (MOST_MEETING * LINE)             // how often all have met
#define ENDED (MET + 1)                       // blocks of this launch
#define LEFT (MET + 2 * LINE + MOST_MEETING)  // by that rank's block: the last meeting that it has left
#define CALL_BITS 24

// Words of 4 bytes at the host's.
#define NOT_COME 1
#define NOT_LEFT 2
#define OTHER_CALL 3
#define GIVE_UP 0
#define GAVE_UP 1
#define MISSED 2

struct Meeting {
  u64* own;             // counters of this rank
  u64* const* all;      // those of each rank
  volatile u32* host;   // [GIVE_UP] by the host; [GAVE_UP], [MISSED + rank] by the device: a reason above
  u64 patienceNanos;
  u64 called;           // what ranks must agree on; 0: nothing
  u32 rank, ranks;      // whom this launch meets: 0 for nobody
  u32 part, parts;      // which share of the cells this launch has
  u32 across, rows, columns;
  u32 delays;           // not 0: wait a little here and there, differently for each seed
};

DEVICE Cell cell_of(const Meeting& m, u32 number) {
  u32 line = number / m.across;
  return {{number % m.across, m.across}, line % m.rows, line / m.rows, number};
}

#ifndef TUTTI_HOST
#if APART == 1
#define SCOPE "gpu"
#else
#define SCOPE "sys"
#endif
DEVICE void fence_for_peers() { asm volatile("fence.acq_rel." SCOPE ";" ::: "memory"); }
DEVICE u64 load_from_peer(u64* p) {
  u64 v;
  asm volatile("ld.acquire." SCOPE ".global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
}
// Without order: several at once.
DEVICE u64 peek_at_peer(u64* p) {
  u64 v;
  asm volatile("ld.relaxed." SCOPE ".global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
}
// What was before a launch is in memory when it starts: it needs no release to tell of that.
DEVICE void tell_peer(u64* p, u64 v) { asm volatile("st.relaxed." SCOPE ".global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory"); }
DEVICE void fetch_line(const char* p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }
DEVICE void store_to_peer(u64* p, u64 v) {
  asm volatile("st.release." SCOPE ".global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}
DEVICE u64 add_one(u64* p) { return atomicAdd(p, 1ull); }
DEVICE bool any_of_block(bool mine) { return __syncthreads_or(mine) != 0; }
DEVICE void pause_waiting() {}
DEVICE void pause_nanos(u32 nanos) { __nanosleep(nanos); }
DEVICE u64 clock_nanos() {
  u64 t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}
#endif

DEVICE void delayed(const Meeting& m, u32 place) {
  if (m.delays) pause_nanos(mixed(m.delays ^ mixed(blockIdx.x * 0x9E37u + m.rank * 31u + place)) & 0xFFFF);
}

DEVICE void give_up(const Meeting& m, u32 rank, u32 reason) {
  // Blocks of this rank's own that gave up are nobody's fault.
  if (rank != m.rank) m.host[MISSED + rank] = reason;
  m.host[GAVE_UP] = 1;
}

// Whether one that waits should go on.
struct Patience {
  u64 start = 0;
  u32 spins = 0;
  DEVICE bool lasts(const Meeting& m) {
    pause_waiting();
    if (++spins % LOOKS) return true;
    u64 now = clock_nanos();
    if (!start) start = now;
    return !m.host[GIVE_UP] && now - start < m.patienceNanos;
  }
};

// Waits until a word is large enough; 0: gave up.
DEVICE u64 await_word(const Meeting& m, u32 rank, u64* word, u64 wanted, u32 reason) {
  Patience patience;
  for (u64 seen;;) {
    if ((seen = load_from_peer(word)) >= wanted) return seen;
    if (patience.lasts(m)) continue;
    give_up(m, rank, reason);
    return 0;
  }
}

// A block's share of some bytes.
DEVICE void fetch_ahead(const Part& part, const char* from, u64 bytes) {
  u64 share = bytes / part.blocks;
  for (u64 i = threadIdx.x * CACHE_LINE; i < share; i += blockDim.x * CACHE_LINE) fetch_line(from + part.block * share + i);
}

DEVICE u64 called(const Meeting& m) { return m.called & ((1u << CALL_BITS) - 1); }

// What came before this launch in this rank's stream is done: says so.
DEVICE void announce(const Meeting& m) {
  delayed(m, 1);
  if (blockIdx.x == 0)
    for (u32 r = threadIdx.x; r < m.ranks; r += blockDim.x)
      tell_peer(m.all[r] + m.rank * LINE + CAME, (m.own[MET] + 1) << CALL_BITS | called(m));
}

// Waits until all others have said so.
DEVICE bool have_arrived(const Meeting& m) {
  bool failed = false;
  u64 came = (m.own[MET] + 1) << CALL_BITS;
  for (u32 r = threadIdx.x; r < m.ranks; r += blockDim.x) {
    u64 seen = await_word(m, r, m.own + r * LINE + CAME, came, NOT_COME);
    if (seen && (seen ^ called(m)) << (64 - CALL_BITS)) give_up(m, r, OTHER_CALL), seen = 0;
    if (!seen) failed = true;
  }
  failed = any_of_block(failed);
  delayed(m, 2);
  return !failed;
}

// The word of a rank's block in which it says here that it has left.
DEVICE u64* left_of(u64* counters, u32 rank, u32 block) { return counters + LEFT + rank * MOST_BLOCKS + block; }

// Every block says to all ranks that it is done; the first one waits for all blocks of all ranks, its own included: only then may
// the number of the meeting change, which they read.
DEVICE void leave(const Meeting& m) {
  delayed(m, 3);
  if (!m.ranks) return;
  u64 met = m.own[MET] + 1;
  any_of_block(false);
  for (u32 r = threadIdx.x; r < m.ranks; r += blockDim.x) store_to_peer(left_of(m.all[r], m.rank, blockIdx.x), met);
  if (blockIdx.x) return;
  Patience patience;
  bool failed = false;
  for (u32 waiting = 1; waiting && !failed;) {
    waiting = 0;
    for (u32 i = threadIdx.x; i < m.ranks * gridDim.x; i += blockDim.x)
      if (peek_at_peer(left_of(m.own, i / gridDim.x, i % gridDim.x)) < met) waiting = i + 1;
    if (!waiting || patience.lasts(m)) continue;
    give_up(m, (waiting - 1) / gridDim.x, NOT_LEFT);
    failed = true;
  }
  // Whoever reads what they wrote is a later launch, which sees all that is in memory.
  if (!any_of_block(failed) && threadIdx.x == 0) m.own[MET] = met;
}

// ---- messages: whoever sends says that it is ready, and waits until it was fetched; whoever receives waits, fetches, and says so.
// What one end makes together the other may make one by one. ----

DEVICE bool await_senders(const Meeting& m, const u8* sends, const u8* receives) {
  delayed(m, 1);
  bool failed = false;
  if (blockIdx.x == 0)
    for (u32 r = threadIdx.x; r < m.ranks; r += blockDim.x)
      if (sends[r]) store_to_peer(m.all[r] + m.rank * LINE + SENT, m.own[r * LINE + MY_SENT] + sends[r]);
  for (u32 r = threadIdx.x; r < m.ranks; r += blockDim.x) {
    u64* line = m.own + r * LINE;
    if (receives[r] && !await_word(m, r, line + SENT, line[MY_TAKEN] + receives[r], NOT_COME)) failed = true;
  }
  failed = any_of_block(failed);
  delayed(m, 2);
  return !failed;
}

// Whether all other blocks of this launch have ended their work, which whoever hears of it from here sees.
DEVICE bool is_last_block(const Meeting& m) {
  any_of_block(false);
  bool last = false;
  if (threadIdx.x == 0) {
    fence_for_peers();
    last = add_one(m.own + ENDED) == gridDim.x - 1;
    fence_for_peers();
  }
  return any_of_block(last);
}

DEVICE void tell_senders(const Meeting& m, const u8* sends, const u8* receives) {
  delayed(m, 3);
  if (!is_last_block(m)) return;
  for (u32 r = threadIdx.x; r < m.ranks; r += blockDim.x) {
    u64* line = m.own + r * LINE;
    if (receives[r]) store_to_peer(m.all[r] + m.rank * LINE + TAKEN, line[MY_TAKEN] += receives[r]);
  }
  for (u32 r = threadIdx.x; r < m.ranks; r += blockDim.x) {
    u64* line = m.own + r * LINE;
    u64 wanted = line[MY_SENT] + sends[r];
    if (sends[r] && await_word(m, r, line + TAKEN, wanted, NOT_LEFT)) line[MY_SENT] = wanted;
  }
  if (threadIdx.x == 0) m.own[ENDED] = 0;
}

#endif
