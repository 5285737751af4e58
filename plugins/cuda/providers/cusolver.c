/* SPDX-License-Identifier: Apache-2.0 */
#include "cusolver.h"

#include "cuda/runtime/backend.h"

#define LINE(name) CUDA_SYMBOL(cuda_solver, name, "cusolverDn" #name),
static const cuda_symbol symbols[] = {CUSOLVER_FUNCTIONS(LINE)};
#undef LINE

const cuda_library_facts cuda_solver_facts = {
    .name = "libcusolver.so",
    .setting = "cuda.cusolver",
    .version = "cusolverGetProperty",
    .instead = "decompositions are by Collet's own kernels",
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
};

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

int cuda_solver_ready(collet_device *d)
{
    cuda_solver *s = &d->solver;
    if (!cuda_library_ready(d->base.host, d->cu.version, &cuda_solver_facts, &s->library))
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

void cuda_solver_close(collet_device *d)
{
    if (!d->solver.sizes || cuda_enter(d) != CUDA_SUCCESS)
        return;
    pthread_mutex_lock(&d->solver.library.lock);
    release(&d->solver);
    pthread_mutex_unlock(&d->solver.library.lock);
    cuda_leave(d);
}

cusolverDnHandle_t cuda_solver_handle(collet_queue *q)
{
    const cuda_solver *s = &q->base.device->solver;
    cusolverDnHandle_t handle = NULL;
    if (q->solver)
        return q->solver;
    if (s->Create(&handle) != CUSOLVER_STATUS_SUCCESS)
        return NULL;
    if (s->SetStream(handle, q->handle) != CUSOLVER_STATUS_SUCCESS) {
        s->Destroy(handle);
        return NULL;
    }
    q->solver = handle;
    return handle;
}
