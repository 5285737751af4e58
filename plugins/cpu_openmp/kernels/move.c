/* SPDX-License-Identifier: Apache-2.0 */
#include "move.h"

#include <string.h>

#include "level.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Elements of each size; what is copied may have any type. */
typedef uint8_t element_0 __attribute__((may_alias));
typedef uint16_t element_1 __attribute__((may_alias));
typedef uint32_t element_2 __attribute__((may_alias));
typedef uint64_t element_3 __attribute__((may_alias, aligned(4)));
typedef uint64_t element_4 __attribute__((vector_size(16), may_alias, aligned(4)));

/* One cache line of each size. */
#define LINE 64

/* ---- Past the caches ----------------------------------------------------------------------- */

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

/* Before other threads may look. */
#if defined(__x86_64__)
#define STREAM_END() _mm_sfence()
#else
#define STREAM_END() ((void)0)
#endif

/* The whole lines of `out` past the caches. */
INLINE void stream_lines(char *out, const char *in, int64_t bytes)
{
    int64_t head = (int64_t)(-(uintptr_t)out % LINE);
    if (head > bytes)
        head = bytes;
    memcpy(out, in, (size_t)head);
    int64_t i = head;
    for (; i + LINE <= bytes; i += LINE)
        STREAM_LINE(out + i, in + i);
    memcpy(out + i, in + i, (size_t)(bytes - i));
}

static void stream(char *out, const char *in, int64_t bytes)
{
    stream_lines(out, in, bytes);
    STREAM_END();
}

#define SIZE 0
#include "move.inc"
#define SIZE 1
#include "move.inc"
#define SIZE 2
#include "move.inc"
#define SIZE 3
#include "move.inc"
#define SIZE 4
#include "move.inc"

extern const move_kernels LEVEL_NAME(move);
const move_kernels LEVEL_NAME(move) = {
    .row = {row_0, row_1, row_2, row_3, row_4},
    .transpose = {transpose_0, transpose_1, transpose_2, transpose_3, transpose_4},
    .transpose_streamed = {transpose_streamed_0, transpose_streamed_1, transpose_streamed_2,
                           transpose_streamed_3, transpose_streamed_4},
    .stream = stream,
};
