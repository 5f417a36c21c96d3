// One operator, chosen by FOLD: numbers of dev.tutti.reduce.Fold, and 9 for a function of the user's.
#pragma once
#include "element.cuh"

#define FOLD_SUM 0
#define FOLD_PROD 1
#define FOLD_MIN 2
#define FOLD_MAX 3
#define FOLD_AND 4
#define FOLD_OR 5
#define FOLD_XOR 6
#define FOLD_AVG 7
#define FOLD_MUL_SUM 8
#define FOLD_USER 9

#if FOLD == FOLD_USER
#include "user.cuh"
#endif

#if TYPE == FLOAT64
DEVICE u64 bits_of(double d) { return double_bits(d); }
DEVICE double of_bits(u64 b) { return bits_double(b); }
DEVICE double not_a_number() { return bits_double(0x7FF8000000000000ull); }
#elif IS_FLOAT
DEVICE u32 bits_of(float f) { return float_bits(f); }
DEVICE float of_bits(u32 b) { return bits_float(b); }
DEVICE float not_a_number() { return bits_float(0x7FC00000); }
#endif

// By a built-in operator.
template <int F>
DEVICE A fold_by(A a, A x) {
#if IS_FLOAT
  if (F == FOLD_PROD) return a * x;
  // NaN wins, and -0 is less than +0: equal numbers differ in the sign at most.
  if (F == FOLD_MIN) return a < x ? a : x < a ? x : a == x ? of_bits(bits_of(a) | bits_of(x)) : not_a_number();
  if (F == FOLD_MAX) return a > x ? a : x > a ? x : a == x ? of_bits(bits_of(a) & bits_of(x)) : not_a_number();
  return a + x;
#else
  if (F == FOLD_PROD) return (A)((u64)a * (u64)x);
  if (F == FOLD_MIN) return a < x ? a : x;
  if (F == FOLD_MAX) return a > x ? a : x;
  if (F == FOLD_AND) return a & x;
  if (F == FOLD_OR) return a | x;
  if (F == FOLD_XOR) return a ^ x;
  return (A)((u64)a + (u64)x);
#endif
}

DEVICE A fold(A a, A x) {
#if FOLD == FOLD_USER
  return user(a, x);
#else
  return fold_by<FOLD>(a, x);
#endif
}

// The scalar of preMulSum, in the accumulation type.
DEVICE A scalar_of(u64 bits) {
#if TYPE == FLOAT64
  return bits_double(bits);
#elif IS_FLOAT
  return bits_float((u32)bits);
#else
  return (A)(S)bits;
#endif
}

DEVICE A scale(A x, A scalar) {
#if IS_FLOAT
  return x * scalar;
#else
  return (A)((u64)x * (u64)scalar);
#endif
}

// What a sum becomes at the end.
template <int F>
DEVICE A finish_by(A a, u64 divisor) {
  if (F != FOLD_AVG) return a;
#if IS_FLOAT
  return a / (A)divisor;
#else
  // A sum wraps in its own width before it is divided.
  return (A)(S)a / (A)divisor;
#endif
}

DEVICE A finish(A a, u64 divisor) { return finish_by<FOLD>(a, divisor); }
