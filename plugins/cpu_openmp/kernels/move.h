/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move.h - moving elements unchanged. A size index k stands for elements of 2^k bytes, 0..4, which
 * are aligned to min(2^k, 4) bytes at least. Blocks given never overlap.
 */
#ifndef COLLET_OPENMP_KERNELS_MOVE_H
#define COLLET_OPENMP_KERNELS_MOVE_H

#include <stdint.h>

#define MOVE_SIZES 5

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
    /* Copies past the caches, for what is too large to stay in them; visible to other threads on
     * return. */
    void (*stream)(char *out, const char *in, int64_t bytes);
} move_kernels;

#endif
