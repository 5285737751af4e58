/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/fft/fft.c, tests/cpu_openmp/test_kernels_openmp.c */
#include "split.h"

#include <math.h>
#include <stdlib.h>

#include "shared/host/util/counts.h"
#include "cpu_openmp/util/real.h"

int64_t fft_split_rows(int64_t n)
{
    int64_t rows = (int64_t)sqrt((double)n);
    while (rows > 1 && n % rows != 0)
        rows--;
    return rows > 0 ? rows : 1;
}

static void set(void *table, int wide, int64_t at, double x)
{
    real_store((char *)table + at * (wide ? 8 : 4), wide, x);
}

static int make_factors(fft_split *s, int wide, int32_t lanes)
{
    uint64_t size = wide ? 8 : 4;
    int64_t groups = divide_up(s->columns, lanes);
    uint64_t start = 2 * (uint64_t)(groups * s->rows) * size;
    uint64_t step = 2 * (uint64_t)(s->rows * lanes) * size;
    s->start = malloc(start);
    s->step = aligned_alloc(64, (step + 63) / 64 * 64);
    if (!s->start || !s->step)
        return 0;
    s->bytes += start + step;
    for (int64_t k = 0; k < s->rows; k++) {
        double root[2];
        for (int64_t g = 0; g < groups; g++) {
            fft_root(g * lanes * k, s->n, root);
            set(s->start, wide, 2 * (g * s->rows + k), root[0]);
            set(s->start, wide, 2 * (g * s->rows + k) + 1, root[1]);
        }
        for (int32_t l = 0; l < lanes; l++) {
            fft_root(l * k % s->n, s->n, root);
            set(s->step, wide, 2 * k * lanes + l, root[0]);
            set(s->step, wide, (2 * k + 1) * lanes + l, root[1]);
        }
    }
    return 1;
}

int fft_split_make(fft_split *s, int64_t n, int wide, int32_t lanes)
{
    *s = (fft_split){.n = n, .rows = fft_split_rows(n)};
    s->columns = n / s->rows;
    if (fft_line_make(&s->column_line, s->rows, wide, 1) &&
        fft_line_make(&s->row_line, s->columns, wide, 1) && make_factors(s, wide, lanes)) {
        s->bytes += s->column_line.bytes + s->row_line.bytes;
        return 1;
    }
    fft_split_clear(s);
    return 0;
}

void fft_split_clear(fft_split *s)
{
    fft_line_clear(&s->column_line);
    fft_line_clear(&s->row_line);
    free(s->start);
    free(s->step);
    s->start = s->step = NULL;
}
