/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/fault/test_libraries.c */
#include "blas.h"

#include <math.h>

#include "product_check.h"
#include "cpu_openmp/util/real.h"

#define ORDER 150

/* Equations whose solution is x = 1, 2, .... They have a large diagonal and are therefore well conditioned. */
static void make_equations(char *matrix, char *right, int wide)
{
    int64_t size = wide ? 8 : 4;
    for (int64_t i = 0; i < ORDER; i++) {
        double sum = 0.0;
        for (int64_t j = 0; j < ORDER; j++) {
            double a = product_check_number(i, j, 1) + (i == j ? 4.0 * ORDER : 0.0);
            real_store(matrix + (j * ORDER + i) * size, wide, a);
            sum += a * (double)(j + 1);
        }
        real_store(right + i * size, wide, sum);
    }
}

/* A factorisation on all threads exercises most of the BLAS functions that LAPACK calls. */
static const char *check_solution(blas *b, int wide, int32_t threads)
{
    static double matrix[ORDER * ORDER], right[ORDER];
    static int pivots[ORDER];
    const blas_lapack *lapack = blas_lapack_of(b, (blas_type)wide);
    int n = ORDER, one = 1, info = 0;
    blas_use use;
    if (!lapack)
        return NULL;
    make_equations((char *)matrix, (char *)right, wide);
    blas_enter(b, &use, threads);
    lapack->getrf(&n, &n, matrix, &n, pivots, &info);
    if (info == 0)
        lapack->getrs("N", &n, &one, matrix, &n, pivots, right, &n, &info, 1);
    blas_leave(b, &use);
    int correct = info == 0;
    for (int64_t i = 0; i < ORDER; i++) // NaN is wrong too
        correct &= fabs(real_load((char *)right + i * (wide ? 8 : 4), wide) - (double)(i + 1)) <
                   (wide ? 1e-9 : 1e-2);
    return correct ? NULL : "its solution of linear equations is wrong";
}

static int product(void *context, check_type type, const blas_matrix *c, const blas_matrix *a,
                   const blas_matrix *b, int64_t m, int64_t n, int64_t k)
{
    blas_multiply(context, type == CHECK_F64 ? BLAS_F64 : BLAS_F32, c, a, b, m, n, k, 1, 0);
    return 1;
}

const char *blas_check(blas *b, int32_t threads)
{
    const char *why = library_enter() ? NULL : "the process is exiting";
    if (why)
        return why;
    for (int wide = 0; wide < 2 && !why; wide++) {
        blas_use use;
        blas_enter(b, &use, 1);
        why = product_check(product, b, wide ? CHECK_F64 : CHECK_F32);
        blas_leave(b, &use);
        why = why ? why : check_solution(b, wide, threads);
    }
    library_leave();
    return why;
}
