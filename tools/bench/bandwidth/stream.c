/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench.c */
#include "stream.h"

#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define LEVEL "x86-64-v4"
#define VECTOR 64
#define STREAM_STORE(at, v) _mm512_stream_si512((void *)(at), (__m512i)(v))
#elif defined(__AVX2__)
#define LEVEL "x86-64-v3"
#define VECTOR 32
#define STREAM_STORE(at, v) _mm256_stream_si256((void *)(at), (__m256i)(v))
#elif defined(__SSE2__)
#define LEVEL "x86-64"
#define VECTOR 16
#define STREAM_STORE(at, v) _mm_stream_si128((void *)(at), (__m128i)(v))
#else
#define LEVEL "any"
#define VECTOR 16
#endif

typedef uint64_t vector __attribute__((vector_size(VECTOR)));

#define PER_STEP 8 /* vectors of each stream that are loaded at a time */

/* Keeps the compiler from removing the computation of the value. */
#define CONSUME(value) __asm__ volatile("" : : "m"(value) : "memory")

static inline const vector *vectors_at(const unsigned char *bytes)
{
    return (const vector *)(const void *)bytes;
}

/* Sums `streams` equal parts of the source concurrently, so that the processor prefetches several pages. */
static inline __attribute__((always_inline)) void
read_streams(const unsigned char *source, size_t bytes, size_t streams, size_t ahead)
{
    size_t part = bytes / streams, steps = part / (PER_STEP * VECTOR);
    vector sum[PER_STEP];
    memset(sum, 0, sizeof sum);
    for (size_t step = 0; step < steps; step++) {
        for (size_t s = 0; s < streams; s++) {
            const unsigned char *at = source + s * part + step * PER_STEP * VECTOR;
            for (size_t line = 0; ahead && line < PER_STEP * VECTOR; line += 64)
                __builtin_prefetch(at + ahead + line, 0, 0);
            for (size_t i = 0; i < PER_STEP; i++)
                sum[i] += vectors_at(at)[i];
        }
    }
    CONSUME(sum);
}

#define READ_LOOP(name, streams, ahead)                                                            \
    static void name(unsigned char *target, const unsigned char *source, size_t bytes)             \
    {                                                                                              \
        (void)target;                                                                              \
        read_streams(source, bytes, streams, ahead);                                               \
    }

READ_LOOP(read_1, 1, 0)
READ_LOOP(read_2, 2, 0)
READ_LOOP(read_4, 4, 0)
READ_LOOP(read_8, 8, 0)
READ_LOOP(read_1_ahead, 1, 1024)
READ_LOOP(read_1_far, 1, 4096)
READ_LOOP(read_4_ahead, 4, 1024)

static void write_stores(unsigned char *target, const unsigned char *source, size_t bytes)
{
    vector value, *at = (vector *)(void *)target;
    memcpy(&value, source, sizeof value);
    for (size_t i = 0; i < bytes / VECTOR; i++)
        at[i] = value;
    CONSUME(*target);
}

static void write_memset(unsigned char *target, const unsigned char *source, size_t bytes)
{
    memset(target, *source, bytes);
    CONSUME(*target);
}

static void copy_stores(unsigned char *target, const unsigned char *source, size_t bytes)
{
    vector *at = (vector *)(void *)target;
    for (size_t i = 0; i < bytes / VECTOR; i++)
        at[i] = vectors_at(source)[i];
    CONSUME(*target);
}

static void copy_memcpy(unsigned char *target, const unsigned char *source, size_t bytes)
{
    memcpy(target, source, bytes);
    CONSUME(*target);
}

#ifdef STREAM_STORE

static void write_non_temporal(unsigned char *target, const unsigned char *source, size_t bytes)
{
    vector value, *at = (vector *)(void *)target;
    memcpy(&value, source, sizeof value);
    for (size_t i = 0; i < bytes / VECTOR; i++)
        STREAM_STORE(&at[i], value);
    _mm_sfence();
}

static void copy_non_temporal(unsigned char *target, const unsigned char *source, size_t bytes)
{
    vector *at = (vector *)(void *)target;
    for (size_t i = 0; i < bytes / VECTOR; i += PER_STEP)
        for (size_t k = 0; k < PER_STEP; k++)
            STREAM_STORE(&at[i + k], vectors_at(source)[i + k]);
    _mm_sfence();
}

#endif

static const stream_strategy strategies[] = {
    {STREAM_READ, "1 stream", read_1},
    {STREAM_READ, "2 streams", read_2},
    {STREAM_READ, "4 streams", read_4},
    {STREAM_READ, "8 streams", read_8},
    {STREAM_READ, "1 stream, prefetch 1 KiB ahead", read_1_ahead},
    {STREAM_READ, "1 stream, prefetch 4 KiB ahead", read_1_far},
    {STREAM_READ, "4 streams, prefetch 1 KiB ahead", read_4_ahead},
    {STREAM_WRITE, "stores", write_stores},
    {STREAM_WRITE, "memset", write_memset},
    {STREAM_COPY, "stores", copy_stores},
    {STREAM_COPY, "memcpy", copy_memcpy},
#ifdef STREAM_STORE
    {STREAM_WRITE, "non-temporal stores", write_non_temporal},
    {STREAM_COPY, "non-temporal stores", copy_non_temporal},
#endif
};

const stream_table STREAM_TABLE = {LEVEL, strategies, sizeof strategies / sizeof *strategies};
