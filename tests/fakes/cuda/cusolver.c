/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stand-in for cuSOLVER; see control.h. It computes on the host with the LAPACK library that the
 * variable FAKE_LAPACK names, by default OpenBLAS. It checks leading dimensions, scratch sizes,
 * streams and lifetimes, and overwrites all scratch, as the real library may.
 */
#include "control.h"
#include "cuda/providers/abi/cusolver.h"

#include <dlfcn.h>

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

/* Checks the arguments of every call: with invalid ones the real library could crash. */
static cusolverStatus_t begin(cusolverDnHandle_t handle, int ok)
{
    if (fake_cusolver.fails)
        return (cusolverStatus_t)fake_cusolver.fails;
    if (!handle || !handle->alive || !fake_cuda.is_stream(handle->stream) || !ok) {
        fake_cusolver.wrong++;
        return CUSOLVER_STATUS_INVALID_VALUE;
    }
    fake_cuda.catch_up(handle->stream);
    fake_cusolver.computed++;
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

#define BEGIN(ok)                                                                                  \
    do {                                                                                           \
        cusolverStatus_t begun_ = begin(handle, ok);                                               \
        if (begun_ != CUSOLVER_STATUS_SUCCESS)                                                     \
            return begun_;                                                                         \
    } while (0)

/* The full SVD of a small matrix, by columns, in f64: LAPACK's preconditioned Jacobi SVD, whose singular vectors are as
 * accurate as cuSOLVER's. U and V have the leading dimensions m and n. */
static int decompose(double *a, int m, int n, double *s, double *u, double *v)
{
    void (*gejsv)(const char *, const char *, const char *, const char *, const char *,
                  const char *, const int *, const int *, double *, const int *, double *, double *,
                  const int *, double *, const int *, double *, const int *, int *, int *);
    static double work[16 * SMALL * SMALL];
    const int size = sizeof work / sizeof *work;
    int places[4 * SMALL], info;
    LAPACK(gejsv, "dgejsv_");
    gejsv("F", "F", "V", "N", "N", "N", &m, &n, a, &m, s, u, &m, v, &n, work, &size, places, &info);
    for (int i = 0; i < n; i++)
        s[i] *= work[0] / work[1];
    return info;
}

/* LAPACK's scratch, in elements. */
#define WORK(n) (256 + 64 * (size_t)(n))

#define REAL float
#define F(name) cusolverDnS##name
#define L(name) "s" name
#include "cusolver.inc.h"
#undef REAL
#undef F
#undef L
#define REAL double
#define F(name) cusolverDnD##name
#define L(name) "d" name
#include "cusolver.inc.h"
