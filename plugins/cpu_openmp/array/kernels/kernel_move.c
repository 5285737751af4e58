/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/array/axes.c, tests/conformance/other_machine.c */
#include "kernel_move.h"

#include <string.h>

#include "cpu_openmp/util/kernel_level.h"
#include "cpu_openmp/util/kernel_stream.h"

/* Elements of each size, of any type. */
typedef uint8_t element_0 __attribute__((may_alias));
typedef uint16_t element_1 __attribute__((may_alias));
typedef uint32_t element_2 __attribute__((may_alias));
typedef uint64_t element_3 __attribute__((may_alias, aligned(4)));
typedef uint64_t element_4 __attribute__((vector_size(16), may_alias, aligned(4)));

/* Rows of fewer elements are moved element by element, without a call for each row. */
#define SHORT_ROW 12

/* Writes the whole cache lines of `out` by non-temporal stores. */
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

static void stream_piece(char *out, const char *in, int64_t bytes)
{
    stream_lines(out, in, bytes);
}

static void stream_end(void)
{
    STREAM_END();
}

static void stream(char *out, const char *in, int64_t bytes)
{
    stream_lines(out, in, bytes);
    STREAM_END();
}

#if VECTOR_BYTES == 64
/* Transpose within the four 16-byte parts of a register: each part of two rows is a square of 2 by 2 f64
 * (parts_of_two), each part of four rows a square of 4 by 4 f32 (parts_of_four). */
INLINE void parts_of_two(__m512i out[2], const __m512i in[2])
{
    out[0] = _mm512_unpacklo_epi64(in[0], in[1]);
    out[1] = _mm512_unpackhi_epi64(in[0], in[1]);
}

INLINE void parts_of_four(__m512i out[4], const __m512i in[4])
{
    __m512i low = _mm512_unpacklo_epi32(in[0], in[1]), high = _mm512_unpackhi_epi32(in[0], in[1]);
    __m512i low_below = _mm512_unpacklo_epi32(in[2], in[3]);
    __m512i high_below = _mm512_unpackhi_epi32(in[2], in[3]);
    out[0] = _mm512_unpacklo_epi64(low, low_below);
    out[1] = _mm512_unpackhi_epi64(low, low_below);
    out[2] = _mm512_unpacklo_epi64(high, high_below);
    out[3] = _mm512_unpackhi_epi64(high, high_below);
}
#endif

#define SIZE 0
#include "kernel_move.inc"
#define SIZE 1
#include "kernel_move.inc"
#define SIZE 2
#include "kernel_move.inc"
#define SIZE 3
#include "kernel_move.inc"
#define SIZE 4
#include "kernel_move.inc"

extern const move_kernels LEVEL_NAME(move);
const move_kernels LEVEL_NAME(move) = {
    .row = {row_0, row_1, row_2, row_3, row_4},
    .rows = {rows_0, rows_1, rows_2, rows_3, rows_4},
    .transpose = {transpose_0, transpose_1, transpose_2, transpose_3, transpose_4},
    .transpose_lines = {transpose_lines_0, transpose_lines_1, transpose_lines_2, transpose_lines_3,
                        transpose_lines_4},
    .transpose_streamed = {transpose_streamed_0, transpose_streamed_1, transpose_streamed_2,
                           transpose_streamed_3, transpose_streamed_4},
    .stream = stream,
    .stream_piece = stream_piece,
    .stream_end = stream_end,
};
