/* SPDX-License-Identifier: Apache-2.0 */
#include "blas.h"

#include <cblas.h>
#include <dlfcn.h>
#include <pthread.h>

#include "team.h"

#define LIBRARY "libopenblas.so.0"

/* openblas_get_parallel: the library has threads of its own that set_num_threads governs. */
#define PARALLEL_OPENMP 2

/* OpenBLAS calls itself by names that a program may define too (its LAPACK calls sgemm_, say):
 * deep binding makes it find its own. A sanitizer's runtime does not allow that. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OPEN_FLAGS (RTLD_NOW | RTLD_LOCAL)
#else
#define OPEN_FLAGS (RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)
#endif

struct blas {
    void (*sgemm)(enum CBLAS_ORDER, enum CBLAS_TRANSPOSE, enum CBLAS_TRANSPOSE, blasint m,
                  blasint n, blasint k, float alpha, const float *a, blasint lda, const float *b,
                  blasint ldb, float beta, float *c, blasint ldc);
    void (*dgemm)(enum CBLAS_ORDER, enum CBLAS_TRANSPOSE, enum CBLAS_TRANSPOSE, blasint m,
                  blasint n, blasint k, double alpha, const double *a, blasint lda, const double *b,
                  blasint ldb, double beta, double *c, blasint ldc);
    int (*get_num_threads)(void);
    void (*set_num_threads)(int threads);
    int (*get_parallel)(void);
    char *(*get_config)(void);
    char *(*get_corename)(void);
    blas_lapack lapack[2]; /* s, d */
    int has_lapack;
    const char *reason; /* why it cannot be used; NULL: it can */
    pthread_mutex_t lock;
    blas_use *uses; /* between enter and leave */
    int threads_found;
};

static blas library = {.lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_once_t opened = PTHREAD_ONCE_INIT;

/* ---- Opening --------------------------------------------------------------------------------- */

/* ISO C has no conversion from an object's address to a function's; POSIX has it in memory. */
static int find(void *handle, const char *name, void *function)
{
    void *address = dlsym(handle, name);
    *(void **)function = address;
    return address != NULL;
}

static int find_lapack(void *handle, blas *b)
{
    blas_lapack *s = &b->lapack[0], *d = &b->lapack[1];
    return find(handle, "sgetrf_", &s->getrf) && find(handle, "dgetrf_", &d->getrf) &&
           find(handle, "sgetrs_", &s->getrs) && find(handle, "dgetrs_", &d->getrs) &&
           find(handle, "spotrf_", &s->potrf) && find(handle, "dpotrf_", &d->potrf) &&
           find(handle, "sgeqrf_", &s->geqrf) && find(handle, "dgeqrf_", &d->geqrf) &&
           find(handle, "sorgqr_", &s->orgqr) && find(handle, "dorgqr_", &d->orgqr) &&
           find(handle, "sgesdd_", &s->gesdd) && find(handle, "dgesdd_", &d->gesdd) &&
           find(handle, "ssyevd_", &s->syevd) && find(handle, "dsyevd_", &d->syevd);
}

static void open_library(void)
{
    void *handle = dlopen(LIBRARY, OPEN_FLAGS);
    if (!handle) {
        library.reason = LIBRARY " is not installed (Debian: libopenblas0)";
        return;
    }
    if (!find(handle, "cblas_sgemm", &library.sgemm) ||
        !find(handle, "cblas_dgemm", &library.dgemm) ||
        !find(handle, "openblas_get_num_threads", &library.get_num_threads) ||
        !find(handle, "openblas_set_num_threads", &library.set_num_threads) ||
        !find(handle, "openblas_get_parallel", &library.get_parallel) ||
        !find(handle, "openblas_get_config", &library.get_config) ||
        !find(handle, "openblas_get_corename", &library.get_corename))
        library.reason = LIBRARY " lacks functions of OpenBLAS";
    else if (library.get_parallel() == PARALLEL_OPENMP)
        library.reason = LIBRARY " is the OpenMP build, whose thread count cannot be set without "
                                 "changing the host's (Debian: libopenblas0-pthread)";
    else
        library.has_lapack = find_lapack(handle, &library);
}

blas *blas_open(const char **reason)
{
    (void)pthread_once(&opened, open_library);
    *reason = library.reason;
    return library.reason ? NULL : &library;
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

void blas_product(const blas *b, int wide, const blas_matrix *c, const blas_matrix *left,
                  const blas_matrix *right, int64_t m, int64_t n, int64_t k)
{
    enum CBLAS_TRANSPOSE turn_left = left->transposed ? CblasTrans : CblasNoTrans;
    enum CBLAS_TRANSPOSE turn_right = right->transposed ? CblasTrans : CblasNoTrans;
    if (wide) {
        b->dgemm(CblasRowMajor, turn_left, turn_right, (blasint)m, (blasint)n, (blasint)k, 1.0,
                 left->at, (blasint)left->stride, right->at, (blasint)right->stride, 0.0, c->at,
                 (blasint)c->stride);
    } else {
        b->sgemm(CblasRowMajor, turn_left, turn_right, (blasint)m, (blasint)n, (blasint)k, 1.0f,
                 left->at, (blasint)left->stride, right->at, (blasint)right->stride, 0.0f, c->at,
                 (blasint)c->stride);
    }
}
