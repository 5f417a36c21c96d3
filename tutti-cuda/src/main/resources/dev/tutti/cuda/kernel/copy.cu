// Collectives that move bytes, for all ranks of a process that share a device, each in one launch.
#define TYPE 1
#include "element.cuh"
#include "meeting.cuh"

// Few ranks have few parameters, which a launch is faster with.
#ifndef PLACES
#define PLACES 96
#endif
#define MOST_TASKS (PLACES > 8 ? 128 : PLACES * PLACES)
#define THREADS 512
// Only the usual case, whole vectors, gets many registers.
#define BATCH_OF(Word) (sizeof(Word) == 16 ? 4 : 1)

DEVICE u64 at(const void* p) { return (u64)p; }

// Bytes before the first word of 2^n bytes, or -1 if the addresses lie differently in one.
DEVICE long long head_of(u64 first, u64 differing, u64 word, u64 bytes) {
  if (differing & (word - 1)) return -1;
  u64 head = (word - (first & (word - 1))) & (word - 1);
  return (long long)(head < bytes ? head : bytes);
}

// Nothing is read twice, so vectors go past the cache.
template <class Word>
DEVICE Word get(const char* from, u64 i) {
  return ((const Word*)from)[i];
}
template <class Word>
DEVICE void put(char* to, u64 i, const Word& w) {
  ((Word*)to)[i] = w;
}
template <>
DEVICE Vector get<Vector>(const char* from, u64 i) {
  return load_vector(from + i * 16);
}
template <>
DEVICE void put<Vector>(char* to, u64 i, const Vector& w) {
  store_vector(to + i * 16, w);
}

// Runs of consecutive words for each block when there are enough, so that memory sees long stretches; else words spread over
// all threads. `body` gets the first index and the distance to the next of its batch.
template <int N, class Body>
DEVICE void each_batch(const Part& part, u64 words, Body body) {
  u64 threads = part.threads(), i = part.thread();
  if (words >= threads * N) {
    u64 run = (u64)blockDim.x * N;
    u64 whole = words / run * run;
    for (u64 tile = part.block * run; tile < whole; tile += part.blocks * run) body(tile + threadIdx.x, (u64)blockDim.x, whole);
    i += whole;
  }
  for (; i < words; i += N * threads) body(i, threads, words);
}

// ---- one source, many destinations: broadcast and all-gather ----

struct Block {
  const char* from;
  u64 bytes;
  u64 offset;  // in every destination
};

struct Spread {
  u32 ranks;
  u32 blocks;
  const Block* blockTable;   // where the blocks and destinations are if there are more than fit below
  char* const* toTable;
  Block block[PLACES];
  char* to[PLACES];      // null: this rank gets nothing, or has it already
  MEETING
};

template <class Word>
struct SpreadBody {
  static const int N = BATCH_OF(Word);
  const Spread& args;
  const Block& block;
  u64 from;
  DEVICE void operator()(u64 i, u64 step, u64 words) const {
    Word w[N];
#pragma unroll
    for (int b = 0; b < N; b++)
      if (i + b * step < words) w[b] = get<Word>(block.from + from, i + b * step);
    for (u32 r = 0; r < args.ranks; r++) {
      char* to = args.toTable ? args.toTable[r] : args.to[r];
      // In place the destination is the source.
      if (!to || to + block.offset == block.from) continue;
#pragma unroll
      for (int b = 0; b < N; b++)
        if (i + b * step < words) put<Word>(to + block.offset + from, i + b * step, w[b]);
    }
  }
};

template <class Word>
DEVICE void spread_words(const Part& part, const Spread& args, const Block& block, u64 from, u64 words) {
  SpreadBody<Word> body = {args, block, from};
  each_batch<decltype(body)::N>(part, words, body);
}

DEVICE void spread(const Part& part, const Spread& args, u32 row) {
  Block block = args.blockTable ? args.blockTable[row] : args.block[row];
  u64 differing = 0;
  for (u32 r = 0; r < args.ranks; r++) {
    char* to = args.toTable ? args.toTable[r] : args.to[r];
    if (to) differing |= at(to + block.offset) ^ at(block.from);
  }
  long long head = head_of(at(block.from), differing, 16, block.bytes);
  if (head >= 0) {
    u64 words = (block.bytes - head) / 16;
    spread_words<u8>(part, args, block, 0, head);
    spread_words<Vector>(part, args, block, head, words);
    spread_words<u8>(part, args, block, head + words * 16, block.bytes - head - words * 16);
    return;
  }
  head = head_of(at(block.from), differing, 4, block.bytes);
  if (head >= 0) {
    u64 words = (block.bytes - head) / 4;
    spread_words<u8>(part, args, block, 0, head);
    spread_words<u32>(part, args, block, head, words);
    spread_words<u8>(part, args, block, head + words * 4, block.bytes - head - words * 4);
    return;
  }
  spread_words<u8>(part, args, block, 0, block.bytes);
}

#if APART
DEVICE void fetch_block(const Spread& args, const Cell& cell) {
  // One block that all get is in the cache already, if it is small enough to matter.
  if (args.blocks > 1 && !args.blockTable) fetch_ahead(cell.part, args.block[cell.row].from, args.block[cell.row].bytes);
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS, 2) copy_spread(const GRID_CONSTANT Spread args) {
  ARRIVE_FETCHING(args, cell, fetch_block(args, cell))
  EACH_CELL(args, cell) spread(cell.part, args, cell.row);
  LEAVE(args)
}

// ---- any copies: gather, scatter, all-to-all with counts, sends ----

struct Task {
  const char* from;
  char* to;
  u64 bytes;
};

struct Tasks {
  Task task[MOST_TASKS];
  MEETING
};

template <class Word>
struct CopyBody {
  static const int N = BATCH_OF(Word);
  const char* from;
  char* to;
  DEVICE void operator()(u64 i, u64 step, u64 words) const {
    Word w[N];
#pragma unroll
    for (int b = 0; b < N; b++)
      if (i + b * step < words) w[b] = get<Word>(from, i + b * step);
#pragma unroll
    for (int b = 0; b < N; b++)
      if (i + b * step < words) put<Word>(to, i + b * step, w[b]);
  }
};

template <class Word>
DEVICE void copy_words(const Part& part, const char* from, char* to, u64 words) {
  CopyBody<Word> body = {from, to};
  each_batch<decltype(body)::N>(part, words, body);
}

DEVICE void copy(const Part& part, const Task& task) {
  u64 differing = at(task.from) ^ at(task.to);
  long long head = head_of(at(task.from), differing, 16, task.bytes);
  if (head >= 0) {
    u64 words = (task.bytes - head) / 16;
    u64 tail = head + words * 16;
    copy_words<u8>(part, task.from, task.to, head);
    copy_words<Vector>(part, task.from + head, task.to + head, words);
    copy_words<u8>(part, task.from + tail, task.to + tail, task.bytes - tail);
    return;
  }
  head = head_of(at(task.from), differing, 4, task.bytes);
  if (head >= 0) {
    u64 words = (task.bytes - head) / 4;
    u64 tail = head + words * 4;
    copy_words<u8>(part, task.from, task.to, head);
    copy_words<u32>(part, task.from + head, task.to + head, words);
    copy_words<u8>(part, task.from + tail, task.to + tail, task.bytes - tail);
    return;
  }
  copy_words<u8>(part, task.from, task.to, task.bytes);
}

extern "C" __global__ void __launch_bounds__(THREADS, 2) copy_tasks(const GRID_CONSTANT Tasks args) {
  ARRIVE(args)
  EACH_CELL(args, cell) copy(cell.part, args.task[cell.row]);
  LEAVE(args)
}

#if APART
struct Messages {
  Task task[MOST_TASKS];
  Meeting meeting;
  u8 sends[PLACES];     // to each rank
  u8 receives[PLACES];  // from each rank
};

extern "C" __global__ void __launch_bounds__(THREADS, 2) copy_messages(const GRID_CONSTANT Messages args) {
  if (!await_senders(args.meeting, args.sends, args.receives)) return;
  EACH_CELL(args, cell) copy(cell.part, args.task[cell.row]);
  tell_senders(args.meeting, args.sends, args.receives);
}
#endif

// ---- all-to-all: two ranks exchange a block each, so that in place needs no second memory ----

struct Exchange {
  u32 ranks;
  u32 unused;
  u64 bytes;  // of a block
  const char* in[PLACES];
  char* out[PLACES];
  MEETING
};

template <class Word>
struct ExchangeBody {
  static const int N = sizeof(Word) == 16 ? 2 : 1;
  const char* a;
  char* b;
  const char* c;
  char* d;
  DEVICE void operator()(u64 i, u64 step, u64 words) const {
    Word x[N], y[N];
#pragma unroll
    for (int k = 0; k < N; k++)
      if (i + k * step < words) {
        x[k] = get<Word>(a, i + k * step);
        if (a != c) y[k] = get<Word>(c, i + k * step);
      }
#pragma unroll
    for (int k = 0; k < N; k++)
      if (i + k * step < words) {
        put<Word>(b, i + k * step, x[k]);
        if (a != c) put<Word>(d, i + k * step, y[k]);
      }
  }
};

template <class Word>
DEVICE void exchange_words(const Part& part, const char* a, char* b, const char* c, char* d, u64 words) {
  ExchangeBody<Word> body = {a, b, c, d};
  each_batch<decltype(body)::N>(part, words, body);
}

// Of two ranks' exchange each of their two cells does half; a rank's own block is one cell.
DEVICE void exchange(Part part, const Exchange& args, u32 s, u32 r) {
  if (s != r) part = {s < r ? part.block : part.block + part.blocks, 2 * part.blocks};
  if (s > r) {
    u32 t = s;
    s = r;
    r = t;
  }
  const char* a = args.in[s] + r * args.bytes;
  char* b = args.out[r] + s * args.bytes;
  const char* c = args.in[r] + s * args.bytes;
  char* d = args.out[s] + r * args.bytes;
  u64 differing = (at(a) ^ at(b)) | (at(a) ^ at(c)) | (at(a) ^ at(d));
  long long head = head_of(at(a), differing, 16, args.bytes);
  if (head >= 0) {
    u64 words = (args.bytes - head) / 16;
    u64 tail = head + words * 16;
    exchange_words<u8>(part, a, b, c, d, head);
    exchange_words<Vector>(part, a + head, b + head, c + head, d + head, words);
    exchange_words<u8>(part, a + tail, b + tail, c + tail, d + tail, args.bytes - tail);
    return;
  }
  head = head_of(at(a), differing, 4, args.bytes);
  if (head >= 0) {
    u64 words = (args.bytes - head) / 4;
    u64 tail = head + words * 4;
    exchange_words<u8>(part, a, b, c, d, head);
    exchange_words<u32>(part, a + head, b + head, c + head, d + head, words);
    exchange_words<u8>(part, a + tail, b + tail, c + tail, d + tail, args.bytes - tail);
    return;
  }
  exchange_words<u8>(part, a, b, c, d, args.bytes);
}

extern "C" __global__ void __launch_bounds__(THREADS, 2) copy_exchange(const GRID_CONSTANT Exchange args) {
  ARRIVE(args)
  EACH_CELL(args, cell) exchange(cell.part, args, cell.row, cell.column);
  LEAVE(args)
}

// What a launch costs when there is nothing to do; for measuring.
extern "C" __global__ void copy_nothing() {}
