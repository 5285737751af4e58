/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/random/random.c, tests/host/test_random.c */
#include "kernel_random.h"

#include <string.h>

#include "cpu_openmp/util/kernel_functions.h"
#include "kernel_philox.h"

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* The number of blocks that are generated at a time: GROUP, or FEW at the ends of a run. */
#define GROUP 64
#define FEW (VECTORS * (int)LANES)

/*
 * The block that lane i holds. The blocks of the lower half of a vector are in the even lanes, the blocks of the
 * upper half in the odd lanes. EVEN_LANES alternates the even lanes of two vectors, so that the words of consecutive
 * blocks become adjacent; ODD_LANES does the same for the blocks that follow. */
#if VECTOR_BYTES == 64
#define BLOCK_OF_LANE                                                                              \
    {                                                                                              \
        0, 4, 1, 5, 2, 6, 3, 7                                                                     \
    }
#define EVEN_LANES(a, b) __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14)
#define ODD_LANES(a, b) __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15)
#elif VECTOR_BYTES == 32
#define BLOCK_OF_LANE                                                                              \
    {                                                                                              \
        0, 2, 1, 3                                                                                 \
    }
#define EVEN_LANES(a, b) __builtin_shufflevector(a, b, 0, 4, 2, 6)
#define ODD_LANES(a, b) __builtin_shufflevector(a, b, 1, 5, 3, 7)
#else
#define BLOCK_OF_LANE                                                                              \
    {                                                                                              \
        0, 1                                                                                       \
    }
#define EVEN_LANES(a, b) __builtin_shufflevector(a, b, 0, 2)
#define ODD_LANES(a, b) __builtin_shufflevector(a, b, 1, 3)
#endif

/* Writes blocks first .. first + VECTORS * LANES - 1, counted modulo last + 1. A block is two 64-bit numbers:
 * words 0 (low half) and 1 (high half), then words 2 and 3. */
INLINE void make_vectors(uint64_t *out, uint64_t seed, uint64_t first, uint64_t last)
{
    const words order = BLOCK_OF_LANE, zero = {0};
    philox_blocks b;
    for (int v = 0; v < VECTORS; v++) {
        b.x[0][v] = (first + (uint64_t)(v * LANES) + order) & last;
        b.x[1][v] = b.x[0][v] >> 32;
        b.x[2][v] = b.x[3][v] = zero;
    }
    philox_rounds(&b, seed);
    for (int v = 0; v < VECTORS; v++, out += 2 * LANES) {
        words even = EVEN_LANES(b.low[v], b.high[v]), odd = ODD_LANES(b.low[v], b.high[v]);
        memcpy(out, &even, sizeof even);
        memcpy(out + LANES, &odd, sizeof odd);
    }
}

INLINE void make_blocks(uint64_t *out, uint64_t seed, uint64_t first, uint64_t last, int blocks)
{
    for (uint64_t i = 0; i < (uint64_t)blocks; i += FEW)
        make_vectors(out + 2 * i, seed, first + i, last);
}

/* ---- f32 ------------------------------------------------------------------------------------- */

/* Cosine and sine of 2 pi v for 0 <= v < 1. Whole quarter turns are subtracted exactly. The remainder is f
 * quarter turns, |f| <= 1/2; sin(pi/2 f) = f (pi/2 + f^2 S(f^2)) and cos(pi/2 f) = 1 + f^2 C(f^2), where S
 * and C are minimax polynomials (errors 2^-28 and 2^-34). */
INLINE void turn_f32(float v, float *cosine, float *sine)
{
    float shifted = 4.0f * v + ROUND_F32;
    uint32_t quarters = bits_f32(shifted);
    float f = 4.0f * v - (shifted - ROUND_F32), t = f * f;
    float s = -0x1.2dc84cp-8f;
    s = MULTIPLY_ADD(s, t, 0x1.466004p-4f);
    s = MULTIPLY_ADD(s, t, -0x1.4abbbep-1f);
    /* pi / 2 in two parts. */
    s = MULTIPLY_ADD(f, 0x1.921fb6p+0f, f * MULTIPLY_ADD(s, t, -0x1.777a5cp-25f));
    float c = 0x1.d9d57ep-11f;
    c = MULTIPLY_ADD(c, t, -0x1.55c5e0p-6f);
    c = MULTIPLY_ADD(c, t, 0x1.03c1dep-2f);
    c = MULTIPLY_ADD(c, t, -0x1.3bd3ccp+0f);
    c = MULTIPLY_ADD(c, t, 1.0f);
    uint32_t odd = 0u - (quarters & 1u), cb = bits_f32(c), sb = bits_f32(s);
    *cosine = of_f32((odd ? sb : cb) ^ ((quarters + 1u) & 2u) << 30);
    *sine = of_f32((odd ? cb : sb) ^ (quarters & 2u) << 30);
}

/* Word i of a run of blocks. */
typedef uint32_t __attribute__((may_alias)) word;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define WORD(bits, i) (((const word *)(bits))[(i) ^ 1])
#else
#define WORD(bits, i) (((const word *)(bits))[i])
#endif

INLINE void uniform_f32(float *out, const uint64_t *bits, int blocks)
{
    for (int i = 0; i < 4 * blocks; i++)
        out[i] = (float)(int32_t)(WORD(bits, i) >> 8) * 0x1p-24f;
}

INLINE void normal_f32(float *out, const uint64_t *bits, int blocks)
{
    for (int i = 0; i < 2 * blocks; i++) {
        float u = (float)WORD(bits, 2 * i) * 0x1p-32f + 0x1p-33f, cosine, sine;
        turn_f32((float)(int32_t)(WORD(bits, 2 * i + 1) >> 8) * 0x1p-24f, &cosine, &sine);
        float r = __builtin_sqrtf(-2.0f * log_normal_f32(u));
        out[2 * i] = r * cosine;
        out[2 * i + 1] = r * sine;
    }
}

INLINE void exponential_f32(float *out, const uint64_t *bits, int blocks)
{
    for (int i = 0; i < 4 * blocks; i++)
        out[i] = 0.0f - log_normal_f32((float)WORD(bits, i) * 0x1p-32f + 0x1p-33f);
}

/* ---- f64 ------------------------------------------------------------------------------------- */

/* The upper 53 bits as a number in [0, 1). If there is no instruction that converts 64-bit integers, each part of the
 * bits is placed in the low bits of a constant double, and this constant is then subtracted. */
INLINE double fraction_f64(uint64_t bits)
{
#if defined(__AVX512DQ__) || defined(__aarch64__)
    return (double)(int64_t)(bits >> 11) * 0x1p-53;
#else
    double high = of_f64(0x4130000000000000u | bits >> 32) - 0x1p20;
    return high + (of_f64(0x3fe0000000000000u | (bits & 0xffffffffu) >> 11) - 0.5);
#endif
}

/* Like turn_f32; errors 2^-58, 2^-64. */
INLINE void turn_f64(double v, double *cosine, double *sine)
{
    const double round = 0x1.8p52;
    double shifted = 4.0 * v + round;
    uint64_t quarters = bits_f64(shifted);
    double f = 4.0 * v - (shifted - round), t = f * f;
    double s = 0x1.e3ff27cd26b7ap-25;
    s = MULTIPLY_ADD(s, t, -0x1.e300989792d6fp-19);
    s = MULTIPLY_ADD(s, t, 0x1.5078300c425c5p-13);
    s = MULTIPLY_ADD(s, t, -0x1.32d2cce324139p-8);
    s = MULTIPLY_ADD(s, t, 0x1.466bc67758cb2p-4);
    s = MULTIPLY_ADD(s, t, -0x1.4abbce625be46p-1);
    s = MULTIPLY_ADD(f, 0x1.921fb54442d18p+0, f * MULTIPLY_ADD(s, t, 0x1.1a62633145c07p-54));
    double c = -0x1.b263c3700228fp-28;
    c = MULTIPLY_ADD(c, t, 0x1.f9cc40ad31331p-22);
    c = MULTIPLY_ADD(c, t, -0x1.a6d1ec7e0c42ep-16);
    c = MULTIPLY_ADD(c, t, 0x1.e1f5068367b30p-11);
    c = MULTIPLY_ADD(c, t, -0x1.55d3c7e3c9280p-6);
    c = MULTIPLY_ADD(c, t, 0x1.03c1f081b5aaep-2);
    c = MULTIPLY_ADD(c, t, -0x1.3bd3cc9be45dep+0);
    c = MULTIPLY_ADD(c, t, 1.0);
    uint64_t odd = 0u - (quarters & 1u), cb = bits_f64(c), sb = bits_f64(s);
    *cosine = of_f64(((cb & ~odd) | (sb & odd)) ^ ((quarters + 1u) & 2u) << 62);
    *sine = of_f64(((sb & ~odd) | (cb & odd)) ^ (quarters & 2u) << 62);
}

INLINE void uniform_f64(double *out, const uint64_t *bits, int blocks)
{
    for (int i = 0; i < 2 * blocks; i++)
        out[i] = fraction_f64(bits[i]);
}

INLINE void normal_f64(double *out, const uint64_t *bits, int blocks)
{
    for (int i = 0; i < blocks; i++) {
        double u = fraction_f64(bits[2 * i]) + 0x1p-54, cosine, sine;
        turn_f64(fraction_f64(bits[2 * i + 1]), &cosine, &sine);
        double r = __builtin_sqrt(-2.0 * log_normal_f64(u));
        out[2 * i] = r * cosine;
        out[2 * i + 1] = r * sine;
    }
}

/* The number is made from 52 bits, so that the argument of the logarithm is neither 0 nor 1. */
INLINE void exponential_f64(double *out, const uint64_t *bits, int blocks)
{
    for (int i = 0; i < 2 * blocks; i++)
        out[i] = 0.0 - log_normal_f64(fraction_f64(bits[i] & ~(uint64_t)0x800) + 0x1p-53);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

enum { UNIFORM_F32, UNIFORM_F64, NORMAL_F32, NORMAL_F64, EXPONENTIAL_F32, EXPONENTIAL_F64 };

INLINE int lanes_of(int kind)
{
    return kind == UNIFORM_F64 || kind == NORMAL_F64 || kind == EXPONENTIAL_F64 ? 2 : 4;
}

/* `blocks` is GROUP or FEW, known at compile time. */
INLINE void make_numbers(int kind, char *out, uint64_t seed, uint64_t first, int blocks)
{
    _Alignas(64) uint64_t bits[2 * GROUP];
    uint64_t lanes = (uint64_t)lanes_of(kind);
    make_blocks(bits, seed, first / lanes, UINT64_MAX / lanes, blocks);
    if (kind == UNIFORM_F32)
        uniform_f32((float *)(void *)out, bits, blocks);
    else if (kind == UNIFORM_F64)
        uniform_f64((double *)(void *)out, bits, blocks);
    else if (kind == NORMAL_F32)
        normal_f32((float *)(void *)out, bits, blocks);
    else if (kind == NORMAL_F64)
        normal_f64((double *)(void *)out, bits, blocks);
    else if (kind == EXPONENTIAL_F32)
        exponential_f32((float *)(void *)out, bits, blocks);
    else
        exponential_f64((double *)(void *)out, bits, blocks);
}

INLINE void make_run(int kind, char *out, uint64_t seed, uint64_t first, int64_t n)
{
    const int64_t lanes = lanes_of(kind), size = 16 / lanes;
    while (n > 0) {
        int64_t skipped = (int64_t)(first % (uint64_t)lanes), made = GROUP * lanes;
        if (skipped == 0 && n >= made) {
            make_numbers(kind, out, seed, first, GROUP);
        } else {
            _Alignas(64) char few[16 * FEW];
            make_numbers(kind, few, seed, first, FEW);
            made = FEW * lanes - skipped;
            made = made < n ? made : n;
            memcpy(out, few + skipped * size, (size_t)(made * size));
        }
        out += made * size;
        first += (uint64_t)made;
        n -= made;
    }
}

static void run_uniform_f32(char *out, uint64_t seed, uint64_t first, int64_t n)
{
    make_run(UNIFORM_F32, out, seed, first, n);
}

static void run_uniform_f64(char *out, uint64_t seed, uint64_t first, int64_t n)
{
    make_run(UNIFORM_F64, out, seed, first, n);
}

static void run_normal_f32(char *out, uint64_t seed, uint64_t first, int64_t n)
{
    make_run(NORMAL_F32, out, seed, first, n);
}

static void run_normal_f64(char *out, uint64_t seed, uint64_t first, int64_t n)
{
    make_run(NORMAL_F64, out, seed, first, n);
}

static void run_exponential_f32(char *out, uint64_t seed, uint64_t first, int64_t n)
{
    make_run(EXPONENTIAL_F32, out, seed, first, n);
}

static void run_exponential_f64(char *out, uint64_t seed, uint64_t first, int64_t n)
{
    make_run(EXPONENTIAL_F64, out, seed, first, n);
}

extern const random_kernels LEVEL_NAME(random);
const random_kernels LEVEL_NAME(random) = {
    .uniform = {run_uniform_f32, run_uniform_f64},
    .normal = {run_normal_f32, run_normal_f64},
    .exponential = {run_exponential_f32, run_exponential_f64},
};
