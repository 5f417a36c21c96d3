// Lets a C++ compiler for hosts take the kernel sources: one thread of the host plays all threads of the device in turn, or,
// for kernels whose blocks wait for each other, one thread each block.
#pragma once
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
