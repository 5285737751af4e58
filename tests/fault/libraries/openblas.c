/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library that passes for OpenBLAS and has one fault, by which it is compiled: CRASHES, HANGS,
 * ENDS the process, is WRONG, LACKS a function; or none. It runs as the core that its constructor
 * finds in the environment, or as a Prescott.
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROW_MAJOR = 101, TRANSPOSED = 112 };

static char core[32] = "Prescott";
static int threads = 1;

char *openblas_get_config(void);
char *openblas_get_corename(void);
int openblas_get_parallel(void);
int openblas_get_num_threads(void);
void openblas_set_num_threads(int count);

__attribute__((constructor)) static void begin(void)
{
    const char *told = getenv("OPENBLAS_CORETYPE");
    for (size_t i = 0; told && i + 1 < sizeof core; i++) {
        core[i] = told[i];
        if (!told[i])
            break;
    }
#ifdef HANGS
    for (;;)
        pause();
#endif
}

char *openblas_get_config(void)
{
    return (char *)"Impostor 1.0";
}

char *openblas_get_corename(void)
{
    return core;
}

#ifndef LACKS
int openblas_get_parallel(void)
{
    return 1;
}
#endif

int openblas_get_num_threads(void)
{
    return threads;
}

void openblas_set_num_threads(int count)
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

#define PRODUCT cblas_sgemm
#define REAL float
#include "product.inc"
#undef PRODUCT
#undef REAL

#define PRODUCT cblas_dgemm
#define REAL double
#include "product.inc"

/* What else an OpenBLAS has; no test comes so far. */
static void abandon(void)
{
    abort();
}

#define UNUSED(name) extern __typeof__(abandon) name __attribute__((alias("abandon")))

UNUSED(cblas_strsm);
UNUSED(cblas_dtrsm);
UNUSED(cblas_strsv);
UNUSED(cblas_dtrsv);
UNUSED(cblas_ssyrk);
UNUSED(cblas_dsyrk);
