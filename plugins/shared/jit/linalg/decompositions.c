/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/linalg/factors.c, conformance/linalg/spectra.c */
#include "linalg.h"
#include "matmul_params.h"
#include "shared/host/util/counts.h"
#include "slabs.h"
#include "shared/jit/texts.h"

static const jit_source cholesky_source =
    JIT_SOURCE("cholesky", SLAB_TEXTS, jit_text_linalg_matmul_params, jit_text_linalg_update,
               jit_text_linalg_cholesky);
static const jit_source lu_source = JIT_SOURCE("lu", SLAB_TEXTS, jit_text_linalg_matmul_params,
                                               jit_text_linalg_update, jit_text_linalg_lu);

/* Steps of a factorisation before the rest of the matrix is updated. A factorisation of at most WHOLE steps is done
 * without updates. */
#define PANEL 32
#define WHOLE 64

/* The parameters of the kernel in update.dev: c -= a b, or with `lower` c -= a conj(b). Rows of a and c are `stride`
 * apart; b has strides b_row and b_column. */
typedef struct update {
    int64_t c, a, b, stride, b_row, b_column, rows, columns, inner;
    int32_t lower;
} update;

static void subtract_product(jit_slabs *d, const update *u)
{
    uint64_t group = d->s.traits->group;
    uint64_t items = TILE_ACROSS(group), block = d->complex ? UPDATE_BLOCK_COMPLEX : UPDATE_BLOCK;
    uint64_t across = jit_ceiling((uint64_t)u->columns, items * block);
    uint64_t down = jit_ceiling((uint64_t)u->rows, group / items * block);
    jit_launch l;
    jit_slabs_inside(d, &l, d->source, "update");
    jit_pass_i64s(&l, u->c, u->a, u->b, u->stride, u->b_row, u->b_column, u->rows, u->columns,
                  u->inner, (int64_t)across, (int64_t)down);
    jit_pass_i32(&l, u->lower);
    jit_sequence_enqueue(&d->s, &l, across * down * (uint64_t)d->count);
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

JIT_ACCEPTS(cholesky)
{
    jit_slabs d = cholesky_of(device, NULL, call);
    *workspace_bytes = jit_slabs_bytes(&d);
    return COLLET_OK;
}

static void cholesky_panels(jit_slabs *d)
{
    int64_t n = d->n, width = n <= WHOLE ? WHOLE : PANEL;
    for (int64_t first = 0; first < n; first += width) {
        int64_t own = min_i64(width, n - first), next = first + own;
        jit_launch l;
        jit_slabs_inside(d, &l, d->source, "panel");
        jit_pass_i64s(&l, n, first, own);
        jit_sequence_enqueue(&d->s, &l, (uint64_t)d->count);
        if (next == n)
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
        subtract_product(d, &u);
    }
}

JIT_KERNEL(cholesky)
{
    jit_slabs d = cholesky_of(device, queue, call);
    jit_launch l;
    jit_slabs_launch(&d, &l, "load");
    jit_pass_operand(&l, operand_of(call, 2));
    jit_slabs_pass(&d, &l);
    jit_pass_i64(&l, d.n);
    jit_slabs_each(&d, &l);
    cholesky_panels(&d);
    jit_slabs_launch(&d, &l, "store");
    jit_pass_operands(&l, call, 2);
    jit_slabs_pass(&d, &l);
    jit_pass_i64(&l, d.n);
    jit_slabs_each(&d, &l);
    return d.s.status;
}

/* ---- lu and solve ---------------------------------------------------------------------------- */

static void lu_load(jit_slabs *d, uint32_t input)
{
    jit_launch l;
    jit_slabs_launch(d, &l, "load");
    jit_pass_operand(&l, operand_of(d->s.call, input));
    jit_pass_i32(&l, (int32_t)input);
    jit_slabs_pass(d, &l);
    jit_pass_i64s(&l, d->m, d->n);
    jit_slabs_each(d, &l);
}

/* Performs steps first .. first + width - 1 of the factorisation, on the columns before `last`. */
static void lu_panel(jit_slabs *d, int64_t first, int64_t width, int64_t last)
{
    jit_launch l;
    jit_slabs_inside(d, &l, d->source, "panel");
    jit_pass_i64s(&l, d->m, d->n, first, width, last);
    jit_sequence_enqueue(&d->s, &l, (uint64_t)d->count);
}

static void lu_update_rows(jit_slabs *d, int64_t first, int64_t width)
{
    uint64_t across = jit_groups(d->s.traits, (uint64_t)(d->n - width));
    jit_launch l;
    jit_slabs_inside(d, &l, d->source, "update_rows");
    jit_pass_i64s(&l, d->m, d->n, first, width, (int64_t)across);
    jit_sequence_enqueue(&d->s, &l, across * (uint64_t)d->count);
}

static void lu_factor(jit_slabs *d, uint32_t input)
{
    int64_t m = d->m, n = d->n, min_mn = min_i64(m, n), matrix = LU_MATRIX(m);
    lu_load(d, input);
    if (min_mn && min_mn <= WHOLE)
        lu_panel(d, 0, min_mn, n);
    for (int64_t first = 0; first < min_mn && min_mn > WHOLE; first += PANEL) {
        int64_t width = min_i64(PANEL, min_mn - first), next = first + width;
        lu_panel(d, first, width, next);
        lu_update_rows(d, first, width);
        update u = {.c = matrix + next * n + next,
                    .a = matrix + next * n + first,
                    .b = matrix + first * n + next,
                    .stride = n,
                    .b_row = n,
                    .b_column = 1,
                    .rows = m - next,
                    .columns = n - next,
                    .inner = width};
        subtract_product(d, &u);
    }
}

static jit_slabs lu_of(collet_device *device, collet_queue *queue, const collet_kernel_call *call)
{
    jit_slabs d = jit_slabs_begin(device, queue, call, &lu_source, 4);
    d.pitch = jit_slabs_plus(jit_slabs_plus(d.pitch, d.m, 2), d.m, d.n);
    jit_slabs_operands(&d, 5);
    return d;
}

JIT_ACCEPTS(lu)
{
    jit_slabs d = lu_of(device, NULL, call);
    if (d.m > INT32_MAX)
        return jit_host(device)->fail(call->err, COLLET_REFUSED,
                                      "lu: pivots are i32, and a has %lld rows", (long long)d.m);
    *workspace_bytes = jit_slabs_bytes(&d);
    return COLLET_OK;
}

JIT_KERNEL(lu)
{
    jit_slabs d = lu_of(device, queue, call);
    jit_launch l;
    lu_factor(&d, 4);
    jit_slabs_launch(&d, &l, "store");
    jit_pass_operands(&l, call, 4);
    jit_slabs_pass(&d, &l);
    jit_pass_i64s(&l, d.m, d.n);
    jit_slabs_each(&d, &l);
    return d.s.status;
}

/* The op's operands are x, info, a, b; the batch has x, b, a in this order. */
static jit_slabs solve_of(collet_device *device, collet_queue *queue,
                          const collet_kernel_call *call)
{
    jit_slabs d = jit_slabs_begin(device, queue, call, &lu_source, 2);
    d.pitch = jit_slabs_plus(jit_slabs_plus(jit_slabs_plus(d.pitch, d.m, 2), d.m, d.n), d.m,
                             operand_extent(operand_of(call, 3), 0));
    jit_batch_operand(&d.batch, 0, operand_of(call, 0));
    jit_batch_operand(&d.batch, 1, operand_of(call, 3));
    jit_batch_operand(&d.batch, 2, operand_of(call, 2));
    return d;
}

JIT_ACCEPTS(solve)
{
    jit_slabs d = solve_of(device, NULL, call);
    *workspace_bytes = jit_slabs_bytes(&d);
    return COLLET_OK;
}

JIT_KERNEL(solve)
{
    jit_slabs d = solve_of(device, queue, call);
    int64_t columns = operand_extent(operand_of(call, 3), 0);
    uint64_t sides = d.s.traits->group < 16 ? d.s.traits->group : 16;
    uint64_t across = jit_ceiling((uint64_t)columns, sides);
    jit_launch l;
    lu_factor(&d, 2);
    jit_slabs_inside(&d, &l, &lu_source, "check_singular");
    jit_pass_i64(&l, d.m);
    jit_sequence_enqueue(&d.s, &l, (uint64_t)d.count);
    jit_slabs_launch(&d, &l, "substitute");
    jit_pass_operand(&l, operand_of(call, 0));
    jit_pass_operand(&l, operand_of(call, 3));
    jit_slabs_pass(&d, &l);
    jit_pass_i64s(&l, d.m, columns, (int64_t)across);
    jit_pass_block(&l, &d.batch, sizeof d.batch);
    jit_sequence_enqueue(&d.s, &l, across * (uint64_t)d.count);
    jit_slabs_inside(&d, &l, &lu_source, "singular");
    jit_pass_operand(&l, operand_of(call, 1));
    jit_pass_i64(&l, d.count);
    jit_sequence_enqueue(&d.s, &l, 1);
    return d.s.status;
}
