/* SPDX-License-Identifier: Apache-2.0 */
#include "blas_trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "trial.h"

#define ORDER 150

static void put(void *at, int wide, int64_t index, double value)
{
    if (wide)
        ((double *)at)[index] = value;
    else
        ((float *)at)[index] = (float)value;
}

static double get(const void *at, int wide, int64_t index)
{
    return wide ? ((const double *)at)[index] : (double)((const float *)at)[index];
}

/* Equations for x = 1, 2, ..., with a large diagonal: no digits are lost to the problem itself. */
static void make_equations(double *matrix, double *right, int wide)
{
    for (int64_t i = 0; i < ORDER; i++) {
        double sum = 0.0;
        for (int64_t j = 0; j < ORDER; j++) {
            double a = trial_number(i, j, 1) + (i == j ? 4.0 * ORDER : 0.0);
            put(matrix, wide, j * ORDER + i, a);
            sum += a * (double)(j + 1);
        }
        put(right, wide, i, sum);
    }
}

/* Of LAPACK what stands on most of it: a factorisation, on all threads. */
static const char *check_solution(blas *b, int wide, int32_t threads)
{
    static double matrix[ORDER * ORDER], right[ORDER];
    static int pivots[ORDER];
    const blas_lapack *lapack = blas_lapack_of(b, wide);
    int n = ORDER, one = 1, info = 0;
    double worst = 0.0;
    blas_use use;
    if (!lapack)
        return NULL;
    make_equations(matrix, right, wide);
    blas_enter(b, &use, threads);
    lapack->getrf(&n, &n, matrix, &n, pivots, &info);
    if (info == 0)
        lapack->getrs("N", &n, &one, matrix, &n, pivots, right, &n, &info, 1);
    blas_leave(b, &use);
    for (int64_t i = 0; i < ORDER; i++)
        worst = fmax(worst, fabs(get(right, wide, i) - (double)(i + 1)));
    return info == 0 && worst < (wide ? 1e-9 : 1e-2) ? NULL
                                                     : "its solution of linear equations is wrong";
}

static int product(void *context, trial_type type, const blas_matrix *c, const blas_matrix *a,
                   const blas_matrix *b, int64_t m, int64_t n, int64_t k)
{
    blas_product(context, type == TRIAL_F64, c, a, b, m, n, k);
    return 1;
}

void blas_describe(blas *b, blas_trial_result *result)
{
    result->fine = 1;
    (void)snprintf(result->config, sizeof result->config, "%s", blas_config(b));
    (void)snprintf(result->core, sizeof result->core, "%s", blas_core(b));
    blas_path(b, result->path, sizeof result->path);
}

void blas_trial(void *argument, void *result)
{
    const blas_trial_case *tried = argument;
    blas_trial_result *found = result;
    const char *why = NULL;
    blas_settle(&tried->settings);
    blas *b = blas_open(&why);
    if (b) {
        why = NULL;
        blas_describe(b, found);
        for (int wide = 0; wide < 2 && !why; wide++) {
            blas_use use;
            blas_enter(b, &use, 1);
            why = trial_run(product, b, wide ? TRIAL_F64 : TRIAL_F32, tried->threads,
                            &found->gflops[wide]);
            blas_leave(b, &use);
            why = why ? why : check_solution(b, wide, tried->threads);
        }
    }
    found->fine = !why;
    (void)snprintf(found->why, sizeof found->why, "%s", why ? why : "");
}
