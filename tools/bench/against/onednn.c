/* SPDX-License-Identifier: Apache-2.0 */
/* matmul by oneDNN 2 or 3: dnnl_sgemm, and the matmul primitive for bf16 and 8-bit integers.
 * Tests: tests/tools/test_bench_against.c */
#include "reference.h"

#include <stdio.h>
#include <string.h>

/* Constants of dnnl_types.h, equal in both versions. */
enum { ENGINE_CPU = 1, IN_ORDER = 1, TAG_AB = 3 };
enum { BF16 = 2, F32 = 3, S32 = 4, S8 = 5 };
enum { ARGUMENT_SOURCE = 1, ARGUMENT_TARGET = 17, ARGUMENT_WEIGHTS = 33 };
#define DIMENSIONS 12
#define DESCRIPTION_BYTES 8192 /* more than the size of either description */

typedef struct argument {
    int which;
    void *memory;
} argument;

typedef struct version {
    int major, minor, patch;
    const char *hash;
    unsigned cpu_runtime, gpu_runtime;
} version;

typedef struct dnnl {
    const version *(*get_version)(void);
    int (*effective_isa)(void);
    int (*sgemm)(char trans_a, char trans_b, int64_t m, int64_t n, int64_t k, float alpha,
                 const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c,
                 int64_t ldc);
    int (*describe)(void *memory, int ndim, const int64_t *dims, int dtype, int tag);
    int (*describe_product)(void *product, const void *source, const void *weights,
                            const void *bias, const void *target);
    int (*plan)(void **plan, const void *description, const void *attributes, void *engine,
                const void *hint);
    /* Version 3: handles instead of structures, and one function for description and plan. */
    int (*describe_3)(void **memory, int ndim, const int64_t *dims, int dtype, int tag);
    int (*plan_3)(void **plan, void *engine, const void *source, const void *weights,
                  const void *bias, const void *target, const void *attributes);
    int (*make)(void **primitive, const void *plan);
    int (*make_memory)(void **memory, const void *description, void *engine, void *data);
    int (*make_engine)(void **engine, int kind, size_t index);
    int (*make_stream)(void **stream, void *engine, unsigned flags);
    int (*execute)(const void *primitive, void *stream, int count, const argument *arguments);
    int (*wait)(void *stream);
    void *primitive, *stream;
    argument arguments[3];
} dnnl;

static int32_t call_sgemm(reference_job *job)
{
    const dnnl *d = job->state;
    int64_t m = job->operands[0].shape[0], n = job->operands[0].shape[1];
    int64_t k = job->operands[1].shape[1];
    return d->sgemm('N', 'N', m, n, k, 1, job->data[1], k, job->data[2], n, 0, job->data[0], n) ==
           0;
}

static int32_t call_primitive(reference_job *job)
{
    const dnnl *d = job->state;
    return d->execute(d->primitive, d->stream, 3, d->arguments) == 0 && d->wait(d->stream) == 0;
}

static int dtype_of(collet_dtype dtype)
{
    return dtype == COLLET_BF16 ? BF16 : dtype == COLLET_F32 ? F32 : dtype == COLLET_I8 ? S8 : S32;
}

/* A descriptor of a matrix for the functions of the version. */
static void *describe(reference_job *job, const dnnl *d, const bench_operand *o)
{
    int64_t dims[DIMENSIONS] = {o->shape[0], o->shape[1]};
    void *memory = d->describe_3 ? NULL : reference_memory(job, DESCRIPTION_BYTES);
    int status = d->describe_3 ? d->describe_3(&memory, 2, dims, dtype_of(o->dtype), TAG_AB)
                 : memory      ? d->describe(memory, 2, dims, dtype_of(o->dtype), TAG_AB)
                               : -1;
    return status ? NULL : memory;
}

/* `memory`: target, source, weights. */
static int make_plan(reference_job *job, const dnnl *d, void *engine, void **memory, void **plan)
{
    if (d->plan_3)
        return d->plan_3(plan, engine, memory[1], memory[2], NULL, memory[0], NULL) == 0;
    void *product = reference_memory(job, DESCRIPTION_BYTES);
    return product && d->describe_product(product, memory[1], memory[2], NULL, memory[0]) == 0 &&
           d->plan(plan, product, NULL, engine, NULL) == 0;
}

static int32_t make_product(reference_job *job, dnnl *d)
{
    static const int which[] = {ARGUMENT_TARGET, ARGUMENT_SOURCE, ARGUMENT_WEIGHTS};
    void *engine, *plan, *memory[3];
    int32_t fine = d->make_engine(&engine, ENGINE_CPU, 0) == 0 &&
                   d->make_stream(&d->stream, engine, IN_ORDER) == 0;
    for (int i = 0; i < 3 && fine; i++) {
        memory[i] = describe(job, d, &job->operands[i]);
        d->arguments[i].which = which[i];
        fine = memory[i] &&
               d->make_memory(&d->arguments[i].memory, memory[i], engine, job->data[i]) == 0;
    }
    fine = fine && make_plan(job, d, engine, memory, &plan) && d->make(&d->primitive, plan) == 0;
    return fine ? 1 : reference_fail(job, "it does not support this product");
}

static int32_t find_functions(reference_job *job, void *handle, dnnl *d)
{
    const reference_symbol both[] = {{"version", &d->get_version},
                                     {"get_effective_cpu_isa", &d->effective_isa},
                                     {"sgemm", &d->sgemm},
                                     {"primitive_create", &d->make},
                                     {"memory_create", &d->make_memory},
                                     {"engine_create", &d->make_engine},
                                     {"stream_create", &d->make_stream},
                                     {"primitive_execute", &d->execute},
                                     {"stream_wait", &d->wait},
                                     {NULL, NULL}};
    const reference_symbol two[] = {{"memory_desc_init_by_tag", &d->describe},
                                    {"matmul_desc_init", &d->describe_product},
                                    {"primitive_desc_create", &d->plan},
                                    {NULL, NULL}};
    const reference_symbol three[] = {{"memory_desc_create_with_tag", &d->describe_3},
                                      {"matmul_primitive_desc_create", &d->plan_3},
                                      {NULL, NULL}};
    return reference_find(job, handle, "dnnl_", both) &&
           reference_find(job, handle, "dnnl_", d->get_version()->major > 2 ? three : two);
}

int32_t reference_onednn_open(reference_job *job)
{
    static const char *const names[] = {"libdnnl.so.3", "libdnnl.so.3.6", "libdnnl.so.2"};
    void *handle = NULL;
    for (size_t i = 0; !handle && i < sizeof names / sizeof *names; i++)
        handle = reference_load(job, names[i]);
    dnnl *d = reference_memory(job, sizeof *d);
    if (!handle || !d || !find_functions(job, handle, d))
        return 0;
    if (job->operands[0].ndim != 2)
        return reference_fail(job, "batches are not compared");
    const version *v = d->get_version();
    snprintf(job->text, sizeof job->text, "version %d.%d.%d, instruction set 0x%x", v->major,
             v->minor, v->patch, (unsigned)d->effective_isa());
    job->state = d;
    if (job->operands[1].dtype == COLLET_F32) {
        job->call = call_sgemm;
        return 1;
    }
    job->call = call_primitive;
    return make_product(job, d);
}
