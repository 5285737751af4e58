/* SPDX-License-Identifier: Apache-2.0 */
/* Calls rows directly, with the cases of the kit.
 * Tests: tests/conformance/verbs/defects.sh */
#include "verbs/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A case of a row, in buffers of the device. */
typedef struct row_call {
    uint32_t number; /* number of the row in the plugin's table */
    kit_row row;
    kit_case c;
    int chosen; /* number of the case; MATRIX: the first case whose operands have few rows */
    bool found;
} row_call;

#define MATRIX (-2)
#define FEW 16

static bool is_matrix(const kit_case *c)
{
    bool has = false;
    for (uint32_t k = 0; k < c->row->operands; k++) {
        const kit_tensor *t = &c->operand[k];
        if (t->count > 100000 || (t->ndim > 1 && t->shape[0] > FEW))
            return false;
        has = has || (t->ndim > 1 && t->shape[0] > 1);
    }
    return has && !c->big;
}

static void choose(void *user, const kit_case *c)
{
    row_call *r = user;
    bool chosen = r->chosen == MATRIX ? !r->found && is_matrix(c) : c->number == r->chosen;
    if (chosen && c->operand[0].count > 0) {
        r->c = *c;
        r->found = true;
    }
}

/* Describes a row for the kit and finds one case for it. `chosen` is MATRIX: the first case that is_matrix accepts; else
 * the first case that kit_sample_row chooses. False: there is none. */
static bool describe(testbed *b, uint32_t number, int chosen, row_call *r)
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
        collet_ops_describe(b->target->runtime, row->op, &r->row.info, NULL) != COLLET_OK)
        return false;
    r->row.operands = r->row.info.n_out + r->row.info.n_in;
    for (uint32_t k = 0; k < r->row.operands; k++)
        r->row.dtypes[k] = (collet_dtype)(row->sig >> k * COLLET_SIG_BITS & 31);
    if (row->op == COLLET_OP_EVALUATE)
        kit_evaluate_row(0, r->row.dtypes);
    kit_signature_text(r->row.dtypes, r->row.info.n_out, r->row.operands, r->row.sig);
    kit_sample_row(&r->row, numbers);
    r->chosen = chosen == MATRIX ? MATRIX : numbers[0];
    kit_plan plan = {.row = &r->row, .run = choose, .user = r};
    if (r->chosen != -1)
        r->row.kit->plan(&plan);
    return r->found;
}

testbed_operand testbed_operand_of(const kit_case *c, uint32_t k, void *buffer)
{
    const kit_tensor *t = &c->operand[k], *out = &c->operand[0];
    const collet_ops_pattern *p = kit_pattern(c, k, 0), *first = kit_pattern(c, 0, 0);
    testbed_operand o = {.buffer = buffer, .dtype = t->dtype, .ndim = t->ndim};
    int32_t lead = p->dots ? t->ndim - p->ndim : 0;
    int32_t leading = p->dots && first->dots ? out->ndim - first->ndim : lead;
    int32_t more = lead >= 0 && leading > lead ? leading - lead : 0;
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

/* ---- Where operands are -------------------------------------------------------------------- */

/* A buffer in which the rows of all operands are far apart; NULL: each operand has its own
 * buffer. */
typedef struct area {
    void *buffer;
    uint64_t bytes;
} area;

/* The rows of an operand; a dense operand is one row. */
typedef struct span {
    void *buffer;
    uint64_t start, row; /* bytes */
    int64_t step, rows;
} span;

#define TAIL 64 /* bytes after a dense operand, which must not change */
#define STARTS ((uint64_t)64 << 20)

static bool is_far(const area *far, const kit_tensor *t)
{
    return far->buffer && t->ndim > 1 && t->shape[0] > 1;
}

static int64_t far_step(const area *far, const kit_case *c)
{
    int64_t most = 2;
    for (uint32_t k = 0; k < c->row->operands; k++)
        if (is_far(far, &c->operand[k]) && c->operand[k].shape[0] > most)
            most = c->operand[k].shape[0];
    return (int64_t)(far->bytes - STARTS) / (most - 1) / 64 * 64;
}

static span span_of(testbed *b, collet_queue *q, const area *far, const kit_case *c, uint32_t k,
                    uint64_t *used)
{
    const kit_tensor *t = &c->operand[k];
    unsigned char tail[TAIL];
    span s = {.rows = 1, .row = tensor_bytes(t)};
    if (t->dtype == COLLET_DTYPE_NONE)
        return s;
    if (!is_far(far, t)) {
        memset(tail, 0xd7, TAIL);
        s.buffer = testbed_alloc(b, s.row + TAIL);
        testbed_write(b, q, s.buffer, s.row, tail, TAIL);
        return s;
    }
    s = (span){.buffer = far->buffer, .rows = t->shape[0], .start = *used};
    s.row = tensor_bytes(t) / (uint64_t)s.rows;
    s.step = far_step(far, c);
    *used += (s.row + 63) / 64 * 64;
    if (k % 2) {
        s.start += (uint64_t)((s.rows - 1) * s.step);
        s.step = -s.step;
    }
    return s;
}

static void span_write(testbed *b, collet_queue *q, const span *s, const unsigned char *data)
{
    for (int64_t i = 0; s->buffer && s->row && i < s->rows; i++)
        testbed_write(b, q, s->buffer, s->start + (uint64_t)(i * s->step),
                      data + (uint64_t)i * s->row, s->row);
}

static void span_read(testbed *b, collet_queue *q, const span *s, unsigned char *data)
{
    for (int64_t i = 0; s->buffer && s->row && i < s->rows; i++)
        testbed_read(b, q, s->buffer, s->start + (uint64_t)(i * s->step),
                     data + (uint64_t)i * s->row, s->row);
}

static testbed_operand span_operand(const kit_case *c, uint32_t k, const span *s)
{
    testbed_operand o = testbed_operand_of(c, k, s->buffer);
    const kit_tensor *t = &c->operand[k];
    int32_t axis = o.ndim - t->ndim;
    o.offset = s->start;
    if (s->step && o.strides[axis])
        o.strides[axis] = s->step / (int64_t)collet_dtype_size(t->dtype);
    return o;
}

static void span_free(testbed *b, collet_queue *q, const span *s, const area *far,
                      const kit_row *row)
{
    unsigned char tail[TAIL];
    if (!s->buffer || s->buffer == far->buffer)
        return;
    testbed_read(b, q, s->buffer, s->row, tail, TAIL);
    for (int i = 0; i < TAIL; i++)
        testbed_require(b, tail[i] == 0xd7, "%s %s wrote byte %d beyond an operand", row->info.name,
                        row->sig, i);
    testbed_free(b, s->buffer);
}

/* ---- Calls --------------------------------------------------------------------------------- */

/* Calls the row and reads the outputs; OK or REFUSED. */
static collet_status call_row(testbed *b, collet_queue *q, row_call *r, const span *spans)
{
    kit_case *c = &r->c;
    testbed_operand operands[COLLET_MAX_OPERANDS];
    uint32_t count = r->row.operands, n_out = r->row.info.n_out;
    uint64_t bytes = 0, again = 0;
    void *scratch = NULL;
    const void *params = r->row.info.params_size ? &c->params : NULL;
    for (uint32_t k = 0; k < count; k++)
        operands[k] = span_operand(c, k, &spans[k]);
    collet_status status = try_accepts(b, r->number, operands, count, n_out, params, &bytes);
    testbed_require(b,
                    try_accepts(b, r->number, operands, count, n_out, params, &again) == status &&
                        (status != COLLET_OK || again == bytes),
                    "%s %s: accepts returned %s and %llu bytes, and then another status or number",
                    r->row.info.name, r->row.sig, collet_status_name(status),
                    (unsigned long long)bytes);
    if (status != COLLET_OK)
        return status;
    if (bytes)
        scratch = testbed_scratch(b, q, bytes);
    status = try_run(b, q, r->number, operands, count, n_out, params, scratch, bytes);
    testbed_require(b, status == COLLET_OK || status == COLLET_REFUSED, "run of %s %s returned %s",
                    r->row.info.name, r->row.sig, collet_status_name(status));
    for (uint32_t k = 0; k < n_out && status == COLLET_OK; k++)
        span_read(b, q, &spans[k], c->operand[k].data);
    testbed_settle(b, q);
    if (bytes)
        testbed_scratch_check(b, q, scratch, bytes, &r->row);
    return status;
}

static void run_case(testbed *b, collet_queue *q, row_call *r, uint64_t seed, const area *far)
{
    kit_case *c = &r->c;
    kit_rng rng = {.state = seed};
    span spans[COLLET_MAX_OPERANDS];
    kit_verdict v = {0};
    uint64_t used = 0;
    c->row = &r->row;
    for (uint32_t k = 0; k < r->row.operands; k++)
        kit_allocate(&c->operand[k]);
    for (uint32_t k = 0; k < r->row.info.n_out; k++)
        memset(c->operand[k].data, 0xff, tensor_bytes(&c->operand[k]));
    r->row.kit->generate(c, &rng);
    for (uint32_t k = 0; k < r->row.operands; k++) {
        spans[k] = span_of(b, q, far, c, k, &used);
        span_write(b, q, &spans[k], c->operand[k].data);
    }
    if (call_row(b, q, r, spans) == COLLET_OK)
        r->row.kit->judge(c, &v);
    testbed_require(b, !v.failed, "%s %s, called directly with %s: %s", r->row.info.name,
                    r->row.sig, far->buffer ? "rows that are far apart" : "a workspace of garbage",
                    v.text);
    for (uint32_t k = 0; k < r->row.operands; k++) {
        span_free(b, q, &spans[k], far, &r->row);
        free(c->operand[k].data);
        c->operand[k].data = NULL;
    }
}

#define MOST_ROWS 24

typedef struct row_list {
    int count;
    uint32_t numbers[MOST_ROWS];
} row_list;

/* Adds rows that are spread over the table, until there are `most`. */
static void add_rows(const testbed *b, row_list *list, bool asks, bool first, int most)
{
    uint32_t total = b->plugin->kernel_count;
    int of = 0, at = 0, wanted = most - list->count;
    for (uint32_t i = 0; i < total; i++)
        of += row_asks(b, i) == asks && row_is_first(b, i) == first;
    for (uint32_t i = 0; i < total; i++)
        if (row_asks(b, i) == asks && row_is_first(b, i) == first && kit_spread(at++, of, wanted))
            list->numbers[list->count++] = i;
}

/* Lists rows that may request a workspace, then other rows; in both groups the first row of each op
 * comes first. */
static row_list list_rows(testbed *b)
{
    row_list list = {0};
    for (int pass = 0; pass < 4; pass++)
        add_rows(b, &list, pass < 2, pass % 2 == 0, pass < 2 ? MOST_ROWS / 2 : MOST_ROWS);
    return list;
}

static void run_rows(testbed *b, const area *far)
{
    row_list list = list_rows(b);
    row_call *r = kit_memory(sizeof *r);
    char what[160];
    collet_queue *q = testbed_queue(b);
    for (int i = 0; i < list.count; i++) {
        for (int k = far->buffer ? 1 : 0; k < 2; k++) {
            if (!describe(b, list.numbers[i], k ? MATRIX : 0, r))
                continue;
            run_case(b, q, r, (uint64_t)i + 1, far);
            snprintf(what, sizeof what, "in a queue in which %s %s was called", r->row.info.name,
                     r->row.sig);
            testbed_rounding(b, q, what);
        }
    }
    testbed_destroy(b, q);
    free(r);
}

void testbed_rows(testbed *b)
{
    run_rows(b, &(area){0});
}

#define ASKED 12 /* attempts, each with other inputs and parameters */

/* Changes the dtype of the value of fill, because a backend may refuse some dtypes. */
static void vary_fill(kit_case *c, uint64_t seed)
{
    collet_dtype given = 1 + (collet_dtype)(seed % (COLLET_DTYPE_COUNT - 1));
    if (c->row->kit->op == COLLET_OP_FILL && kit_part(given) == given)
        c->params.fill.value.dtype = given;
}

void testbed_ask_rows(testbed *b)
{
    row_list list = list_rows(b);
    row_call *r = kit_memory(sizeof *r);
    for (int i = 0; i < list.count; i++) {
        testbed_operand operands[COLLET_MAX_OPERANDS];
        if (!row_asks(b, list.numbers[i]) || !describe(b, list.numbers[i], 0, r))
            continue;
        r->c.row = &r->row;
        for (uint32_t k = 0; k < r->row.operands; k++) {
            kit_allocate(&r->c.operand[k]);
            operands[k] = testbed_operand_of(&r->c, k, NULL);
        }
        for (uint64_t seed = 1; seed <= ASKED; seed++) {
            uint64_t bytes;
            r->row.kit->generate(&r->c, &(kit_rng){.state = seed});
            vary_fill(&r->c, seed);
            (void)try_accepts(b, r->number, operands, r->row.operands, r->row.info.n_out,
                              r->row.info.params_size ? &r->c.params : NULL, &bytes);
        }
        for (uint32_t k = 0; k < r->row.operands; k++)
            free(r->c.operand[k].data);
    }
    free(r);
}

void testbed_far_rows(testbed *b, void *buffer, uint64_t bytes)
{
    run_rows(b, &(area){buffer, bytes});
}

static void call_rows(testbed *b, int number, void *user)
{
    const row_list *list = user;
    row_call *r = kit_memory(sizeof *r);
    collet_queue *q = testbed_queue(b);
    for (int i = 0; i < 2 * list->count; i++)
        if (describe(b, list->numbers[(i + number * list->count / 4) % list->count], 0, r))
            run_case(b, q, r, (uint64_t)(i + 100 * number), &(area){0});
    testbed_destroy(b, q);
    free(r);
}

/* Several threads call different rows, each in a queue of its own. */
static void threads(testbed *b)
{
    row_list list = list_rows(b);
    int count = b->has_queues && b->max_queues < 4 ? (int)b->max_queues : 4;
    if (list.count)
        testbed_threads(b, count, call_rows, &list);
}

/* ---- Failing allocations ------------------------------------------------------------------- */

#define MOST 60 /* allocations of one call */

/* Calls the row while allocation `n` fails. The call has its own queue, because a late failure makes a queue fail
 * permanently. Returns true if an allocation failed. */
static bool run_short(testbed *b, const row_call *r, const testbed_operand *operands, int64_t n)
{
    const void *params = r->row.info.params_size ? &r->c.params : NULL;
    uint32_t count = r->row.operands, n_out = r->row.info.n_out;
    uint64_t bytes = 0;
    collet_queue *q = testbed_queue(b);
    allocation_fail(n);
    collet_status status = try_accepts(b, r->number, operands, count, n_out, params, &bytes);
    bool failed = allocation_has_failed();
    allocation_fail(-1);
    void *scratch = bytes ? testbed_alloc(b, bytes) : NULL;
    if (status == COLLET_OK) {
        allocation_fail(n);
        (void)try_run(b, q, r->number, operands, count, n_out, params, scratch, bytes);
        (void)try_wait(b, q, testbed_mark(b, q), -1);
        failed = allocation_has_failed() || failed;
        allocation_fail(-1);
    }
    testbed_destroy(b, q);
    if (scratch)
        testbed_free(b, scratch);
    return failed;
}

/* Finds inputs and parameters that the row accepts, if any. */
static void generate_accepted(testbed *b, row_call *r)
{
    testbed_operand operands[COLLET_MAX_OPERANDS];
    collet_status status = COLLET_REFUSED;
    const void *params = r->row.info.params_size ? &r->c.params : NULL;
    r->c.row = &r->row;
    for (uint32_t k = 0; k < r->row.operands; k++) {
        kit_allocate(&r->c.operand[k]);
        operands[k] = testbed_operand_of(&r->c, k, NULL);
    }
    for (uint64_t seed = 1; seed <= ASKED && status != COLLET_OK; seed++) {
        uint64_t bytes;
        r->row.kit->generate(&r->c, &(kit_rng){.state = seed});
        status =
            try_accepts(b, r->number, operands, r->row.operands, r->row.info.n_out, params, &bytes);
    }
}

static void short_row(testbed *b, row_call *r)
{
    testbed_operand operands[COLLET_MAX_OPERANDS];
    span spans[COLLET_MAX_OPERANDS];
    collet_queue *q = testbed_queue(b);
    uint64_t used = 0;
    generate_accepted(b, r);
    for (uint32_t k = 0; k < r->row.operands; k++) {
        spans[k] = span_of(b, q, &(area){0}, &r->c, k, &used);
        if (k >= r->row.info.n_out)
            span_write(b, q, &spans[k], r->c.operand[k].data);
        operands[k] = span_operand(&r->c, k, &spans[k]);
    }
    testbed_settle(b, q);
    (void)run_short(b, r, operands, -1); /* so that the plugin allocates the memory that it keeps */
    for (int64_t n = 0; n < MOST && run_short(b, r, operands, n); n++)
        continue;
    for (uint32_t k = 0; k < r->row.operands; k++) {
        span_free(b, q, &spans[k], &(area){0}, &r->row);
        free(r->c.operand[k].data);
    }
    testbed_destroy(b, q);
}

/* Every allocation in accepts and run of each row fails once: the plugin does not crash, and
 * returns an allowed status. */
static void short_rows(testbed *b)
{
    if (!allocation_watched())
        testbed_skip(b, "this backend-check was built with a sanitizer");
    allocation_watch(b->target->begin, b->target->end);
    row_list list = list_rows(b);
    row_call *r = kit_memory(sizeof *r);
    for (int i = 0; i < list.count; i++)
        if (describe(b, list.numbers[i], 0, r))
            short_row(b, r);
    free(r);
}

const kit_verb verbs_rows[] = {
    {"calls.rows", 0, testbed_rows},
    {"calls.threads", 0, threads},
    {"short.rows", 0, short_rows},
    {0},
};
