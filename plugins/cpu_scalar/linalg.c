/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/linalg/linalg.c, conformance/linalg/vector.c */
#include "device.h"

#include "shared/host/util/half.h"
#include "shared/host/util/rows.h"
#include "shared/host/util/sum.h"

/* Columns of the product that are computed together. */
#define COLUMNS 128

typedef struct matrix {
    char *at;
    int64_t row, column; /* byte stride */
} matrix;

#define NAME(x) f32_##x
#define VALUE(at) ((double)*(const float *)(const void *)(at))
#include "linalg.inc"

#define NAME(x) f64_##x
#define VALUE(at) (*(const double *)(const void *)(at))
#include "linalg.inc"

#define NAME(x) f16_##x
#define VALUE(at) cpu_f16_to(*(const uint16_t *)(const void *)(at))
#include "linalg.inc"

#define NAME(x) bf16_##x
#define VALUE(at) cpu_bf16_to(*(const uint16_t *)(const void *)(at))
#include "linalg.inc"

/* ---- Vectors --------------------------------------------------------------------------------- */

/* Adds `sign` times n products, which are exact for f32 and rounded for f64. */
static void add_products(cpu_sum *sum, double sign, collet_dtype dtype, const char *a,
                         int64_t a_step, const char *b, int64_t b_step, int64_t n)
{
    for (int64_t i = 0; i < n; i++, a += a_step, b += b_step) {
        if (dtype == COLLET_F32)
            cpu_add(sum, sign * (double)*(const float *)(const void *)a *
                             (double)*(const float *)(const void *)b);
        else
            cpu_add(sum,
                    sign * *(const double *)(const void *)a * *(const double *)(const void *)b);
    }
}

static void store_total(char *out, collet_dtype to, const cpu_sum *sum)
{
    double total = cpu_total(sum);
    cpu_convert(out, to, 0, (const char *)&total, COLLET_F64, 0, 1);
}

/* out = the sum of n products. */
static void inner_product(collet_dtype dtype, char *out, collet_dtype to, const char *a,
                          int64_t a_step, const char *b, int64_t b_step, int64_t n)
{
    collet_dtype part = part_of(dtype);
    int64_t size = (int64_t)cpu_dtype_size(part);
    cpu_sum sum = {0}, imaginary = {0};
    add_products(&sum, 1.0, part, a, a_step, b, b_step, n);
    if (part != dtype) {
        add_products(&sum, -1.0, part, a + size, a_step, b + size, b_step, n);
        add_products(&imaginary, 1.0, part, a, a_step, b + size, b_step, n);
        add_products(&imaginary, 1.0, part, a + size, a_step, b, b_step, n);
        store_total(out + size, part, &imaginary);
    }
    store_total(out, part_of(to), &sum);
}

KERNEL(dot)
{
    const collet_operand *out = operand_of(call, 0), *a = operand_of(call, 1);
    const collet_operand *b = operand_of(call, 2);
    inner_product(a->dtype, cpu_at(out), out->dtype, cpu_at(a), cpu_step(a, 0), cpu_at(b),
                  cpu_step(b, 0), a->shape[0]);
    return COLLET_OK;
}

/* ---- Matrix by matrix ------------------------------------------------------------------------ */

static void row_of(collet_dtype dtype, double sum[COLUMNS], const matrix m[3], int64_t i,
                   int64_t first, int64_t count, int64_t inner)
{
    if (dtype == COLLET_F32)
        f32_row(sum, &m[1], &m[2], i, first, count, inner);
    else if (dtype == COLLET_F64)
        f64_row(sum, &m[1], &m[2], i, first, count, inner);
    else if (dtype == COLLET_F16)
        f16_row(sum, &m[1], &m[2], i, first, count, inner);
    else
        bf16_row(sum, &m[1], &m[2], i, first, count, inner);
}

static void product(const collet_operand *c, collet_dtype from, const matrix m[3], int64_t rows,
                    int64_t columns, int64_t inner)
{
    double sum[COLUMNS];
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j += COLUMNS) {
            int64_t count = columns - j < COLUMNS ? columns - j : COLUMNS;
            char *out = m[0].at + i * m[0].row + j * m[0].column;
            row_of(from, sum, m, i, j, count, inner);
            cpu_convert(out, c->dtype, m[0].column, (const char *)sum, COLLET_F64, sizeof *sum,
                        count);
        }
    }
}

/* The sum is unsigned, so that it has a defined value beyond 32 bits. */
static void product_i8(const matrix m[3], int64_t rows, int64_t columns, int64_t inner)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) {
            const char *a = m[1].at + i * m[1].row, *b = m[2].at + j * m[2].column;
            uint32_t sum = 0;
            for (int64_t k = 0; k < inner; k++, a += m[1].column, b += m[2].row)
                sum += (uint32_t)(*(const int8_t *)a * *(const int8_t *)b);
            *(uint32_t *)(void *)(m[0].at + i * m[0].row + j * m[0].column) = sum;
        }
    }
}

static void product_complex(const collet_operand *c, const matrix m[3], int64_t rows,
                            int64_t columns, int64_t inner)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            inner_product(c->dtype, m[0].at + i * m[0].row + j * m[0].column, c->dtype,
                          m[1].at + i * m[1].row, m[1].column, m[2].at + j * m[2].column, m[2].row,
                          inner);
}

KERNEL(matmul)
{
    const collet_operand *c = operand_of(call, 0), *a = operand_of(call, 1);
    int32_t batch = c->ndim - 2;
    int64_t rows = c->shape[batch], columns = c->shape[batch + 1], inner = a->shape[batch + 1];
    matrix m[3];
    cpu_rows walk = {0};
    for (uint32_t k = 0; k < 3; k++) {
        const collet_operand *o = operand_of(call, k);
        cpu_rows_view(&walk, o);
        m[k].row = cpu_step(o, batch);
        m[k].column = cpu_step(o, batch + 1);
    }
    walk.ndim = batch;
    for (cpu_rows_begin(&walk); walk.rows > 0; cpu_rows_next(&walk)) {
        for (int64_t i = 0; i < walk.length; i++) {
            for (int k = 0; k < 3; k++)
                m[k].at = walk.at[k] + i * walk.inner[k];
            if (a->dtype == COLLET_I8)
                product_i8(m, rows, columns, inner);
            else if (part_of(a->dtype) != a->dtype)
                product_complex(c, m, rows, columns, inner);
            else
                product(c, a->dtype, m, rows, columns, inner);
        }
    }
    return COLLET_OK;
}

/* ---- Matrix by vector ------------------------------------------------------------------------ */

KERNEL(matvec)
{
    const collet_operand *y = operand_of(call, 0), *a = operand_of(call, 1);
    const collet_operand *x = operand_of(call, 2);
    int32_t rows = y->ndim - 1, columns = rows + 1;
    cpu_rows walk = {0};
    cpu_rows_view(&walk, y);
    cpu_rows_view(&walk, a);
    cpu_rows_view(&walk, x);
    walk.step[2][rows] = 0; /* every row is multiplied by the same x */
    for (cpu_rows_begin(&walk); walk.rows > 0; cpu_rows_next(&walk)) {
        for (int64_t i = 0; i < walk.length; i++) {
            inner_product(a->dtype, walk.at[0] + i * walk.inner[0], y->dtype,
                          walk.at[1] + i * walk.inner[1], cpu_step(a, columns), walk.at[2],
                          cpu_step(x, rows), a->shape[columns]);
        }
    }
    return COLLET_OK;
}
