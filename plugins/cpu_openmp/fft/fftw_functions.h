/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fftw_functions.h - the functions of FFTW that fftw.c calls, from the library's own handle.
 */
#ifndef COLLET_OPENMP_FFTW_FUNCTIONS_H
#define COLLET_OPENMP_FFTW_FUNCTIONS_H

#include <fftw3.h>
#include <pthread.h>

/* One precision. Plans and arrays are pointers whatever the precision: fftwf_plan is passed as
 * fftw_plan, float arrays as double. */
typedef struct fftw_functions {
    fftw_plan (*plan)(int rank, const fftw_iodim64 *dims, int batch_rank, const fftw_iodim64 *batch,
                      fftw_complex *in, fftw_complex *out, int sign, unsigned flags);
    fftw_plan (*plan_to_half)(int rank, const fftw_iodim64 *dims, int batch_rank,
                              const fftw_iodim64 *batch, double *in, fftw_complex *out,
                              unsigned flags);
    fftw_plan (*plan_from_half)(int rank, const fftw_iodim64 *dims, int batch_rank,
                                const fftw_iodim64 *batch, fftw_complex *in, double *out,
                                unsigned flags);
    void (*execute)(const fftw_plan plan, fftw_complex *in, fftw_complex *out);
    void (*execute_to_half)(const fftw_plan plan, double *in, fftw_complex *out);
    void (*execute_from_half)(const fftw_plan plan, fftw_complex *in, double *out);
    void (*destroy)(fftw_plan plan);
    int (*alignment)(double *at);
    /* Of the library's threads; NULL where it has none that can be used. */
    void (*set_threads)(int threads);
    int (*get_threads)(void);
} fftw_functions;

/* The functions of f64 (wide) or f32, opened at the first call; NULL, with *reason, when they
 * cannot be had. */
const fftw_functions *fftw_functions_open(int wide, const char **reason);

/* Around whatever plans or destroys a plan. */
void fftw_lock_planner(void);
void fftw_unlock_planner(void);

#endif
