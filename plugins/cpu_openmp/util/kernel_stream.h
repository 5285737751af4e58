/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_stream.h - non-temporal stores, for outputs larger than the caches.
 *
 * STREAM_LINE(out, in) copies one cache line to an aligned address. Other threads see it after
 * STREAM_END(). PREFETCH(at) prefetches a line, at any address.
 */
#pragma once

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define LINE 64
#define PREFETCH(at) __builtin_prefetch(at, 0, 3)

#if defined(__AVX512F__)
#define STREAM_LINE(out, in) _mm512_stream_si512((void *)(out), _mm512_loadu_si512(in))
#elif defined(__AVX__)
#define STREAM_HALF(out, in)                                                                       \
    _mm256_stream_si256((__m256i *)(void *)(out),                                                  \
                        _mm256_loadu_si256((const __m256i *)(const void *)(in)))
#define STREAM_LINE(out, in) (STREAM_HALF(out, in), STREAM_HALF((out) + 32, (in) + 32))
#elif defined(__x86_64__)
#define STREAM_PART(out, in)                                                                       \
    _mm_stream_si128((__m128i *)(void *)(out), _mm_loadu_si128((const __m128i *)(const void *)(in)))
#define STREAM_LINE(out, in)                                                                       \
    (STREAM_PART(out, in), STREAM_PART((out) + 16, (in) + 16), STREAM_PART((out) + 32, (in) + 32), \
     STREAM_PART((out) + 48, (in) + 48))
#else
#define STREAM_LINE(out, in) ((void)memcpy(out, in, LINE))
#endif

/* Makes the stores visible to other threads. */
#if defined(__x86_64__)
#define STREAM_END() _mm_sfence()
#else
#define STREAM_END() ((void)0)
#endif
