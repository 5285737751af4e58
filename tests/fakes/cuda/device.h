/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - CUDA's extensions of C++, prepended to device sources that compiler.c compiles for the
 * host. groups.c runs one group (thread block) at a time, and each item (thread) up to the next barrier. groups.c
 * declares the same `fake_here` as this file.
 */
/* C headers: C++ headers such as <cmath> take longer to compile than most kernels. */
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct fake_index {
    unsigned x;
};

struct fake_here {
    fake_index thread, block, grid;
    void (*barrier)(void);
};

static fake_here *here;
extern "C" void fake_attach(fake_here *given)
{
    here = given;
}

#define threadIdx (here->thread)
#define blockIdx (here->block)
#define gridDim (here->grid)
#define __syncthreads() (here->barrier())
#define __syncwarp() (here->barrier())

/* Marks kernels in preprocessed text for compiler.c. */
#define __global__ __attribute__((used))
#define __device__
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(n)

struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) double2 {
    double x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(16) ulonglong2 {
    unsigned long long x, y;
};

template <class To, class From> static inline To fake_bits(From value)
{
    To bits;
    static_assert(sizeof bits == sizeof value, "as many bits");
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

#define __float_as_uint(v) fake_bits<unsigned>((float)(v))
#define __uint_as_float(v) fake_bits<float>((unsigned)(v))
#define __double_as_longlong(v) fake_bits<long long>((double)(v))
#define __longlong_as_double(v) fake_bits<double>((long long)(v))
#define __umulhi(a, b) ((unsigned)(((unsigned long long)(a) * (b)) >> 32))
#define __umul64hi(a, b) ((unsigned long long)(((unsigned __int128)(a) * (b)) >> 64))
#define __clzll(v) ((v) ? __builtin_clzll((unsigned long long)(v)) : 64)
#define __popc(v) __builtin_popcount((unsigned)(v))

template <class T> static inline T atomicAdd(T *p, T value)
{
    T before = *p;
    *p += value;
    return before;
}

template <class T> static inline T atomicCAS(T *p, T from, T to)
{
    T before = *p;
    if (before == from)
        *p = to;
    return before;
}

/* Warp operations: every item stores its operands, and reads the operands of the other items after
 * a barrier. prelude_cuda.dev describes the layout of the lanes. */
#define HAVE_TILES 1
static unsigned fake_tiles[1024][6];
static inline int fake_byte(const unsigned *packed, int at, int sign)
{
    unsigned byte = packed[at / 4] >> at % 4 * 8 & 255u;
    return sign ? (signed char)byte : (int)byte;
}

static inline void multiply_tiles(int *sums, unsigned a0, unsigned a1, unsigned a2, unsigned a3,
                                  unsigned b0, unsigned b1)
{
    unsigned item = threadIdx.x, warp = item / 32 * 32, lane = item % 32;
    unsigned own[6] = {a0, a1, a2, a3, b0, b1};
    memcpy(fake_tiles[item], own, sizeof own);
    __syncthreads();
    for (int i = 0; i < 4; i++) {
        unsigned row = lane / 4, column = lane % 4 * 2 + i % 2;
        for (int k = 0; k < 32; k++) {
            const unsigned *a = fake_tiles[warp + row * 4 + k % 16 / 4] + i / 2 + k / 16 * 2;
            const unsigned *b = fake_tiles[warp + column * 4 + k % 16 / 4] + 4 + k / 16;
            sums[i] += fake_byte(a, k % 4, 0) * fake_byte(b, k % 4, 1);
        }
    }
    __syncthreads();
}

#define FAKE_ONE(name)                                                                             \
    static inline float name(float x)                                                              \
    {                                                                                              \
        return __builtin_##name##f(x);                                                             \
    }
#define FAKE_TWO(name)                                                                             \
    static inline float name(float x, float y)                                                     \
    {                                                                                              \
        return __builtin_##name##f(x, y);                                                          \
    }
FAKE_ONE(acos)
FAKE_ONE(ceil)
FAKE_ONE(cos)
FAKE_ONE(exp)
FAKE_ONE(fabs)
FAKE_ONE(floor)
FAKE_ONE(log)
FAKE_ONE(rint)
FAKE_ONE(sin)
FAKE_ONE(sqrt)
FAKE_ONE(trunc)
FAKE_TWO(atan2)
FAKE_TWO(copysign)
FAKE_TWO(fmod)

static inline float fma(float x, float y, float z)
{
    return __builtin_fmaf(x, y, z);
}

/* Calls a kernel with the pointed-to argument values. */
template <size_t... Places> struct fake_places {
};
template <size_t Left, size_t... Places>
struct fake_sequence : fake_sequence<Left - 1, Left - 1, Places...> {
};
template <size_t... Places> struct fake_sequence<0, Places...> {
    using all = fake_places<Places...>;
};

template <class... Types, size_t... Places>
static inline void fake_invoke(void (*kernel)(Types...), void **arguments, fake_places<Places...>)
{
    kernel(*(Types *)arguments[Places]...);
}

/* Sets the sizes of a kernel's arguments; returns their number. */
template <class... Types> static inline int fake_measure(void (*)(Types...), unsigned *sizes)
{
    const unsigned all[] = {(unsigned)sizeof(Types)..., 0};
    memcpy(sizes, all, sizeof...(Types) * sizeof *sizes);
    return (int)sizeof...(Types);
}

template <class... Types> static inline void fake_call(void (*kernel)(Types...), void **arguments)
{
    fake_invoke(kernel, arguments, typename fake_sequence<sizeof...(Types)>::all{});
}
