/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/fault/test_libraries.c */
#include "product_check.h"

#include <stdlib.h>
#include <string.h>

/* ---- Elements -------------------------------------------------------------------------------- */

double product_check_number(int64_t i, int64_t j, int64_t seed)
{
    return (double)((i * 7 + j * 13 + i * j * 3 + seed) % 9 - 4);
}

/* Elements of int8 use the whole range, because some instructions add pairs of products in 16 bits, which may
 * overflow. */
static double element(check_type type, int64_t i, int64_t j, int64_t seed)
{
    if (type == CHECK_I8)
        return (double)((i * 37 + j * 101 + i * j * 7 + seed * 11) % 256 - 128);
    return product_check_number(i, j, seed);
}

static void put(void *at, check_type type, int64_t index, double value)
{
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    if (type == CHECK_F32)
        ((float *)at)[index] = narrow;
    else if (type == CHECK_F64)
        ((double *)at)[index] = value;
    else if (type == CHECK_BF16)
        ((uint16_t *)at)[index] = (uint16_t)(bits >> 16); /* exact for small whole numbers */
    else
        ((int8_t *)at)[index] = (int8_t)value;
}

static double result(const void *at, check_type type, int64_t index)
{
    if (type == CHECK_F64)
        return ((const double *)at)[index];
    return type == CHECK_I8 ? ((const int32_t *)at)[index] : (double)((const float *)at)[index];
}

/* Fills a matrix of rows x columns elements, row-major or transposed. */
static blas_matrix fill(void *at, check_type type, int64_t rows, int64_t columns, int64_t seed,
                        int transposed)
{
    int64_t stride = transposed ? rows : columns;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            put(at, type, transposed ? j * stride + i : i * stride + j, element(type, i, j, seed));
    return (blas_matrix){at, stride, transposed};
}

static int is_right(const blas_matrix *c, check_type type, int64_t i, int64_t j, int64_t inner)
{
    double sum = 0.0;
    for (int64_t k = 0; k < inner; k++)
        sum += element(type, i, k, 1) * element(type, k, j, 2);
    return result(c->at, type, i * c->stride + j) == sum;
}

/* ---- Right ----------------------------------------------------------------------------------- */

/* Extents that are multiples of no kernel's tiles. */
#define ROWS 67
#define COLUMNS 45
#define INNER 129

static const char *check(check_product product, void *context, check_type type, char *memory)
{
    for (int form = 0; form < 4; form++) {
        blas_matrix a = fill(memory, type, ROWS, INNER, 1, form & 1);
        blas_matrix b = fill(memory + 8 * ROWS * INNER, type, INNER, COLUMNS, 2, form >> 1);
        blas_matrix c = {memory + 8 * (ROWS + COLUMNS) * INNER, COLUMNS, 0};
        if (!product(context, type, &c, &a, &b, ROWS, COLUMNS, INNER))
            return "it declines a product of matrices";
        for (int64_t i = 0; i < ROWS; i++)
            for (int64_t j = 0; j < COLUMNS; j++)
                if (!is_right(&c, type, i, j, INNER))
                    return "its products of matrices are wrong";
    }
    return NULL;
}

/* ---- Larger ---------------------------------------------------------------------------------- */

#define SIZE 256
#define MATRIX_BYTES (8 * SIZE * SIZE)

/* Checks a larger product: some libraries have other kernels for larger products. */
static const char *check_larger(check_product product, void *context, check_type type, char *memory)
{
    blas_matrix a = fill(memory, type, SIZE, SIZE, 1, 0);
    blas_matrix b = fill(memory + MATRIX_BYTES, type, SIZE, SIZE, 2, 0);
    blas_matrix c = {memory + 2 * MATRIX_BYTES, SIZE, 0};
    if (!product(context, type, &c, &a, &b, SIZE, SIZE, SIZE))
        return "it declines a larger product of matrices";
    for (int64_t i = 0; i < SIZE; i += 13)
        if (!is_right(&c, type, i, (i * 29 + 5) % SIZE, SIZE))
            return "its larger products of matrices are wrong";
    return NULL;
}

const char *product_check(check_product product, void *context, check_type type)
{
    char *memory = aligned_alloc(64, 3 * MATRIX_BYTES);
    const char *why =
        memory ? check(product, context, type, memory) : "out of memory while checking it";
    why = why ? why : check_larger(product, context, type, memory);
    free(memory);
    return why;
}
