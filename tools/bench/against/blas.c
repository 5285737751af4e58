/* SPDX-License-Identifier: Apache-2.0 */
/* matmul by the CBLAS interface: OpenBLAS and BLIS.
 * Tests: tests/tools/test_bench_against.c */
#include "reference.h"

#include <stdio.h>
#include <string.h>

enum { ROW_MAJOR = 101, NOT_TRANSPOSED = 111 };

typedef struct products {
    void (*sgemm)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                  const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
    void (*dgemm)(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                  const double *a, int lda, const double *b, int ldb, double beta, double *c,
                  int ldc);
} products;

static int32_t call_product(reference_job *job)
{
    const products *p = job->state;
    int m = (int)job->operands[0].shape[0], n = (int)job->operands[0].shape[1];
    int k = (int)job->operands[1].shape[1];
    if (job->operands[0].dtype == COLLET_F32)
        p->sgemm(ROW_MAJOR, NOT_TRANSPOSED, NOT_TRANSPOSED, m, n, k, 1, job->data[1], k,
                 job->data[2], n, 0, job->data[0], n);
    else
        p->dgemm(ROW_MAJOR, NOT_TRANSPOSED, NOT_TRANSPOSED, m, n, k, 1, job->data[1], k,
                 job->data[2], n, 0, job->data[0], n);
    return 1;
}

static int32_t open_product(reference_job *job, void *handle)
{
    products *p = reference_memory(job, sizeof *p);
    job->state = p;
    job->call = call_product;
    if (job->operands[0].ndim != 2)
        return reference_fail(job, "it does not support batches");
    return p && reference_find(
                    job, handle, "cblas_",
                    (reference_symbol[]){{"sgemm", &p->sgemm}, {"dgemm", &p->dgemm}, {NULL, NULL}});
}

int32_t reference_openblas_open(reference_job *job)
{
    char *(*config)(void), *(*core)(void);
    void *handle = reference_load(job, "libopenblas.so.0");
    const reference_symbol symbols[] = {
        {"get_config", &config}, {"get_corename", &core}, {NULL, NULL}};
    if (!handle || !reference_find(job, handle, "openblas_", symbols))
        return 0;
    snprintf(job->text, sizeof job->text, "core %.32s, %.180s", core(), config());
    return strcmp(job->op, "matmul") ? reference_lapack_open(job, handle)
                                     : open_product(job, handle);
}

int32_t reference_blis_open(reference_job *job)
{
    const char *(*version)(void), *(*string_of)(int);
    int (*arch)(void);
    void *handle = reference_load(job, "libblis.so.4");
    const reference_symbol symbols[] = {{"info_get_version_str", &version},
                                        {"arch_query_id", &arch},
                                        {"arch_string", &string_of},
                                        {NULL, NULL}};
    if (!handle || !reference_find(job, handle, "bli_", symbols))
        return 0;
    snprintf(job->text, sizeof job->text, "version %.64s, kernels %.64s", version(),
             string_of(arch()));
    return open_product(job, handle);
}
