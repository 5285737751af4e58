/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stand-in for cuSOLVER; see control.h. It computes on the host with the LAPACK library that the
 * variable FAKE_LAPACK names, by default OpenBLAS. It checks leading dimensions, scratch sizes,
 * streams and lifetimes, and overwrites all scratch, as the real library may.
 */
#include "control.h"
#include "cuda/providers/abi/cusolver.h"

#include <complex.h>
#include <dlfcn.h>
#include <math.h>

#include <stdlib.h>
#include <string.h>

#define SMALL 32

CUSOLVER_FUNCTIONS(ABI_PROTOTYPE)
extern fake_cuda_control fake_cuda;
extern fake_cusolver_control fake_cusolver;
fake_cusolver_control fake_cusolver;

struct cusolverDnContext {
    cudaStream_t stream;
    int alive;
};
struct syevjInfo {
    int alive;
};
struct gesvdjInfo {
    int alive;
};

__attribute__((destructor)) static void report(void)
{
    fake_cuda.report("cusolver", fake_cusolver.computed,
                     fake_cusolver.wrong + fake_cusolver.handles);
    fake_cuda.report("cusolver_complex", fake_cusolver.of_complex, 0);
}

cusolverStatus_t cusolverGetProperty(int type, int *value);
cusolverStatus_t cusolverGetProperty(int type, int *value)
{
    *value = type == 0 ? 11 : 7;
    return CUSOLVER_STATUS_SUCCESS;
}

/* ---- Handles --------------------------------------------------------------------------------- */

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle)
{
    if (!fake_cuda.current() || fake_cusolver.create_fails)
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    *handle = calloc(1, sizeof **handle);
    (*handle)->alive = 1;
    fake_cusolver.handles++;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle)
{
    fake_cusolver.wrong += !fake_cuda.current();
    fake_cusolver.handles--;
    free(handle);
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream)
{
    handle->stream = stream;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnCreateSyevjInfo(syevjInfo_t *info)
{
    *info = calloc(1, sizeof **info);
    fake_cusolver.handles++;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnDestroySyevjInfo(syevjInfo_t info)
{
    fake_cusolver.handles--;
    free(info);
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnCreateGesvdjInfo(gesvdjInfo_t *info)
{
    *info = calloc(1, sizeof **info);
    fake_cusolver.handles++;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnDestroyGesvdjInfo(gesvdjInfo_t info)
{
    fake_cusolver.handles--;
    free(info);
    return CUSOLVER_STATUS_SUCCESS;
}

/* ---- LAPACK and checks ----------------------------------------------------------------------- */

static void *lapack(const char *name)
{
    static void *library;
    if (!library) {
        const char *path = getenv("FAKE_LAPACK");
        library = dlopen(path && *path ? path : "libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    }
    return library ? dlsym(library, name) : NULL;
}

/* Sets `f`, a function pointer of the right type, to a LAPACK function. */
#define LAPACK(f, name)                                                                            \
    do {                                                                                           \
        void *symbol_ = lapack(name);                                                              \
        if (!symbol_)                                                                              \
            return CUSOLVER_STATUS_INTERNAL_ERROR;                                                 \
        memcpy(&f, &symbol_, sizeof symbol_);                                                      \
    } while (0)

static int holds(const void *data, size_t count, size_t size)
{
    return !count || (fake_cuda.holds(data, count * size) && (uintptr_t)data % size == 0);
}

/* Checks the arguments of every call: with invalid arguments the real library could crash. */
static cusolverStatus_t begin(cusolverDnHandle_t handle, int is_complex, int ok)
{
    if (fake_cusolver.fails)
        return (cusolverStatus_t)fake_cusolver.fails;
    if (!handle || !handle->alive || !fake_cuda.is_stream(handle->stream) || !ok) {
        fake_cusolver.wrong++;
        return CUSOLVER_STATUS_INVALID_VALUE;
    }
    fake_cuda.catch_up(handle->stream);
    fake_cusolver.computed++;
    fake_cusolver.of_complex += is_complex;
    return CUSOLVER_STATUS_SUCCESS;
}

static cusolverStatus_t size_is(cusolverDnHandle_t handle, int ok, int *out, long long numbers)
{
    if (!handle || !ok)
        return CUSOLVER_STATUS_INVALID_VALUE;
    *out = (int)numbers;
    return CUSOLVER_STATUS_SUCCESS;
}

static size_t extent(int lead, int columns)
{
    return columns > 0 ? (size_t)lead * (size_t)columns : 0;
}

/* The length in numbers from the first to the last element: the memory may end with the last row of the last column. */
static size_t span(int lead, int rows, int columns)
{
    return columns > 0 ? (size_t)lead * (size_t)(columns - 1) + (size_t)rows : 0;
}

#define BEGIN(ok)                                                                                  \
    do {                                                                                           \
        cusolverStatus_t begun_ = begin(handle, sizeof(NUMBER) > sizeof(REAL), ok);                \
        if (begun_ != CUSOLVER_STATUS_SUCCESS)                                                     \
            return begun_;                                                                         \
    } while (0)

/* ---- One-sided Jacobi ------------------------------------------------------------------------ */

/* The SVD uses one-sided Jacobi, because LAPACK's singular vectors of small matrices are less
 * accurate than cuSOLVER's. */
typedef long double complex number;

typedef struct jacobi {
    int m, n;                                /* m >= n */
    number w[SMALL][SMALL], v[SMALL][SMALL]; /* by columns; w becomes U */
    long double s[SMALL];
} jacobi;

/* a^H b */
static number product(const number *a, const number *b, int n)
{
    number sum = 0.0L;
    for (int i = 0; i < n; i++)
        sum += conjl(a[i]) * b[i];
    return sum;
}

static long double square_of(const number *a, int n)
{
    return creall(product(a, a, n));
}

/* Rotates the columns a and phase * b. */
static void rotate(number *a, number *b, int n, number phase, long double c, long double s)
{
    for (int i = 0; i < n; i++) {
        number x = a[i], y = phase * b[i];
        a[i] = c * x - s * y;
        b[i] = s * x + c * y;
    }
}

static int sweep(jacobi *j)
{
    int rotated = 0;
    for (int p = 0; p < j->n; p++)
        for (int q = p + 1; q < j->n; q++) {
            long double a = square_of(j->w[p], j->m), b = square_of(j->w[q], j->m);
            number inner = product(j->w[p], j->w[q], j->m);
            long double g = cabsl(inner);
            if (g <= 1e-18L * sqrtl(a) * sqrtl(b))
                continue;
            number phase = conjl(inner) / g;
            long double zeta = (b - a) / (2.0L * g);
            long double t = copysignl(1.0L, zeta) / (fabsl(zeta) + sqrtl(1.0L + zeta * zeta));
            long double c = 1.0L / sqrtl(1.0L + t * t);
            rotate(j->w[p], j->w[q], j->m, phase, c, c * t);
            rotate(j->v[p], j->v[q], j->n, phase, c, c * t);
            rotated = 1;
        }
    return rotated;
}

static void exchange_columns(jacobi *j, int a, int b)
{
    number held[SMALL];
    long double value = j->s[a];
    memcpy(held, j->w[a], sizeof held);
    memcpy(j->w[a], j->w[b], sizeof held);
    memcpy(j->w[b], held, sizeof held);
    memcpy(held, j->v[a], sizeof held);
    memcpy(j->v[a], j->v[b], sizeof held);
    memcpy(j->v[b], held, sizeof held);
    j->s[a] = j->s[b];
    j->s[b] = value;
}

/* Sets column k of U to a vector orthogonal to the columns before it. */
static void fill_column(jacobi *j, int k)
{
    long double norm = 0.0L;
    for (int unit = 0; unit < j->m && norm < 0.1L; unit++) {
        memset(j->w[k], 0, sizeof j->w[k]);
        j->w[k][unit] = 1.0L;
        for (int twice = 0; twice < 2; twice++)
            for (int i = 0; i < k; i++) {
                number part = product(j->w[i], j->w[k], j->m);
                for (int l = 0; l < j->m; l++)
                    j->w[k][l] -= part * j->w[i][l];
            }
        norm = sqrtl(square_of(j->w[k], j->m));
    }
    for (int l = 0; l < j->m; l++)
        j->w[k][l] /= norm;
}

/* The SVD of the matrix in w. */
static void decompose(jacobi *j)
{
    memset(j->v, 0, sizeof j->v);
    for (int i = 0; i < j->n; i++)
        j->v[i][i] = 1.0L;
    for (int i = 0; i < 60 && sweep(j); i++)
        continue;
    for (int k = 0; k < j->n; k++)
        j->s[k] = sqrtl(square_of(j->w[k], j->m));
    for (int a = 0; a < j->n; a++)
        for (int b = a + 1; b < j->n; b++)
            if (j->s[b] > j->s[a])
                exchange_columns(j, a, b);
    for (int k = 0; k < j->m; k++) {
        int plain = k < j->n && j->s[k] > 1e-17L * j->s[0];
        for (int l = 0; l < j->m && plain; l++)
            j->w[k][l] /= j->s[k];
        if (!plain)
            fill_column(j, k);
    }
}

/* ---- The functions ------------------------------------------------------------------------------ */

/* LAPACK's scratch, in elements. */
#define WORK(n) (256 + 64 * (size_t)(n))

#define JOIN_(a, b, c, d) a##b##c##d
#define JOIN(a, b, c, d) JOIN_(a, b, c, d)
#define STRING_(a) #a
#define STRING(a) STRING_(a)
#define F(name) JOIN(cusolverDn, LETTER, , name)
#define UN(name) JOIN(cusolverDn, LETTER, ORTHOGONAL, name)
#define HE(name) JOIN(cusolverDn, LETTER, SYMMETRIC, name)
#define L(name) LAPACK_LETTER name
#define LAPACK_UN(name) LAPACK_LETTER STRING(ORTHOGONAL) name
#define LAPACK_HE(name) LAPACK_LETTER STRING(SYMMETRIC) name

#define ORTHOGONAL or
#define SYMMETRIC sy
#define AND_REAL(argument)
#define LETTER S
#define LAPACK_LETTER "s"
#define NUMBER float
#define REAL float
#include "cusolver.inc.h"
#define LETTER D
#define LAPACK_LETTER "d"
#define NUMBER double
#define REAL double
#include "cusolver.inc.h"
#undef ORTHOGONAL
#undef SYMMETRIC
#undef AND_REAL
#define ORTHOGONAL un
#define SYMMETRIC he
#define AND_REAL(argument) , argument
#define LETTER C
#define LAPACK_LETTER "c"
#define NUMBER cuComplex
#define REAL float
#include "cusolver.inc.h"
#define LETTER Z
#define LAPACK_LETTER "z"
#define NUMBER cuDoubleComplex
#define REAL double
#include "cusolver.inc.h"
