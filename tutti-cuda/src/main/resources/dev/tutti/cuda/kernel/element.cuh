// One element type, chosen by TYPE: how it is stored (S), in what it is accumulated (A), and the way between the two.
// Numbers are those of dev.tutti.DataType. The bits must be those of dev.tutti.reduce.SmallFloats.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define INT8 0
#define UINT8 1
#define INT32 2
#define UINT32 3
#define INT64 4
#define UINT64 5
#define FLOAT16 6
#define FLOAT32 7
#define FLOAT64 8
#define BFLOAT16 9
#define FLOAT8E4M3 10
#define FLOAT8E5M2 11
#define INT16 12
#define UINT16 13

#ifndef TUTTI_HOST
#define DEVICE __device__ __forceinline__
#define GRID_CONSTANT __grid_constant__
DEVICE u32 float_bits(float f) { return __float_as_uint(f); }
DEVICE float bits_float(u32 b) { return __uint_as_float(b); }
DEVICE u64 double_bits(double d) { return (u64)__double_as_longlong(d); }
DEVICE double bits_double(u64 b) { return __longlong_as_double((long long)b); }
DEVICE float half_to_float(u16 h) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
  return f;
}
DEVICE u16 float_to_half(float f) {
  u16 h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
  return h;
}
#else
#define GRID_CONSTANT
#endif

// For delays that a seed decides.
DEVICE u32 mixed(u32 x) {
  x = (x ^ (x >> 16)) * 0x7FEB352Du;
  x = (x ^ (x >> 15)) * 0x846CA68Bu;
  return x ^ (x >> 16);
}

struct alignas(16) Vector {
  u32 w[4];
};

// Streaming: nothing here is read twice, so it should not push other data out of the cache.
DEVICE Vector load_vector(const void* from) {
#ifndef TUTTI_HOST
  uint4 v = __ldcs((const uint4*)from);
  Vector r = {{v.x, v.y, v.z, v.w}};
  return r;
#else
  return *(const Vector*)from;
#endif
}

DEVICE void store_vector(void* to, const Vector& v) {
#ifndef TUTTI_HOST
  __stcs((uint4*)to, make_uint4(v.w[0], v.w[1], v.w[2], v.w[3]));
#else
  *(Vector*)to = v;
#endif
}

DEVICE float e4m3_to_float(u8 b) {
  u32 magnitude = b & 0x7F;
  // Exponent and mantissa where float32 has them; the factor corrects the bias and normalises subnormals.
  float f = magnitude == 0x7F ? bits_float(0x7FC00000) : bits_float(magnitude << 20) * bits_float(247u << 23);
  return bits_float(float_bits(f) | (u32)(b & 0x80) << 24);
}

DEVICE float e5m2_to_float(u8 b) { return half_to_float((u16)(b << 8)); }

// Adding 2^(23-m) times the value's power of two leaves m bits of mantissa, rounded by the adder; below the smallest normal
// the power stays, so that subnormals come out of the same sum.
DEVICE u8 float_to_small(float f, u32 largest, u32 smallest_power, u32 shift, u32 bias) {
  u32 bits = float_bits(f);
  u32 magnitude = bits & 0x7FFFFFFF;
  u32 sign = bits >> 24 & 0x80;
  if (magnitude > 0x7F800000) return (u8)(sign | 0x7F);
  u32 finite = magnitude < largest ? magnitude : largest;
  u32 power = finite & 0x7F800000;
  if (power < smallest_power << 23) power = smallest_power << 23;
  u32 anchor = power + (shift << 23);
  u32 mantissa = float_bits(bits_float(finite) + bits_float(anchor)) - anchor;
  return (u8)(sign | ((power >> shift) - bias + mantissa));
}

DEVICE u8 float_to_e4m3(float f) { return float_to_small(f, 0x43E00000, 121, 20, 121u << 3); }
DEVICE u8 float_to_e5m2(float f) { return float_to_small(f, 0x47600000, 113, 21, 113u << 2); }

DEVICE u16 float_to_bfloat16(float f) {
  u32 bits = float_bits(f);
  u32 rounded = (bits & 0x7FFFFFFF) > 0x7F800000 ? bits | 0x400000 : bits + 0x7FFF + (bits >> 16 & 1);
  return (u16)(rounded >> 16);
}

#if TYPE == INT8
typedef signed char S;
typedef int A;
#elif TYPE == UINT8
typedef u8 S;
typedef u32 A;
#elif TYPE == INT16
typedef short S;
typedef int A;
#elif TYPE == UINT16
typedef u16 S;
typedef u32 A;
#elif TYPE == INT32
typedef int S;
typedef int A;
#elif TYPE == UINT32
typedef u32 S;
typedef u32 A;
#elif TYPE == INT64
typedef long long S;
typedef long long A;
#elif TYPE == UINT64
typedef u64 S;
typedef u64 A;
#elif TYPE == FLOAT16 || TYPE == BFLOAT16
typedef u16 S;
typedef float A;
#elif TYPE == FLOAT8E4M3 || TYPE == FLOAT8E5M2
typedef u8 S;
typedef float A;
#elif TYPE == FLOAT32
typedef float S;
typedef float A;
#elif TYPE == FLOAT64
typedef double S;
typedef double A;
#endif

#define IS_FLOAT (TYPE >= FLOAT16 && TYPE <= FLOAT8E5M2)
#define PER_VECTOR (16 / (int)sizeof(S))

DEVICE A decode(S s) {
#if TYPE == FLOAT16
  return half_to_float(s);
#elif TYPE == BFLOAT16
  return bits_float((u32)s << 16);
#elif TYPE == FLOAT8E4M3
  return e4m3_to_float(s);
#elif TYPE == FLOAT8E5M2
  return e5m2_to_float(s);
#else
  return (A)s;
#endif
}

DEVICE S encode(A a) {
#if TYPE == FLOAT16
  return float_to_half(a);
#elif TYPE == BFLOAT16
  return float_to_bfloat16(a);
#elif TYPE == FLOAT8E4M3
  return float_to_e4m3(a);
#elif TYPE == FLOAT8E5M2
  return float_to_e5m2(a);
#else
  return (S)a;
#endif
}

union Elements {
  Vector v;
  S s[PER_VECTOR];
};

DEVICE void decode_vector(const Vector& v, A* a) {
#if (TYPE == FLOAT8E4M3 || TYPE == FLOAT8E5M2) && !defined(TUTTI_HOST) && __CUDA_ARCH__ >= 890
  // Two at a time by the processor's own conversion; exact, so the same as above.
#pragma unroll
  for (int k = 0; k < 8; k++) {
    u16 pair = (u16)(v.w[k / 2] >> (k % 2 * 16));
    u32 halves;
#if TYPE == FLOAT8E4M3
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(pair));
#else
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(pair));
#endif
    a[2 * k] = half_to_float((u16)halves);
    a[2 * k + 1] = half_to_float((u16)(halves >> 16));
  }
#else
  Elements e;
  e.v = v;
#pragma unroll
  for (int k = 0; k < PER_VECTOR; k++) a[k] = decode(e.s[k]);
#endif
}

DEVICE Vector encode_vector(const A* a) {
  Elements e;
#pragma unroll
  for (int k = 0; k < PER_VECTOR; k++) e.s[k] = encode(a[k]);
  return e.v;
}
