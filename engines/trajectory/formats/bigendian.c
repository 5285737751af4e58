/* SPDX-License-Identifier: Apache-2.0 */
#include "bigendian.h"

#if defined(__x86_64__)
#define HAVE_LEVELS 1
#else
#define HAVE_LEVELS 0
#endif

/* Inlined into one caller per instruction set, where the compiler makes byte shuffles of it. */
static inline __attribute__((always_inline)) void decode32(uint8_t *restrict to,
                                                           const uint8_t *restrict from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t word;
        memcpy(&word, from + 4 * i, sizeof word);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        word = __builtin_bswap32(word);
#endif
        memcpy(to + 4 * i, &word, sizeof word);
    }
}

static inline __attribute__((always_inline)) void decode64(uint8_t *restrict to,
                                                           const uint8_t *restrict from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t word;
        memcpy(&word, from + 8 * i, sizeof word);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        word = __builtin_bswap64(word);
#endif
        memcpy(to + 8 * i, &word, sizeof word);
    }
}

#if HAVE_LEVELS
__attribute__((target("avx2"))) static void
decode_avx2(uint8_t *restrict to, const uint8_t *restrict from, size_t n, size_t width)
{
    if (width == 4)
        decode32(to, from, n);
    else
        decode64(to, from, n);
}

__attribute__((target("ssse3"))) static void
decode_ssse3(uint8_t *restrict to, const uint8_t *restrict from, size_t n, size_t width)
{
    if (width == 4)
        decode32(to, from, n);
    else
        decode64(to, from, n);
}
#endif

static void decode_plain(uint8_t *restrict to, const uint8_t *restrict from, size_t n, size_t width)
{
    if (width == 4)
        decode32(to, from, n);
    else
        decode64(to, from, n);
}

void collet_be_decode(void *restrict destination, const void *restrict source, size_t n,
                      size_t width)
{
#if HAVE_LEVELS
    if (__builtin_cpu_supports("avx2")) {
        decode_avx2(destination, source, n, width);
        return;
    }
    if (__builtin_cpu_supports("ssse3")) {
        decode_ssse3(destination, source, n, width);
        return;
    }
#endif
    decode_plain(destination, source, n, width);
}
