/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/random/variates.c */
#include "variates.h"

#include "shared/formula/host.h"
#include "shared/host/util/counts.h"
#include "shared/host/util/rows.h"

#define HAVE_F64 1
#define TABLE static const
#define mul_high_u64(a, b) ((u64)((unsigned __int128)(a) * (b) >> 64))
#include "shared/formula/philox.dev"
#include "shared/formula/variate.dev"

_Static_assert((int)VARIATE_VONMISES == (int)COLLET_VARIATE_VONMISES, "the same distributions");

#define PIECE 512 /* numbers of a run that are generated at a time, before they are stored */
#define RUN 16    /* minimum number of elements of a run, a part of a row */

/* A part of a row: `at` and `step` of the output and up to three inputs; both are 0 for an absent input. */
typedef struct part {
    const collet_kernel_call *call;
    const cpu_variate_runs *runs;
    uint64_t element; /* number in the sequence */
    int64_t n;
    char *at[4];
    int64_t step[4];
} part;

static double parameter(const part *r, uint32_t k, int64_t i)
{
    return r->at[k] ? *(const double *)(const void *)(r->at[k] + i * r->step[k]) : 0.0;
}

static void draw_integers(const part *r)
{
    const collet_random_params *params = r->call->params;
    if (r->runs && r->n >= RUN && !r->step[1] && !r->step[2] && r->step[0] == 8) {
        r->runs->integers((uint64_t *)(void *)r->at[0], params->seed, r->element,
                          *(const uint64_t *)(const void *)r->at[1],
                          *(const uint64_t *)(const void *)r->at[2], r->n);
        return;
    }
    for (int64_t i = 0; i < r->n; i++) {
        uint64_t low = *(const uint64_t *)(const void *)(r->at[1] + i * r->step[1]);
        uint64_t span = *(const uint64_t *)(const void *)(r->at[2] + i * r->step[2]);
        *(uint64_t *)(void *)(r->at[0] + i * r->step[0]) =
            low + integer_up_to(span, params->seed, r->element + (uint64_t)i);
    }
}

/* Rounds toward zero, saturates, and maps NaN to 0, as `copy` does. */
static int64_t whole(double x)
{
    return x >= 0x1p63 ? INT64_MAX : x < -0x1p63 ? INT64_MIN : x == x ? (int64_t)x : 0;
}

static void store(const part *r, int64_t i, double x)
{
    char *out = r->at[0] + i * r->step[0];
    if (operand_of(r->call, 0)->dtype == COLLET_F64)
        *(double *)(void *)out = x;
    else
        *(int64_t *)(void *)out = whole(x);
}

double cpu_variate(const void *l, uint64_t seed, uint64_t element)
{
    stream s = {.seed = seed, .element = element};
    return draw_variate(l, &s);
}

static void draw_run(const part *r, const law *l)
{
    const collet_variate_params *params = r->call->params;
    double piece[PIECE];
    for (int64_t i = 0, n; i < r->n; i += n) {
        n = min_i64(r->n - i, PIECE);
        r->runs->variates(piece, params->seed, r->element + (uint64_t)i, l, n);
        for (int64_t k = 0; k < n; k++)
            store(r, i + k, piece[k]);
    }
}

static void draw_variates(const part *r)
{
    const collet_variate_params *params = r->call->params;
    int constant = !r->step[1] && !r->step[2] && !r->step[3];
    law l;
    for (int64_t i = 0; i < r->n; i++) {
        if (i == 0 || !constant)
            prepare_law(&l, (i32)params->distribution, parameter(r, 1, i), parameter(r, 2, i),
                        parameter(r, 3, i));
        if (r->runs && constant && r->n >= RUN) {
            draw_run(r, &l);
            return;
        }
        store(r, i, cpu_variate(&l, params->seed, r->element + (uint64_t)i));
    }
}

/* Offset of the first element of a row, in bytes. */
static int64_t row_offset(const collet_operand *o, const collet_operand *out, int64_t row)
{
    int64_t offset = 0;
    for (int32_t axis = out->ndim - 2; axis >= 0; axis--) {
        offset += row % out->shape[axis] * cpu_step(o, axis);
        row /= out->shape[axis];
    }
    return offset;
}

/* Whether the elements of the output are adjacent and all share their parameters: then they are one row. */
static int is_one_row(const collet_kernel_call *call, uint32_t operands)
{
    const collet_operand *out = operand_of(call, 0);
    int64_t step = 8;
    for (int32_t axis = out->ndim - 1; axis >= 0; axis--) {
        for (uint32_t k = 0; k < operands; k++) {
            const collet_operand *o = operand_of(call, k);
            if (o->dtype != COLLET_DTYPE_NONE && out->shape[axis] > 1 &&
                cpu_step(o, axis) != (k ? 0 : step))
                return 0;
        }
        step *= out->shape[axis];
    }
    return 1;
}

void cpu_variates(const collet_kernel_call *call, const cpu_variate_runs *runs, int64_t begin,
                  int64_t end)
{
    const collet_operand *out = operand_of(call, 0);
    int integers = call->op == COLLET_OP_INTEGERS;
    uint64_t offset = integers ? ((const collet_random_params *)call->params)->offset
                               : ((const collet_variate_params *)call->params)->offset;
    uint32_t operands = integers ? 3 : 4;
    int one_row = is_one_row(call, operands);
    int64_t length = one_row ? operand_count(out) : out->shape[out->ndim - 1];
    while (begin < end) {
        int64_t row = begin / length, column = begin % length;
        part r = {.call = call,
                  .runs = runs,
                  .element = offset + (uint64_t)begin,
                  .n = min_i64(end - begin, length - column)};
        for (uint32_t k = 0; k < operands; k++) {
            const collet_operand *o = operand_of(call, k);
            if (o->dtype == COLLET_DTYPE_NONE)
                continue;
            r.step[k] = !one_row ? cpu_last_step(o) : k ? 0 : 8;
            r.at[k] = cpu_at(o) + row_offset(o, out, row) + column * r.step[k];
        }
        if (integers)
            draw_integers(&r);
        else
            draw_variates(&r);
        begin += r.n;
    }
}
