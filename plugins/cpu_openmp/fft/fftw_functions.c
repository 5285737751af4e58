/* SPDX-License-Identifier: Apache-2.0 */
#include "fftw_functions.h"

#include <stdio.h>

#include "cpu_openmp/providers/library.h"

static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t opened = PTHREAD_ONCE_INIT;
static fftw_functions functions[2];
static const char *why[2];

void fftw_lock_planner(void)
{
    (void)pthread_mutex_lock(&planner);
}

void fftw_unlock_planner(void)
{
    (void)pthread_mutex_unlock(&planner);
}

/* fftw_<name> or fftwf_<name>. */
static int find(void *handle, int wide, const char *name, void *function)
{
    char symbol[64];
    (void)snprintf(symbol, sizeof symbol, "fftw%s_%s", wide ? "" : "f", name);
    return library_find(handle, symbol, function);
}

/* The threads of FFTW that are OpenMP's, as ours are. They are used when the planner's number can
 * be asked for, so that it can be put back. */
static void find_threads(void *handle, int wide, fftw_functions *f)
{
    int (*start)(void);
    void (*make_safe)(void);
    if (find(handle, wide, "make_planner_thread_safe", &make_safe))
        make_safe();
    if (!find(handle, wide, "init_threads", &start) ||
        !find(handle, wide, "plan_with_nthreads", &f->set_threads) ||
        !find(handle, wide, "planner_nthreads", &f->get_threads) || !start())
        f->set_threads = NULL;
}

static void open_one(int wide)
{
    fftw_functions *f = &functions[wide];
    void *threads = library_open(wide ? "libfftw3_omp.so.3" : "libfftw3f_omp.so.3", NULL);
    void *handle =
        threads ? threads : library_open(wide ? "libfftw3.so.3" : "libfftw3f.so.3", NULL);
    if (!handle) {
        why[wide] = wide ? "libfftw3.so.3 is not installed (Debian: libfftw3-double3)"
                         : "libfftw3f.so.3 is not installed (Debian: libfftw3-single3)";
        return;
    }
    if (!find(handle, wide, "plan_guru64_dft", &f->plan) ||
        !find(handle, wide, "plan_guru64_dft_r2c", &f->plan_to_half) ||
        !find(handle, wide, "plan_guru64_dft_c2r", &f->plan_from_half) ||
        !find(handle, wide, "execute_dft", &f->execute) ||
        !find(handle, wide, "execute_dft_r2c", &f->execute_to_half) ||
        !find(handle, wide, "execute_dft_c2r", &f->execute_from_half) ||
        !find(handle, wide, "destroy_plan", &f->destroy) ||
        !find(handle, wide, "alignment_of", &f->alignment)) {
        why[wide] = "libfftw3 lacks functions of FFTW 3.3";
        return;
    }
    if (threads)
        find_threads(handle, wide, f);
}

static void open_both(void)
{
    open_one(0);
    open_one(1);
}

const fftw_functions *fftw_functions_open(int wide, const char **reason)
{
    (void)pthread_once(&opened, open_both);
    *reason = why[wide];
    return why[wide] ? NULL : &functions[wide];
}
