/* SPDX-License-Identifier: Apache-2.0 */
/* Transposition with non-temporal stores (kernel_move.h), which only large arrays use: blocks of
 * every shape, each element size, edges that are not multiples of a cache line or vector. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "common/sanitizer.h"
#include "cpu_openmp/array/kernel_move.h"

extern const move_kernels move_baseline;

#define UNTOUCHED 0xa5

/* The planes: rows x columns in, columns x rows out, each row followed by `gap` bytes. */
typedef struct plane {
    int64_t size, rows, columns, in_step, out_step;
    unsigned char *in, *out;
} plane;

static plane plane_create(int size, int64_t rows, int64_t columns, int64_t gap, int64_t out_gap)
{
    int64_t bytes = (int64_t)1 << size;
    plane p = {.size = bytes,
               .rows = rows,
               .columns = columns,
               .in_step = columns * bytes + gap,
               .out_step = rows * bytes + out_gap};
    p.in = malloc((size_t)(rows * p.in_step));
    p.out = aligned_alloc(64, (size_t)(columns * p.out_step + 63) / 64 * 64);
    assert_non_null(p.in);
    assert_non_null(p.out);
    for (int64_t i = 0; i < rows * p.in_step; i++)
        p.in[i] = (unsigned char)(i * 2654435761 >> 7);
    memset(p.out, UNTOUCHED, (size_t)(columns * p.out_step));
    return p;
}

static void plane_check(const plane *p)
{
    for (int64_t j = 0; j < p->columns; j++) {
        for (int64_t i = 0; i < p->rows; i++) {
            const unsigned char *got = p->out + j * p->out_step + i * p->size;
            if (memcmp(got, p->in + i * p->in_step + j * p->size, (size_t)p->size) != 0)
                fail_msg("size %d, %d x %d: element %d, %d", (int)p->size, (int)p->rows,
                         (int)p->columns, (int)i, (int)j);
        }
        for (int64_t k = p->rows * p->size; k < p->out_step; k++)
            assert_int_equal(UNTOUCHED, p->out[j * p->out_step + k]);
    }
}

/* Block `index` of the plane, in row-major order. */
static move_block block_of(const plane *p, int64_t index)
{
    int64_t rows = MOVE_STAGE_LENGTH / p->size, columns = MOVE_STAGE_ROWS;
    int64_t along = (p->columns + columns - 1) / columns;
    int64_t i = index / along * rows, j = index % along * columns;
    return (move_block){(char *)p->out + j * p->out_step + i * p->size,
                        (const char *)p->in + i * p->in_step + j * p->size,
                        p->rows - i < rows ? p->rows - i : rows,
                        p->columns - j < columns ? p->columns - j : columns};
}

static void transpose(int size, int64_t rows, int64_t columns, int64_t gap)
{
    plane p = plane_create(size, rows, columns, gap, gap);
    int64_t high = MOVE_STAGE_LENGTH / p.size;
    int64_t count = (rows + high - 1) / high * ((columns + MOVE_STAGE_ROWS - 1) / MOVE_STAGE_ROWS);
    char *stage[2];
    for (int k = 0; k < 2; k++) {
        stage[k] = aligned_alloc(64, MOVE_STAGE_BYTES);
        assert_non_null(stage[k]);
    }
    for (int64_t b = 0; b <= count; b++) {
        move_block last = block_of(&p, b - (b > 0)), now = block_of(&p, b);
        move_block next = block_of(&p, b + 1);
        move_baseline.transpose_streamed[size](
            b < count ? &now : NULL, b + 1 < count ? &next : NULL, b ? &last : NULL, p.out_step,
            p.in_step, stage[b % 2], stage[(b + 1) % 2]);
    }
    plane_check(&p);
    free(stage[0]);
    free(stage[1]);
    free(p.in);
    free(p.out);
}

/* In two blocks, adjacent if there are enough columns. */
static void transpose_lines(int size, int64_t rows, int64_t columns)
{
    plane p = plane_create(size, rows, columns, 0, -(rows << size) & 63);
    int64_t left = columns / 2;
    move_block first = {(char *)p.out, (const char *)p.in, rows, left};
    move_block second = {(char *)p.out + left * p.out_step, (const char *)p.in + left * p.size,
                         rows, columns - left};
    move_baseline.transpose_lines[size](&first, p.out_step, p.in_step);
    move_baseline.transpose_lines[size](&second, p.out_step, p.in_step);
    move_baseline.stream_end();
    plane_check(&p);
    free(p.in);
    free(p.out);
}

static void every_shape(void **state)
{
    static const int64_t lengths[] = {1, 3, 16, 63, 64, 65, 257, 700, 1300};
    enum { LENGTHS = sizeof lengths / sizeof *lengths };
    (void)state;
    for (int size = 0; size < MOVE_SIZES; size++) {
        for (int i = 0; i < LENGTHS; i++) {
            for (int j = 0; j < LENGTHS; j++) {
                if (ADDRESS_SANITIZER && lengths[i] * lengths[j] > 300 * 300)
                    continue; /* many blocks along both axes */
                transpose(size, lengths[i], lengths[j], 0);
                transpose_lines(size, lengths[i], lengths[j]);
            }
        }
    }
}

/* Rows at any offset in a cache line. */
static void gaps(void **state)
{
    (void)state;
    for (int size = 0; size < MOVE_SIZES; size++) {
        for (int64_t gap = 0; gap < 5; gap++)
            transpose(size, 130, 600, gap << (size > 2 ? 2 : size));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_shape), cmocka_unit_test(gaps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
