/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

#include "../cpu/rows.h"

/* Columns of the product that are summed side by side. */
#define COLUMNS 128

typedef struct matrix {
    char *at;
    int64_t row, column; /* bytes to the next */
} matrix;

#define NAME(x) f32_##x
#define REAL float
#include "linalg.inc"

#define NAME(x) f64_##x
#define REAL double
#include "linalg.inc"

static void product(collet_dtype dtype, const matrix m[3], int64_t rows, int64_t columns,
                    int64_t inner)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j += COLUMNS) {
            int64_t count = columns - j < COLUMNS ? columns - j : COLUMNS;
            if (dtype == COLLET_F32)
                f32_product_row(&m[0], &m[1], &m[2], i, j, count, inner);
            else
                f64_product_row(&m[0], &m[1], &m[2], i, j, count, inner);
        }
    }
}

KERNEL(matmul)
{
    const collet_operand *c = cpu_operand(call, 0), *a = cpu_operand(call, 1);
    int32_t batch = c->ndim - 2;
    int64_t rows = c->shape[batch], columns = c->shape[batch + 1], inner = a->shape[batch + 1];
    matrix m[3];
    cpu_rows walk = {0};
    for (uint32_t k = 0; k < 3; k++) {
        const collet_operand *o = cpu_operand(call, k);
        cpu_rows_view(&walk, o);
        m[k].row = cpu_step(o, batch);
        m[k].column = cpu_step(o, batch + 1);
    }
    walk.ndim = batch;
    for (cpu_rows_begin(&walk); walk.rows > 0; cpu_rows_next(&walk)) {
        for (int64_t i = 0; i < walk.length; i++) {
            for (int k = 0; k < 3; k++)
                m[k].at = walk.at[k] + i * walk.inner[k];
            product(c->dtype, m, rows, columns, inner);
        }
    }
    return COLLET_OK;
}
