// Lets a C++ compiler for hosts take the kernel sources: one thread of the host plays all threads of the device in turn, or,
// for kernels whose blocks wait for each other, one thread each block.
#pragma once
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#define TUTTI_HOST 1
#define DEVICE inline
#define __global__
#define __device__
#define __shared__ thread_local
#define __launch_bounds__(...)

struct Place {
  unsigned x, y, z;
};
inline thread_local Place blockIdx, blockDim, threadIdx, gridDim;

template <class To, class From>
inline To same_bits(From from) {
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}
inline unsigned float_bits(float f) { return same_bits<unsigned>(f); }
inline float bits_float(unsigned b) { return same_bits<float>(b); }
inline unsigned long long double_bits(double d) { return same_bits<unsigned long long>(d); }
inline double bits_double(unsigned long long b) { return same_bits<double>(b); }
inline float half_to_float(unsigned short h) { return (float)same_bits<_Float16>(h); }
inline unsigned short float_to_half(float f) { return same_bits<unsigned short>((_Float16)f); }

// All threads of all blocks, one after the other.
template <class Args, class Kernel>
void play(Kernel kernel, const Args& args, unsigned x, unsigned y, unsigned z, unsigned threads) {
  gridDim = {x, y, z};
  blockDim = {threads, 1, 1};
  for (blockIdx.z = 0; blockIdx.z < z; blockIdx.z++)
    for (blockIdx.y = 0; blockIdx.y < y; blockIdx.y++)
      for (blockIdx.x = 0; blockIdx.x < x; blockIdx.x++)
        for (threadIdx.x = 0; threadIdx.x < threads; threadIdx.x++) kernel(args);
}

// ---- for kernels whose blocks wait for each other ----

template <class T>
inline T load_acquire(T* p) {
  return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}
inline unsigned long long load_packet(const unsigned long long* p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
inline void store_packet(unsigned long long* p, unsigned long long v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
template <class T>
inline T add_release(T* p, T v) {
  return __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL);
}
template <class T, class V>
inline T add_release(T* p, V v) {
  return __atomic_fetch_add(p, (T)v, __ATOMIC_ACQ_REL);
}
inline bool take(unsigned* p, unsigned seen) {
  return __atomic_compare_exchange_n(p, &seen, seen - 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}
inline void fence() {}
inline bool any_in_block(bool mine) { return mine; }
inline bool any_of_block(bool mine) { return mine; }
inline unsigned long long load_from_peer(unsigned long long* p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
inline void tell_peer(unsigned long long* p, unsigned long long v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
inline void fetch_line(const char*) {}
inline void store_to_peer(unsigned long long* p, unsigned long long v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
inline unsigned long long add_one(unsigned long long* p) { return __atomic_fetch_add(p, 1ull, __ATOMIC_ACQ_REL); }
inline unsigned long long peek_at_peer(unsigned long long* p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
inline void fence_for_peers() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void pause_waiting() { std::this_thread::yield(); }
inline void pause_nanos(unsigned nanos) { std::this_thread::sleep_for(std::chrono::nanoseconds(nanos)); }
inline unsigned long long clock_nanos() {
  return (unsigned long long)std::chrono::steady_clock::now().time_since_epoch().count();
}
inline void relax() { std::this_thread::yield(); }
inline void sleep_some(unsigned) { std::this_thread::yield(); }

// One thread of the host for each block of one thread.
template <class Args, class Kernel>
void play_blocks(Kernel kernel, const Args& args, unsigned blocks) {
  std::vector<std::thread> threads;
  for (unsigned b = 0; b < blocks; b++)
    threads.emplace_back([&, b] {
      gridDim = {blocks, 1, 1};
      blockDim = {1, 1, 1};
      blockIdx = {b, 0, 0};
      threadIdx = {0, 0, 0};
      kernel(args);
    });
  for (auto& each : threads) each.join();
}
