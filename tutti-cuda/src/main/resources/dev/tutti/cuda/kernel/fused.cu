// Reductions of all ranks of a process that share a device, each in one launch: every input is read once and every output
// written once. TYPE and FOLD choose element and operator; RANKS is the number of ranks if the compiler is to know it, else 0.
//
// Sources are folded in rank order in the accumulation type and rounded once, so all ranks get the same bits, and the same as
// dev.tutti.reduce gives for these sources.
//
// With APART the ranks are processes: each launches its part of the grid, and they meet before and after.
#include "fold.cuh"
#include "meeting.cuh"

#ifndef RANKS
#define RANKS 0
#endif
#define MOST_RANKS 96
#define THREADS 512

struct Rank {
  const char* in;
  char* out;     // null: this rank gets nothing
  u64 scalar;    // of preMulSum
  u64 offset;    // reduce-scatter: first element of the rank's block
  u64 count;     // reduce-scatter: elements of the rank's block
};

struct Args {
  u64 count;
  u64 divisor;
  u32 ranks;
  u32 exclusive;       // scan: without the rank's own
  const Rank* table;   // where the ranks are if there are more than fit below
  Rank rank[RANKS ? RANKS : MOST_RANKS];
  MEETING
};

#if RANKS
#define COUNT RANKS
#define RANK(r) args.rank[r]
#define UNROLL_RANKS _Pragma("unroll")
#define BATCH (RANKS >= 8 ? 1 : RANKS >= 4 ? 2 : 4)
#else
#define COUNT ((int)args.ranks)
#define RANK(r) (args.table ? args.table[r] : args.rank[r])
#define UNROLL_RANKS _Pragma("unroll 4")
#define BATCH 1
#endif

DEVICE A scaled(A x, u64 scalar) {
#if FOLD == FOLD_MUL_SUM
  return scale(x, scalar_of(scalar));
#else
  return x;
#endif
}

DEVICE u64 at(const void* p) { return (u64)p; }

// Elements before the first vector if all addresses have the same place in one, else all of them.
DEVICE u64 head_of(u64 first, u64 differing, u64 count) {
  if ((differing & 15) || (first & (sizeof(S) - 1))) return count;
  u64 head = (16 - (first & 15)) % 16 / sizeof(S);
  return head < count ? head : count;
}

DEVICE A fold_element(const Args& args, u64 byte) {
  A a = scaled(decode(*(const S*)(RANK(0).in + byte)), RANK(0).scalar);
  UNROLL_RANKS
  for (int r = 1; r < COUNT; r++) a = fold(a, scaled(decode(*(const S*)(RANK(r).in + byte)), RANK(r).scalar));
  return finish(a, args.divisor);
}

#if RANKS
DEVICE Vector fold_loaded(const Args& args, const Vector* v) {
  A a[PER_VECTOR];
  decode_vector(v[0], a);
#pragma unroll
  for (int k = 0; k < PER_VECTOR; k++) a[k] = scaled(a[k], RANK(0).scalar);
#pragma unroll
  for (int r = 1; r < RANKS; r++) {
    A x[PER_VECTOR];
    decode_vector(v[r], x);
#pragma unroll
    for (int k = 0; k < PER_VECTOR; k++) a[k] = fold(a[k], scaled(x[k], RANK(r).scalar));
  }
#pragma unroll
  for (int k = 0; k < PER_VECTOR; k++) a[k] = finish(a[k], args.divisor);
  return encode_vector(a);
}
#else
DEVICE Vector fold_vector(const Args& args, u64 byte) {
  A a[PER_VECTOR];
  decode_vector(load_vector(RANK(0).in + byte), a);
#pragma unroll
  for (int k = 0; k < PER_VECTOR; k++) a[k] = scaled(a[k], RANK(0).scalar);
#pragma unroll 4
  for (int r = 1; r < COUNT; r++) {
    A x[PER_VECTOR];
    decode_vector(load_vector(RANK(r).in + byte), x);
#pragma unroll
    for (int k = 0; k < PER_VECTOR; k++) a[k] = fold(a[k], scaled(x[k], RANK(r).scalar));
  }
#pragma unroll
  for (int k = 0; k < PER_VECTOR; k++) a[k] = finish(a[k], args.divisor);
  return encode_vector(a);
}
#endif

// Folds elements [from, from + count) of all inputs and gives each result to `put`, which knows where it goes.
template <class Put>
DEVICE void fold_range(const Args& args, const Part& part, u64 from, u64 count, u64 differing, Put put) {
  u64 first = at(RANK(0).in) + from * sizeof(S);
  u64 head = head_of(first, differing, count);
  u64 thread = part.thread(), threads = part.threads();
  for (u64 i = thread; i < head; i += threads) put.element(i, fold_element(args, (from + i) * sizeof(S)));
  u64 vectors = (count - head) / PER_VECTOR;
  u64 base = (from + head) * sizeof(S);
#if RANKS
  // Large: each block takes runs of consecutive vectors, which memory likes, and loads a batch before it folds. Small: as many
  // blocks as there is work for.
  u64 i = thread, step = threads;
  if (BATCH > 1 && vectors >= threads * BATCH) {
    u64 run = (u64)blockDim.x * BATCH;
    u64 whole = vectors / run * run;
    for (u64 tile = part.block * run; tile < whole; tile += part.blocks * run) {
      Vector v[BATCH][RANKS];
#pragma unroll
      for (int b = 0; b < BATCH; b++)
#pragma unroll
        for (int r = 0; r < RANKS; r++)
          v[b][r] = load_vector(RANK(r).in + base + (tile + b * blockDim.x + threadIdx.x) * 16);
#pragma unroll
      for (int b = 0; b < BATCH; b++)
        put.vector(head, tile + b * blockDim.x + threadIdx.x, fold_loaded(args, v[b]));
    }
    i += whole;
  }
  for (; i < vectors; i += step) {
    Vector v[RANKS];
#pragma unroll
    for (int r = 0; r < RANKS; r++) v[r] = load_vector(RANK(r).in + base + i * 16);
    put.vector(head, i, fold_loaded(args, v));
  }
#else
  for (u64 i = thread; i < vectors; i += threads) put.vector(head, i, fold_vector(args, base + i * 16));
#endif
  for (u64 j = head + vectors * PER_VECTOR + thread; j < count; j += threads)
    put.element(j, fold_element(args, (from + j) * sizeof(S)));
}

struct ToAll {
  const Args& args;
  DEVICE void element(u64 i, A a) {
    S s = encode(a);
    UNROLL_RANKS
    for (int r = 0; r < COUNT; r++)
      if (RANK(r).out) ((S*)RANK(r).out)[i] = s;
  }
  DEVICE void vector(u64 head, u64 i, const Vector& v) {
    UNROLL_RANKS
    for (int r = 0; r < COUNT; r++)
      if (RANK(r).out) store_vector(RANK(r).out + head * sizeof(S) + i * 16, v);
  }
};

struct ToOne {
  char* out;
  DEVICE void element(u64 i, A a) { ((S*)out)[i] = encode(a); }
  DEVICE void vector(u64 head, u64 i, const Vector& v) { store_vector(out + head * sizeof(S) + i * 16, v); }
};

#if APART
DEVICE void fetch_inputs(const Args& args, const Part& part, u64 from, u64 count) {
  for (int r = 0; r < COUNT; r++) fetch_ahead(part, RANK(r).in + from * sizeof(S), count * sizeof(S));
}
#endif

// All-reduce, and reduce when all outputs but the root's are null.
extern "C" __global__ void LAUNCH_BOUNDS fused_reduce(const GRID_CONSTANT Args args) {
  ARRIVE_FETCHING(args, cell, fetch_inputs(args, cell.part, 0, args.count))
  u64 differing = 0;
  UNROLL_RANKS
  for (int r = 0; r < COUNT; r++) {
    differing |= at(RANK(r).in) ^ at(RANK(0).in);
    if (RANK(r).out) differing |= at(RANK(r).out) ^ at(RANK(0).in);
  }
  ToAll put = {args};
  EACH_CELL(args, cell) fold_range(args, cell.part, 0, args.count, differing, put);
  LEAVE(args)
}

DEVICE void reduce_row(const Args& args, const Part& part, u32 row) {
#if RANKS
  // Chosen by comparing rather than by index, which would put all pointers into slow memory.
  char* out = 0;
  u64 from = 0, count = 0;
#pragma unroll
  for (int r = 0; r < RANKS; r++)
    if (r == (int)row) out = RANK(r).out, from = RANK(r).offset, count = RANK(r).count;
#else
  char* out = RANK(row).out;
  u64 from = RANK(row).offset, count = RANK(row).count;
#endif
  u64 differing = at(out) ^ (at(RANK(0).in) + from * sizeof(S));
  UNROLL_RANKS
  for (int r = 1; r < COUNT; r++) differing |= at(RANK(r).in) ^ at(RANK(0).in);
  ToOne put = {out};
  fold_range(args, part, from, count, differing, put);
}

// Row r of the grid is rank r's result.
extern "C" __global__ void LAUNCH_BOUNDS fused_reduce_scatter(const GRID_CONSTANT Args args) {
  ARRIVE_FETCHING(args, cell, fetch_inputs(args, cell.part, RANK(cell.row).offset, RANK(cell.row).count))
  EACH_CELL(args, cell) reduce_row(args, cell.part, cell.row);
  LEAVE(args)
}

DEVICE void scan_element(const Args& args, u64 i) {
  A a = scaled(decode(((const S*)RANK(0).in)[i]), RANK(0).scalar);
  if (!args.exclusive) ((S*)RANK(0).out)[i] = encode(a);
  for (int r = 1; r < COUNT; r++) {
    // Read before it is written: the two may be the same memory.
    A x = scaled(decode(((const S*)RANK(r).in)[i]), RANK(r).scalar);
    A next = fold(a, x);
    ((S*)RANK(r).out)[i] = encode(args.exclusive ? a : next);
    a = next;
  }
}

DEVICE void scan_part(const Args& args, const Part& part, u64 differing) {
  u64 head = head_of(at(RANK(0).in), differing, args.count);
  u64 thread = part.thread(), threads = part.threads();
  for (u64 i = thread; i < head; i += threads) scan_element(args, i);
  u64 vectors = (args.count - head) / PER_VECTOR;
  for (u64 i = thread; i < vectors; i += threads) {
    u64 byte = head * sizeof(S) + i * 16;
    A a[PER_VECTOR];
    decode_vector(load_vector(RANK(0).in + byte), a);
#pragma unroll
    for (int k = 0; k < PER_VECTOR; k++) a[k] = scaled(a[k], RANK(0).scalar);
    if (!args.exclusive) store_vector(RANK(0).out + byte, encode_vector(a));
    UNROLL_RANKS
    for (int r = 1; r < COUNT; r++) {
      A x[PER_VECTOR];
      decode_vector(load_vector(RANK(r).in + byte), x);
      if (args.exclusive) store_vector(RANK(r).out + byte, encode_vector(a));
#pragma unroll
      for (int k = 0; k < PER_VECTOR; k++) a[k] = fold(a[k], scaled(x[k], RANK(r).scalar));
      if (!args.exclusive) store_vector(RANK(r).out + byte, encode_vector(a));
    }
  }
  for (u64 j = head + vectors * PER_VECTOR + thread; j < args.count; j += threads) scan_element(args, j);
}

// Rank r gets the reduction of ranks 0 to r, or to r - 1.
extern "C" __global__ void LAUNCH_BOUNDS fused_scan(const GRID_CONSTANT Args args) {
  ARRIVE_FETCHING(args, cell, fetch_inputs(args, cell.part, 0, args.count))
  u64 differing = 0;
  for (int r = 0; r < COUNT; r++)
    differing |= (at(RANK(r).in) ^ at(RANK(0).in)) | (RANK(r).out ? at(RANK(r).out) ^ at(RANK(0).in) : 0);
  EACH_CELL(args, cell) scan_part(args, cell.part, differing);
  LEAVE(args)
}
