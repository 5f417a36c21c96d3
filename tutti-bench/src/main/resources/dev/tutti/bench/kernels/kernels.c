/* What a C programmer writes: one loop per type and fold, c = a op b, left to the compiler. Same results as Tutti's
 * kernels for numbers; minimum and maximum do not care about NaN and the sign of zero, which favours C; those that
 * do are called exact. */
#include <stdint.h>
#include <string.h>
#if defined(__F16C__)
#include <immintrin.h>
#endif

#define LOOP(name, type, expression)                                                                                  \
    void name(const type *restrict a, const type *restrict b, type *restrict c, int64_t n, int64_t aux) {             \
        (void) aux;                                                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                                             \
            type x = a[i], y = b[i];                                                                                  \
            c[i] = (type) (expression);                                                                               \
        }                                                                                                             \
    }

#define INTEGER(name, type)                                                                                           \
    LOOP(name##_sum, type, x + y)                                                                                     \
    LOOP(name##_prod, type, (unsigned long long) x * (unsigned long long) y)                                          \
    LOOP(name##_min, type, y < x ? y : x)                                                                             \
    LOOP(name##_max, type, y > x ? y : x)                                                                             \
    LOOP(name##_and, type, x &y)                                                                                      \
    LOOP(name##_or, type, x | y)                                                                                      \
    LOOP(name##_xor, type, x ^ y)                                                                                     \
    LOOP(name##_avg, type, (type) (x + y) / (type) aux)                                                               \
    LOOP(name##_mul_sum, type, x *(type) aux + y)

INTEGER(int8, int8_t)
INTEGER(uint8, uint8_t)
INTEGER(int16, int16_t)
INTEGER(uint16, uint16_t)
INTEGER(int32, int32_t)
INTEGER(uint32, uint32_t)
INTEGER(int64, int64_t)
INTEGER(uint64, uint64_t)

static inline float float_of_bits(uint32_t bits) {
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

static inline uint32_t bits_of_float(float f) {
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return bits;
}

static inline double double_of_bits(int64_t bits) {
    double d;
    memcpy(&d, &bits, 8);
    return d;
}

LOOP(float32_sum, float, x + y)
LOOP(float32_prod, float, x *y)
LOOP(float32_min, float, y < x ? y : x)
LOOP(float32_max, float, y > x ? y : x)
LOOP(float32_avg, float, (x + y) / (float) aux)
LOOP(float32_mul_sum, float, x *float_of_bits((uint32_t) aux) + y)
LOOP(float64_sum, double, x + y)
LOOP(float64_prod, double, x *y)
LOOP(float64_min, double, y < x ? y : x)
LOOP(float64_max, double, y > x ? y : x)
LOOP(float64_avg, double, (x + y) / (double) aux)
LOOP(float64_mul_sum, double, x *double_of_bits(aux) + y)

/* Minimum and maximum as Tutti promises them: NaN wins, and -0 is less than 0. */
#define EXACT(name, type, bits)                                                                                       \
    LOOP(name##_min_exact, type, (x < y) | (x != x) | ((x == y) & (bits(x) < 0)) ? x : y)                             \
    LOOP(name##_max_exact, type, (x > y) | (x != x) | ((x == y) & (bits(y) < 0)) ? x : y)

static inline int64_t bits_of_double(double d) {
    int64_t bits;
    memcpy(&bits, &d, 8);
    return bits;
}

#define signed_bits(f) ((int32_t) bits_of_float(f))

EXACT(float32, float, signed_bits)
EXACT(float64, double, bits_of_double)

/* Types that accumulate in float: decode, fold, encode. */
#define SMALL(name, type, decode, encode)                                                                             \
    LOOP(name##_sum, type, encode(decode(x) + decode(y)))                                                             \
    LOOP(name##_prod, type, encode(decode(x) * decode(y)))                                                            \
    LOOP(name##_min, type, encode(decode(y) < decode(x) ? decode(y) : decode(x)))                                     \
    LOOP(name##_max, type, encode(decode(y) > decode(x) ? decode(y) : decode(x)))                                     \
    LOOP(name##_avg, type, encode((decode(x) + decode(y)) / (float) aux))                                             \
    LOOP(name##_mul_sum, type, encode(decode(x) * float_of_bits((uint32_t) aux) + decode(y)))

static inline float bfloat16_decode(uint16_t x) {
    return float_of_bits((uint32_t) x << 16);
}

/* Written without a branch: gcc then finds vectors, and is ten times as fast. */
static inline uint16_t bfloat16_encode(float f) {
    uint32_t bits = bits_of_float(f);
    uint32_t rounded = bits + 0x7FFF + (bits >> 16 & 1);
    uint32_t nan = bits | 0x400000;
    return (uint16_t) (((bits & 0x7FFFFFFF) > 0x7F800000 ? nan : rounded) >> 16);
}

SMALL(bfloat16, uint16_t, bfloat16_decode, bfloat16_encode)

static float e4m3_table[256], e5m2_table[256];

#define e4m3_decode(x) e4m3_table[x]
#define e5m2_decode(x) e5m2_table[x]

static inline uint8_t float8_encode(float f, uint32_t largest, int bias, int mantissa) {
    uint32_t bits = bits_of_float(f), magnitude = bits & 0x7FFFFFFF, sign = bits >> 24 & 0x80;
    uint32_t finite = magnitude < largest ? magnitude : largest;
    uint32_t power = finite & 0x7F800000;
    power = power > (uint32_t) bias << 23 ? power : (uint32_t) bias << 23;
    uint32_t anchor = power + ((uint32_t) (23 - mantissa) << 23);
    uint32_t rest = bits_of_float(float_of_bits(finite) + float_of_bits(anchor)) - anchor;
    uint32_t rounded = (power >> (23 - mantissa)) - ((uint32_t) bias << mantissa) + rest;
    return (uint8_t) (sign | (magnitude > 0x7F800000 ? 0x7F : rounded));
}

static inline uint8_t e4m3_encode(float f) {
    return float8_encode(f, 0x43E00000, 121, 3);
}

static inline uint8_t e5m2_encode(float f) {
    return float8_encode(f, 0x47600000, 113, 2);
}

SMALL(float8e4m3, uint8_t, e4m3_decode, e4m3_encode)
SMALL(float8e5m2, uint8_t, e5m2_decode, e5m2_encode)

__attribute__((constructor)) static void fill_tables(void) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t sign = (i & 0x80) << 24, magnitude = i & 0x7F;
        float e4m3 = float_of_bits(magnitude << 20) * 0x1p120f;
        float e5m2 = float_of_bits(magnitude << 21) * 0x1p112f;
        e4m3_table[i] = float_of_bits(sign | (magnitude == 0x7F ? 0x7FC00000 : bits_of_float(e4m3)));
        e5m2_table[i] = float_of_bits(sign | bits_of_float(e5m2) | ((magnitude & 0x7C) == 0x7C ? 0x7F800000 : 0));
    }
}

#if defined(__F16C__)
int float16_is_f16c(void) {
    return 1;
}

#define FLOAT16(name, expression)                                                                                     \
    void float16_##name(const uint16_t *restrict a, const uint16_t *restrict b, uint16_t *restrict c, int64_t n,      \
            int64_t aux) {                                                                                            \
        __m256 divisor = _mm256_set1_ps((float) aux), factor = _mm256_set1_ps(float_of_bits((uint32_t) aux));         \
        (void) divisor;                                                                                               \
        (void) factor;                                                                                                \
        for (int64_t i = 0; i < n; i += 8) {                                                                          \
            __m256 x = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *) (a + i)));                                   \
            __m256 y = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *) (b + i)));                                   \
            _mm_storeu_si128((__m128i *) (c + i), _mm256_cvtps_ph(expression, _MM_FROUND_TO_NEAREST_INT));            \
        }                                                                                                             \
    }

/* n is a multiple of 8 here: tails are not what is measured. */
FLOAT16(sum, _mm256_add_ps(x, y))
FLOAT16(prod, _mm256_mul_ps(x, y))
FLOAT16(min, _mm256_min_ps(x, y))
FLOAT16(max, _mm256_max_ps(x, y))
FLOAT16(avg, _mm256_div_ps(_mm256_add_ps(x, y), divisor))
FLOAT16(mul_sum, _mm256_add_ps(_mm256_mul_ps(x, factor), y))
#else
int float16_is_f16c(void) {
    return 0;
}

#define half_decode(x) ((float) (x))
#define half_encode(f) ((_Float16) (f))
SMALL(float16, _Float16, half_decode, half_encode)
#endif
