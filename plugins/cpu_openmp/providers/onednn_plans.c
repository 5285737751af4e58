/* SPDX-License-Identifier: Apache-2.0 */
#include "onednn_internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"

#define PLANS 32

enum { SRC, WEIGHTS, DST, SCRATCH, MEMORIES };

/* What a plan is compiled for: compared as bytes, so it has no padding. */
typedef struct plan_key {
    int64_t extent[3];     /* m n k */
    int64_t stride[3];     /* of a, b, c */
    int32_t transposed[2]; /* a, b */
    int32_t type, threads;
} plan_key;

typedef struct plan {
    plan_key key;
    const onednn *library;
    dnnl_primitive_t primitive;
    dnnl_stream_t stream;
    dnnl_memory_t memory[MEMORIES];
    void *scratch;
    uint64_t used; /* when it was used last, by the counter of the set */
} plan;

/* Idle plans. One that is in use belongs to the call that has taken it: its memory objects point
 * at that call's matrices. */
struct onednn_plans {
    pthread_mutex_t lock;
    uint64_t clock;
    plan *idle[PLANS];
};

int onednn_find_matmul(void *handle, onednn *o)
{
    return library_find(handle, "dnnl_engine_create", &o->engine_create) &&
           library_find(handle, "dnnl_stream_create", &o->stream_create) &&
           library_find(handle, "dnnl_stream_destroy", &o->stream_destroy) &&
           library_find(handle, "dnnl_stream_wait", &o->stream_wait) &&
           library_find(handle, "dnnl_memory_desc_init_by_strides",
                        &o->memory_desc_init_by_strides) &&
           library_find(handle, "dnnl_memory_desc_get_size", &o->memory_desc_get_size) &&
           library_find(handle, "dnnl_memory_create", &o->memory_create) &&
           library_find(handle, "dnnl_memory_destroy", &o->memory_destroy) &&
           library_find(handle, "dnnl_memory_set_data_handle", &o->memory_set_data_handle) &&
           library_find(handle, "dnnl_matmul_desc_init", &o->matmul_desc_init) &&
           library_find(handle, "dnnl_primitive_attr_create", &o->primitive_attr_create) &&
           library_find(handle, "dnnl_primitive_attr_destroy", &o->primitive_attr_destroy) &&
           library_find(handle, "dnnl_primitive_attr_set_scratchpad_mode",
                        &o->primitive_attr_set_scratchpad_mode) &&
           library_find(handle, "dnnl_primitive_desc_create", &o->primitive_desc_create) &&
           library_find(handle, "dnnl_primitive_desc_destroy", &o->primitive_desc_destroy) &&
           library_find(handle, "dnnl_primitive_desc_query_md", &o->primitive_desc_query_md) &&
           library_find(handle, "dnnl_primitive_create", &o->primitive_create) &&
           library_find(handle, "dnnl_primitive_destroy", &o->primitive_destroy) &&
           library_find(handle, "dnnl_primitive_execute", &o->primitive_execute);
}

void onednn_start(onednn *o)
{
    if (o->engine_create(&o->engine, dnnl_cpu, 0) != dnnl_success)
        o->engine = NULL;
}

/* ---- One plan -------------------------------------------------------------------------------- */

static void plan_free(plan *p)
{
    if (!p)
        return;
    for (int i = 0; i < MEMORIES; i++)
        if (p->memory[i])
            (void)p->library->memory_destroy(p->memory[i]);
    if (p->stream)
        (void)p->library->stream_destroy(p->stream);
    if (p->primitive)
        (void)p->library->primitive_destroy(p->primitive);
    free(p->scratch);
    free(p);
}

static int describe(const onednn *o, dnnl_memory_desc_t *out, dnnl_data_type_t type, int64_t rows,
                    int64_t columns, int64_t stride, int transposed)
{
    dnnl_dims_t extents = {rows, columns}, steps = {stride, 1};
    if (transposed) {
        steps[0] = 1;
        steps[1] = stride;
    }
    return o->memory_desc_init_by_strides(out, 2, extents, type, steps) == dnnl_success;
}

static int describe_all(const onednn *o, const plan_key *key, dnnl_memory_desc_t d[MEMORIES])
{
    static const dnnl_data_type_t in[] = {dnnl_bf16, dnnl_bf16, dnnl_s8};
    static const dnnl_data_type_t out[] = {dnnl_bf16, dnnl_f32, dnnl_s32};
    const int64_t *e = key->extent, *s = key->stride;
    dnnl_data_type_t from = in[key->type];
    return describe(o, &d[SRC], from, e[0], e[2], s[0], key->transposed[0]) &&
           describe(o, &d[WEIGHTS], from, e[2], e[1], s[1], key->transposed[1]) &&
           describe(o, &d[DST], out[key->type], e[0], e[1], s[2], 0);
}

/* The compiled primitive and, in d[SCRATCH], the memory it wants. */
static int compile(const onednn *o, dnnl_memory_desc_t d[MEMORIES], dnnl_primitive_t *primitive)
{
    dnnl_matmul_desc_t product;
    dnnl_primitive_attr_t attributes = NULL;
    dnnl_primitive_desc_t description = NULL;
    int fine = o->matmul_desc_init(&product, &d[SRC], &d[WEIGHTS], NULL, &d[DST]) == dnnl_success &&
               o->primitive_attr_create(&attributes) == dnnl_success &&
               o->primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user) ==
                   dnnl_success &&
               o->primitive_desc_create(&description, &product, attributes, o->engine, NULL) ==
                   dnnl_success &&
               o->primitive_create(primitive, description) == dnnl_success;
    if (fine)
        d[SCRATCH] = *o->primitive_desc_query_md(description, dnnl_query_scratchpad_md, 0);
    if (description)
        (void)o->primitive_desc_destroy(description);
    if (attributes)
        (void)o->primitive_attr_destroy(attributes);
    return fine;
}

static plan *plan_create(const onednn *o, const plan_key *key)
{
    dnnl_memory_desc_t d[MEMORIES];
    plan *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->library = o;
    p->key = *key;
    int fine = describe_all(o, key, d) && compile(o, d, &p->primitive) &&
               o->stream_create(&p->stream, o->engine, dnnl_stream_default_flags) == dnnl_success;
    size_t bytes = fine ? o->memory_desc_get_size(&d[SCRATCH]) : 0;
    p->scratch = bytes ? aligned_alloc(64, (bytes + 63) / 64 * 64) : NULL;
    fine = fine && (p->scratch || !bytes);
    for (int i = 0; fine && i < MEMORIES; i++)
        fine = o->memory_create(&p->memory[i], &d[i], o->engine, p->scratch) == dnnl_success;
    if (fine)
        return p;
    plan_free(p);
    return NULL;
}

static int plan_run(const plan *p, void *c, void *a, void *b)
{
    const onednn *o = p->library;
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, p->memory[SRC]},
                                         {DNNL_ARG_WEIGHTS, p->memory[WEIGHTS]},
                                         {DNNL_ARG_DST, p->memory[DST]},
                                         {DNNL_ARG_SCRATCHPAD, p->memory[SCRATCH]}};
    return o->memory_set_data_handle(p->memory[SRC], a) == dnnl_success &&
           o->memory_set_data_handle(p->memory[WEIGHTS], b) == dnnl_success &&
           o->memory_set_data_handle(p->memory[DST], c) == dnnl_success &&
           o->primitive_execute(p->primitive, p->stream, MEMORIES, arguments) == dnnl_success &&
           o->stream_wait(p->stream) == dnnl_success;
}

/* ---- The set --------------------------------------------------------------------------------- */

onednn_plans *onednn_plans_create(void)
{
    onednn_plans *plans = calloc(1, sizeof *plans);
    if (plans)
        (void)pthread_mutex_init(&plans->lock, NULL);
    return plans;
}

void onednn_plans_clear(onednn_plans *plans)
{
    plan *gone[PLANS];
    (void)pthread_mutex_lock(&plans->lock);
    memcpy(gone, plans->idle, sizeof gone);
    memset(plans->idle, 0, sizeof plans->idle);
    (void)pthread_mutex_unlock(&plans->lock);
    for (int i = 0; i < PLANS; i++)
        plan_free(gone[i]);
}

void onednn_plans_free(onednn_plans *plans)
{
    if (!plans)
        return;
    onednn_plans_clear(plans);
    (void)pthread_mutex_destroy(&plans->lock);
    free(plans);
}

static plan *plans_take(onednn_plans *plans, const plan_key *key)
{
    plan *found = NULL;
    (void)pthread_mutex_lock(&plans->lock);
    for (int i = 0; i < PLANS && !found; i++) {
        if (plans->idle[i] && !memcmp(&plans->idle[i]->key, key, sizeof *key)) {
            found = plans->idle[i];
            plans->idle[i] = NULL;
        }
    }
    (void)pthread_mutex_unlock(&plans->lock);
    return found;
}

/* Into an empty place, or that of the plan that was idle longest. */
static void plans_give(onednn_plans *plans, plan *p)
{
    int place = 0;
    (void)pthread_mutex_lock(&plans->lock);
    p->used = ++plans->clock;
    for (int i = 0; i < PLANS && plans->idle[place]; i++)
        if (!plans->idle[i] || plans->idle[i]->used < plans->idle[place]->used)
            place = i;
    plan *oldest = plans->idle[place];
    plans->idle[place] = p;
    (void)pthread_mutex_unlock(&plans->lock);
    plan_free(oldest);
}

int onednn_product_planned(onednn *o, onednn_plans *plans, int32_t threads, onednn_type type,
                           const blas_matrix *c, const blas_matrix *a, const blas_matrix *b,
                           int64_t m, int64_t n, int64_t k)
{
    const plan_key key = {.extent = {m, n, k},
                          .stride = {a->stride, b->stride, c->stride},
                          .transposed = {a->transposed != 0, b->transposed != 0},
                          .type = (int32_t)type,
                          .threads = threads};
    if (!o->engine || !plans)
        return 0;
    plan *p = plans_take(plans, &key);
    if (!p)
        p = plan_create(o, &key);
    if (!p)
        return 0;
    int fine = plan_run(p, c->at, a->at, b->at);
    plans_give(plans, p);
    return fine;
}
