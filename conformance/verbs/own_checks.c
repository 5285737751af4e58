/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plugin's own ops, which have no oracle. Their results must not depend on the memory layout of
 * operands, on the previous contents of outputs and workspace, on the queue or on earlier calls,
 * and nothing else may be written.
 * Tests: tests/conformance/verbs/defects.sh */
#include "verbs/own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const arrangement_names[] = {"dense", "dense with an offset", "with gaps",
                                                "with negative strides", "transposed"};

/* ---- Views --------------------------------------------------------------------------------- */

static void call_and_compare(testbed *b, collet_queue *q, own_call *o, const manner *m,
                             const results *base, bool near, const char *what)
{
    results r;
    if (own_run(b, q, o, m, &r))
        own_compare(b, o, &r, base, near, what);
    own_results_free(&r);
}

/* Checks calls in which output 0 is exactly an input. */
static void in_place(testbed *b, collet_queue *q, own_call *o, const results *base)
{
    const kit_tensor *out = &o->c.operand[0];
    for (uint32_t k = o->row.info.n_out; o->row.info.alias && k < o->row.operands; k++) {
        const kit_tensor *in = &o->c.operand[k];
        manner m = {.shared = k};
        if (in->dtype == out->dtype && in->ndim == out->ndim &&
            !memcmp(in->shape, out->shape, (size_t)in->ndim * sizeof *in->shape))
            call_and_compare(b, q, o, &m, base, true, "in place");
    }
}

static void view_row(testbed *b, collet_queue *q, own_call *o, const results *base)
{
    char what[160];
    manner m = {.fill = 0x11};
    results repeated;
    call_and_compare(b, q, o, &m, base, false, "called again over other bytes in the outputs");
    for (int a = 0; a < 2 * ARRANGEMENTS; a++) {
        bool mixed = a >= ARRANGEMENTS;
        for (uint32_t k = 0; k < o->row.operands; k++)
            m.of[k] = (arrangement)((a + (mixed ? (int)k + 1 : 0)) % ARRANGEMENTS);
        snprintf(what, sizeof what, "output 0 %s and %s operands %s", arrangement_names[m.of[0]],
                 mixed ? "the other" : "all", mixed ? "otherwise" : "so");
        call_and_compare(b, q, o, &m, base, true, what);
    }
    in_place(b, q, o, base);
    own_fill(o, 2, true);
    m = (manner){.fill = 0x22};
    bool accepted = own_run(b, q, o, &m, &repeated);
    m.repeated = true;
    if (accepted)
        call_and_compare(b, q, o, &m, &repeated, true, "with stride 0 in inputs");
    own_results_free(&repeated);
}

static void views(testbed *b)
{
    own_each(b, 1, view_row);
}

/* ---- Several queues ------------------------------------------------------------------------ */

#define OWN_THREADS 3

typedef struct own_threads {
    const own_call *o;
    own_call calls[OWN_THREADS]; /* each with its own inputs */
    results base[OWN_THREADS];
} own_threads;

static void call_again(testbed *b, int number, void *user)
{
    own_threads *t = user;
    const manner m = {.fill = 0x33};
    collet_queue *q = testbed_queue(b);
    for (int i = 0; i < 30 && !testbed_failed(b); i++)
        call_and_compare(b, q, &t->calls[number], &m, &t->base[number], false,
                         "while other threads call it in queues of their own");
    testbed_destroy(b, q);
}

static void thread_row(testbed *b, collet_queue *q, own_call *o, const results *base)
{
    const manner m = {.patient = true};
    own_threads *t = kit_memory(sizeof *t);
    (void)base;
    memset(t, 0, sizeof *t);
    for (int i = 0; i < OWN_THREADS; i++) {
        own_call *mine = &t->calls[i];
        *mine = *o;
        mine->c.row = &mine->row;
        for (uint32_t k = o->row.info.n_out; k < o->row.operands; k++)
            kit_allocate(&mine->c.operand[k]);
        own_fill(mine, 10 + (uint64_t)i, false);
        (void)own_run(b, q, mine, &m, &t->base[i]);
    }
    int count = b->max_queues <= OWN_THREADS ? (int)b->max_queues - b->has_queues : OWN_THREADS;
    testbed_threads(b, count < 1 ? 1 : count, call_again, t);
    for (int i = 0; i < OWN_THREADS; i++) {
        own_results_free(&t->base[i]);
        own_free(&t->calls[i]);
    }
    free(t);
}

static void queues(testbed *b)
{
    if (b->has_queues)
        testbed_need_queues(b, 3);
    own_each(b, 6, thread_row);
}

/* ---- Parameters ---------------------------------------------------------------------------- */

#define MOST_VARIANTS 24

typedef struct variant {
    unsigned char params[sizeof((own_call){0}.params)];
    bool accepted;
    results r;
} variant;

/* Sets a field to its value number `i`; false: the field has no such value. */
static bool vary(own_call *o, const collet_ops_field *f, int i)
{
    static const double numbers[] = {0, 1, 2, 3, 7, 100, -1, 0.5};
    int words = 1, count = 0;
    for (const char *c = f->choices; c && *c; c++)
        words += *c == ' ';
    double value = i;
    if (f->kind == COLLET_FIELD_NUMBER) {
        count = kit_is_real_float(f->dtype) ? 8 : 6;
        value = numbers[i % 8];
    } else if (f->kind == COLLET_FIELD_FLAG) {
        count = 2;
    } else if (f->kind == COLLET_FIELD_CHOICE) {
        count = words;
    }
    if (i < count)
        kit_convert(f->dtype, value, o->params + f->offset);
    return i < count;
}

/* libcore passes a longer parameter block to a row only if the rest is 0. */
static void longer_block(testbed *b, const own_call *o)
{
    collet_array_spec specs[KIT_OPERANDS];
    unsigned char params[sizeof o->params];
    uint32_t size = o->row.info.params_size, longer = size + 16;
    for (uint32_t k = 0; k < o->row.operands; k++) {
        const kit_tensor *t = &o->c.operand[k];
        specs[k] = (collet_array_spec){.dtype = t->dtype, .ndim = t->ndim};
        memcpy(specs[k].shape, t->shape, sizeof specs[k].shape);
    }
    memcpy(params, o->params, sizeof params);
    memcpy(params, &longer, sizeof longer);
    for (uint32_t at = size; size && at < longer; at++) {
        params[at] = 1;
        collet_status status =
            collet_ops_infer(b->target->runtime, o->row.info.id, specs, specs + o->row.info.n_out,
                             sizeof *specs, params, NULL);
        testbed_require(b, status != COLLET_OK,
                        "%s: byte %u of the parameters, which are %u bytes, may be 1",
                        o->row.info.name, at, size);
        params[at] = 0;
    }
}

static void check_variant(testbed *b, collet_queue *q, own_call *o, variant *v, bool again,
                          const char *what)
{
    const manner m = {.fill = again ? 0x77 : 0x44, .patient = !again};
    results r;
    memcpy(o->params, v->params, sizeof v->params);
    bool accepted = own_run(b, q, o, &m, &r);
    testbed_require(b, !again || accepted == v->accepted, "%s %s, %s: %s, and not before",
                    o->row.info.name, o->row.sig, what, accepted ? "accepted" : "refused");
    if (again && accepted)
        own_compare(b, o, &r, &v->r, false, what);
    if (again) {
        own_results_free(&r);
    } else {
        v->r = r;
        v->accepted = accepted;
    }
}

/* Only the fields of the parameters change the results, because all other bytes are reserved. */
static void reserved_words(testbed *b, collet_queue *q, own_call *o, variant *first)
{
    const manner m = {.fill = 0x66};
    for (uint32_t at = 4; o->row.info.field_count && at + 4 <= o->row.info.params_size; at += 4) {
        results r;
        bool described = false;
        for (uint32_t i = 0; i < o->row.info.field_count; i++) {
            const collet_ops_field *f = own_field(o, i);
            described = described || (at + 4 > f->offset && at < f->offset + f->size);
        }
        if (described)
            continue;
        memcpy(o->params, first->params, sizeof first->params);
        o->params[at] = 1;
        if (own_run(b, q, o, &m, &r))
            own_compare(b, o, &r, &first->r, false, "with a byte set that no field describes");
        own_results_free(&r);
    }
    memcpy(o->params, first->params, sizeof first->params);
}

/* Makes blocks with one field changed. */
static int list_variants(own_call *o, variant *list)
{
    unsigned char first[sizeof o->params];
    int count = 0;
    memcpy(first, o->params, sizeof first);
    for (uint32_t k = 0; k < o->row.info.field_count; k++)
        for (int i = 0; count < MOST_VARIANTS && vary(o, own_field(o, k), i); i++) {
            memcpy(list[count++].params, o->params, sizeof first);
            memcpy(o->params, first, sizeof first);
        }
    return count;
}

#define LATE_TRIES 6

/* Repeats the call behind more and more slow work, until this work was not yet done when the arguments had been
 * overwritten. On a busy machine this thread may be interrupted for longer than the work takes. */
static void run_late(testbed *b, collet_queue *q, own_call *o, manner m, const variant *v)
{
    bool waited = false;
    m.chain = CHAIN / 4;
    for (int i = 0; i < LATE_TRIES && !waited; i++, m.chain *= 2) {
        results r;
        bool ran = own_run(b, q, o, &m, &r);
        waited = r.waited || !ran;
        if (ran && v->accepted)
            own_compare(b, o, &r, &v->r, false, "with arguments overwritten after the call");
        own_results_free(&r);
    }
}

/* The parameters are overwritten after the call and before the kernel begins. */
static void late(testbed *b, own_call *o, variant *list, int count)
{
    manner m = {.fill = 0x55};
    collet_queue *q = testbed_queue(b);
    if (b->add >= 0 && b->has_queues) {
        testbed_slow(b);
        m.one = testbed_numbers(b, q, 1, 1);
        m.slow = testbed_numbers(b, q, b->elements, 0);
    }
    for (int i = 0; m.slow && i<count; i += count> 4 ? count / 4 : 1) {
        memcpy(o->params, list[i].params, sizeof list[i].params);
        run_late(b, q, o, m, &list[i]);
    }
    testbed_settle(b, q);
    if (m.slow) {
        testbed_free_all(b, m.slow, m.one);
    }
    testbed_destroy(b, q);
}

/* Checks the first call of a device after it was opened again. */
static void first_call(testbed *b, own_call *o, variant *v)
{
    testbed other = testbed_beside(b);
    testbed_open(&other);
    collet_queue *q = testbed_queue(&other);
    check_variant(&other, q, o, v, true, "in the first call of a device");
    testbed_destroy(&other, q);
    testbed_end(&other);
}

static void vary_row(testbed *b, collet_queue *q, own_call *o, const results *base)
{
    variant *list = kit_memory(MOST_VARIANTS * sizeof *list);
    memset(list, 0, MOST_VARIANTS * sizeof *list);
    variant first = {.accepted = true, .r = *base};
    memcpy(first.params, o->params, sizeof first.params);
    longer_block(b, o);
    reserved_words(b, q, o, &first);
    int count = list_variants(o, list);
    for (int i = 0; i < count; i++) {
        check_variant(b, q, o, &list[i], false, "");
        check_variant(b, q, o, &first, true, "after a call with other parameters");
    }
    for (int i = 0; i < count; i++)
        first_call(b, o, &list[i]);
    late(b, o, list, count);
    for (int i = 0; i < count; i++)
        own_results_free(&list[i].r);
    memcpy(o->params, first.params, sizeof first.params);
    free(list);
}

static void parameters(testbed *b)
{
    own_each(b, 1, vary_row);
}

/* ---- State after a call -------------------------------------------------------------------- */

/* The threads of queues are in the same floating-point state as before. */
static void rounding_row(testbed *b, collet_queue *q, own_call *o, const results *base)
{
    char what[160];
    const manner m = {.fill = 0x12};
    results r;
    (void)base;
    snprintf(what, sizeof what, "in a queue in which %s %s was called", o->row.info.name,
             o->row.sig);
    if (own_run(b, q, o, &m, &r))
        testbed_rounding(b, q, what);
    own_results_free(&r);
}

static void rounding(testbed *b)
{
    own_each(b, 1, rounding_row);
}

const kit_verb verbs_own[] = {
    {"own.views", 0, views},
    {"own.queues", 0, queues},
    {"own.parameters", 0, parameters},
    {"own.rounding", 0, rounding},
    {0},
};
