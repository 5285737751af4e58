/* SPDX-License-Identifier: Apache-2.0 */
#include "decompositions.h"

#include "matmul_params.h"
#include "slabs.h"
#include "shared/jit/texts.h"

static const char *const cholesky_texts[] = {
    jit_text_linalg_matrices_params, jit_text_linalg_matrices,
    jit_text_linalg_slabs_params,    jit_text_linalg_dense,
    jit_text_linalg_matmul_params,   jit_text_linalg_update,
    jit_text_linalg_cholesky,        NULL};
static const jit_source cholesky_source = {"cholesky", cholesky_texts};
static const char *const lu_texts[] = {jit_text_linalg_matrices_params,
                                       jit_text_linalg_matrices,
                                       jit_text_linalg_slabs_params,
                                       jit_text_linalg_dense,
                                       jit_text_linalg_matmul_params,
                                       jit_text_linalg_update,
                                       jit_text_linalg_lu,
                                       NULL};
static const jit_source lu_source = {"lu", lu_texts};

/* Steps of a factorisation between two updates of the rest; matrices up to WHOLE have no updates.
 */
#define PANEL 32
#define WHOLE 64

/* update.dev: c -= a b with rows `stride` apart; b has strides b_row and b_column. */
typedef struct update {
    int64_t c, a, b, stride, b_row, b_column, rows, columns, inner;
    int32_t lower;
} update;

static collet_status take_away(jit_slabs *d, const update *u)
{
    uint64_t group = d->traits->group;
    uint64_t items = TILE_ACROSS(group);
    uint64_t across = jit_ceiling((uint64_t)u->columns, items * UPDATE_BLOCK);
    uint64_t down = jit_ceiling((uint64_t)u->rows, group / items * UPDATE_BLOCK);
    jit_launch l;
    jit_slabs_inside(d, &l, d->source, "update");
    jit_pass_i64(&l, u->c);
    jit_pass_i64(&l, u->a);
    jit_pass_i64(&l, u->b);
    jit_pass_i64(&l, u->stride);
    jit_pass_i64(&l, u->b_row);
    jit_pass_i64(&l, u->b_column);
    jit_pass_i64(&l, u->rows);
    jit_pass_i64(&l, u->columns);
    jit_pass_i64(&l, u->inner);
    jit_pass_i64(&l, (int64_t)across);
    jit_pass_i64(&l, (int64_t)down);
    jit_pass_i32(&l, u->lower);
    return jit_slabs_enqueue(d, &l, across * down * (uint64_t)d->count);
}

/* ---- cholesky -------------------------------------------------------------------------------- */

static jit_slabs cholesky_of(collet_device *device, collet_queue *queue,
                             const collet_kernel_call *call)
{
    jit_slabs d = jit_slabs_begin(device, queue, call, &cholesky_source, 2);
    d.pitch = jit_slabs_plus(d.pitch, d.n, d.n);
    jit_slabs_operands(&d, 3);
    return d;
}

uint64_t jit_cholesky_workspace(collet_device *device, const collet_kernel_call *call)
{
    jit_slabs d = cholesky_of(device, NULL, call);
    return jit_slabs_bytes(&d);
}

static collet_status cholesky_panels(jit_slabs *d)
{
    int64_t n = d->n, width = n <= WHOLE ? WHOLE : PANEL;
    collet_status status = COLLET_OK;
    for (int64_t first = 0; first < n && status == COLLET_OK; first += width) {
        int64_t own = jit_smaller(width, n - first), next = first + own;
        jit_launch l;
        jit_slabs_inside(d, &l, d->source, "panel");
        jit_pass_i64(&l, n);
        jit_pass_i64(&l, first);
        jit_pass_i64(&l, own);
        status = jit_slabs_enqueue(d, &l, (uint64_t)d->count);
        if (next == n || status != COLLET_OK)
            break;
        update u = {.c = CHOLESKY_MATRIX + next * n + next,
                    .a = CHOLESKY_MATRIX + next * n + first,
                    .b = CHOLESKY_MATRIX + next * n + first,
                    .stride = n,
                    .b_row = 1,
                    .b_column = n,
                    .rows = n - next,
                    .columns = n - next,
                    .inner = own,
                    .lower = 1};
        status = take_away(d, &u);
    }
    return status;
}

collet_status jit_cholesky(collet_device *device, collet_queue *queue,
                           const collet_kernel_call *call)
{
    jit_slabs d = cholesky_of(device, queue, call);
    jit_launch l;
    jit_slabs_launch(&d, &l, "take");
    jit_pass_operand(&l, jit_operand(call, 2));
    jit_slabs_pass(&d, &l);
    jit_pass_i64(&l, d.n);
    jit_pass_block(&l, &d.batch, sizeof d.batch);
    collet_status status = jit_slabs_enqueue(&d, &l, (uint64_t)d.count);
    if (status == COLLET_OK)
        status = cholesky_panels(&d);
    if (status != COLLET_OK)
        return status;
    jit_slabs_launch(&d, &l, "give");
    jit_pass_operand(&l, jit_operand(call, 0));
    jit_pass_operand(&l, jit_operand(call, 1));
    jit_slabs_pass(&d, &l);
    jit_pass_i64(&l, d.n);
    jit_pass_block(&l, &d.batch, sizeof d.batch);
    return jit_slabs_enqueue(&d, &l, (uint64_t)d.count);
}

/* ---- lu and solve ---------------------------------------------------------------------------- */

static collet_status lu_take(jit_slabs *d, uint32_t input)
{
    jit_launch l;
    jit_slabs_launch(d, &l, "take");
    jit_pass_operand(&l, jit_operand(d->call, input));
    jit_pass_i32(&l, (int32_t)input);
    jit_slabs_pass(d, &l);
    jit_pass_i64(&l, d->m);
    jit_pass_i64(&l, d->n);
    jit_pass_block(&l, &d->batch, sizeof d->batch);
    return jit_slabs_enqueue(d, &l, (uint64_t)d->count);
}

/* Steps first .. first + width, on columns up to `last`. */
static collet_status lu_panel(jit_slabs *d, int64_t first, int64_t width, int64_t last)
{
    jit_launch l;
    jit_slabs_inside(d, &l, d->source, "panel");
    jit_pass_i64(&l, d->m);
    jit_pass_i64(&l, d->n);
    jit_pass_i64(&l, first);
    jit_pass_i64(&l, width);
    jit_pass_i64(&l, last);
    return jit_slabs_enqueue(d, &l, (uint64_t)d->count);
}

static collet_status lu_aside(jit_slabs *d, int64_t first, int64_t width)
{
    uint64_t across = jit_groups(d->traits, (uint64_t)(d->n - width));
    jit_launch l;
    jit_slabs_inside(d, &l, d->source, "update_rows");
    jit_pass_i64(&l, d->m);
    jit_pass_i64(&l, d->n);
    jit_pass_i64(&l, first);
    jit_pass_i64(&l, width);
    jit_pass_i64(&l, (int64_t)across);
    return jit_slabs_enqueue(d, &l, across * (uint64_t)d->count);
}

static collet_status lu_factor(jit_slabs *d, uint32_t input)
{
    int64_t m = d->m, n = d->n, min_mn = jit_smaller(m, n), matrix = LU_MATRIX(m);
    collet_status status = lu_take(d, input);
    if (status == COLLET_OK && min_mn <= WHOLE)
        return min_mn ? lu_panel(d, 0, min_mn, n) : COLLET_OK;
    for (int64_t first = 0; first < min_mn && status == COLLET_OK; first += PANEL) {
        int64_t width = jit_smaller(PANEL, min_mn - first), next = first + width;
        status = lu_panel(d, first, width, next);
        if (status == COLLET_OK)
            status = lu_aside(d, first, width);
        update u = {.c = matrix + next * n + next,
                    .a = matrix + next * n + first,
                    .b = matrix + first * n + next,
                    .stride = n,
                    .b_row = n,
                    .b_column = 1,
                    .rows = m - next,
                    .columns = n - next,
                    .inner = width};
        if (status == COLLET_OK)
            status = take_away(d, &u);
    }
    return status;
}

static jit_slabs lu_of(collet_device *device, collet_queue *queue, const collet_kernel_call *call)
{
    jit_slabs d = jit_slabs_begin(device, queue, call, &lu_source, 4);
    d.pitch = jit_slabs_plus(jit_slabs_plus(d.pitch, d.m, 2), d.m, d.n);
    jit_slabs_operands(&d, 5);
    return d;
}

uint64_t jit_lu_workspace(collet_device *device, const collet_kernel_call *call)
{
    jit_slabs d = lu_of(device, NULL, call);
    return d.m > INT32_MAX ? UINT64_MAX : jit_slabs_bytes(&d);
}

collet_status jit_lu(collet_device *device, collet_queue *queue, const collet_kernel_call *call)
{
    jit_slabs d = lu_of(device, queue, call);
    jit_launch l;
    collet_status status = lu_factor(&d, 4);
    if (status != COLLET_OK)
        return status;
    jit_slabs_launch(&d, &l, "give");
    for (uint32_t k = 0; k < 4; k++)
        jit_pass_operand(&l, jit_operand(call, k));
    jit_slabs_pass(&d, &l);
    jit_pass_i64(&l, d.m);
    jit_pass_i64(&l, d.n);
    jit_pass_block(&l, &d.batch, sizeof d.batch);
    return jit_slabs_enqueue(&d, &l, (uint64_t)d.count);
}

/* Operands x, info : a, b. In the batch: x, b, a. */
static jit_slabs solve_of(collet_device *device, collet_queue *queue,
                          const collet_kernel_call *call)
{
    jit_slabs d = jit_slabs_begin(device, queue, call, &lu_source, 2);
    d.pitch = jit_slabs_plus(jit_slabs_plus(jit_slabs_plus(d.pitch, d.m, 2), d.m, d.n), d.m,
                             jit_extent(jit_operand(call, 3), 0));
    jit_batch_operand(&d.batch, 0, jit_operand(call, 0));
    jit_batch_operand(&d.batch, 1, jit_operand(call, 3));
    jit_batch_operand(&d.batch, 2, jit_operand(call, 2));
    return d;
}

uint64_t jit_solve_workspace(collet_device *device, const collet_kernel_call *call)
{
    jit_slabs d = solve_of(device, NULL, call);
    return jit_slabs_bytes(&d);
}

collet_status jit_solve(collet_device *device, collet_queue *queue, const collet_kernel_call *call)
{
    jit_slabs d = solve_of(device, queue, call);
    int64_t columns = jit_extent(jit_operand(call, 3), 0);
    uint64_t sides = d.traits->group < 16 ? d.traits->group : 16;
    uint64_t across = jit_ceiling((uint64_t)columns, sides);
    jit_launch l;
    collet_status status = lu_factor(&d, 2);
    if (status != COLLET_OK)
        return status;
    jit_slabs_inside(&d, &l, &lu_source, "check_singular");
    jit_pass_i64(&l, d.m);
    status = jit_slabs_enqueue(&d, &l, (uint64_t)d.count);
    if (status != COLLET_OK)
        return status;
    jit_slabs_launch(&d, &l, "substitute");
    jit_pass_operand(&l, jit_operand(call, 0));
    jit_pass_operand(&l, jit_operand(call, 3));
    jit_slabs_pass(&d, &l);
    jit_pass_i64(&l, d.m);
    jit_pass_i64(&l, columns);
    jit_pass_i64(&l, (int64_t)across);
    jit_pass_block(&l, &d.batch, sizeof d.batch);
    status = jit_slabs_enqueue(&d, &l, across * (uint64_t)d.count);
    if (status != COLLET_OK)
        return status;
    jit_slabs_inside(&d, &l, &lu_source, "singular");
    jit_pass_operand(&l, jit_operand(call, 1));
    jit_pass_i64(&l, d.count);
    return jit_slabs_enqueue(&d, &l, 1);
}
