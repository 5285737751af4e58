/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/conformance/test_broken.c */
#include "matrices.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ---- From a case ------------------------------------------------------------------------------
 */

kit_matrix kit_matrix_zero(int64_t rows, int64_t columns)
{
    kit_matrix m = {rows, columns, NULL};
    m.at = kit_memory((size_t)(rows * columns) * sizeof *m.at);
    return m;
}

void kit_matrix_free(kit_matrix *m)
{
    free(m->at);
    m->at = NULL;
}

int64_t kit_matrix_count(const kit_case *c, int32_t own)
{
    int64_t count = 1;
    for (int32_t i = 0; i < c->operand[0].ndim - own; i++)
        count *= c->operand[0].shape[i];
    return count;
}

static int64_t extent(const kit_tensor *t, int32_t back)
{
    return t->shape[t->ndim - 1 - back];
}

kit_matrix kit_matrix_of(const kit_case *c, uint32_t k, int32_t axes, int32_t own, int64_t batch)
{
    const kit_tensor *t = &c->operand[k];
    int64_t start = kit_start(c, k, axes, own, batch);
    int64_t rows = extent(t, axes - 1), columns = axes == 2 ? extent(t, 0) : 1;
    int64_t parts = kit_part(t->dtype) == t->dtype ? 1 : 2;
    kit_matrix m = kit_matrix_zero(parts * rows, parts * columns);
    for (int64_t i = 0; i < rows * columns; i++) {
        real *block = kit_entry(&m, i / columns * parts, i % columns * parts);
        block[0] = kit_get(t, parts * (start + i));
        if (parts == 1)
            continue;
        block[m.columns + 1] = block[0];
        block[m.columns] = kit_get(t, 2 * (start + i) + 1);
        block[1] = -block[m.columns];
    }
    return m;
}

/* ---- Arithmetic -------------------------------------------------------------------------------
 */

kit_matrix kit_product(const kit_matrix *a, const kit_matrix *b)
{
    kit_matrix c = kit_matrix_zero(a->rows, b->columns);
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t k = 0; k < a->columns; k++) {
            real x = *kit_entry(a, i, k);
            for (int64_t j = 0; j < b->columns && x != 0; j++)
                *kit_entry(&c, i, j) += x * *kit_entry(b, k, j);
        }
    return c;
}

kit_matrix kit_transposed(const kit_matrix *a)
{
    kit_matrix t = kit_matrix_zero(a->columns, a->rows);
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j < a->columns; j++)
            *kit_entry(&t, j, i) = *kit_entry(a, i, j);
    return t;
}

real kit_distance(const kit_matrix *a, const kit_matrix *b)
{
    real sum = 0;
    for (int64_t i = 0; i < a->rows * a->columns; i++) {
        real difference = a->at[i] - (b ? b->at[i] : 0);
        sum += difference * difference;
    }
    return sqrtl(sum);
}

real kit_size(const kit_matrix *a)
{
    return kit_distance(a, NULL);
}

real kit_departure(const kit_matrix *q)
{
    kit_local t = kit_transposed(q), square = kit_product(&t, q);
    for (int64_t i = 0; i < square.rows; i++)
        *kit_entry(&square, i, i) -= 1;
    real size = square.rows > 0 ? kit_size(&square) / sqrtl((real)square.rows) : 0;
    return size;
}

bool kit_finite(const kit_matrix *a)
{
    for (int64_t i = 0; i < a->rows * a->columns; i++)
        if (!isfinite(a->at[i]))
            return false;
    return true;
}

void kit_mirror(kit_matrix *a, int64_t parts)
{
    for (int64_t i = 0; parts == 2 && i < a->rows; i += 2)
        *kit_entry(a, i + 1, i) = 0;
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = i + 1; j < a->columns; j++)
            *kit_entry(a, i, j) = *kit_entry(a, j, i);
}

/* Jacobi rotation that zeroes entry (p, q). */
static void rotate(kit_matrix *a, int64_t p, int64_t q)
{
    real apq = *kit_entry(a, p, q);
    if (apq == 0)
        return;
    real theta = (*kit_entry(a, q, q) - *kit_entry(a, p, p)) / (2 * apq);
    real t = (theta < 0 ? -1 : 1) / (fabsl(theta) + hypotl(theta, 1));
    real c = 1 / hypotl(t, 1), s = t * c;
    for (int64_t k = 0; k < a->rows; k++) {
        real x = *kit_entry(a, k, p), y = *kit_entry(a, k, q);
        *kit_entry(a, k, p) = c * x - s * y;
        *kit_entry(a, k, q) = s * x + c * y;
    }
    for (int64_t k = 0; k < a->rows; k++) {
        real x = *kit_entry(a, p, k), y = *kit_entry(a, q, k);
        *kit_entry(a, p, k) = c * x - s * y;
        *kit_entry(a, q, k) = s * x + c * y;
    }
    *kit_entry(a, p, q) = *kit_entry(a, q, p) = 0;
}

static int ascending(const void *a, const void *b)
{
    real x = *(const real *)a, y = *(const real *)b;
    return (x > y) - (x < y);
}

void kit_eigenvalues(kit_matrix *a, real *values)
{
    for (int sweep = 0; sweep < 30; sweep++) {
        real off_diagonal = 0, all = kit_size(a);
        for (int64_t p = 0; p < a->rows; p++)
            for (int64_t q = p + 1; q < a->rows; q++) {
                off_diagonal = fmaxl(off_diagonal, fabsl(*kit_entry(a, p, q)));
                rotate(a, p, q);
            }
        if (off_diagonal <= 0x1p-70L * all)
            break;
    }
    for (int64_t i = 0; i < a->rows; i++)
        values[i] = *kit_entry(a, i, i);
    qsort(values, (size_t)a->rows, sizeof *values, ascending);
}

void kit_add_term(const kit_tensor *a, int64_t i, const kit_tensor *b, int64_t j, int part,
                  real *sum, real *magnitude)
{
    int parts = kit_part(a->dtype) == a->dtype ? 1 : 2;
    for (int k = 0; k < parts; k++) {
        real term = kit_get(a, parts * i + k) * kit_get(b, parts * j + (k ^ part));
        *sum += k && !part ? -term : term;
        *magnitude += fabsl(term);
    }
}

/* ---- Judging ----------------------------------------------------------------------------------
 */

/* u of operand k's dtype. */
static real half_ulp(const kit_case *c, uint32_t k)
{
    return ldexpl(1, -kit_precision(kit_part(c->operand[k].dtype)));
}

real kit_smallest(const kit_case *c, uint32_t k)
{
    return ldexpl(1, kit_part(c->operand[k].dtype) == COLLET_F32 ? -149 : -1074);
}

void kit_measure(const kit_case *c, kit_verdict *v, const char *quantity, int64_t batch, real error,
                 real scale, real floor)
{
    collet_dtype dtype = kit_in(c, 0)->dtype;
    const kit_limit *limit = kit_limit_find(c->row->info.id, dtype, quantity);
    real unit = half_ulp(c, c->row->info.n_out) * scale;
    double ratio = error <= floor ? 0.0 : (double)(error / unit);
    if (kit_exceeds(v, limit, ratio))
        kit_fail(v, "matrix %" PRId64 ": %s is %.3g %s, the limit is %.3g", batch, quantity, ratio,
                 limit->unit, limit->limit);
}

void kit_all_nan(const kit_case *c, kit_verdict *v, uint32_t k, int32_t axes, int64_t batch)
{
    const kit_tensor *t = &c->operand[k];
    int64_t count = kit_part(t->dtype) == t->dtype ? 1 : 2, start;
    char where[128], got[64];
    for (int32_t i = 0; i < axes; i++)
        count *= extent(t, i);
    start = batch * count;
    for (int64_t i = 0; i < count; i++) {
        if (isnan(kit_get(t, start + i)))
            continue;
        kit_where(c, k, start + i, where);
        kit_format(t, start + i, got);
        kit_fail(v, "%s: expected nan, got %s", where, got);
        return;
    }
}

void kit_info_is(const kit_case *c, kit_verdict *v, uint32_t k, int64_t batch, int64_t ideal)
{
    const kit_limit *limit = kit_limit_find(c->row->info.id, kit_in(c, 0)->dtype, "info");
    int64_t got = (int64_t)kit_get(&c->operand[k], batch);
    char where[128];
    if (!kit_exceeds(v, limit, (double)llabs(got - ideal)))
        return;
    kit_where(c, k, batch, where);
    kit_fail(v, "%s: info is %" PRId64 ", but must be %" PRId64, where, got, ideal);
}
