/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_trr.c */
#include "bigendian.h"

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define HOST32(word) __builtin_bswap32(word)
#define HOST64(word) __builtin_bswap64(word)
#else
#define HOST32(word) (word)
#define HOST64(word) (word)
#endif

/* Inlined into one function for each instruction set; compilers turn the loop into byte shuffles. */
static inline __attribute__((always_inline)) void
decode(uint8_t *restrict to, const uint8_t *restrict from, size_t n, size_t width)
{
    uint32_t word;
    uint64_t wide;

    if (width == 4) {
        for (size_t i = 0; i < n; i++) {
            memcpy(&word, from + 4 * i, 4);
            word = HOST32(word);
            memcpy(to + 4 * i, &word, 4);
        }
        return;
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(&wide, from + 8 * i, 8);
        wide = HOST64(wide);
        memcpy(to + 8 * i, &wide, 8);
    }
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static void
decode_avx2(uint8_t *restrict to, const uint8_t *restrict from, size_t n, size_t width)
{
    decode(to, from, n, width);
}

__attribute__((target("ssse3"))) static void
decode_ssse3(uint8_t *restrict to, const uint8_t *restrict from, size_t n, size_t width)
{
    decode(to, from, n, width);
}
#endif

void trajectory_be_decode(void *restrict destination, const void *restrict source, size_t n,
                          size_t width)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        decode_avx2(destination, source, n, width);
    else if (__builtin_cpu_supports("ssse3"))
        decode_ssse3(destination, source, n, width);
    else
#endif
        decode(destination, source, n, width);
}

/* ---- Units --------------------------------------------------------------------------------- */

/* Inlined into one function for each instruction set. Products are computed in double precision, so that a result is
 * rounded only once. */
static inline __attribute__((always_inline)) void scale(void *restrict to, size_t to_width,
                                                        const uint8_t *restrict from, size_t width,
                                                        size_t n, double factor)
{
    float *single = to;
    double *wide = to;

    if (to_width == 4)
        for (size_t i = 0; i < n; i++)
            single[i] = (float)((double)trajectory_be_f32(from + 4 * i) * factor);
    else if (width == 4)
        for (size_t i = 0; i < n; i++)
            wide[i] = (double)trajectory_be_f32(from + 4 * i) * factor;
    else
        for (size_t i = 0; i < n; i++)
            wide[i] = trajectory_be_f64(from + 8 * i) * factor;
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static void scale_avx2(void *restrict to, size_t to_width,
                                                       const uint8_t *restrict from, size_t width,
                                                       size_t n, double factor)
{
    scale(to, to_width, from, width, n, factor);
}
#endif

void trajectory_be_scale(void *restrict destination, size_t to_width, const void *restrict source,
                         size_t width, size_t n, double factor)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) {
        scale_avx2(destination, to_width, source, width, n, factor);
        return;
    }
#endif
    scale(destination, to_width, source, width, n, factor);
}

collet_status trajectory_be_read(trajectory_reader *trajectory, int64_t offset, size_t width,
                                 double factor, size_t to_width, void *destination,
                                 collet_error *err)
{
    uint8_t *to = destination;
    size_t atom = 3 * width;

    for (int64_t r = 0; r < trajectory->n_runs; r++) {
        const trajectory_atom_run *run = &trajectory->runs[r];
        int64_t at = offset + run->first * (int64_t)atom, left = run->count * (int64_t)atom;

        while (left > 0) {
            const uint8_t *bytes;
            size_t n;
            collet_status status =
                io_source_stream(&trajectory->source, at, left, atom, &bytes, &n, err);

            if (status != COLLET_OK)
                return status;
            if (width == to_width && factor == 1)
                trajectory_be_decode(to, bytes, n / width, width);
            else
                trajectory_be_scale(to, to_width, bytes, width, n / width, factor);
            to += n / width * to_width;
            at += (int64_t)n;
            left -= (int64_t)n;
        }
    }
    return COLLET_OK;
}

/* ---- Planes ------------------------------------------------------------------------------ */

/* Divides instead of multiplying by 0.1f, because only the quotient is the number nearest to a tenth. */
#define ANGSTROM 10.f

static inline __attribute__((always_inline)) float load(const uint8_t *from, int swap)
{
    uint32_t word;
    float value;

    memcpy(&word, from, sizeof word);
    word = swap ? __builtin_bswap32(word) : word;
    memcpy(&value, &word, sizeof value);
    return value / ANGSTROM;
}

/* Inlined into one caller per instruction set. */
static inline __attribute__((always_inline)) void
join(float *restrict to, const uint8_t *restrict x, const uint8_t *restrict y,
     const uint8_t *restrict z, size_t n, int swap)
{
    for (size_t i = 0; i < n; i++) {
        to[3 * i] = load(x + 4 * i, swap);
        to[3 * i + 1] = load(y + 4 * i, swap);
        to[3 * i + 2] = load(z + 4 * i, swap);
    }
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static void join_avx2(float *restrict to, const uint8_t *x,
                                                      const uint8_t *y, const uint8_t *z, size_t n,
                                                      int swap)
{
    if (swap)
        join(to, x, y, z, n, 1);
    else
        join(to, x, y, z, n, 0);
}
#endif

void trajectory_planes_join(float *restrict positions, const uint8_t *x, const uint8_t *y,
                            const uint8_t *z, size_t n, int swap)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) {
        join_avx2(positions, x, y, z, n, swap);
        return;
    }
#endif
    if (swap)
        join(positions, x, y, z, n, 1);
    else
        join(positions, x, y, z, n, 0);
}
