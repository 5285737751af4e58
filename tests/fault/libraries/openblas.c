/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for OpenBLAS with at most one fault, chosen by a macro: CRASHES, HANGS, ENDS (the
 * process), WRONG (results), LACKS (a function), LONG (integers of 64 bits), UNSOLVED (the solutions of LAPACK are
 * NaN). The core type is the value that OPENBLAS_CORETYPE has when the stand-in is loaded, or Prescott if the variable
 * is not set or is "Unknown". The names of its functions begin with PREFIX and end with SUFFIX.
 */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef PREFIX
#define PREFIX
#endif
#ifndef SUFFIX
#define SUFFIX
#endif
#define JOINED(a, b, c) a##b##c
#define JOIN(a, b, c) JOINED(a, b, c)
#define NAME(name) JOIN(PREFIX, name, SUFFIX)

enum { ROW_MAJOR = 101, TRANSPOSED = 112 };

static char core[32] = "Prescott";
static int threads = 1;

char *NAME(openblas_get_config)(void);
char *NAME(openblas_get_corename)(void);
int NAME(openblas_get_parallel)(void);
int NAME(openblas_get_num_threads)(void);
void NAME(openblas_set_num_threads)(int count);

__attribute__((constructor)) static void begin(void)
{
    const char *coretype = getenv("OPENBLAS_CORETYPE");
    int known = coretype && strcmp(coretype, "Unknown") != 0;
    for (size_t i = 0; known && i + 1 < sizeof core; i++) {
        core[i] = coretype[i];
        if (!coretype[i])
            break;
    }
#ifdef HANGS
    for (;;)
        pause();
#endif
}

char *NAME(openblas_get_config)(void)
{
#ifdef LONG
    return (char *)"Stand-in 1.0 USE64BITINT";
#else
    return (char *)"Stand-in 1.0";
#endif
}

char *NAME(openblas_get_corename)(void)
{
    return core;
}

#ifndef LACKS
int NAME(openblas_get_parallel)(void)
{
    return 1;
}
#endif

int NAME(openblas_get_num_threads)(void)
{
    return threads;
}

void NAME(openblas_set_num_threads)(int count)
{
    threads = count;
}

static void be_faulty(void)
{
#ifdef CRASHES
    raise(SIGSEGV);
#elif defined(ENDS)
    exit(3);
#endif
}

#ifdef WRONG
#define WRONG_BY 1
#else
#define WRONG_BY 0
#endif

#define PRODUCT NAME(cblas_sgemm)
#define REAL float
#include "product.inc"
#undef PRODUCT
#undef REAL

#define PRODUCT NAME(cblas_dgemm)
#define REAL double
#include "product.inc"

/* The other functions that cpu_openmp requires; no test calls them. */
static void abandon(void)
{
    abort();
}

#define UNUSED(name) extern __typeof__(abandon) NAME(name) __attribute__((alias("abandon")))

UNUSED(cblas_cgemm);
UNUSED(cblas_zgemm);
UNUSED(cblas_ctrsm);
UNUSED(cblas_ztrsm);
UNUSED(cblas_ctrsv);
UNUSED(cblas_ztrsv);
UNUSED(cblas_cherk);
UNUSED(cblas_zherk);
UNUSED(cblas_strsm);
UNUSED(cblas_dtrsm);
UNUSED(cblas_strsv);
UNUSED(cblas_dtrsv);
UNUSED(cblas_ssyrk);
UNUSED(cblas_dsyrk);

#ifdef UNSOLVED
void sgetrf_(void);
void sgetrs_(const char *trans, const int *n, const int *columns, const float *a, const int *lda,
             const int *pivots, float *b);

void sgetrf_(void)
{
}

void sgetrs_(const char *trans, const int *n, const int *columns, const float *a, const int *lda,
             const int *pivots, float *b)
{
    (void)trans, (void)columns, (void)a, (void)lda, (void)pivots;
    for (int i = 0; i < *n; i++)
        b[i] = NAN;
}

#define UNUSED_REAL(name)                                                                          \
    UNUSED(s##name);                                                                               \
    UNUSED(d##name)
#define UNUSED_COMPLEX(name)                                                                       \
    UNUSED(c##name);                                                                               \
    UNUSED(z##name)

UNUSED(dgetrf_);
UNUSED(dgetrs_);
UNUSED_REAL(potrf_);
UNUSED_REAL(gesdd_);
UNUSED_REAL(syevd_);
UNUSED_REAL(geev_);
UNUSED_COMPLEX(geev_);
UNUSED_COMPLEX(getrf_);
UNUSED_COMPLEX(potrf_);
UNUSED_COMPLEX(gesdd_);
UNUSED_COMPLEX(heevd_);
UNUSED_COMPLEX(geqrf_);
UNUSED_COMPLEX(ungqr_);
#endif
