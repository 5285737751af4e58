/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_move.h - moving elements unchanged. A size index k (0..4) means elements of 2^k bytes, aligned to at least
 * min(2^k, 4) bytes. Blocks never overlap.
 */
#pragma once

#include <stdint.h>

#define MOVE_SIZES 5

/* The buffer of transpositions whose outputs are larger than the caches: a block is transposed into it, and written from
 * there by non-temporal stores. Its pieces of output rows are long enough for full write bandwidth. A line of padding between two pieces avoids a stride that is a power of two. */
#define MOVE_STAGE_LENGTH 256
#define MOVE_STAGE_ROW (MOVE_STAGE_LENGTH + 64)
#define MOVE_STAGE_ROWS 512
#define MOVE_STAGE_BYTES ((int64_t)MOVE_STAGE_ROW * MOVE_STAGE_ROWS)

/* Line-by-line transposition prefetches this many bytes ahead in each row of the input.
 */
#define MOVE_AHEAD 1024

/* out[j][i] = in[i][j] for i < rows, j < columns: a block for `transpose` below. */
typedef struct move_block {
    char *out;
    const char *in;
    int64_t rows, columns;
} move_block;

typedef struct move_kernels {
    /* Copies n elements; the steps are in bytes. If in_step is 0, one element is copied n times. */
    void (*row[MOVE_SIZES])(char *out, int64_t out_step, const char *in, int64_t in_step,
                            int64_t n);
    /* rows x n elements; *_row and *_step are the steps along the axes in bytes; a step of 0 in `in` repeats elements.
     * This is fast for few elements per row, if the elements of the input or of the output are adjacent. */
    void (*rows[MOVE_SIZES])(char *out, int64_t out_row, int64_t out_step, const char *in,
                             int64_t in_row, int64_t in_step, int64_t rows, int64_t n);
    /* out[j][i] = in[i][j] for i < rows, j < columns: the elements of a row are adjacent; rows of
     * `in` are in_step bytes apart, rows of `out` (`rows` elements each) out_step bytes. */
    void (*transpose[MOVE_SIZES])(char *out, int64_t out_step, const char *in, int64_t in_step,
                                  int64_t rows, int64_t columns);
    /* The same with non-temporal stores; `out` and out_step are multiples of a cache line. Other
     * threads see the output after stream_end. */
    void (*transpose_lines[MOVE_SIZES])(const move_block *b, int64_t out_step, int64_t in_step);
    /* The same with non-temporal stores at any address, block by block: rows * 2^k <=
     * MOVE_STAGE_LENGTH and columns <= MOVE_STAGE_ROWS. Transposes `now` into `stage`
     * (MOVE_STAGE_BYTES), writes `last`, the previous block, from `last_stage` to its output, and
     * prefetches `next`; each may be NULL. A call with now = NULL ends the sequence: after it other
     * threads see all blocks. */
    void (*transpose_streamed[MOVE_SIZES])(const move_block *now, const move_block *next,
                                           const move_block *last, int64_t out_step,
                                           int64_t in_step, char *stage, const char *last_stage);
    /* Copies with non-temporal stores. When the function returns, other threads see the copy. */
    void (*stream)(char *out, const char *in, int64_t bytes);
    /* The same for a piece of a larger copy: other threads see the piece after stream_end. The caller calls
     * stream_end once, because it would cost too much after each piece. */
    void (*stream_piece)(char *out, const char *in, int64_t bytes);
    void (*stream_end)(void);
} move_kernels;
