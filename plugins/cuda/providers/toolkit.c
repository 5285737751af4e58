/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cuda/test_cuda_blas.c, tests/cuda/test_cuda_fft.c, tests/cuda/test_cuda_solver.c */
#include "toolkit.h"

#define BLAS(type, name, symbol, parameters) CUDA_SYMBOL(cuda_blas, name, symbol),
#define FOURIER(type, name, symbol, parameters) CUDA_SYMBOL(cuda_fourier, name, symbol),
#define SOLVER(type, name, symbol, parameters) CUDA_SYMBOL(cuda_solver, name, symbol),
static const cuda_symbol blas[] = {CUBLAS_FUNCTIONS(BLAS)};
static const cuda_symbol fourier[] = {CUFFT_FUNCTIONS(FOURIER)};
static const cuda_symbol solver[] = {CUSOLVER_FUNCTIONS(SOLVER)};
#define COUNT(table) (sizeof(table) / sizeof *(table))

const cuda_library_facts cuda_blas_facts = {"cuBLAS",
                                            "libcublas.so",
                                            "cuda.cublas",
                                            "cublasGetProperty",
                                            "Collet's own kernel multiplies matrices",
                                            blas,
                                            COUNT(blas)};
const cuda_library_facts cuda_fourier_facts = {
    "cuFFT", "libcufft.so", "cuda.cufft", "cufftGetProperty", "transforms use Collet's own kernels",
    fourier, COUNT(fourier)};
const cuda_library_facts cuda_solver_facts = {"cuSOLVER",
                                              "libcusolver.so",
                                              "cuda.cusolver",
                                              "cusolverGetProperty",
                                              "decompositions use Collet's own kernels",
                                              solver,
                                              COUNT(solver)};

static void release(cuda_solver *s)
{
    if (s->singular_values)
        s->DestroyGesvdjInfo(s->singular_values);
    if (s->eigenvalues)
        s->DestroySyevjInfo(s->eigenvalues);
    if (s->sizes)
        s->Destroy(s->sizes);
    s->sizes = NULL;
    s->eigenvalues = NULL;
    s->singular_values = NULL;
}

int cuda_solver_ready(const collet_host *host, int driver, cuda_solver *s)
{
    if (!cuda_library_ready(host, driver, &cuda_solver_facts, &s->library))
        return 0;
    pthread_mutex_lock(&s->library.lock);
    if (!s->sizes && (s->Create(&s->sizes) != CUSOLVER_STATUS_SUCCESS ||
                      s->CreateSyevjInfo(&s->eigenvalues) != CUSOLVER_STATUS_SUCCESS ||
                      s->CreateGesvdjInfo(&s->singular_values) != CUSOLVER_STATUS_SUCCESS))
        release(s);
    int ready = s->sizes != NULL;
    pthread_mutex_unlock(&s->library.lock);
    return ready;
}

void cuda_solver_close(cuda_solver *s)
{
    pthread_mutex_lock(&s->library.lock);
    release(s);
    pthread_mutex_unlock(&s->library.lock);
}
