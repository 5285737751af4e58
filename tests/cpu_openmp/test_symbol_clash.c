/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_openmp in a program that defines functions with the names of BLAS, LAPACK and oneDNN, like a program that links
 * other versions. Neither the backend nor the libraries that it opens call these functions. Two concurrent contexts
 * leave the libraries' settings unchanged.
 */
#include <dlfcn.h>
#include <pthread.h>

#include <collet/collet.h>
#include <collet/ops.h>
#include <collet/ops.h>
#include <collet/ops.h>

#include "common/test.h"

OWNS(collet_array, collet_array_destroy)

/* ---- The program's functions ----------------------------------------------------------------- */

static void captured(void)
{
    abort();
}

/* clang-format off */
#define OURS(name) \
    extern __typeof__(captured) name __attribute__((alias("captured"), visibility("default")))
#define BOTH(name) OURS(s##name##_); OURS(d##name##_); OURS(cblas_s##name); OURS(cblas_d##name)

BOTH(gemm); BOTH(gemv); BOTH(trmm); BOTH(trsm); BOTH(trsv); BOTH(trmv); BOTH(syrk); BOTH(symv);
BOTH(syr2); BOTH(syr2k); BOTH(ger); BOTH(nrm2); BOTH(dot); BOTH(axpy); BOTH(scal); BOTH(swap);
BOTH(copy); BOTH(getrf); BOTH(getrf2); BOTH(getrs); BOTH(laswp); BOTH(potrf); BOTH(potrf2);
BOTH(geqrf); BOTH(geqr2); BOTH(larfg); BOTH(larft); BOTH(larfb); BOTH(larf); BOTH(orgqr);
BOTH(org2r); BOTH(ormqr); BOTH(gesdd); BOTH(gebrd); BOTH(bdsdc); BOTH(lasr); BOTH(syevd);
BOTH(sytrd); BOTH(stedc); BOTH(lamch); BOTH(lange); BOTH(lacpy); BOTH(laset);
OURS(ilaenv_); OURS(lsame_); OURS(xerbla_); OURS(idamax_); OURS(isamax_);
OURS(openblas_set_num_threads); OURS(openblas_get_num_threads); OURS(openblas_get_corename);
OURS(dnnl_sgemm); OURS(dnnl_gemm_s8s8s32); OURS(dnnl_engine_create); OURS(dnnl_primitive_create);
OURS(dnnl_primitive_execute); OURS(dnnl_matmul_desc_init); OURS(dnnl_set_max_cpu_isa);
OURS(dnnl_matmul_primitive_desc_create); OURS(dnnl_memory_desc_create_with_strides);
/* clang-format on */

/* ---- Computations ---------------------------------------------------------------------------- */

#define N 160

static collet_runtime *rt;

/* Creates an array of this dtype with these values. */
static collet_array *array_of(collet_context *cx, collet_dtype dtype, int32_t ndim,
                              const int64_t *shape, const double *values)
{
    collet_array *wide = NULL, *a = NULL;
    assert_int_equal(collet_array_create(cx, &a, dtype, ndim, shape), COLLET_OK);
    if (values) {
        assert_int_equal(collet_array_from(cx, &wide, COLLET_F64, ndim, shape, values), COLLET_OK);
        assert_int_equal(collet_op_copy(cx, a, wide), COLLET_OK);
        collet_array_destroy(wide);
    }
    return a;
}

static void numbers_of(collet_context *cx, const collet_array *a, int32_t ndim,
                       const int64_t *shape, double *values, size_t bytes)
{
    OWNED(collet_array) *wide = array_of(cx, COLLET_F64, ndim, shape, NULL);
    assert_int_equal(collet_op_copy(cx, wide, a), COLLET_OK);
    assert_int_equal(collet_array_read(cx, wide, values, bytes), COLLET_OK);
}

/* Symmetric, integer, positive definite (dominant diagonal). */
static double matrix_at(int i, int j)
{
    int low = i < j ? i : j, high = i < j ? j : i;
    return (double)((low * 7 + high * 3) % 11 - 5) + (i == j ? 12.0 * N : 0.0);
}

static void fill(double *m)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            m[i * N + j] = matrix_at(i, j);
}

static void check_product(collet_context *cx, collet_dtype dtype)
{
    static const int64_t shape[] = {N, N};
    FREED(double) *m = malloc(sizeof(double) * N * N), *got = malloc(sizeof(double) * N * N);
    assert_true(m && got);
    fill(m);
    OWNED(collet_array) *a = array_of(cx, dtype, 2, shape, m),
                        *c = array_of(cx, dtype, 2, shape, NULL);
    assert_int_equal(collet_op_matmul(cx, c, a, a), COLLET_OK);
    numbers_of(cx, c, 2, shape, got, sizeof(double) * N * N);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            double sum = 0.0;
            for (int k = 0; k < N; k++)
                sum += matrix_at(i, k) * matrix_at(k, j);
            assert_true(got[i * N + j] == sum);
        }
    }
}

/* The solution is x = 1, 2, ... */
static void check_solution(collet_context *cx, collet_dtype dtype, double tolerance)
{
    static const int64_t shape[] = {N, N}, one[] = {N};
    double *m = malloc(sizeof(double) * N * N), right[N] = {0.0}, got[N];
    int32_t info = -1;
    assert_non_null(m);
    fill(m);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            right[i] += matrix_at(i, j) * (j + 1);
    OWNED(collet_array) *a = array_of(cx, dtype, 2, shape, m),
                        *b = array_of(cx, dtype, 1, one, right);
    OWNED(collet_array) *x = array_of(cx, dtype, 1, one, NULL), *status = NULL;
    assert_int_equal(collet_array_create(cx, &status, COLLET_I32, 0, NULL), COLLET_OK);
    assert_int_equal(collet_op_solve(cx, x, status, a, b), COLLET_OK);
    assert_int_equal(collet_array_read(cx, status, &info, sizeof info), COLLET_OK);
    numbers_of(cx, x, 1, one, got, sizeof got);
    assert_int_equal(info, 0);
    for (int i = 0; i < N; i++)
        assert_true(fabs(got[i] - (i + 1)) <= tolerance * N);
    free(m);
}

/* The sum of the eigenvalues is the trace, and the sum of their squares is the sum of the squared
 * elements. The singular values of this matrix are its eigenvalues. */
static void check_spectra(collet_context *cx, collet_dtype dtype, double tolerance)
{
    static const int64_t shape[] = {N, N}, one[] = {N};
    double *m = malloc(sizeof(double) * N * N), got[2][N], squares = 0.0, trace = 0.0;
    assert_non_null(m);
    fill(m);
    for (int i = 0; i < N * N; i++)
        squares += m[i] * m[i];
    for (int i = 0; i < N; i++)
        trace += m[i * N + i];
    OWNED(collet_array) *a = array_of(cx, dtype, 2, shape, m),
                        *v = array_of(cx, dtype, 2, shape, NULL);
    OWNED(collet_array) *u = array_of(cx, dtype, 2, shape, NULL),
                        *s = array_of(cx, dtype, 1, one, NULL);
    OWNED(collet_array) *status = NULL;
    assert_int_equal(collet_array_create(cx, &status, COLLET_I32, 0, NULL), COLLET_OK);
    assert_int_equal(collet_op_eigh(cx, s, v, status, a), COLLET_OK);
    numbers_of(cx, s, 1, one, got[0], sizeof got[0]);
    assert_int_equal(collet_op_svd(cx, u, s, v, status, a), COLLET_OK);
    numbers_of(cx, s, 1, one, got[1], sizeof got[1]);
    assert_int_equal(collet_op_qr(cx, u, v, a), COLLET_OK);
    assert_int_equal(collet_op_cholesky(cx, u, status, a), COLLET_OK);
    for (int k = 0; k < 2; k++) {
        double sum = 0.0, sum_of_squares = 0.0;
        for (int i = 0; i < N; i++) {
            sum += got[k][i];
            sum_of_squares += got[k][i] * got[k][i];
        }
        assert_true(fabs(sum / trace - 1.0) <= tolerance);
        assert_true(fabs(sum_of_squares / squares - 1.0) <= tolerance);
    }
    free(m);
}

/* The transform of a unit impulse is 1 everywhere. */
static void check_transform(collet_context *cx)
{
    enum { LENGTH = 2 * 3 * 5 * 7 };
    static const int64_t shape[] = {LENGTH};
    double numbers[2 * LENGTH] = {1.0};
    OWNED(collet_array) *a = NULL;
    assert_int_equal(collet_array_from(cx, &a, COLLET_C128, 1, shape, numbers), COLLET_OK);
    assert_int_equal(collet_op_fft(cx, a, a, 1, 0), COLLET_OK);
    assert_int_equal(collet_array_read(cx, a, numbers, sizeof numbers), COLLET_OK);
    for (int i = 0; i < LENGTH; i++) {
        assert_true(fabs(numbers[2 * i] - 1.0) < 1e-12);
        assert_true(fabs(numbers[2 * i + 1]) < 1e-12);
    }
}

static void check_everything(collet_context *cx)
{
    check_product(cx, COLLET_F32);
    check_product(cx, COLLET_F64);
    check_solution(cx, COLLET_F32, 1e-5);
    check_solution(cx, COLLET_F64, 1e-13);
    check_spectra(cx, COLLET_F32, 1e-5);
    check_spectra(cx, COLLET_F64, 1e-13);
    check_transform(cx);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

TEST(nothing_is_captured)
{
    collet_context *cx = NULL;
    collet_error err = {COLLET_OK, ""};
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* the sanitizer's runtime does not allow RTLD_DEEPBIND */
#endif
    assert_non_null(dlsym(RTLD_DEFAULT, "dgemm_"));
    assert_int_equal(collet_context_create(rt, &cx, &err), COLLET_OK);
    check_everything(cx);
    collet_context_destroy(cx);
}

static void *work(void *argument)
{
    collet_context *cx = NULL;
    assert_int_equal(collet_context_create(rt, &cx, NULL), COLLET_OK);
    for (int i = 0; i < 5; i++)
        check_everything(cx);
    collet_context_destroy(cx);
    return NULL;
}

TEST(two_contexts_at_once)
{
    pthread_t threads[2];
    int (*get)(void) = NULL;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();
#endif
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (library)
        *(void **)&get = dlsym(library, "openblas_get_num_threads");
    int before = get ? get() : 0;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, NULL), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(before, get ? get() : 0);
}

static int make_runtime(void **state)
{
    collet_error err = {COLLET_OK, ""};
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = COLLET_TEST_PLUGINS "/cpu_openmp.so",
                                      .backend = "cpu_openmp"};
    if (collet_runtime_create(&rt, &options, &err) == COLLET_OK)
        return 0;
    print_error("%s\n", err.text);
    return -1;
}

static int destroy_runtime(void **state)
{
    collet_runtime_destroy(rt);
    return 0;
}

TEST_GROUP(make_runtime, destroy_runtime)
