/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decompositions by LAPACK. Its routines work in place on column-major matrices, so a call copies
 * the input first, as any caller must; rows are passed as columns: the routine decomposes the
 * transpose, which takes as many operations.
 * Tests: tests/tools/test_bench_against.c
 */
#include "reference.h"

#include <stdio.h>
#include <string.h>

/* The functions of both precisions differ only in their pointers' types. */
typedef struct routines {
    void (*getrf)(const int *m, const int *n, void *a, const int *lda, int *pivots, int *info);
    void (*gesv)(const int *n, const int *columns, void *a, const int *lda, int *pivots, void *b,
                 const int *ldb, int *info);
    void (*geqrf)(const int *m, const int *n, void *a, const int *lda, void *tau, void *work,
                  const int *lwork, int *info);
    void (*orgqr)(const int *m, const int *n, const int *k, void *a, const int *lda,
                  const void *tau, void *work, const int *lwork, int *info);
    void (*gesdd)(const char *job, const int *m, const int *n, void *a, const int *lda, void *s,
                  void *u, const int *ldu, void *vt, const int *ldvt, void *work, const int *lwork,
                  int *iwork, int *info, size_t job_length);
    void (*syev)(const char *job, const char *half, const int *n, void *a, const int *lda,
                 void *values, void *work, const int *lwork, int *info, size_t job_length,
                 size_t half_length);
    void (*syevd)(const char *job, const char *half, const int *n, void *a, const int *lda,
                  void *values, void *work, const int *lwork, int *iwork, const int *liwork,
                  int *info, size_t job_length, size_t half_length);
    void (*potrf)(const char *half, const int *n, void *a, const int *lda, int *info,
                  size_t half_length);
    int m, n, k, columns; /* columns: right-hand sides */
    int lwork, liwork;
    size_t bytes, element; /* of one matrix */
    int64_t batch;
    char *a, *tau, *work; /* a: the copy */
    int *iwork;           /* pivots too */
    int32_t (*call)(reference_job *job, struct routines *r);
} routines;

/* Below this divide and conquer only calls the plain routine. */
#define DIVIDE_MIN 32

/* ---- Calls ---------------------------------------------------------------------------------- */

static int32_t lu(reference_job *job, routines *r)
{
    int info = 0;
    memcpy(r->a, job->data[job->count - 1], r->bytes);
    r->getrf(&r->m, &r->n, r->a, &r->m, r->iwork, &info);
    return info >= 0;
}

static int32_t solve(reference_job *job, routines *r)
{
    int info = 0;
    memcpy(r->a, job->data[2], r->bytes);
    memcpy(job->data[0], job->data[3], (size_t)r->n * (size_t)r->columns * r->element);
    r->gesv(&r->n, &r->columns, r->a, &r->n, r->iwork, job->data[0], &r->n, &info);
    return info == 0;
}

static int32_t qr(reference_job *job, routines *r)
{
    int info = 0, then = 0;
    memcpy(r->a, job->data[2], r->bytes);
    r->geqrf(&r->m, &r->n, r->a, &r->m, r->tau, r->work, &r->lwork, &info);
    r->orgqr(&r->m, &r->k, &r->k, r->a, &r->m, r->tau, r->work, &r->lwork, &then);
    return info == 0 && then == 0;
}

/* The transpose has the same singular values; U and V are exchanged. */
static int32_t svd(reference_job *job, routines *r)
{
    int info = 0;
    memcpy(r->a, job->data[4], r->bytes);
    r->gesdd("S", &r->n, &r->m, r->a, &r->n, job->data[1], job->data[2], &r->n, job->data[0], &r->k,
             r->work, &r->lwork, r->iwork, &info, 1);
    return info == 0;
}

/* The vectors overwrite the matrix: the op's own output. */
static int32_t eigh(reference_job *job, routines *r)
{
    int32_t fine = 1;
    for (int64_t i = 0; i < r->batch; i++) {
        char *values = (char *)job->data[0] + (size_t)i * (size_t)r->n * r->element;
        char *vectors = (char *)job->data[1] + (size_t)i * r->bytes;
        int info = 0;
        memcpy(vectors, (char *)job->data[3] + (size_t)i * r->bytes, r->bytes);
        if (r->n < DIVIDE_MIN)
            r->syev("V", "U", &r->n, vectors, &r->n, values, r->work, &r->lwork, &info, 1, 1);
        else
            r->syevd("V", "U", &r->n, vectors, &r->n, values, r->work, &r->lwork, r->iwork,
                     &r->liwork, &info, 1, 1);
        fine = fine && info == 0;
    }
    return fine;
}

static int32_t cholesky(reference_job *job, routines *r)
{
    int info = 0;
    memcpy(job->data[0], job->data[2], r->bytes);
    r->potrf("U", &r->n, job->data[0], &r->n, &info, 1);
    return info == 0;
}

/* ---- Opening -------------------------------------------------------------------------------- */

static const struct {
    const char *op;
    uint32_t matrix; /* the operand that is decomposed */
    int32_t batches;
    int32_t same;
    int32_t (*call)(reference_job *job, routines *r);
} decompositions[] = {{"lu", 4, 0, -1, lu},    {"solve", 2, 0, -1, solve},
                      {"qr", 2, 0, -1, qr},    {"svd", 4, 0, 1, svd},
                      {"eigh", 3, 1, 0, eigh}, {"cholesky", 2, 0, -1, cholesky}};
#define DECOMPOSITIONS (sizeof decompositions / sizeof *decompositions)

static int32_t call_decomposition(reference_job *job)
{
    routines *r = job->state;
    return r->call(job, r);
}

/* LAPACK's own formulas for blocks of 64, which no routine here exceeds. */
static int32_t allocate(reference_job *job, routines *r)
{
    size_t m = (size_t)r->m, n = (size_t)r->n, most = m > n ? m : n;
    size_t lwork = 8 * most * most + 256 * most + 1024;
    r->lwork = (int)lwork;
    r->liwork = (int)(8 * most + 64);
    r->a = reference_memory(job, r->bytes);
    r->tau = reference_memory(job, most * r->element);
    r->work = reference_memory(job, lwork * r->element);
    r->iwork = reference_memory(job, (8 * most + 64) * sizeof *r->iwork);
    return r->a && r->tau && r->work && r->iwork;
}

int32_t reference_lapack_open(reference_job *job, void *handle, const char *prefix)
{
    char begin[32];
    routines *r = reference_memory(job, sizeof *r);
    size_t which = 0;
    while (which < DECOMPOSITIONS && strcmp(job->op, decompositions[which].op))
        which++;
    if (!r || which == DECOMPOSITIONS)
        return reference_fail(job, "no routine for %s", job->op);
    const bench_operand *a = &job->operands[decompositions[which].matrix];
    if (a->ndim < 2 || (a->ndim > 2 && !decompositions[which].batches))
        return reference_fail(job, "%s of batches is not compared", job->op);
    *r = (routines){.m = (int)a->shape[a->ndim - 2],
                    .n = (int)a->shape[a->ndim - 1],
                    .batch = 1,
                    .call = decompositions[which].call};
    r->k = r->m < r->n ? r->m : r->n;
    for (int32_t i = 0; i < a->ndim - 2; i++)
        r->batch *= a->shape[i];
    r->element = collet_dtype_size(a->dtype);
    r->bytes = (size_t)r->m * (size_t)r->n * r->element;
    if (!strcmp(job->op, "solve"))
        r->columns = (int)job->operands[0].shape[1];
    job->state = r;
    job->call = call_decomposition;
    job->same = decompositions[which].same;
    snprintf(begin, sizeof begin, "%s%s", prefix, a->dtype == COLLET_F64 ? "d" : "s");
    return reference_find(job, handle, begin,
                          (reference_symbol[]){{"getrf_", &r->getrf},
                                               {"gesv_", &r->gesv},
                                               {"geqrf_", &r->geqrf},
                                               {"orgqr_", &r->orgqr},
                                               {"gesdd_", &r->gesdd},
                                               {"syev_", &r->syev},
                                               {"syevd_", &r->syevd},
                                               {"potrf_", &r->potrf},
                                               {NULL, NULL}}) &&
           allocate(job, r);
}
