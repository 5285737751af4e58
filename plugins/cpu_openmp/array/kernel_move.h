/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move.h - moving elements unchanged. A size index k stands for elements of 2^k bytes, 0..4, which
 * are aligned to min(2^k, 4) bytes at least. Blocks given never overlap.
 */
#ifndef COLLET_OPENMP_KERNELS_MOVE_H
#define COLLET_OPENMP_KERNELS_MOVE_H

#include <stdint.h>

#define MOVE_SIZES 5

/*
 * What is transposed on its way to memory: pieces of output rows, long enough for memory to take
 * them well. The line between two of them keeps a power of two out of their distance.
 */
#define MOVE_STAGE_LENGTH 256
#define MOVE_STAGE_ROW (MOVE_STAGE_LENGTH + 64)
#define MOVE_STAGE_ROWS 512
#define MOVE_STAGE_BYTES ((int64_t)MOVE_STAGE_ROW * MOVE_STAGE_ROWS)

/* What is transposed line by line asks for what is as many bytes further on in a row of the input.
 */
#define MOVE_AHEAD 1024

/* out[j][i] = in[i][j] for i < rows, j < columns, as below. */
typedef struct move_block {
    char *out;
    const char *in;
    int64_t rows, columns;
} move_block;

typedef struct move_kernels {
    /* n elements, steps in bytes; in_step 0 repeats one. */
    void (*row[MOVE_SIZES])(char *out, int64_t out_step, const char *in, int64_t in_step,
                            int64_t n);
    /*
     * out[j][i] = in[i][j] for i < rows, j < columns: each row of `in` is adjacent, in_step bytes
     * to the next; each row of `out` (`rows` elements) likewise with out_step.
     */
    void (*transpose[MOVE_SIZES])(char *out, int64_t out_step, const char *in, int64_t in_step,
                                  int64_t rows, int64_t columns);
    /* The same past the caches, where `out` and out_step are multiples of a cache line; other
     * threads see it after stream_end. */
    void (*transpose_lines[MOVE_SIZES])(const move_block *b, int64_t out_step, int64_t in_step);
    /*
     * The same past the caches at any address, block after block: rows * 2^k <= MOVE_STAGE_LENGTH
     * and columns <= MOVE_STAGE_ROWS. Brings `now` into `stage` (MOVE_STAGE_BYTES) and `last`, the
     * block before, from `last_stage` to its output, while `next`, the block after, is asked for;
     * each may be NULL. After the call without `now` everything is visible to other threads.
     */
    void (*transpose_streamed[MOVE_SIZES])(const move_block *now, const move_block *next,
                                           const move_block *last, int64_t out_step,
                                           int64_t in_step, char *stage, const char *last_stage);
    /* Copies past the caches, for what is too large to stay in them; visible to other threads on
     * return. */
    void (*stream)(char *out, const char *in, int64_t bytes);
    /* The same for a piece of something larger: other threads see it after stream_end alone, which
     * would cost too much after each. */
    void (*stream_piece)(char *out, const char *in, int64_t bytes);
    void (*stream_end)(void);
} move_kernels;

#endif
