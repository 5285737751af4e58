/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LU by halves of the columns (S. Toledo, SIAM J. Matrix Anal. Appl. 18, 1065, 1997) on rows as
 * they are in memory: LAPACK's own would want columns, and the two transposing copies cost a tenth
 * of it. Solutions have no need of it: LAPACK factors the transpose, which is what rows are to it,
 * and solves with the transpose of that.
 */
#include "lapack.h"

#include <math.h>

#include "../cpu/decompositions.h"
#include "../cpu/matrices.h"
#include "team.h"

/* Columns that are factored one by one. */
#define PANEL 16

/* Elements that a thread should have to itself where they are only moved. */
#define GRAIN_ELEMENTS (16 << 10)

static uint64_t at_least(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- lu -------------------------------------------------------------------------------------- */

/* A factorisation in place, of rows `stride` elements apart. */
typedef struct factoring {
    const lapack_job *job;
    const panel_kernels *kernels;
    dense_view a;
    int stride;
    int64_t size;
    char *panel;    /* rows x PANEL, in columns */
    int32_t *pivot; /* row k was exchanged with row pivot[k] */
} factoring;

static char *element(const factoring *f, int64_t i, int64_t j)
{
    return f->a.at + i * f->a.row + j * f->size;
}

static blas_matrix block(const factoring *f, int64_t i, int64_t j)
{
    return (blas_matrix){.at = element(f, i, j), .stride = f->stride};
}

/* Applies the exchanges of columns first .. last-1 to `count` columns from `column` on. */
static void exchange(const factoring *f, int64_t first, int64_t last, int64_t column, int64_t count)
{
    for (int64_t k = first; k < last; k++) {
        if (f->pivot[k] != k)
            f->kernels->swap[f->job->wide](element(f, k, column), element(f, f->pivot[k], column),
                                           count);
    }
}

static void factor_panel(const factoring *f, int64_t first, int64_t columns)
{
    int64_t rows = f->a.rows - first;
    dense_view part = {.at = element(f, first, first),
                       .rows = rows,
                       .columns = columns,
                       .row = f->a.row,
                       .column = f->size,
                       .dtype = f->a.dtype};
    dense_view panel = dense_turned(dense_at(f->panel, f->a.dtype, columns, rows));
    dense_copy(f->job->device, 1, &panel, &part);
    f->kernels->lu[f->job->wide](f->panel, rows, rows, columns, f->pivot + first);
    dense_copy(f->job->device, 1, &part, &panel);
    for (int64_t k = first; k < first + columns; k++)
        f->pivot[k] += (int32_t)first;
}

/* `columns` columns from `first` on, from row `first` down: no fewer rows than columns. */
static void factor_columns(const factoring *f, int64_t first, int64_t columns)
{
    if (columns <= PANEL) {
        factor_panel(f, first, columns);
        return;
    }
    int64_t left = (columns / 2 + PANEL - 1) / PANEL * PANEL, right = columns - left;
    int64_t middle = first + left;
    blas_matrix top = block(f, first, first), beside = block(f, first, middle);
    blas_matrix under = block(f, middle, first), rest = block(f, middle, middle);
    factor_columns(f, first, left);
    exchange(f, first, middle, middle, right);
    lapack_solve_unit_lower(f->job, &top, &beside, left, right);
    lapack_multiply(f->job, &rest, &under, &beside, f->a.rows - middle, right, left, -1, 1);
    factor_columns(f, middle, right);
    exchange(f, middle, middle + right, first, left);
}

static void factor(const factoring *f)
{
    int64_t steps = smaller(f->a.rows, f->a.columns), rest = f->a.columns - steps;
    blas_use use;
    lapack_enter_parts(f->job, &use);
    factor_columns(f, 0, steps);
    if (rest > 0) {
        blas_matrix top = block(f, 0, 0), beside = block(f, 0, steps);
        exchange(f, 0, steps, steps, rest);
        lapack_solve_unit_lower(f->job, &top, &beside, steps, rest);
    }
    lapack_leave(f->job, &use);
}

/* L and U out of the one matrix that holds both, which may be in the place of either. */
typedef struct parting {
    const factoring *f;
    dense_view lower, upper;
    int64_t steps;
} parting;

static void part_rows(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const parting *p = argument;
    const factoring *f = p->f;
    void (*move)(char *, int64_t, const char *, int64_t, int64_t) =
        f->job->device->level->move->row[__builtin_ctz((uint32_t)f->size)];
    const double one = 1.0;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        char *lower = p->lower.at + i * p->lower.row, *upper = p->upper.at + i * p->upper.row;
        int64_t left = smaller(i, p->steps);
        if (lower != element(f, i, 0))
            move(lower, p->lower.column, element(f, i, 0), f->size, left);
        if (i >= p->steps)
            continue;
        if (upper != element(f, i, 0))
            move(upper + i * p->upper.column, p->upper.column, element(f, i, i), f->size,
                 f->a.columns - i);
        cpu_convert(lower + i * p->lower.column, f->a.dtype, 0, (const char *)&one, COLLET_F64, 0,
                    1);
    }
}

static void part(const factoring *f, const dense_view *lower, const dense_view *upper)
{
    parting p = {.f = f, .lower = *lower, .upper = *upper, .steps = upper->rows};
    team_run(f->job->threads, f->a.rows, GRAIN_ELEMENTS / (f->a.columns + 1) + 1, part_rows, &p);
    dense_clear_above(lower);
    dense_clear_below(upper);
}

/* Where matrix `index` can be factored: the output of its shape, when BLAS takes that. */
static dense_view place_of(const collet_kernel_call *call, int64_t index)
{
    const collet_operand *lower = cpu_operand(call, 1), *upper = cpu_operand(call, 2);
    dense_view l = dense_of(lower, index), u = dense_of(upper, index);
    dense_view place = l.rows >= u.columns ? l : u;
    if (!dense_stride(&place))
        place.at = NULL;
    return place;
}

typedef struct lu_room {
    void *panel, *pivot, *matrix;
} lu_room;

static lu_room lu_take(const collet_kernel_call *call, lapack_pieces *p)
{
    const collet_operand *a = cpu_operand(call, 4);
    int64_t m = cpu_extent(a, 1), n = cpu_extent(a, 0);
    uint64_t size = cpu_dtype_size(a->dtype);
    lu_room r;
    r.panel = lapack_take(p, m, PANEL, size);
    r.pivot = lapack_take(p, smaller(m, n), 1, sizeof(int32_t));
    r.matrix = place_of(call, 0).at ? NULL : lapack_take(p, m, n, size);
    return r;
}

uint64_t lapack_lu_scratch(const collet_kernel_call *call)
{
    lapack_pieces p = {0};
    (void)lu_take(call, &p);
    return at_least(p.used, cpu_lu_scratch(call));
}

/* The order of rows that exchanges lead to. */
static void store_perm(const collet_operand *o, int64_t index, const int32_t *pivot, int64_t steps)
{
    char *at = cpu_matrix_at(o, 1, index);
    int64_t step = cpu_step(o, o->ndim - 1);
    for (int64_t i = 0; i < cpu_extent(o, 0); i++)
        *(int32_t *)(void *)(at + i * step) = (int32_t)i;
    for (int64_t k = 0; k < steps; k++) {
        int32_t *x = (int32_t *)(void *)(at + k * step);
        int32_t *y = (int32_t *)(void *)(at + pivot[k] * step), kept = *x;
        *x = *y;
        *y = kept;
    }
}

/* 0, or 1 + the first zero on U's diagonal. */
static int64_t zero_pivot(const factoring *f, int64_t steps)
{
    for (int64_t k = 0; k < steps; k++) {
        const void *x = element(f, k, k);
        if (f->job->wide ? *(const double *)x == 0.0 : *(const float *)x == 0.0f)
            return k + 1;
    }
    return 0;
}

void lapack_lu(const lapack_job *job, void *scratch, int64_t begin, int64_t end)
{
    const collet_kernel_call *call = job->call;
    const collet_operand *perm = cpu_operand(call, 0), *info = cpu_operand(call, 3);
    lapack_pieces p = {.base = scratch};
    lu_room r = lu_take(call, &p);
    for (int64_t index = begin; index < end; index++) {
        dense_view a = dense_of(cpu_operand(call, 4), index), place = place_of(call, index);
        dense_view lower = dense_of(cpu_operand(call, 1), index);
        dense_view upper = dense_of(cpu_operand(call, 2), index);
        if (!place.at)
            place = dense_at(r.matrix, a.dtype, a.rows, a.columns);
        if (!lapack_is_regular(job, dense_load(job->device, job->threads, &place, &a, 0))) {
            cpu_lu(call, scratch, index, index + 1);
            continue;
        }
        factoring f = {.job = job,
                       .kernels = job->device->level->panel,
                       .a = place,
                       .stride = dense_stride(&place),
                       .size = (int64_t)cpu_dtype_size(a.dtype),
                       .panel = r.panel,
                       .pivot = r.pivot};
        factor(&f);
        store_perm(perm, index, r.pivot, upper.rows);
        cpu_info_store(info, index, zero_pivot(&f, upper.rows));
        part(&f, &lower, &upper);
    }
}

/* ---- solve ----------------------------------------------------------------------------------- */

typedef struct solve_room {
    void *a, *b, *pivot;
} solve_room;

static solve_room solve_take(const collet_kernel_call *call, lapack_pieces *p)
{
    const collet_operand *b = cpu_operand(call, 3);
    int64_t n = cpu_extent(b, 1);
    uint64_t size = cpu_dtype_size(b->dtype);
    solve_room r;
    r.a = lapack_take(p, n, n, size);
    r.b = lapack_take(p, n, cpu_extent(b, 0), size);
    r.pivot = lapack_take(p, n, 1, sizeof(int));
    return r;
}

uint64_t lapack_solve_scratch(const collet_kernel_call *call)
{
    lapack_pieces p = {0};
    (void)solve_take(call, &p);
    return at_least(p.used, cpu_solve_scratch(call));
}

typedef enum state { FACTORED, SINGULAR, IRREGULAR } state;

static state factor_transpose(const lapack_job *job, int64_t index, const solve_room *r)
{
    dense_view a = dense_of(cpu_operand(job->call, 2), index);
    dense_view rows = dense_at(r->a, a.dtype, a.rows, a.columns);
    int n = (int)a.rows, info;
    blas_use use;
    if (!lapack_is_regular(job, dense_load(job->device, LAPACK_ALONE, &rows, &a, 0)))
        return IRREGULAR;
    lapack_enter(job, &use);
    job->lapack->getrf(&n, &n, r->a, &n, r->pivot, &info);
    lapack_leave(job, &use);
    return info == 0 ? FACTORED : SINGULAR;
}

/* 0: the right sides are not for LAPACK. */
static int solve_one(const lapack_job *job, int64_t index, const solve_room *r)
{
    dense_view b = dense_of(cpu_operand(job->call, 3), index);
    dense_view x = dense_of(cpu_operand(job->call, 0), index);
    dense_view columns = dense_turned(dense_at(r->b, b.dtype, b.columns, b.rows));
    int n = (int)b.rows, count = (int)b.columns, info;
    blas_use use;
    if (!lapack_is_regular(job, dense_load(job->device, LAPACK_ALONE, &columns, &b, 0)))
        return 0;
    lapack_enter(job, &use);
    job->lapack->getrs("T", &n, &count, r->a, &n, r->pivot, r->b, &n, &info, 1);
    lapack_leave(job, &use);
    dense_copy(job->device, LAPACK_ALONE, &x, &columns);
    return 1;
}

int64_t lapack_solve(const lapack_job *job, void *scratch, int64_t begin, int64_t end)
{
    const collet_kernel_call *call = job->call;
    const collet_operand *x = cpu_operand(call, 0), *a = cpu_operand(call, 2);
    int64_t singular = end;
    lapack_pieces p = {.base = scratch};
    solve_room r = solve_take(call, &p);
    const char *held = NULL;
    state found = IRREGULAR;
    for (int64_t index = begin; index < end; index++) {
        /* One matrix that serves many right sides is factored once. */
        const char *at = cpu_matrix_at(a, 2, index);
        if (at != held)
            found = factor_transpose(job, index, &r);
        held = at;
        if (found == SINGULAR) {
            singular = index < singular ? index : singular;
            cpu_matrix_fill(x, index, (double)NAN);
        } else if (found == IRREGULAR || !solve_one(job, index, &r)) {
            /* Its scratch is this one, and the factors were there. */
            int64_t bad = cpu_solve(call, scratch, index, index + 1);
            singular = bad <= index && bad < singular ? bad : singular;
            held = NULL;
        }
    }
    return singular;
}
