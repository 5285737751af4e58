/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/linalg/test_symmetric.py, conformance/linalg/linalg.c */
#include "symmetric.h"

#include <string.h>

#include "shared/host/util/counts.h"

#define TILE 32

void symmetric_mirror(const move_kernels *move, const gemm_matrix *c, int32_t shift, int64_t i,
                      int64_t j, int64_t rows, int64_t columns)
{
    int64_t size = INT64_C(1) << shift, row = c->row * size;
    char *below = c->at + i * row + j * size, *above = c->at + j * row + i * size;
    if (i != j) {
        move->transpose[shift](above, row, below, row, rows, columns);
        return;
    }
    for (int64_t at = 0; at < rows; at += TILE) {
        int64_t n = min_i64(TILE, rows - at);
        if (at > 0)
            move->transpose[shift](above + at * size, row, below + at * row, row, n, at);
        char *square = c->at + (i + at) * (row + size);
        for (int64_t r = 0; r < n; r++)
            for (int64_t k = 0; k < r; k++)
                memcpy(square + k * row + r * size, square + r * row + k * size, (size_t)size);
    }
}
