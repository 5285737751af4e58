/* SPDX-License-Identifier: Apache-2.0 */
/* index: sort, argsort, partition and searchsorted.
 * Tests: tests/conformance/defects.sh */
#include "kit.h"

#include <math.h>
#include <stdlib.h>

/* ---- Plans --------------------------------------------------------------------------------- */

enum { ORDINARY, EQUAL, SPECIAL, BITS, KINDS };
static const char *const kind_names[] = {"", "equal elements", "special values", "random bits"};

static kit_case of_kind(const kit_plan *plan, int kind)
{
    kit_case c = kit_case_of(plan);
    c.kind = kind;
    c.data = kind_names[kind];
    return c;
}

/* `variant` chooses the direction, or the element of a partition. */
static kit_case sorted(const kit_plan *plan, int32_t ndim, const int64_t *shape, int32_t axis,
                       uint32_t variant, int kind)
{
    kit_case c = of_kind(plan, kind);
    kit_shape(&c, 0, ndim, shape);
    kit_shape(&c, 1, ndim, shape);
    int64_t n = shape[axis < 0 ? axis + ndim : axis];
    if (plan->row->info.id == COLLET_OP_PARTITION)
        c.params.partition = (collet_partition_params){.struct_size = sizeof c.params.partition,
                                                       .axis = axis,
                                                       .kth = variant ? -(n + 2) / 3 : n / 2};
    else
        c.params.sort = (collet_sort_params){
            .struct_size = sizeof c.params.sort, .axis = axis, .descending = variant};
    return c;
}

static void plan_sort(kit_plan *plan)
{
    /* Lengths at which kernels change their method, and lengths close to them. */
    static const int64_t lengths[] = {0, 1, 2, 3, 8, 17, 64, 65, 257, 1000, 4095, 5000};
    static const int64_t plane[] = {7, 9}, empty[] = {3, 0}, none[] = {0, 3}, block[] = {3, 4, 5};
    static const int64_t rows[] = {70, 13}, wide[] = {5, 600}, hyper[] = {1, 2, 1, 3, 1, 2, 2, 2};
    static const int64_t many[] = {(1 << 18) + 7}, sheet[] = {3, 70001};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int kind = 0; kind < KINDS; kind++) {
            kit_case c = sorted(plan, 1, &lengths[i], kind % 2 ? 0 : -1, (uint32_t)kind / 2, kind);
            kit_emit(plan, &c);
            c = sorted(plan, 1, &lengths[i], 0, 1 - (uint32_t)kind / 2, kind);
            c.layout[0] = c.layout[1] = KIT_UNALIGNED;
            kit_emit(plan, &c);
        }
    for (int32_t axis = -3; axis < 3; axis++) {
        kit_case c = sorted(plan, 3, block, axis, axis > 0, EQUAL);
        kit_emit_layouts(plan, &c);
    }
    for (int32_t axis = 0; axis < 2; axis++) {
        const int64_t *const shapes[] = {plane, empty, none, rows, wide};
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            kit_case c = sorted(plan, 2, shapes[i], axis, (uint32_t)i % 2, (int)i % KINDS);
            kit_emit(plan, &c);
            c.layout[0] = c.layout[1] = KIT_MIXED;
            kit_emit(plan, &c);
        }
        kit_case c = sorted(plan, 2, plane, axis, 0, ORDINARY);
        kit_emit_sharing(plan, &c);
    }
    kit_case c = sorted(plan, 8, hyper, 3, 0, ORDINARY);
    kit_emit(plan, &c);
    for (uint32_t variant = 0; variant < 2; variant++) {
        c = sorted(plan, 1, many, 0, variant, variant ? ORDINARY : BITS);
        c.big = true;
        kit_emit(plan, &c);
        c = sorted(plan, 2, sheet, -1, variant, variant ? SPECIAL : ORDINARY);
        c.big = true;
        kit_emit(plan, &c);
    }
}

static void plan_search(kit_plan *plan)
{
    static const int64_t lengths[] = {0, 1, 2, 3, 9, 64, 1000}, plane[] = {5, 7}, many[] = {4099};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int kind = 0; kind < KINDS; kind++) {
            kit_case c = of_kind(plan, kind);
            kit_shape(&c, 0, 2, plane);
            kit_shape(&c, 1, 1, &lengths[i]);
            kit_shape(&c, 2, 2, plane);
            c.params.searchsorted = (collet_searchsorted_params){
                .struct_size = sizeof c.params.searchsorted, .right = (uint32_t)kind % 2};
            if (kind == EQUAL && lengths[i] == 9) {
                kit_emit_layouts(plan, &c);
                kit_emit_parts(plan, &c);
                kit_emit_sharing(plan, &c);
            }
            kit_emit(plan, &c);
            c.params.searchsorted.right ^= 1;
            kit_shape(&c, 0, 1, many);
            kit_shape(&c, 2, 1, many);
            if (lengths[i] <= 64)
                kit_emit(plan, &c);
        }
}

/* ---- Values -------------------------------------------------------------------------------- */

static void fill(const kit_case *c, kit_tensor *t, kit_rng *rng)
{
    if (c->kind == BITS)
        kit_random_bits(t, rng);
    else
        kit_ordinary(t, rng, 12);
    if (c->kind == SPECIAL)
        kit_sprinkle_specials(t, rng);
    for (int64_t i = 0; i < t->count && c->kind == EQUAL; i++)
        kit_set(t, i, (long double)kit_below(rng, 3));
}

static void generate_sort(kit_case *c, kit_rng *rng)
{
    fill(c, &c->operand[1], rng);
}

/* ---- The oracle ---------------------------------------------------------------------------- */

typedef struct element {
    long double value;
    int64_t index; /* along the axis */
} element;

/* Compares for sorting: NaN is last, and zeros of both signs are equal. */
static int compare_values(long double x, long double y)
{
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

static int ascending(const void *a, const void *b)
{
    const element *x = a, *y = b;
    int order = compare_values(x->value, y->value);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static int descending(const void *a, const void *b)
{
    const element *x = a, *y = b;
    int order = compare_values(y->value, x->value);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* Puts -0 before +0: uses the sign of a zero as its index, because the index decides between equal values. */
static void order_zeros(element *e, int64_t n, bool reversed)
{
    for (int64_t i = 0; i < n; i++)
        e[i].index = e[i].value == 0 && !signbit(e[i].value) != reversed;
}

static void generate_search(kit_case *c, kit_rng *rng)
{
    kit_tensor *a = &c->operand[1];
    element *e = kit_memory((size_t)a->count * sizeof *e);
    fill(c, a, rng);
    fill(c, &c->operand[2], rng);
    for (int64_t i = 0; i < a->count; i++)
        e[i] = (element){kit_get(a, i), i};
    qsort(e, (size_t)a->count, sizeof *e, ascending);
    for (int64_t i = 0; i < a->count; i++)
        kit_set(a, i, e[i].value);
    free(e);
}

/* Elements first + i * step, 0 <= i < n, of an operand. */
static void row_of(const kit_tensor *t, int64_t first, int64_t step, int64_t n, element *e)
{
    for (int64_t i = 0; i < n; i++)
        e[i] = (element){kit_get(t, first + i * step), i};
}

/* The output must have the elements of the input, and no element on the wrong side of index kth. */
static void judge_partitioned(const kit_case *c, kit_verdict *v, element *e, int64_t first,
                              int64_t step, int64_t n)
{
    const kit_limit *limit = kit_limit_find(COLLET_OP_PARTITION, COLLET_DTYPE_NONE, "order");
    element *got = kit_memory((size_t)n * sizeof *got);
    int64_t kth = c->params.partition.kth, wrong = 0;
    kth += kth < 0 ? n : 0;
    row_of(&c->operand[0], first, step, n, got);
    for (int64_t i = 0; i < n; i++) {
        int order = compare_values(got[i].value, got[kth].value);
        wrong += i < kth ? order > 0 : order < 0;
    }
    order_zeros(got, n, false);
    order_zeros(e, n, false);
    qsort(got, (size_t)n, sizeof *got, ascending);
    qsort(e, (size_t)n, sizeof *e, ascending);
    for (int64_t i = 0; i < n; i++)
        wrong += compare_values(got[i].value, e[i].value) || got[i].index != e[i].index;
    if (kit_exceeds(v, limit, (double)wrong)) {
        char where[128];
        kit_where(c, 0, first, where);
        kit_fail(v,
                 "the row that begins at %s: %lld elements are on the wrong side of index %lld or "
                 "are not the input's",
                 where, (long long)wrong, (long long)kth);
    }
    free(got);
}

static void judge_sort(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *in = kit_in(c, 0);
    uint32_t op = c->row->info.id;
    int32_t axis = op == COLLET_OP_PARTITION ? c->params.partition.axis : c->params.sort.axis;
    axis = axis < 0 ? axis + in->ndim : axis;
    bool down = op != COLLET_OP_PARTITION && c->params.sort.descending;
    int64_t n = in->shape[axis], step = 1;
    for (int32_t i = axis + 1; i < in->ndim; i++)
        step *= in->shape[i];
    element *e = kit_memory((size_t)n * sizeof *e);
    unsigned char ideal[16];
    for (int64_t first = 0; first < in->count; first++) {
        if (first / step % n)
            continue;
        row_of(in, first, step, n, e);
        if (op == COLLET_OP_PARTITION) {
            judge_partitioned(c, v, e, first, step, n);
            continue;
        }
        if (op == COLLET_OP_SORT)
            order_zeros(e, n, down);
        qsort(e, (size_t)n, sizeof *e, down ? descending : ascending);
        for (int64_t i = 0; i < n; i++) {
            kit_convert(in->dtype, e[i].value, ideal);
            const void *expected = op == COLLET_OP_SORT ? (const void *)ideal : &e[i].index;
            kit_same(c, v, 0, first + i * step, expected, false);
        }
    }
    free(e);
}

static void judge_search(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *a = kit_in(c, 0), *wanted = kit_in(c, 1);
    for (int64_t i = 0; i < wanted->count; i++) {
        int64_t count = 0;
        for (int64_t k = 0; k < a->count; k++) {
            int order = compare_values(kit_get(a, k), kit_get(wanted, i));
            count += order < 0 || (order == 0 && c->params.searchsorted.right);
        }
        kit_same(c, v, 0, i, &count, false);
    }
}

const kit_op kit_index_sort_ops[] = {
    {COLLET_OP_SORT, plan_sort, generate_sort, judge_sort},
    {COLLET_OP_ARGSORT, plan_sort, generate_sort, judge_sort},
    {COLLET_OP_PARTITION, plan_sort, generate_sort, judge_sort},
    {COLLET_OP_SEARCHSORTED, plan_search, generate_search, judge_search},
    {0},
};
