/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library that passes for OpenBLAS and has one fault, by which it is compiled: CRASHES, HANGS,
 * ENDS the process, is WRONG, LACKS a function, STALLS in the second process that opens it; or
 * none: then it is slow as the core that it picks itself and fast as any other that its constructor
 * finds in the environment, as OpenBLAS is on a processor that it does not know.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ROW_MAJOR = 101, TRANSPOSED = 112 };

static char core[32] = "Prescott";
static int threads = 1;

char *openblas_get_config(void);
char *openblas_get_corename(void);
int openblas_get_parallel(void);
int openblas_get_num_threads(void);
void openblas_set_num_threads(int count);

#ifdef STALLS
/* Which of the processes this is that have opened the library, from 1, by the file that the
 * environment names and that every one of them makes longer by one byte. */
static int opened(void)
{
    const char *name = getenv("COLLET_TEST_OPENED");
    int count = 0, file = name ? open(name, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (file >= 0 && write(file, "+", 1) == 1)
        count = (int)lseek(file, 0, SEEK_END);
    if (file >= 0)
        close(file);
    return count;
}
#endif

__attribute__((constructor)) static void begin(void)
{
    const char *told = getenv("OPENBLAS_CORETYPE");
    for (size_t i = 0; told && i + 1 < sizeof core; i++) {
        core[i] = told[i];
        if (!told[i])
            break;
    }
#if defined(HANGS)
    const int hangs = 1;
#elif defined(STALLS)
    const int hangs = opened() == 2;
#else
    const int hangs = 0;
#endif
    while (hangs)
        pause();
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

/* Nanoseconds of the thread, by which it is measured. */
static long spent(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void be_faulty(void)
{
#ifdef CRASHES
    raise(SIGSEGV);
#elif defined(ENDS)
    exit(3);
#endif
}

/* Takes half as long again as the product that began at `begin`, however busy the machine is. */
static void be_slow(long begin)
{
    long took = spent() - begin;
    while (core[0] == 'P' && spent() - begin < took + took / 2) {
    }
}

#ifdef WRONG
#define WRONG_BY 1
#else
#define WRONG_BY 0
#endif

#define PRODUCT cblas_sgemm
#define REAL float
#define WIDTH 32 /* columns whose sums stay in registers */
#include "product.inc"
#undef PRODUCT
#undef REAL
#undef WIDTH

#define PRODUCT cblas_dgemm
#define REAL double
#define WIDTH 16
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
