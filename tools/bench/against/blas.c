/* SPDX-License-Identifier: Apache-2.0 */
/* matmul by the CBLAS interface: OpenBLAS and BLIS.
 * Tests: tests/tools/test_bench_against.c */
#include "reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_MAJOR = 101, NOT_TRANSPOSED = 111 };

typedef struct products {
    void (*sgemm)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                  const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
    void (*dgemm)(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                  const double *a, int lda, const double *b, int ldb, double beta, double *c,
                  int ldc);
    /* With integers of 64 bits, or NULL. */
    void (*sgemm_long)(int order, int trans_a, int trans_b, int64_t m, int64_t n, int64_t k,
                       float alpha, const float *a, int64_t lda, const float *b, int64_t ldb,
                       float beta, float *c, int64_t ldc);
    void (*dgemm_long)(int order, int trans_a, int trans_b, int64_t m, int64_t n, int64_t k,
                       double alpha, const double *a, int64_t lda, const double *b, int64_t ldb,
                       double beta, double *c, int64_t ldc);
} products;

static int32_t call_product(reference_job *job)
{
    const products *p = job->state;
    int m = (int)job->operands[0].shape[0], n = (int)job->operands[0].shape[1];
    int k = (int)job->operands[1].shape[1];
    int32_t is_float = job->operands[0].dtype == COLLET_F32;
    if (is_float && p->sgemm_long)
        p->sgemm_long(ROW_MAJOR, NOT_TRANSPOSED, NOT_TRANSPOSED, m, n, k, 1, job->data[1], k,
                      job->data[2], n, 0, job->data[0], n);
    else if (p->dgemm_long)
        p->dgemm_long(ROW_MAJOR, NOT_TRANSPOSED, NOT_TRANSPOSED, m, n, k, 1, job->data[1], k,
                      job->data[2], n, 0, job->data[0], n);
    else if (is_float)
        p->sgemm(ROW_MAJOR, NOT_TRANSPOSED, NOT_TRANSPOSED, m, n, k, 1, job->data[1], k,
                 job->data[2], n, 0, job->data[0], n);
    else
        p->dgemm(ROW_MAJOR, NOT_TRANSPOSED, NOT_TRANSPOSED, m, n, k, 1, job->data[1], k,
                 job->data[2], n, 0, job->data[0], n);
    return 1;
}

/* The names of the functions begin with `prefix` and, for integers of 64 bits, end with 64_. */
static int32_t open_product(reference_job *job, void *handle, const char *prefix, int32_t is_long)
{
    products *p = reference_memory(job, sizeof *p);
    char begin[32];
    if (!p || job->operands[0].ndim != 2)
        return p ? reference_fail(job, "it does not support batches") : 0;
    memset(p, 0, sizeof *p);
    job->state = p;
    job->call = call_product;
    snprintf(begin, sizeof begin, "%scblas_", prefix);
    const reference_symbol usual[] = {{"sgemm", &p->sgemm}, {"dgemm", &p->dgemm}, {NULL, NULL}};
    const reference_symbol longs[] = {
        {"sgemm64_", &p->sgemm_long}, {"dgemm64_", &p->dgemm_long}, {NULL, NULL}};
    return reference_find(job, handle, begin, is_long ? longs : usual);
}

/* Letters and digits, by their lower case. */
static int32_t same_name(const char *a, const char *b)
{
    while (*a && (*a | 0x20) == (*b | 0x20))
        a++, b++;
    return !*a && !*b;
}

int32_t reference_openblas_open(reference_job *job)
{
    static const char *const prefixes[] = {"", "scipy_"};
    char *(*config)(void), *(*core)(void), begin[32];
    void *handle = reference_load(job, job->file ? job->file : "libopenblas.so.0");
    const reference_symbol usual[] = {
        {"get_config", &config}, {"get_corename", &core}, {NULL, NULL}};
    const reference_symbol longs[] = {
        {"get_config64_", &config}, {"get_corename64_", &core}, {NULL, NULL}};
    const char *variable = getenv("OPENBLAS_CORETYPE");
    int32_t found = 0, is_long = 0;
    size_t i = 0;
    for (; handle && !found && i < 2; i++) {
        snprintf(begin, sizeof begin, "%sopenblas_", prefixes[i]);
        found = reference_find(job, handle, begin, usual);
        is_long = !found && reference_find(job, handle, begin, longs);
        found |= is_long;
    }
    if (!found)
        return 0;
    if (variable && *variable && !same_name(variable, core()))
        return reference_fail(job, "it has no kernels for %.32s and runs as %.32s", variable,
                              core());
    snprintf(job->text, sizeof job->text, "core %.32s, %.180s", core(), config());
    if (!strcmp(job->op, "matmul"))
        return open_product(job, handle, prefixes[i - 1], is_long);
    return is_long ? reference_fail(job, "LAPACK with integers of 64 bits is not compared")
                   : reference_lapack_open(job, handle, prefixes[i - 1]);
}

int32_t reference_blis_open(reference_job *job)
{
    const char *(*version)(void), *(*string_of)(int);
    int (*arch)(void);
    void (*init)(void);
    void *handle = reference_load(job, "libblis.so.4");
    const reference_symbol symbols[] = {{"init", &init},
                                        {"info_get_version_str", &version},
                                        {"arch_query_id", &arch},
                                        {"arch_string", &string_of},
                                        {NULL, NULL}};
    if (!handle || !reference_find(job, handle, "bli_", symbols))
        return 0;
    init(); /* else arch_query_id aborts where BLIS_ARCH_TYPE is set */
    snprintf(job->text, sizeof job->text, "version %.64s, kernels %.64s", version(),
             string_of(arch()));
    return open_product(job, handle, "", 0);
}
