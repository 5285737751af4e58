/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of kernels: what they keep, their workspace, and several at once. */
#include "verbs/verbs.h"

#include <stdlib.h>
#include <string.h>

/* ---- Rows with the kit's own cases --------------------------------------------------------- */

#define GUARD 4096

/* A case of a row, in buffers of the device. */
typedef struct row_call {
    uint32_t number; /* of the row in the plugin's table */
    kit_row row;
    kit_case c;
    int wanted;
    bool found;
} row_call;

static void choose(void *user, const kit_case *c)
{
    row_call *r = user;
    if (c->number == r->wanted && c->operand[0].count > 0) {
        r->c = *c;
        r->found = true;
    }
}

/* The row as the kit knows it; false: it has no case for it. */
static bool describe(bench *b, uint32_t number, row_call *r)
{
    const collet_plugin *p = b->plugin;
    const collet_kernel_row *row =
        (const void *)((const char *)p->kernels + (size_t)number * p->kernel_size);
    int numbers[KIT_SAMPLE];
    memset(r, 0, sizeof *r);
    r->number = number;
    r->row.info.struct_size = sizeof r->row.info;
    r->row.kit = kit_op_find(row->op);
    if (!r->row.kit || (p->device_supports && !p->device_supports(b->device, number)) ||
        collet_op_describe(b->target->runtime, row->op, &r->row.info, NULL) != COLLET_OK)
        return false;
    r->row.operands = r->row.info.n_out + r->row.info.n_in;
    for (uint32_t k = 0; k < r->row.operands; k++)
        r->row.dtypes[k] = (collet_dtype)(row->sig >> k * COLLET_SIG_BITS & 31);
    kit_signature_text(r->row.dtypes, r->row.info.n_out, r->row.operands, r->row.sig);
    kit_sample_row(&r->row, numbers);
    r->wanted = numbers[0];
    kit_plan plan = {.row = &r->row, .run = choose, .user = r};
    if (r->wanted >= 0)
        r->row.kit->plan(&plan);
    return r->found;
}

bench_operand bench_operand_of(const kit_case *c, uint32_t k, void *buffer)
{
    const kit_tensor *t = &c->operand[k], *out = &c->operand[0];
    const collet_op_pattern *p = kit_pattern(c, k, 0), *first = kit_pattern(c, 0, 0);
    bench_operand o = {.buffer = buffer, .dtype = t->dtype, .ndim = t->ndim};
    int32_t lead = p->dots ? t->ndim - p->ndim : 0;
    int32_t wanted = p->dots && first->dots ? out->ndim - first->ndim : lead;
    int32_t more = lead >= 0 && wanted > lead ? wanted - lead : 0;
    int64_t stride = 1;
    o.ndim += more;
    for (int32_t i = t->ndim - 1; i >= 0; i--) {
        bool repeats = i < lead && t->shape[i] == 1 && out->shape[i + more] != 1;
        o.shape[i + more] = repeats ? out->shape[i + more] : t->shape[i];
        o.strides[i + more] = repeats ? 0 : stride;
        stride *= t->shape[i];
    }
    for (int32_t i = 0; i < more; i++)
        o.shape[i] = out->shape[i];
    if (o.ndim == 0 && p->dots && p->ndim == 0)
        o.shape[o.ndim++] = 1;
    return o;
}

static uint64_t tensor_bytes(const kit_tensor *t)
{
    return (uint64_t)t->count * collet_dtype_size(t->dtype);
}

void *bench_scratch(bench *b, collet_queue *q, uint64_t bytes)
{
    unsigned char *garbage = kit_memory((size_t)bytes + GUARD);
    void *scratch = bench_alloc(b, bytes + GUARD);
    memset(garbage, 0xfb, (size_t)bytes + GUARD);
    bench_write(b, q, scratch, 0, garbage, bytes + GUARD);
    free(garbage);
    return scratch;
}

void bench_scratch_check(bench *b, collet_queue *q, void *scratch, uint64_t bytes,
                         const kit_row *row)
{
    unsigned char guard[GUARD];
    bench_read(b, q, scratch, bytes, guard, GUARD);
    for (int i = 0; i < GUARD; i++)
        bench_require(b, guard[i] == 0xfb,
                      "%s %s wrote %d bytes behind its workspace of %llu bytes, which is what it "
                      "requested",
                      row->info.name, row->sig, i, (unsigned long long)bytes);
    bench_free(b, scratch);
}

static void run_case(bench *b, collet_queue *q, row_call *r, uint64_t seed)
{
    kit_case *c = &r->c;
    kit_rng rng = {.state = seed};
    bench_operand operands[COLLET_MAX_OPERANDS];
    void *buffers[COLLET_MAX_OPERANDS] = {0}, *scratch = NULL;
    kit_verdict v = {0};
    uint64_t bytes = 0;
    c->row = &r->row;
    for (uint32_t k = 0; k < r->row.operands; k++)
        kit_allocate(&c->operand[k]);
    for (uint32_t k = 0; k < r->row.info.n_out; k++)
        memset(c->operand[k].data, 0xff, tensor_bytes(&c->operand[k]));
    r->row.kit->generate(c, &rng);
    for (uint32_t k = 0; k < r->row.operands; k++) {
        const kit_tensor *t = &c->operand[k];
        if (t->dtype != COLLET_DTYPE_NONE)
            buffers[k] = bench_alloc(b, tensor_bytes(t) + 64);
        if (t->dtype != COLLET_DTYPE_NONE && t->count)
            bench_write(b, q, buffers[k], 0, t->data, tensor_bytes(t));
        operands[k] = bench_operand_of(c, k, buffers[k]);
    }
    const void *params = r->row.info.params_size ? &c->params : NULL;
    collet_status status =
        try_accepts(b, r->number, operands, r->row.operands, r->row.info.n_out, params, &bytes);
    if (bytes)
        scratch = bench_scratch(b, q, bytes);
    if (status == COLLET_OK)
        status = try_run(b, q, r->number, operands, r->row.operands, r->row.info.n_out, params,
                         scratch, bytes);
    bench_require(b, status == COLLET_OK || status == COLLET_REFUSED, "run of %s %s returned %s",
                  r->row.info.name, r->row.sig, collet_status_name(status));
    for (uint32_t k = 0; k < r->row.info.n_out && status == COLLET_OK; k++)
        if (buffers[k])
            bench_read(b, q, buffers[k], 0, c->operand[k].data, tensor_bytes(&c->operand[k]));
    if (status == COLLET_OK)
        r->row.kit->judge(c, &v);
    bench_require(b, !v.failed, "%s %s, called directly with a workspace of garbage: %s",
                  r->row.info.name, r->row.sig, v.text);
    bench_settle(b, q);
    if (bytes)
        bench_scratch_check(b, q, scratch, bytes, &r->row);
    for (uint32_t k = 0; k < r->row.operands; k++) {
        if (buffers[k])
            bench_free(b, buffers[k]);
        free(c->operand[k].data);
        c->operand[k].data = NULL;
    }
}

#define MOST_ROWS 24

typedef struct row_list {
    int count;
    uint32_t numbers[MOST_ROWS];
} row_list;

/* Rows that request a workspace first, then others, spread over the table. */
static row_list list_rows(bench *b)
{
    const collet_plugin *p = b->plugin;
    row_list list = {0};
    int with = 0, total = (int)p->kernel_count;
    for (int i = 0; i < total; i++)
        with += row_asks(b, (uint32_t)i);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0, at = 0; i < total && list.count < MOST_ROWS; i++) {
            if (row_asks(b, (uint32_t)i) == (pass == 1))
                continue;
            int of = pass ? total - with : with;
            if (kit_spread(at++, of, MOST_ROWS / 2))
                list.numbers[list.count++] = (uint32_t)i;
        }
    return list;
}

static void rows(bench *b)
{
    row_list list = list_rows(b);
    row_call *r = kit_memory(sizeof *r);
    collet_queue *q = bench_queue(b);
    for (int i = 0; i < list.count; i++)
        if (describe(b, list.numbers[i], r))
            run_case(b, q, r, (uint64_t)i + 1);
    bench_destroy(b, q);
    free(r);
}

static void call_rows(bench *b, int number, void *user)
{
    const row_list *list = user;
    row_call *r = kit_memory(sizeof *r);
    collet_queue *q = bench_queue(b);
    for (int i = 0; i < 2 * list->count; i++)
        if (describe(b, list->numbers[(i + number * list->count / 4) % list->count], r))
            run_case(b, q, r, (uint64_t)(i + 100 * number));
    bench_destroy(b, q);
    free(r);
}

/* Several threads call different rows, each in a queue of its own. */
static void threads(bench *b)
{
    row_list list = list_rows(b);
    int count = b->has_queues && b->max_queues < 4 ? (int)b->max_queues : 4;
    if (list.count)
        bench_threads(b, count, call_rows, &list);
}

/* ---- Parameters and workspace under slow work ---------------------------------------------- */

/* A parameter block, shapes and operands are gone before the kernels begin. */
static void arguments(bench *b)
{
    enum { N = 1000 };
    bench_slow(b);
    collet_queue *q = bench_queue(b);
    int32_t fill = bench_row(b, COLLET_OP_FILL, COLLET_SIG(b->dtype));
    void *one = bench_numbers(b, q, 1, 1), *x = bench_numbers(b, q, b->elements, 0);
    void *y = bench_numbers(b, q, N, 0), *z = bench_numbers(b, q, N, 10);
    collet_fill_params params = {.struct_size = sizeof params, .value = {.dtype = b->dtype}};
    if (b->dtype == COLLET_F32)
        params.value.value.f32 = 7;
    else
        params.value.value.f64 = 7;
    bench_chain(b, q, x, one, b->elements, CHAIN);
    bench_operand out = bench_vector(b, y, 0, N);
    if (fill >= 0)
        bench_require(b, try_run(b, q, (uint32_t)fill, &out, 1, 1, &params, NULL, 0) == COLLET_OK,
                      "run of fill failed");
    bench_operand add[3] = {bench_vector(b, z, 0, N), bench_vector(b, z, 0, N),
                            bench_vector(b, y, 0, N)};
    bench_require(b, try_run(b, q, (uint32_t)b->add, add, 3, 1, NULL, NULL, 0) == COLLET_OK,
                  "run of add failed");
    bench_expect(b, q, y, N, fill >= 0 ? 7 : 0,
                 "fill, whose parameters were overwritten after the call");
    bench_expect(b, q, z, N, fill >= 0 ? 17 : 10,
                 "add, whose arguments were overwritten after the call");
    bench_settle(b, q);
    bench_free(b, one);
    bench_free(b, x);
    bench_free(b, y);
    bench_free(b, z);
    bench_destroy(b, q);
}

#define SUMS 64

typedef struct sum_work {
    collet_queue *q;
    void *in, *out, *scratch;
} sum_work;

/* Sums over the first axis, of as many numbers as slow work has, in several queues at once. */
static void workspace(bench *b)
{
    int32_t row = bench_row(b, COLLET_OP_SUM, COLLET_SIG(b->dtype, b->dtype));
    if (row < 0)
        bench_skip(b, "the device has no kernel sum");
    bench_slow(b);
    int64_t terms = b->elements / SUMS;
    terms = terms < 1 << 12 ? 1 << 12 : terms > 1 << 16 ? 1 << 16 : terms;
    collet_reduce_params params = {.struct_size = sizeof params, .axes = 1};
    collet_queue *queues[4];
    sum_work w[4];
    int count = bench_queues(b, queues, 4);
    for (int i = 0; i < count; i++)
        w[i] = (sum_work){.q = queues[i],
                          .in = bench_numbers(b, queues[i], terms * SUMS, i + 1),
                          .out = bench_numbers(b, queues[i], SUMS, 0)};
    for (int round = 0; round < 6; round++)
        for (int i = 0; i < count; i++) {
            bench_operand sum[2] = {bench_vector(b, w[i].out, 0, SUMS),
                                    bench_vector(b, w[i].in, 0, terms)};
            uint64_t bytes = 0;
            sum[1].ndim = 2;
            sum[1].shape[1] = SUMS;
            sum[1].strides[0] = SUMS;
            sum[1].strides[1] = 1;
            bench_require(b, try_accepts(b, (uint32_t)row, sum, 2, 1, &params, &bytes) == COLLET_OK,
                          "sum is refused");
            if (bytes && round == 0)
                w[i].scratch = bench_alloc(b, bytes);
            bench_require(b,
                          try_run(b, w[i].q, (uint32_t)row, sum, 2, 1, &params, w[i].scratch,
                                  bytes) == COLLET_OK,
                          "run of sum failed");
        }
    for (int i = 0; i < count; i++) {
        bench_expect(b, w[i].q, w[i].out, SUMS, (double)(terms * (i + 1)),
                     "sums in several queues, each with a workspace of its own");
        bench_settle(b, w[i].q);
        bench_free(b, w[i].in);
        bench_free(b, w[i].out);
        if (w[i].scratch)
            bench_free(b, w[i].scratch);
        bench_destroy(b, w[i].q);
    }
}

const kit_verb verbs_calls[] = {
    {"calls.rows", 0, rows},
    {"calls.threads", 0, threads},
    {"calls.arguments", NEEDS_ADD, arguments},
    {"calls.workspace", NEEDS_ADD, workspace},
    {0},
};
