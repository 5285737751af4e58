/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange.h"

#include <stdlib.h>

#include "cuda/texts.h"
#include "shared/jit/texts.h"

static const char *const texts[] = {jit_text_linalg_matrices_params,
                                    jit_text_linalg_matrices,
                                    jit_text_linalg_slabs_params,
                                    jit_text_linalg_dense,
                                    cuda_text_linalg_exchange_params,
                                    cuda_text_linalg_cusolver,
                                    NULL};
static const jit_source source = {"cusolver", texts};

#define ALIGNMENT 512u
#define PARTS_MAX 64
/* Minimum number of elements per group of `measure`. */
#define PART 4096
/* Default of the setting cuda.cusolver_from: smaller matrices are left to the kernels of
 * plugins/shared/jit, which use one group per matrix. */
#define FROM 96
/* Maximum number of matrices computed one after another: with more, the kernels of
 * plugins/shared/jit use the device better. */
#define SERIAL_MAX 64
/* Binary exponents whose squares neither overflow nor underflow. */
#define TOP_OF_F32 50
#define TOP_OF_F64 400

static int served_from(const collet_device *d)
{
    const char *set = d->base.host->config(d->base.host, "cuda.cusolver_from");
    int from = set ? atoi(set) : 0;
    return from > 0 ? from : FROM;
}

int solver_begin(solver_job *j, collet_device *d, collet_queue *q, const collet_kernel_call *call,
                 uint32_t input, uint32_t operands)
{
    const collet_operand *a = jit_operand(call, input);
    int64_t m = jit_extent(a, 1), n = jit_extent(a, 0);
    *j = (solver_job){.device = d, .queue = q, .call = call, .status = COLLET_OK};
    j->count = jit_batch_begin(&j->x.operands, a, a->ndim - 2);
    if (m < 1 || n < 1 || j->count < 1 || m > INT_MAX || n > INT_MAX || j->count > INT_MAX ||
        atomic_load(&d->base.lost))
        return 0;
    for (uint32_t k = 0; k < operands; k++)
        jit_batch_operand(&j->x.operands, k, jit_operand(call, k));
    j->wide = a->dtype == COLLET_F64;
    j->m = (int)m;
    j->n = (int)n;
    j->min_extent = m < n ? (int)m : (int)n;
    j->x.count = j->count;
    j->x.top = j->wide ? TOP_OF_F64 : TOP_OF_F32;
    j->x.parts = (int64_t)jit_ceiling((uint64_t)(m * n), PART);
    j->x.parts = j->x.parts < PARTS_MAX ? j->x.parts : PARTS_MAX;
    j->x.partial = solver_reserve(j, j->count * j->x.parts, sizeof(double));
    j->x.scales = solver_reserve(j, j->count, sizeof(double));
    j->x.states = solver_reserve(j, j->count, sizeof(int));
    j->x.infos = solver_reserve(j, j->count, sizeof(int));
    return 1;
}

/* Creates a handle and may open the library, so it is the last condition to check. */
static int is_there(const solver_job *j)
{
    if (cuda_enter(j->device) != CUDA_SUCCESS)
        return 0;
    int there = cuda_solver_ready(j->device->base.host, j->device->cu.version, &j->device->solver);
    cuda_leave(j->device);
    return there;
}

int solver_serves(const solver_job *j)
{
    return j->min_extent >= served_from(j->device) && j->min_extent > 3 && j->count <= SERIAL_MAX &&
           is_there(j);
}

int solver_serves_batched(const solver_job *j, int most)
{
    int from = served_from(j->device);
    return j->m <= most && j->n <= most && j->min_extent > 3 && j->count > 1 && j->count >= from &&
           is_there(j);
}

int64_t solver_reserve(solver_job *j, int64_t count, size_t size)
{
    uint64_t bytes, first = j->scratch;
    if (count < 0 || __builtin_mul_overflow((uint64_t)count, size, &bytes) ||
        bytes > INT64_MAX - ALIGNMENT ||
        __builtin_add_overflow(first, jit_ceiling(bytes, ALIGNMENT) * ALIGNMENT, &j->scratch) ||
        j->scratch > INT64_MAX)
        j->overflow = 1;
    return (int64_t)first;
}

int64_t solver_reserve_numbers(solver_job *j, int64_t count)
{
    return solver_reserve(j, count, j->wide ? sizeof(double) : sizeof(float));
}

uint64_t solver_scratch_bytes(const solver_job *j)
{
    return j->overflow ? UINT64_MAX : j->scratch;
}

void *solver_address(const solver_job *j, int64_t offset)
{
    return (void *)(uintptr_t)(cuda_address(j->call->workspace) + (CUdeviceptr)offset);
}

/* ---- Launches -------------------------------------------------------------------------------- */

static void launch(solver_job *j, const jit_launch *l, uint64_t groups)
{
    if (j->status != COLLET_OK)
        return;
    collet_status status = jit_enqueue(j->device, j->queue, l, groups, j->call->err);
    j->status = j->launched ? jit_after_first(status) : status;
}

static exchange exchange_of(const solver_job *j, const solver_matrix *of)
{
    exchange x = j->x;
    x.m = of->m;
    x.n = of->n;
    x.groups = (int64_t)jit_groups(jit_traits_of(j->device), (uint64_t)(of->m * of->n));
    x.matrix = of->matrix;
    x.pitch = of->pitch;
    x.down = of->down;
    x.across = of->across;
    x.operand = (int32_t)of->place;
    x.flags = of->flags;
    return x;
}

static void begin(const solver_job *j, jit_launch *l, const char *kernel, int k)
{
    jit_launch_begin(l, &source, j->wide ? "-DTYPE=f64" : "-DTYPE=f32", kernel);
    if (k >= 0)
        jit_pass_operand(l, jit_operand(j->call, (uint32_t)k));
}

void solver_load(solver_job *j, const solver_matrix *what)
{
    exchange x = exchange_of(j, what);
    jit_launch l;
    if (!(what->flags & EXCHANGE_RAW)) {
        begin(j, &l, "measure", (int)what->k);
        jit_pass_buffer(&l, j->call->workspace);
        jit_pass_block(&l, &x, sizeof x);
        launch(j, &l, (uint64_t)(x.parts * j->count));
    }
    begin(j, &l, "load", (int)what->k);
    jit_pass_buffer(&l, j->call->workspace);
    jit_pass_block(&l, &x, sizeof x);
    launch(j, &l, (uint64_t)(x.groups * j->count));
}

void solver_store(solver_job *j, const solver_matrix *what)
{
    exchange x = exchange_of(j, what);
    jit_launch l;
    begin(j, &l, "store", (int)what->k);
    jit_pass_buffer(&l, j->call->workspace);
    jit_pass_block(&l, &x, sizeof x);
    launch(j, &l, (uint64_t)(x.groups * j->count));
    j->launched = 1;
}

void solver_launch(solver_job *j, const char *kernel, int k, int what, uint64_t groups,
                   const solver_matrix *of)
{
    exchange x = exchange_of(j, of);
    jit_launch l;
    begin(j, &l, kernel, k);
    jit_pass_buffer(&l, j->call->workspace);
    if (what >= 0)
        jit_pass_i32(&l, what);
    jit_pass_block(&l, &x, sizeof x);
    launch(j, &l, groups);
    j->launched |= k >= 0;
}

void solver_pointers(solver_job *j, int64_t places, const solver_matrix *of)
{
    exchange x = exchange_of(j, of);
    jit_launch l;
    begin(j, &l, "pointers", -1);
    jit_pass_buffer(&l, j->call->workspace);
    jit_pass_i64(&l, places);
    jit_pass_block(&l, &x, sizeof x);
    launch(j, &l, jit_groups(jit_traits_of(j->device), (uint64_t)j->count));
}

/* ---- Calls of the library -------------------------------------------------------------------- */

cusolverDnHandle_t solver_handle(collet_queue *q)
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

int solver_outcome(int status, int *code)
{
    *code = status;
    return status == CUSOLVER_STATUS_SUCCESS ? CUDA_LIBRARY_DONE
           : status == CUSOLVER_STATUS_ALLOC_FAILED || status == CUSOLVER_STATUS_INVALID_VALUE ||
                   status == CUSOLVER_STATUS_NOT_SUPPORTED ||
                   status == CUSOLVER_STATUS_NOT_INITIALIZED ||
                   status == CUSOLVER_STATUS_ARCH_MISMATCH
               ? CUDA_LIBRARY_NO
               : CUDA_LIBRARY_BROKEN;
}

void solver_call(solver_job *j, const char *label, int (*calls)(void *context, int *code),
                 void *context)
{
    cuda_library_use use = {.device = j->device,
                            .queue = j->queue,
                            .label = label,
                            .buffers = {j->call->workspace},
                            .count = 1,
                            .err = j->call->err};
    if (j->status != COLLET_OK)
        return;
    collet_status status = cuda_library_call(&use, calls, context);
    j->status = j->launched ? jit_after_first(status) : status;
}
