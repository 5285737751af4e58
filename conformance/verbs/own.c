/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of a plugin's own ops.
 * Tests: tests/conformance/verbs/defects.sh */
#include "verbs/own.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Operands ------------------------------------------------------------------------------ */

#define BEFORE 37 /* elements in front of a view, unless DENSE */
#define BEHIND 64

typedef struct place {
    int64_t strides[COLLET_MAX_DIMS], first, count; /* elements */
    size_t size;
    void *buffer;
    unsigned char *image; /* the buffer's bytes before the call */
} place;

static place place_of(const kit_tensor *t, arrangement a, bool repeats)
{
    place p = {.first = a == DENSE ? 0 : BEFORE, .size = collet_dtype_size(t->dtype)};
    int64_t step = a == STEPPED ? 2 : 1, span = step;
    for (int32_t i = 0; i < t->ndim; i++) {
        int32_t axis = a == TRANSPOSED ? i : t->ndim - 1 - i;
        p.strides[axis] = repeats && axis == 0 ? 0 : a == REVERSED ? -span : span;
        if (a == REVERSED && p.strides[axis] && t->shape[axis])
            p.first += (t->shape[axis] - 1) * span;
        span *= t->shape[axis] * step;
    }
    p.count = BEFORE + span + BEHIND;
    return p;
}

/* Element number i, in C order, of a view. */
static unsigned char *element(const place *p, const kit_tensor *t, unsigned char *image, int64_t i)
{
    int64_t at = p->first;
    for (int32_t axis = t->ndim - 1; axis >= 0; axis--) {
        at += i % t->shape[axis] * p->strides[axis];
        i /= t->shape[axis];
    }
    return image + (size_t)at * p->size;
}

static place put(testbed *b, collet_queue *q, const own_call *o, uint32_t k, const manner *m)
{
    const kit_tensor *t = &o->c.operand[k];
    bool output = k < o->row.info.n_out;
    bool repeats = !output && m->repeated && kit_pattern(&o->c, k, 0)->dots && t->ndim > 0;
    place p = place_of(t, m->of[k], repeats);
    size_t bytes = (size_t)p.count * p.size;
    p.image = kit_memory(bytes);
    memset(p.image, output ? m->fill : 0x3e, bytes);
    for (int64_t i = 0; !output && i < t->count; i++)
        memcpy(element(&p, t, p.image, i), t->data + (size_t)i * p.size, p.size);
    p.buffer = testbed_alloc(b, bytes);
    testbed_write(b, q, p.buffer, 0, p.image, bytes);
    return p;
}

/* Called after a kernel's call: reads the results, and checks that no other bytes were written. */
static void take(testbed *b, collet_queue *q, const own_call *o, uint32_t k, place *p, bool written,
                 kit_tensor *out)
{
    const kit_tensor *t = &o->c.operand[k];
    size_t bytes = (size_t)p->count * p->size;
    unsigned char *after = kit_memory(bytes);
    testbed_read(b, q, p->buffer, 0, after, bytes);
    if (written) {
        *out = *t;
        kit_allocate(out);
    }
    for (int64_t i = 0; written && i < t->count; i++) {
        memcpy(out->data + (size_t)i * p->size, element(p, t, after, i), p->size);
        memcpy(element(p, t, p->image, i), element(p, t, after, i), p->size);
    }
    size_t at = 0;
    while (at < bytes && after[at] == p->image[at])
        at++;
    testbed_require(b, at == bytes, "%s %s wrote byte %zu of the buffer of %s %u, which is %s",
                    o->row.info.name, o->row.sig, at, written ? "output" : "input",
                    written ? k : k - o->row.info.n_out,
                    written ? "not one of its elements" : "not to be written");
    free(after);
}

static void drop(testbed *b, const own_call *o, place *places)
{
    for (uint32_t k = 0; k < o->row.operands; k++) {
        if (places[k].image)
            testbed_free(b, places[k].buffer);
        free(places[k].image);
    }
}

/* ---- Calls --------------------------------------------------------------------------------- */

static const void *params_of(const own_call *o)
{
    return o->row.info.params_size ? o->params : NULL;
}

/* Calls the slot `accepts` twice. */
static collet_status ask(testbed *b, const own_call *o, const testbed_operand *operands,
                         uint64_t *bytes)
{
    uint64_t again = 0;
    uint32_t count = o->row.operands, n_out = o->row.info.n_out;
    collet_status first = try_accepts(b, o->number, operands, count, n_out, params_of(o), bytes);
    collet_status second = try_accepts(b, o->number, operands, count, n_out, params_of(o), &again);
    testbed_require(b, first == second && (first != COLLET_OK || *bytes == again),
                    "%s %s: accepts returned %s and %" PRIu64
                    " bytes of scratch, then %s and %" PRIu64 " for the same call",
                    o->row.info.name, o->row.sig, collet_status_name(first), *bytes,
                    collet_status_name(second), again);
    return first;
}

/* Calls a row; false: it refused. The caller frees the results. */
bool own_run(testbed *b, collet_queue *q, const own_call *o, const manner *m, results *r)
{
    testbed_operand operands[COLLET_MAX_OPERANDS];
    place places[KIT_OPERANDS] = {0};
    uint32_t count = o->row.operands, n_out = o->row.info.n_out;
    uint64_t bytes = 0;
    memset(r, 0, sizeof *r);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = count - 1 - i; /* inputs first, because output 0 may be an input */
        bool in_place = k == 0 && m->shared;
        if (!in_place)
            places[k] = put(b, q, o, k, m);
        const place *p = &places[in_place ? m->shared : k];
        operands[k] = testbed_operand_of(&o->c, k, p->buffer);
        operands[k].offset = (uint64_t)p->first * p->size;
        for (int32_t axis = 0; axis < o->c.operand[k].ndim; axis++)
            operands[k].strides[axis] = p->strides[axis];
    }
    collet_status status = ask(b, o, operands, &bytes);
    void *scratch = bytes && status == COLLET_OK ? testbed_scratch(b, q, bytes) : NULL;
    if (m->slow)
        testbed_chain(b, q, m->slow, m->one, b->elements, m->chain);
    uint64_t slow = m->slow ? testbed_mark(b, q) : 0;
    if (status == COLLET_OK) {
        b->patient = m->patient;
        status = try_run(b, q, o->number, operands, count, n_out, params_of(o), scratch, bytes);
        b->patient = false;
        testbed_require(
            b, status == COLLET_OK || (status == COLLET_REFUSED && !row_asks(b, o->number)),
            "%s %s: accepts returned OK for a call, and run %s", o->row.info.name, o->row.sig,
            collet_status_name(status));
    }
    r->waited = m->slow && try_wait(b, q, slow, 0) == COLLET_NOT_READY;
    for (uint32_t k = 0; k < count; k++) {
        bool written = status == COLLET_OK && (k < n_out || k == m->shared);
        if (places[k].image)
            take(b, q, o, k, &places[k], written, &r->out[k == m->shared ? 0 : k]);
    }
    testbed_settle(b, q);
    if (scratch)
        testbed_scratch_check(b, q, scratch, bytes, &o->row);
    drop(b, o, places);
    return status == COLLET_OK;
}

void own_results_free(results *r)
{
    for (uint32_t k = 0; k < KIT_OPERANDS; k++)
        free(r->out[k].data);
    memset(r, 0, sizeof *r);
}

/* Whether another order of additions can explain the difference of two floating parts. */
static bool is_near(const kit_tensor *t, long double x, long double y, long double largest)
{
    collet_dtype part = kit_part(t->dtype);
    if (x == y || (isnan(x) && isnan(y)))
        return true;
    bool floating = kit_is_real_float(part);
    return floating && fabsl(x - y) <= ldexpl(largest, -kit_precision(part) / 2);
}

/* Fails unless the results are equal: bit for bit, or `near`. */
void own_compare(testbed *b, const own_call *o, const results *found, const results *expected,
                 bool near, const char *what)
{
    for (uint32_t k = 0; k < o->row.info.n_out; k++) {
        const kit_tensor *x = &found->out[k], *y = &expected->out[k];
        long double largest = 0;
        for (int64_t i = 0; i < kit_parts(y); i++)
            largest = fmaxl(largest, fabsl(kit_get(y, i)));
        for (int64_t i = 0; i < kit_parts(y); i++) {
            size_t size = collet_dtype_size(kit_part(y->dtype));
            bool same = near ? is_near(y, kit_get(x, i), kit_get(y, i), largest)
                             : !memcmp(kit_at(x, i), kit_at(y, i), size);
            testbed_require(b, same,
                            "%s %s, %s: part %" PRId64 " of output %u is %.17Lg, not %.17Lg",
                            o->row.info.name, o->row.sig, what, i, k, kit_get(x, i), kit_get(y, i));
        }
    }
}

/* ---- A call that the row accepts ----------------------------------------------------------- */

static void letters_of(const kit_row *row, char letters[64])
{
    size_t count = 0;
    for (uint32_t k = 0; k < row->operands; k++) {
        const collet_ops_pattern *p = &row->info.operands[k].pattern[0];
        for (int32_t i = 0; i < p->ndim; i++) {
            const uint16_t both[] = {p->axes[i].letter, p->axes[i].other};
            for (int j = 0; j < 2; j++)
                if (both[j] && count < 62 && !memchr(letters, both[j], count))
                    letters[count++] = (char)both[j];
        }
    }
    letters[count] = '\0';
}

const collet_ops_field *own_field(const own_call *o, uint32_t i)
{
    const char *first = (const char *)o->row.info.fields;
    return (const void *)(first + (size_t)i * o->row.info.field_size);
}

/* Extents of the letters: `base`, base + step, ... */
static const struct {
    int64_t base, step;
    int32_t dots;
} shapes[] = {{24, 4, 2}, {24, 4, 0}, {16, 0, 2}, {16, 0, 0}, {64, 0, 1},
              {4, 0, 1},  {3, 0, 1},  {3, 0, 0},  {2, 0, 1},  {1, 0, 0}};
#define SHAPES (sizeof shapes / sizeof *shapes)

void own_fill(own_call *o, uint64_t seed, bool repeated)
{
    kit_rng rng = {.state = seed};
    for (uint32_t k = o->row.info.n_out; k < o->row.operands; k++) {
        kit_tensor *t = &o->c.operand[k];
        collet_dtype part = kit_part(t->dtype);
        bool floating = kit_is_real_float(part);
        for (int64_t i = 0; i < kit_parts(t); i++)
            kit_set(t, i, floating ? kit_uniform(&rng, 0.25, 1) : (double)kit_below(&rng, 2));
        size_t row = t->ndim && t->shape[0]
                         ? (size_t)(t->count / t->shape[0]) * collet_dtype_size(t->dtype)
                         : 0;
        for (int64_t i = 1; repeated && row && kit_pattern(&o->c, k, 0)->dots && i < t->shape[0];
             i++)
            memcpy(t->data + (size_t)i * row, t->data, row);
    }
}

static void set_default(testbed *b, own_call *o)
{
    collet_error err;
    int32_t ndim = o->row.info.n_in ? kit_in(&o->c, 0)->ndim : 0;
    memset(o->params, 0, sizeof o->params);
    if (!o->row.info.params_size)
        return;
    testbed_require(b,
                    collet_ops_defaults(b->target->runtime, o->row.info.id, o->params,
                                        sizeof o->params, ndim, &err) == COLLET_OK,
                    "%s: %s", o->row.info.name, err.text);
    for (uint32_t i = 0; i < o->row.info.field_count; i++) {
        const collet_ops_field *f = own_field(o, i);
        collet_scalar one = {.dtype = o->row.dtypes[0]};
        kit_convert(kit_part(one.dtype), 1, one.value.bytes);
        if (f->kind == COLLET_FIELD_SCALAR)
            memcpy(o->params + f->offset, &one, sizeof one);
    }
}

void own_free(own_call *o)
{
    for (uint32_t k = 0; k < KIT_OPERANDS; k++) {
        free(o->c.operand[k].data);
        o->c.operand[k].data = NULL;
    }
}

static void set_shape(own_call *o, size_t number, int64_t scale)
{
    char letters[64];
    int64_t extents[64], dots[2] = {3 * scale, 5 * scale};
    letters_of(&o->row, letters);
    for (size_t i = 0; letters[i]; i++)
        extents[i] = shapes[number].base + shapes[number].step * (int64_t)i;
    kit_bind(&o->c, letters, extents, shapes[number].dots, dots, 0);
    for (uint32_t k = o->row.info.n_out; k < o->row.operands; k++)
        kit_allocate(&o->c.operand[k]);
}

/* Tries shapes until the row accepts a shape with default parameters; sets `base` to the results. False: it accepts
 * no shape. */
static bool choose(testbed *b, collet_queue *q, own_call *o, int64_t scale, results *base)
{
    const manner dense = {.fill = 0xff, .patient = true};
    for (size_t i = 0; i < SHAPES; i++) {
        set_shape(o, i, scale);
        own_fill(o, 1, false);
        set_default(b, o);
        if (own_run(b, q, o, &dense, base))
            return true;
        own_free(o);
    }
    return false;
}

static const collet_kernel_row *row_of(const collet_plugin *p, uint32_t i)
{
    return (const void *)((const char *)p->kernels + (size_t)i * p->kernel_size);
}

static bool describe(testbed *b, uint32_t number, own_call *o)
{
    const collet_plugin *p = b->plugin;
    const collet_kernel_row *row = row_of(p, number);
    uint32_t id, k = row->op & ~COLLET_OWN_OP(0);
    if (!(row->op & COLLET_OWN_OP(0)) ||
        (p->device_supports && !p->device_supports(b->device, number)))
        return false;
    const collet_ops_definition *op = (const void *)((const char *)p->ops + (size_t)k * p->op_size);
    memset(o, 0, sizeof *o);
    o->number = number;
    o->row.info.struct_size = sizeof o->row.info;
    if (collet_ops_find(b->target->runtime, &id, op->name, NULL) != COLLET_OK ||
        collet_ops_describe(b->target->runtime, id, &o->row.info, NULL) != COLLET_OK)
        return false;
    o->row.operands = o->row.info.n_out + o->row.info.n_in;
    for (uint32_t i = 0; i < o->row.operands; i++) {
        o->row.dtypes[i] = (collet_dtype)(row->sig >> i * COLLET_SIG_BITS & 31);
        o->c.operand[i].dtype = o->row.dtypes[i];
    }
    o->c.row = &o->row;
    kit_signature_text(o->row.dtypes, o->row.info.n_out, o->row.operands, o->row.sig);
    return true;
}

/* Calls `body` for each row of an own op that can be called. */
void own_each(testbed *b, int64_t scale,
              void (*body)(testbed *b, collet_queue *q, own_call *o, const results *base))
{
    own_call *o = kit_memory(sizeof *o);
    int own = 0, called = 0;
    for (uint32_t i = 0; i < b->plugin->kernel_count; i++) {
        results base;
        if (!describe(b, i, o))
            continue;
        own++;
        collet_queue *q = testbed_queue(b);
        bool accepted = choose(b, q, o, scale, &base);
        testbed_destroy(b, q);
        if (!accepted)
            continue;
        q = testbed_queue(b);
        called++;
        body(b, q, o, &base);
        testbed_destroy(b, q);
        own_results_free(&base);
        own_free(o);
    }
    free(o);
    if (!called)
        testbed_skip(b, own ? "every call of the plugin's own ops was refused"
                            : "the plugin has no op of its own");
}
