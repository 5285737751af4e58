/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cpu_openmp/test_kernels_openmp.c, tests/cpu_openmp/test_exit.c */
#include "onednn_api.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PLANS 32

enum { SRC, WEIGHTS, DST, SCRATCH, MEMORIES };

/* The product that a plan is compiled for. Keys are compared as bytes, so the struct has no padding. */
typedef struct plan_key {
    int64_t extent[3];     /* m n k */
    int64_t stride[3];     /* the strides of a, b and c */
    int32_t transposed[2]; /* a, b */
    int64_t type;
} plan_key;

typedef struct plan {
    plan_key key;
    const onednn *library;
    void *primitive, *stream, *memory[MEMORIES];
    void *scratch;
    uint64_t used; /* the value of the set's clock at the last use */
} plan;

/* The idle plans. A call that uses a plan takes it out of the set, because the plan's memory objects then point at the
 * matrices of the call. */
struct onednn_plans {
    pthread_mutex_t lock;
    uint64_t clock;
    plan *idle[PLANS];
};

#define FIND(function)                                                                             \
    {                                                                                              \
        "dnnl_" #function, offsetof(onednn, function)                                              \
    }
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define FUNCTIONS                                                                                  \
    FIND(set_max_cpu_isa), FIND(get_effective_cpu_isa), FIND(sgemm), FIND(gemm_s8s8s32),           \
        FIND(engine_create), FIND(stream_create), FIND(stream_destroy), FIND(stream_wait),         \
        FIND(memory_desc_get_size), FIND(memory_create), FIND(memory_destroy),                     \
        FIND(memory_set_data_handle), FIND(primitive_attr_create), FIND(primitive_attr_destroy),   \
        FIND(primitive_attr_set_scratchpad_mode), FIND(primitive_desc_destroy),                    \
        FIND(primitive_desc_query_md), FIND(primitive_create), FIND(primitive_destroy),            \
        FIND(primitive_execute)
#define FUNCTIONS_2                                                                                \
    FIND(memory_desc_init_by_strides), FIND(matmul_desc_init), FIND(primitive_desc_create)
#define FUNCTIONS_3                                                                                \
    FIND(memory_desc_create_with_strides), FIND(memory_desc_destroy),                              \
        FIND(matmul_primitive_desc_create)

static const library_symbol symbols[] = {FUNCTIONS};
static const library_symbol symbols_2[] = {FUNCTIONS_2};
static const library_symbol symbols_3[] = {FUNCTIONS_3};

int onednn_find(void *handle, onednn *o)
{
    return library_find_all(handle, "", symbols, COUNT(symbols), o) &&
           (o->major == 2 ? library_find_all(handle, "", symbols_2, COUNT(symbols_2), o)
                          : library_find_all(handle, "", symbols_3, COUNT(symbols_3), o));
}

void onednn_start(onednn *o)
{
    if (o->engine_create(&o->engine, DNNL_CPU, 0) != DNNL_SUCCESS)
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

/* A matrix's memory descriptor, freed by undescribe; NULL: out of memory or declined. */
static void *describe(const onednn *o, int type, int64_t rows, int64_t columns, int64_t stride,
                      int transposed)
{
    const int64_t extents[DNNL_AXES] = {rows, columns};
    const int64_t steps[DNNL_AXES] = {transposed ? 1 : stride, transposed ? stride : 1};
    void *desc = NULL;
    if (o->major > 2) {
        int status = o->memory_desc_create_with_strides(&desc, 2, extents, type, steps);
        return status == DNNL_SUCCESS ? desc : NULL;
    }
    desc = calloc(1, DNNL_MEMORY_DESC_BYTES);
    if (desc && o->memory_desc_init_by_strides(desc, 2, extents, type, steps) != DNNL_SUCCESS) {
        free(desc);
        desc = NULL;
    }
    return desc;
}

static void undescribe(const onednn *o, void *desc)
{
    if (o->major == 2)
        free(desc);
    else if (desc)
        (void)o->memory_desc_destroy(desc);
}

static int describe_all(const onednn *o, const plan_key *key, void *d[])
{
    static const int in[] = {DNNL_TYPE_BF16, DNNL_TYPE_BF16, DNNL_TYPE_S8};
    static const int out[] = {DNNL_TYPE_BF16, DNNL_TYPE_F32, DNNL_TYPE_S32};
    const int64_t *e = key->extent, *s = key->stride;
    int from = in[key->type];
    d[SRC] = describe(o, from, e[0], e[2], s[0], key->transposed[0]);
    d[WEIGHTS] = describe(o, from, e[2], e[1], s[1], key->transposed[1]);
    d[DST] = describe(o, out[key->type], e[0], e[1], s[2], 0);
    return d[SRC] && d[WEIGHTS] && d[DST];
}

/* The product's primitive descriptor; NULL when it is declined. */
static void *describe_product(const onednn *o, void *const d[])
{
    void *attributes = NULL, *description = NULL;
    int status = o->primitive_attr_create(&attributes);
    if (status == DNNL_SUCCESS)
        status = o->primitive_attr_set_scratchpad_mode(attributes, DNNL_SCRATCHPAD_USER);
    if (status == DNNL_SUCCESS && o->major > 2) {
        status = o->matmul_primitive_desc_create(&description, o->engine, d[SRC], d[WEIGHTS], NULL,
                                                 d[DST], attributes);
    } else if (status == DNNL_SUCCESS) {
        _Alignas(16) char product[DNNL_MATMUL_DESC_BYTES];
        status = o->matmul_desc_init(product, d[SRC], d[WEIGHTS], NULL, d[DST]);
        if (status == DNNL_SUCCESS)
            status = o->primitive_desc_create(&description, product, attributes, o->engine, NULL);
    }
    if (attributes)
        (void)o->primitive_attr_destroy(attributes);
    return status == DNNL_SUCCESS ? description : NULL;
}

/* Makes the plan's memory objects and allocates the scratch that the product needs. */
static int make_memories(const onednn *o, plan *p, void *const d[], const void *description)
{
    const void *scratch = o->primitive_desc_query_md(description, DNNL_QUERY_SCRATCHPAD, 0);
    if (!scratch)
        return 0;
    size_t bytes = o->memory_desc_get_size(scratch);
    p->scratch = bytes ? aligned_alloc(64, (bytes + 63) / 64 * 64) : NULL;
    int fine = p->scratch || !bytes;
    for (int i = 0; fine && i < MEMORIES; i++)
        fine = o->memory_create(&p->memory[i], i == SCRATCH ? scratch : d[i], o->engine,
                                p->scratch) == DNNL_SUCCESS;
    return fine;
}

static plan *plan_create(const onednn *o, const plan_key *key)
{
    void *d[MEMORIES] = {NULL}, *description = NULL;
    plan *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->library = o;
    p->key = *key;
    if (describe_all(o, key, d))
        description = describe_product(o, d);
    int fine = description && o->primitive_create(&p->primitive, description) == DNNL_SUCCESS &&
               make_memories(o, p, d, description) &&
               o->stream_create(&p->stream, o->engine, DNNL_STREAM_DEFAULT) == DNNL_SUCCESS;
    if (description)
        (void)o->primitive_desc_destroy(description);
    for (int i = 0; i < MEMORIES; i++)
        undescribe(o, d[i]);
    if (fine)
        return p;
    plan_free(p);
    return NULL;
}

static int plan_run(const plan *p, void *c, void *a, void *b)
{
    const onednn *o = p->library;
    const onednn_argument arguments[] = {{DNNL_ARGUMENT_SRC, p->memory[SRC]},
                                         {DNNL_ARGUMENT_WEIGHTS, p->memory[WEIGHTS]},
                                         {DNNL_ARGUMENT_DST, p->memory[DST]},
                                         {DNNL_ARGUMENT_SCRATCHPAD, p->memory[SCRATCH]}};
    return o->memory_set_data_handle(p->memory[SRC], a) == DNNL_SUCCESS &&
           o->memory_set_data_handle(p->memory[WEIGHTS], b) == DNNL_SUCCESS &&
           o->memory_set_data_handle(p->memory[DST], c) == DNNL_SUCCESS &&
           o->primitive_execute(p->primitive, p->stream, MEMORIES, arguments) == DNNL_SUCCESS &&
           o->stream_wait(p->stream) == DNNL_SUCCESS;
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
    plan *idle[PLANS];
    (void)pthread_mutex_lock(&plans->lock);
    memcpy(idle, plans->idle, sizeof idle);
    memset(plans->idle, 0, sizeof plans->idle);
    (void)pthread_mutex_unlock(&plans->lock);
    for (int i = 0; i < PLANS; i++)
        plan_free(idle[i]);
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

/* Returns a plan to the set: into a free entry, or in place of the least recently used plan. */
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

int onednn_product_planned(onednn *o, onednn_plans *plans, onednn_type type, const blas_matrix *c,
                           const blas_matrix *a, const blas_matrix *b, int64_t m, int64_t n,
                           int64_t k)
{
    const plan_key key = {.extent = {m, n, k},
                          .stride = {a->stride, b->stride, c->stride},
                          .transposed = {a->transposed != 0, b->transposed != 0},
                          .type = type};
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
