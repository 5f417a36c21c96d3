// Runs a plan: one block per lane, all lanes of all ranks in one launch in which all blocks are resident. Records are those of
// dev.tutti.exec.Records, bound to addresses of the device. TYPE chooses the elements; each record names its operator.
//
// Whatever waits looks at the abort word, so a plan that cannot go on ends with a report and not with a hanging device.
#define FOLD 0
#include "fold.cuh"

#define DATA 1
#define PACKETS 2
#define SIGNAL 3
#define WAIT 4
#define ACQUIRE 5
#define RELEASE 6
#define BARRIER 7
#define LOOP 16
#define END 17

#define PLAIN_SOURCE 1
#define PLAIN_DESTINATION 2
#define LOOPED 8
#define CLIPPED 16
#define RAW 32
#define COPY 0xFFFF

#define SPINS_PER_LOOK 256

struct LaneTable {
  const u64* code;
  u64 words;
  u32* semaphores;   // of the rank
  u64* arrivals;     // at the rank's barriers
  u64 scalar;        // of the rank's preMulSum
  u64 ranks;         // what avg divides by
};

struct Args {
  const LaneTable* lanes;
  volatile u32* abort;    // of the host: not 0 to end everything
  volatile u64* reports;  // of the host, a word per lane: 0 while it runs, 1 done, else 2 + where it gave up
  u32 flag;
  u32 delays;             // not 0: wait a little before every record, differently for each seed
};

// ---- what differs between a device and a host that plays one ----

#ifndef TUTTI_HOST
DEVICE u64 load_acquire(u64* p) {
  u64 v;
  asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
}
DEVICE u32 load_acquire(u32* p) {
  u32 v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
DEVICE u64 load_packet(const u64* p) {
  u64 v;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
}
DEVICE void store_packet(u64* p, u64 v) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}
DEVICE u64 add_release(u64* p, u64 v) {
  __threadfence();
  return atomicAdd((unsigned long long*)p, (unsigned long long)v);
}
DEVICE u32 add_release(u32* p, u32 v) {
  __threadfence();
  return atomicAdd(p, v);
}
DEVICE bool take(u32* p, u32 seen) { return atomicCAS(p, seen, seen - 1) == seen; }
DEVICE void fence() { __threadfence(); }
DEVICE bool any_in_block(bool mine) { return __syncthreads_or(mine) != 0; }
DEVICE void relax() {}
DEVICE void sleep_some(u32 nanos) { __nanosleep(nanos); }
#endif

// Looks at the abort word now and then.
struct Patience {
  volatile u32* abort;
  u32 spins = 0;
  DEVICE explicit Patience(volatile u32* word) : abort(word) {}
  DEVICE bool ends() {
    relax();
    return ++spins % SPINS_PER_LOOK == 0 && *abort != 0;
  }
};

// ---- plain data ----

DEVICE void copy_span(const char* from, char* const* to, int count, u64 bytes) {
  u64 differing = 0;
  for (int d = 0; d < count; d++) differing |= (u64)to[d] ^ (u64)from;
  u64 word = differing & 15 ? differing & 3 ? 1 : 4 : 16;
  u64 head = (word - ((u64)from & (word - 1))) & (word - 1);
  if (head > bytes) head = bytes;
  u64 words = (bytes - head) / word;
  u64 tail = head + words * word;
  for (u64 i = threadIdx.x; i < head; i += blockDim.x)
    for (int d = 0; d < count; d++) to[d][i] = from[i];
  if (word == 16) {
    for (u64 i = threadIdx.x; i < words; i += blockDim.x) {
      Vector v = load_vector(from + head + i * 16);
      for (int d = 0; d < count; d++) store_vector(to[d] + head + i * 16, v);
    }
  } else {
    for (u64 i = threadIdx.x; i < words; i += blockDim.x)
      for (int d = 0; d < count; d++)
        if (word == 4)
          *(u32*)(to[d] + head + i * 4) = *(const u32*)(from + head + i * 4);
        else
          to[d][head + i] = from[head + i];
  }
  for (u64 i = tail + threadIdx.x; i < bytes; i += blockDim.x)
    for (int d = 0; d < count; d++) to[d][i] = from[i];
}

// What a fold takes beside its operands: the source that preMulSum multiplies, or -1; its scalar; what avg divides by.
struct Extra {
  int scaled;
  A scalar;
  u64 divisor;
};

template <int F>
DEVICE A fresh(A x, int source, const Extra& extra) {
  return F == FOLD_MUL_SUM && source == extra.scaled ? scale(x, extra.scalar) : x;
}

// Sources and destinations are words of the record, each moved on by `offset`.
template <int F>
DEVICE void fold_span(const u64* from, int sources, const u64* to, int destinations, u64 offset, u64 bytes,
                      const Extra& extra) {
  u64 differing = 0;
  for (int s = 1; s < sources; s++) differing |= from[s] ^ from[0];
  for (int d = 0; d < destinations; d++) differing |= to[d] ^ from[0];
  u64 count = bytes / sizeof(S);
  u64 head = differing & 15 ? count : (16 - ((from[0] + offset) & 15)) % 16 / sizeof(S);
  if (head > count) head = count;
  u64 vectors = (count - head) / PER_VECTOR;
  u64 tail = head + vectors * PER_VECTOR;
  for (u64 i = threadIdx.x; i < vectors; i += blockDim.x) {
    u64 at = offset + head * sizeof(S) + i * 16;
    A a[PER_VECTOR];
    decode_vector(load_vector((const char*)from[0] + at), a);
#pragma unroll
    for (int k = 0; k < PER_VECTOR; k++) a[k] = fresh<F>(a[k], 0, extra);
    for (int s = 1; s < sources; s++) {
      A x[PER_VECTOR];
      decode_vector(load_vector((const char*)from[s] + at), x);
#pragma unroll
      for (int k = 0; k < PER_VECTOR; k++) a[k] = fold_by<F>(a[k], fresh<F>(x[k], s, extra));
    }
#pragma unroll
    for (int k = 0; k < PER_VECTOR; k++) a[k] = finish_by<F>(a[k], extra.divisor);
    Vector v = encode_vector(a);
    for (int d = 0; d < destinations; d++) store_vector((char*)to[d] + at, v);
  }
  // Heads and tails, or everything where addresses lie differently.
  u64 apart = count - (tail - head);
  for (u64 i = threadIdx.x; i < apart; i += blockDim.x) {
    u64 at = offset + (i < head ? i : i - head + tail) * sizeof(S);
    A a = fresh<F>(decode(*(const S*)((const char*)from[0] + at)), 0, extra);
    for (int s = 1; s < sources; s++) a = fold_by<F>(a, fresh<F>(decode(*(const S*)((const char*)from[s] + at)), s, extra));
    S value = encode(finish_by<F>(a, extra.divisor));
    for (int d = 0; d < destinations; d++) *(S*)((char*)to[d] + at) = value;
  }
}

DEVICE Extra extra_of(const LaneTable& lane, u64 fold) {
  Extra extra = {(int)(fold >> 16 & 0xFFFF) - 1, scalar_of(lane.scalar), lane.ranks};
  return extra;
}

DEVICE void run_data(const LaneTable& lane, const u64* record, int sources, int destinations, u64 offset, u64 bytes) {
  int kernel = (int)(record[2] & 0xFFFF);
  const u64* from = record + 3;
  const u64* to = from + sources;
  if (kernel == COPY) {
    // A few destinations at a time: pointers stay in registers.
    for (int d = 0; d < destinations; d += 4) {
      char* some[4];
      int n = destinations - d < 4 ? destinations - d : 4;
      for (int k = 0; k < n; k++) some[k] = (char*)to[d + k] + offset;
      copy_span((const char*)from[0] + offset, some, n, bytes);
    }
    return;
  }
  Extra extra = extra_of(lane, record[2]);
#define SPAN(F) \
  case F: fold_span<F>(from, sources, to, destinations, offset, bytes, extra); break;
  switch (kernel & 15) {
    SPAN(FOLD_SUM)
    SPAN(FOLD_PROD)
    SPAN(FOLD_MIN)
    SPAN(FOLD_MAX)
    SPAN(FOLD_AND)
    SPAN(FOLD_OR)
    SPAN(FOLD_XOR)
    SPAN(FOLD_AVG)
    SPAN(FOLD_MUL_SUM)
  }
#undef SPAN
}

// ---- packets: four bytes of data below, the launch's flag above ----

#define UNIT (sizeof(S) > 4 ? 8 : 4)
#define UNIT_WORDS (UNIT / 4)
#define UNIT_ELEMENTS (UNIT / (int)sizeof(S))

union Unit {
  u32 word[UNIT_WORDS];
  S s[UNIT_ELEMENTS];
  u8 byte[UNIT];
};

DEVICE Unit load_plain(const char* from, u64 left) {
  Unit u;
  for (int b = 0; b < (int)UNIT; b++) u.byte[b] = (u64)b < left ? ((const u8*)from)[b] : 0;
  return u;
}

DEVICE A fold_named(int f, A a, A x) {
  switch (f) {
    case FOLD_PROD: return fold_by<FOLD_PROD>(a, x);
    case FOLD_MIN: return fold_by<FOLD_MIN>(a, x);
    case FOLD_MAX: return fold_by<FOLD_MAX>(a, x);
    case FOLD_AND: return fold_by<FOLD_AND>(a, x);
    case FOLD_OR: return fold_by<FOLD_OR>(a, x);
    case FOLD_XOR: return fold_by<FOLD_XOR>(a, x);
    default: return fold_by<FOLD_SUM>(a, x);
  }
}

// Returns false if it was told to give up.
DEVICE bool run_packets(const Args& args, const LaneTable& lane, const u64* record) {
  u64 header = record[0];
  u64 bytes = record[1];
  int sources = (int)(header >> 8 & 0xFFFF), destinations = (int)(header >> 24 & 0xFFFF);
  int flags = (int)(header >> 40 & 0xFF), words = (int)(header >> 48);
  int kernel = (int)(record[2] & 0xFFFF), position = (int)(record[2] >> 32 & 0xFFFF);
  bool plainSource = flags & PLAIN_SOURCE, plainDestination = flags & PLAIN_DESTINATION;
  const char* plain = plainSource ? (const char*)record[3] : 0;
  const u64* packets = record + 3 + (plainSource ? 1 : 0);
  const u64* rest = packets + sources;
  char* store = plainDestination ? (char*)rest[0] : 0;
  const u64* out = rest + (plainDestination ? 1 : 0);
  u64 plainBytes = flags & CLIPPED ? record[words - 1] : bytes;
  if (flags & RAW) {
    for (u64 i = threadIdx.x; i < bytes / 4; i += blockDim.x) {
      u64 word = load_packet((const u64*)packets[0] + i);
      for (int d = 0; d < destinations; d++) store_packet((u64*)out[d] + i, word);
    }
    return true;
  }
  u64 flag = (u64)args.flag << 32;
  Extra extra = extra_of(lane, record[2]);
  bool averages = (kernel & 15) == FOLD_AVG;
  Patience patience(args.abort);
  for (u64 i = threadIdx.x; i < bytes / UNIT; i += blockDim.x) {
    u64 at = i * UNIT;
    u64 left = plainBytes > at ? plainBytes - at : 0;
    Unit result;
    A a[UNIT_ELEMENTS];
    int packet = 0, total = sources + (plainSource ? 1 : 0);
    for (int s = 0; s < total; s++) {
      Unit u;
      if (plainSource && (sources == 0 || s == position)) {
        u = load_plain(plain + at, left);
      } else {
        const u64* from = (const u64*)packets[packet++] + i * UNIT_WORDS;
        for (int w = 0; w < (int)UNIT_WORDS; w++) {
          u64 word = load_packet(from + w);
          while ((u32)(word >> 32) != args.flag) {
            if (patience.ends()) return false;
            word = load_packet(from + w);
          }
          u.word[w] = (u32)word;
        }
      }
      if (kernel == COPY) {
        result = u;
        break;
      }
      for (int k = 0; k < UNIT_ELEMENTS; k++) {
        A x = s == extra.scaled ? scale(decode(u.s[k]), extra.scalar) : decode(u.s[k]);
        a[k] = s == 0 ? x : fold_named(kernel & 15, a[k], x);
      }
    }
    if (kernel != COPY)
      for (int k = 0; k < UNIT_ELEMENTS; k++)
        result.s[k] = encode(averages ? finish_by<FOLD_AVG>(a[k], extra.divisor) : a[k]);
    if (store)
      for (int b = 0; b < (int)UNIT; b++)
        if ((u64)b < left) ((u8*)store)[at + b] = result.byte[b];
    for (int d = 0; d < destinations; d++)
      for (int w = 0; w < (int)UNIT_WORDS; w++)
        store_packet((u64*)out[d] + i * UNIT_WORDS + w, flag | result.word[w]);
  }
  return true;
}

// ---- order: one thread of the block does it, for all ----

// The second word of a counter's line counts what was waited for.
DEVICE bool await_signals(const Args& args, const u64* record, int channels) {
  Patience patience(args.abort);
  for (int i = 0; i < channels; i++) {
    u64* line = (u64*)record[1 + 2 * i];
    u64 expected = add_release(line + 1, 1) + 1;
    while (load_acquire(line) < expected)
      if (patience.ends()) return false;
  }
  return true;
}

DEVICE bool acquire(const Args& args, const u64* record, int count, u32* semaphores) {
  Patience patience(args.abort);
  for (int i = 0; i < count; i++) {
    u32* semaphore = semaphores + record[1 + i];
    for (;;) {
      u32 seen = load_acquire(semaphore);
      if (seen != 0 && take(semaphore, seen)) break;
      if (patience.ends()) return false;
    }
  }
  fence();
  return true;
}

DEVICE bool meet(const Args& args, u64* arrivals, u64 lanes) {
  Patience patience(args.abort);
  u64 turn = add_release(arrivals, 1) / lanes;
  while (load_acquire(arrivals) / lanes <= turn)
    if (patience.ends()) return false;
  return true;
}

DEVICE bool run_control(const Args& args, const LaneTable& lane, const u64* record, int kind) {
  int count = (int)(record[0] >> 8 & 0xFFFF);
  switch (kind) {
    case SIGNAL:
      for (int i = 0; i < count; i++) add_release((u64*)record[1 + 2 * i], 1);
      return true;
    case WAIT: return await_signals(args, record, count);
    case ACQUIRE: return acquire(args, record, count, lane.semaphores);
    case RELEASE:
      for (int i = 0; i < count; i++) add_release(lane.semaphores + record[1 + i], 1);
      return true;
    default: return meet(args, lane.arrivals + record[1], record[2]);
  }
}

DEVICE u64 clamped(long long value, u64 most) { return value < 0 ? 0 : (u64)value > most ? most : (u64)value; }

extern "C" __global__ void __launch_bounds__(512) plan_run(const GRID_CONSTANT Args args) {
  LaneTable lane = args.lanes[blockIdx.x];
  const u64* loop = 0;
  u64 iteration = 0, pc = 0;
  while (pc < lane.words) {
    const u64* record = lane.code + pc;
    u64 header = record[0];
    int kind = (int)(header & 0xFF);
    u64 next = pc + (header >> 48);
    if (kind == LOOP) {
      loop = record;
      iteration = 0;
      pc = next + (record[1] == 0 ? record[3] : 0);
      continue;
    }
    if (kind == END) {
      pc = ++iteration < loop[1] ? pc - record[1] : next;
      continue;
    }
    if (args.delays) sleep_some(mixed(args.delays ^ mixed(blockIdx.x * 0x9E37u + (u32)pc * 31u + (u32)iteration)) & 0x3FFF);
    bool failed = false;
    if (kind == DATA) {
      u64 from = 0, to = record[1];
      if (header >> 40 & LOOPED) {
        long long start = (long long)record[(header >> 48) - 1];
        from = clamped((long long)(iteration * loop[2]) - start, record[1]);
        to = clamped((long long)((iteration + 1) * loop[2]) - start, record[1]);
      }
      if (from < to) run_data(lane, record, (int)(header >> 8 & 0xFFFF), (int)(header >> 24 & 0xFFFF), from, to - from);
    } else if (kind == PACKETS) {
      failed = !run_packets(args, lane, record);
    } else if (threadIdx.x == 0) {
      failed = !run_control(args, lane, record, kind);
    }
    // Also what the next record reads was written by other threads of the block.
    if (any_in_block(failed)) {
      if (threadIdx.x == 0) args.reports[blockIdx.x] = 2 + pc;
      return;
    }
    pc = next;
  }
  if (threadIdx.x == 0) args.reports[blockIdx.x] = 1;
}
