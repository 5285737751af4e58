/* SPDX-License-Identifier: Apache-2.0 */
#include "blas.h"

#include <cblas.h>
#include <pthread.h>
#include <stdio.h>

#include "library.h"
#include "cpu_openmp/runtime/team.h"

/* openblas_get_parallel: the library has threads of its own that set_num_threads governs. */
#define PARALLEL_OPENMP 2

struct blas {
    void (*sgemm)(enum CBLAS_ORDER, enum CBLAS_TRANSPOSE, enum CBLAS_TRANSPOSE, blasint m,
                  blasint n, blasint k, float alpha, const float *a, blasint lda, const float *b,
                  blasint ldb, float beta, float *c, blasint ldc);
    void (*dgemm)(enum CBLAS_ORDER, enum CBLAS_TRANSPOSE, enum CBLAS_TRANSPOSE, blasint m,
                  blasint n, blasint k, double alpha, const double *a, blasint lda, const double *b,
                  blasint ldb, double beta, double *c, blasint ldc);
    void (*strsm)(enum CBLAS_ORDER, enum CBLAS_SIDE, enum CBLAS_UPLO, enum CBLAS_TRANSPOSE,
                  enum CBLAS_DIAG, blasint m, blasint n, float alpha, const float *a, blasint lda,
                  float *b, blasint ldb);
    void (*dtrsm)(enum CBLAS_ORDER, enum CBLAS_SIDE, enum CBLAS_UPLO, enum CBLAS_TRANSPOSE,
                  enum CBLAS_DIAG, blasint m, blasint n, double alpha, const double *a, blasint lda,
                  double *b, blasint ldb);
    void (*strsv)(enum CBLAS_ORDER, enum CBLAS_UPLO, enum CBLAS_TRANSPOSE, enum CBLAS_DIAG,
                  blasint n, const float *a, blasint lda, float *x, blasint incx);
    void (*dtrsv)(enum CBLAS_ORDER, enum CBLAS_UPLO, enum CBLAS_TRANSPOSE, enum CBLAS_DIAG,
                  blasint n, const double *a, blasint lda, double *x, blasint incx);
    void (*ssyrk)(enum CBLAS_ORDER, enum CBLAS_UPLO, enum CBLAS_TRANSPOSE, blasint n, blasint k,
                  float alpha, const float *a, blasint lda, float beta, float *c, blasint ldc);
    void (*dsyrk)(enum CBLAS_ORDER, enum CBLAS_UPLO, enum CBLAS_TRANSPOSE, blasint n, blasint k,
                  double alpha, const double *a, blasint lda, double beta, double *c, blasint ldc);
    int (*get_num_threads)(void);
    void (*set_num_threads)(int threads);
    int (*get_parallel)(void);
    char *(*get_config)(void);
    char *(*get_corename)(void);
    blas_lapack lapack[2]; /* s, d */
    int has_lapack;
    char reason[BLAS_REASON]; /* why it cannot be used; "": it can */
    pthread_mutex_t lock;
    blas_use *uses; /* between enter and leave */
    int threads_found;
};

static blas library = {.lock = PTHREAD_MUTEX_INITIALIZER};
static blas_settings settings = {.name = BLAS_NAME};
static pthread_mutex_t settling = PTHREAD_MUTEX_INITIALIZER;
static int settled;
static pthread_once_t opened = PTHREAD_ONCE_INIT;

/* ---- Opening --------------------------------------------------------------------------------- */

static int find_lapack(void *handle, blas *b)
{
    blas_lapack *s = &b->lapack[0], *d = &b->lapack[1];
    return library_find(handle, "sgetrf_", &s->getrf) &&
           library_find(handle, "dgetrf_", &d->getrf) &&
           library_find(handle, "sgetrs_", &s->getrs) &&
           library_find(handle, "dgetrs_", &d->getrs) &&
           library_find(handle, "spotrf_", &s->potrf) &&
           library_find(handle, "dpotrf_", &d->potrf) &&
           library_find(handle, "sgesdd_", &s->gesdd) &&
           library_find(handle, "dgesdd_", &d->gesdd) &&
           library_find(handle, "ssyevd_", &s->syevd) && library_find(handle, "dsyevd_", &d->syevd);
}

static void find_functions(void *handle, blas *b)
{
    if (!library_find(handle, "cblas_sgemm", &b->sgemm) ||
        !library_find(handle, "cblas_dgemm", &b->dgemm) ||
        !library_find(handle, "cblas_strsm", &b->strsm) ||
        !library_find(handle, "cblas_dtrsm", &b->dtrsm) ||
        !library_find(handle, "cblas_strsv", &b->strsv) ||
        !library_find(handle, "cblas_dtrsv", &b->dtrsv) ||
        !library_find(handle, "cblas_ssyrk", &b->ssyrk) ||
        !library_find(handle, "cblas_dsyrk", &b->dsyrk) ||
        !library_find(handle, "openblas_get_num_threads", &b->get_num_threads) ||
        !library_find(handle, "openblas_set_num_threads", &b->set_num_threads) ||
        !library_find(handle, "openblas_get_parallel", &b->get_parallel) ||
        !library_find(handle, "openblas_get_config", &b->get_config) ||
        !library_find(handle, "openblas_get_corename", &b->get_corename))
        (void)snprintf(b->reason, sizeof b->reason, "%s lacks functions of OpenBLAS",
                       settings.name);
    else if (b->get_parallel() == PARALLEL_OPENMP)
        (void)snprintf(b->reason, sizeof b->reason,
                       "%s is the OpenMP build, whose thread count cannot be set without changing "
                       "the host's (Debian: libopenblas0-pthread)",
                       settings.name);
    else
        b->has_lapack = find_lapack(handle, b);
}

static void open_library(void)
{
    /* Static: the environment that the library's constructor saw points to it. */
    static char core[sizeof settings.core + sizeof BLAS_CORE_VARIABLE];
    const char *const variables[] = {settings.core[0] ? core : NULL, NULL};
    (void)pthread_mutex_lock(&settling);
    settled = 1;
    (void)pthread_mutex_unlock(&settling);
    if (settings.refused[0]) {
        (void)snprintf(library.reason, sizeof library.reason, "%s", settings.refused);
        return;
    }
    (void)snprintf(core, sizeof core, BLAS_CORE_VARIABLE "=%s", settings.core);
    void *handle = library_open(settings.name, variables);
    if (handle)
        find_functions(handle, &library);
    else
        (void)snprintf(library.reason, sizeof library.reason,
                       "%s cannot be opened (Debian: libopenblas0-pthread)", settings.name);
}

void blas_settle(const blas_settings *given)
{
    (void)pthread_mutex_lock(&settling);
    if (!settled)
        settings = *given;
    settled = 1;
    (void)pthread_mutex_unlock(&settling);
}

blas *blas_open(const char **reason)
{
    (void)pthread_once(&opened, open_library);
    *reason = library.reason;
    return library.reason[0] ? NULL : &library;
}

void blas_refuse(const char *reason)
{
    (void)snprintf(library.reason, sizeof library.reason, "%s", reason);
}

int blas_is_loaded(const char *name, char *core, uint64_t capacity)
{
    char *(*get_corename)(void);
    void *handle = library_loaded(name);
    if (!handle || !library_find(handle, "openblas_get_corename", &get_corename))
        return 0;
    (void)snprintf(core, (size_t)capacity, "%s", get_corename());
    return 1;
}

void blas_path(blas *b, char *path, uint64_t capacity)
{
    library_path(&b->sgemm, path, capacity);
}

const char *blas_config(const blas *b)
{
    return b->get_config();
}

const char *blas_core(const blas *b)
{
    return b->get_corename();
}

const blas_lapack *blas_lapack_of(const blas *b, int wide)
{
    return b->has_lapack ? &b->lapack[wide != 0] : NULL;
}

/* ---- Threads --------------------------------------------------------------------------------- */

/*
 * The library has one setting for all of its callers. Each gets an even share of the largest grant,
 * and none more than the smallest: the threads of a team, which granted themselves one each, would
 * otherwise all be multiplied.
 */
static void set_threads(blas *b)
{
    int32_t users = 0, least = 0, most = 0;
    for (const blas_use *use = b->uses; use; use = use->next, users++) {
        least = users == 0 || use->threads < least ? use->threads : least;
        most = use->threads > most ? use->threads : most;
    }
    int32_t share = users > 0 ? most / users : 0, threads = least < share ? least : share;
    int wanted = users == 0 ? b->threads_found : threads > 1 ? threads : 1;
    if (wanted != b->get_num_threads())
        b->set_num_threads(wanted);
}

int32_t blas_enter(blas *b, blas_use *use, int32_t threads)
{
    int32_t taken = threads > 1 ? team_take(threads, threads) : 0;
    *use = (blas_use){.threads = taken > 1 ? taken : 1, .taken = taken};
    (void)pthread_mutex_lock(&b->lock);
    if (!b->uses)
        b->threads_found = b->get_num_threads();
    use->next = b->uses;
    if (use->next)
        use->next->previous = use;
    b->uses = use;
    set_threads(b);
    (void)pthread_mutex_unlock(&b->lock);
    return use->threads;
}

void blas_leave(blas *b, blas_use *use)
{
    (void)pthread_mutex_lock(&b->lock);
    if (use->next)
        use->next->previous = use->previous;
    if (use->previous)
        use->previous->next = use->next;
    else
        b->uses = use->next;
    set_threads(b);
    (void)pthread_mutex_unlock(&b->lock);
    if (use->taken)
        team_give(use->taken);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

void blas_multiply(const blas *b, int wide, const blas_matrix *c, const blas_matrix *left,
                   const blas_matrix *right, int64_t m, int64_t n, int64_t k, int factor, int keep)
{
    enum CBLAS_TRANSPOSE turn_left = left->transposed ? CblasTrans : CblasNoTrans;
    enum CBLAS_TRANSPOSE turn_right = right->transposed ? CblasTrans : CblasNoTrans;
    if (wide) {
        b->dgemm(CblasRowMajor, turn_left, turn_right, (blasint)m, (blasint)n, (blasint)k, factor,
                 left->at, (blasint)left->stride, right->at, (blasint)right->stride, keep, c->at,
                 (blasint)c->stride);
    } else {
        b->sgemm(CblasRowMajor, turn_left, turn_right, (blasint)m, (blasint)n, (blasint)k,
                 (float)factor, left->at, (blasint)left->stride, right->at, (blasint)right->stride,
                 (float)keep, c->at, (blasint)c->stride);
    }
}

void blas_product(const blas *b, int wide, const blas_matrix *c, const blas_matrix *left,
                  const blas_matrix *right, int64_t m, int64_t n, int64_t k)
{
    blas_multiply(b, wide, c, left, right, m, n, k, 1, 0);
}

/* Which triangle, on which side, how. */
typedef struct triangle {
    enum CBLAS_SIDE side;
    enum CBLAS_UPLO half;
    enum CBLAS_TRANSPOSE turn;
    enum CBLAS_DIAG diagonal;
} triangle;

static void solve(const blas *b, int wide, triangle t, const blas_matrix *a, const blas_matrix *x,
                  int64_t m, int64_t n)
{
    if (wide) {
        b->dtrsm(CblasRowMajor, t.side, t.half, t.turn, t.diagonal, (blasint)m, (blasint)n, 1.0,
                 a->at, (blasint)a->stride, x->at, (blasint)x->stride);
    } else {
        b->strsm(CblasRowMajor, t.side, t.half, t.turn, t.diagonal, (blasint)m, (blasint)n, 1.0f,
                 a->at, (blasint)a->stride, x->at, (blasint)x->stride);
    }
}

/* trsv for one column: trsm first packs the triangle, which costs more than the solution. */
static void solve_left(const blas *b, int wide, triangle t, const blas_matrix *a,
                       const blas_matrix *x, int64_t m, int64_t n)
{
    if (n != 1)
        solve(b, wide, t, a, x, m, n);
    else if (wide)
        b->dtrsv(CblasRowMajor, t.half, t.turn, t.diagonal, (blasint)m, a->at, (blasint)a->stride,
                 x->at, (blasint)x->stride);
    else
        b->strsv(CblasRowMajor, t.half, t.turn, t.diagonal, (blasint)m, a->at, (blasint)a->stride,
                 x->at, (blasint)x->stride);
}

void blas_solve_unit_lower(const blas *b, int wide, const blas_matrix *l, const blas_matrix *x,
                           int64_t m, int64_t n)
{
    triangle t = {CblasLeft, CblasLower, CblasNoTrans, CblasUnit};
    solve_left(b, wide, t, l, x, m, n);
}

void blas_solve_upper(const blas *b, int wide, const blas_matrix *u, const blas_matrix *x,
                      int64_t m, int64_t n)
{
    triangle t = {CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit};
    solve_left(b, wide, t, u, x, m, n);
}

void blas_solve_lower_right(const blas *b, int wide, const blas_matrix *l, const blas_matrix *x,
                            int64_t m, int64_t n)
{
    triangle t = {CblasRight, CblasLower, CblasTrans, CblasNonUnit};
    solve(b, wide, t, l, x, m, n);
}

void blas_subtract_square(const blas *b, int wide, const blas_matrix *c, const blas_matrix *a,
                          int64_t n, int64_t k)
{
    if (wide) {
        b->dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, (blasint)n, (blasint)k, -1.0, a->at,
                 (blasint)a->stride, 1.0, c->at, (blasint)c->stride);
    } else {
        b->ssyrk(CblasRowMajor, CblasLower, CblasNoTrans, (blasint)n, (blasint)k, -1.0f, a->at,
                 (blasint)a->stride, 1.0f, c->at, (blasint)c->stride);
    }
}
