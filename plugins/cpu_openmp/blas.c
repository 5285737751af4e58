/* SPDX-License-Identifier: Apache-2.0 */
#include "blas.h"

#include <cblas.h>
#include <dlfcn.h>
#include <pthread.h>

#define LIBRARY "libopenblas.so.0"

/* openblas_get_parallel: the library has threads of its own that set_num_threads governs. */
#define PARALLEL_OPENMP 2

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
    const char *reason; /* why it cannot be used; NULL: it can */
    pthread_mutex_t lock;
    int users; /* between enter and leave */
    int threads_found;
};

static blas library = {.lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_once_t opened = PTHREAD_ONCE_INIT;

/* ISO C has no conversion from an object's address to a function's; POSIX has it in memory. */
static int find(void *handle, const char *name, void *function)
{
    void *address = dlsym(handle, name);
    *(void **)function = address;
    return address != NULL;
}

static void open_library(void)
{
    void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
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

void blas_enter(blas *b)
{
    (void)pthread_mutex_lock(&b->lock);
    if (b->users++ == 0) {
        b->threads_found = b->get_num_threads();
        if (b->threads_found != 1)
            b->set_num_threads(1);
    }
    (void)pthread_mutex_unlock(&b->lock);
}

void blas_leave(blas *b)
{
    (void)pthread_mutex_lock(&b->lock);
    if (--b->users == 0 && b->threads_found != 1)
        b->set_num_threads(b->threads_found);
    (void)pthread_mutex_unlock(&b->lock);
}

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
