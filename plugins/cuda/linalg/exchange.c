/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cuda/test_cuda_solver.c */
#include "exchange.h"

#include <stdlib.h>

#include "cuda/texts.h"
#include "shared/jit/texts.h"

static const jit_source source =
    JIT_SOURCE("cusolver", SLAB_TEXTS, cuda_text_linalg_exchange_params, cuda_text_linalg_cusolver);

#define ALIGNMENT 512u
#define PARTS_MAX 64
/* Minimum number of elements per group of `measure`. */
#define PART 4096
/* Maximum number of matrices computed in turn: with more, the kernels of
 * plugins/shared/jit use the device better. */
#define SERIAL_MAX 64
/* More numbers than fit into any device's memory, and few enough that no size overflows. */
#define NUMBERS_MAX ((int64_t)1 << 48)
/* Matrices are scaled to binary exponents from -TOP to TOP, so that squares neither overflow nor underflow. */
#define TOP_OF_F32 50
#define TOP_OF_F64 400

/* The setting cuda.cusolver_from. If the smaller extent of the matrices and the size of the
 * batch are both below it, the default is the kernels of plugins/shared/jit, which use one group
 * per matrix. The size of the batch counts only where cuSOLVER has a batched function for the
 * matrices. */
static int minimum_extent(const collet_device *d)
{
    return atoi(d->base.host->config(d->base.host, "cuda.cusolver_from"));
}

/* Returns 0 if cuSOLVER does not support the extents. */
static int begin_job(solver_job *j, uint32_t input, uint32_t operands)
{
    const collet_operand *a = operand_of(j->call, input);
    int64_t m = operand_extent(a, 1), n = operand_extent(a, 0);
    j->count = jit_batch_begin(&j->x.operands, a, a->ndim - 2);
    if (m < 1 || n < 1 || j->count < 1 || m > INT_MAX || n > INT_MAX || j->count > INT_MAX ||
        m * n > NUMBERS_MAX / j->count || atomic_load(&j->device->base.lost))
        return 0;
    for (uint32_t k = 0; k < operands; k++)
        jit_batch_operand(&j->x.operands, k, operand_of(j->call, k));
    j->dtype = a->dtype;
    j->m = (int)m;
    j->n = (int)n;
    j->min_extent = m < n ? (int)m : (int)n;
    j->x.count = j->count;
    j->x.top = part_of(a->dtype) == COLLET_F64 ? TOP_OF_F64 : TOP_OF_F32;
    j->x.parts = (int64_t)jit_ceiling((uint64_t)(m * n), PART);
    j->x.parts = j->x.parts < PARTS_MAX ? j->x.parts : PARTS_MAX;
    j->x.partial = solver_reserve(j, j->count * j->x.parts, sizeof(double));
    j->x.scales = solver_reserve(j, j->count, sizeof(double));
    j->x.states = solver_reserve(j, j->count, sizeof(int));
    j->x.infos = solver_reserve(j, j->count, sizeof(int));
    return 1;
}

/* Whether cuSOLVER is open. May open the library and create a handle, so check other conditions first. */
static int is_ready(const solver_job *j)
{
    if (cuda_enter(j->device) != CUDA_SUCCESS)
        return 0;
    int ready = cuda_solver_ready(j->device->base.host, j->device->cu.version, &j->device->solver);
    cuda_leave(j->device);
    return ready;
}

/* Sets whether cuSOLVER can compute the call, in one batched call or one matrix after another, and whether it is the
 * default. */
static void consider(solver_job *j, const solver_op *o)
{
    int from = minimum_extent(j->device), large = j->min_extent >= from;
    int fits = j->m <= o->batched_max && j->n <= o->batched_max && j->count > 1;
    int many = fits && j->count >= from;
    j->batched = fits && (many || !large);
    j->possible = j->min_extent > 3 && (j->batched || j->count <= SERIAL_MAX);
    j->choice = (cuda_choice){.key = WAY_OP(o->key, ways_type(j->dtype), j->count > 1),
                              .side = j->min_extent,
                              .usual = many || large ? WAY_LIBRARY : WAY_OWN};
}

int solver_plan(solver_job *j, const solver_op *o, collet_device *d, collet_queue *q,
                const collet_kernel_call *call)
{
    *j = (solver_job){.device = d, .queue = q, .call = call, .status = COLLET_OK};
    if (!begin_job(j, o->input, o->operands))
        return 0;
    consider(j, o);
    if (!j->possible || !cuda_library_chosen(d, &j->choice) || !is_ready(j))
        return 0;
    if (!o->reserve(j))
        return 0;
    pthread_mutex_lock(&d->solver.library.lock);
    int result = o->size(j, &d->solver);
    pthread_mutex_unlock(&d->solver.library.lock);
    j->work = solver_reserve_numbers(j, j->lwork);
    return result == CUSOLVER_STATUS_SUCCESS;
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
    return solver_reserve(j, count, cpu_dtype_size(j->dtype));
}

int64_t solver_reserve_reals(solver_job *j, int64_t count)
{
    return solver_reserve(j, count, cpu_dtype_size(part_of(j->dtype)));
}

uint64_t solver_scratch_bytes(const solver_job *j)
{
    return j->overflow ? UINT64_MAX : j->scratch;
}

solver_location solver_locate(solver_job *j, int k, int64_t rows, int64_t columns)
{
    jit_layout l;
    if (k >= 0 && jit_batch_layout(&l, &j->x.operands, (uint32_t)k, columns, rows) &&
        !l.transposed && l.leading <= INT_MAX)
        return (solver_location){1 + k, (int)l.leading,
                                 (int64_t)operand_of(j->call, (uint32_t)k)->byte_offset, l.step};
    return (solver_location){0, (int)rows, solver_reserve_numbers(j, j->count * rows * columns),
                             rows * columns};
}

void *solver_at(const solver_job *j, const solver_location *l, int64_t i)
{
    const collet_buffer *buffer =
        l->output ? operand_of(j->call, (uint32_t)l->output - 1)->buffer : j->call->workspace;
    return (void *)(uintptr_t)(cuda_address(buffer) + (CUdeviceptr)l->first +
                               (CUdeviceptr)(i * l->pitch) * cpu_dtype_size(j->dtype));
}

static void *address(const solver_job *j, int64_t offset)
{
    return (void *)(uintptr_t)(cuda_address(j->call->workspace) + (CUdeviceptr)offset);
}

void *solver_number(const solver_job *j, int64_t offset, int64_t index)
{
    return address(j, offset + index * (int64_t)cpu_dtype_size(j->dtype));
}

void *solver_real(const solver_job *j, int64_t offset, int64_t index)
{
    return address(j, offset + index * (int64_t)cpu_dtype_size(part_of(j->dtype)));
}

int *solver_integer(const solver_job *j, int64_t offset, int64_t index)
{
    return address(j, offset + index * (int64_t)sizeof(int));
}

/* ---- Launches -------------------------------------------------------------------------------- */

static exchange exchange_of(const solver_job *j, const solver_matrix *of)
{
    exchange x = j->x;
    x.m = of->m;
    x.n = of->n;
    x.groups = (int64_t)(jit_ceiling((uint64_t)of->m, EXCHANGE_TILE) *
                         jit_ceiling((uint64_t)of->n, EXCHANGE_TILE));
    x.matrix = of->matrix;
    x.pitch = of->pitch;
    x.down = of->down;
    x.across = of->across;
    x.operand = (int32_t)of->place;
    x.flags = of->flags;
    return x;
}

static void launch(solver_job *j, const char *kernel, int k, uint64_t groups,
                   const solver_matrix *of)
{
    exchange x = exchange_of(j, of);
    jit_launch l;
    if (j->status != COLLET_OK)
        return;
    jit_launch_begin(&l, &source, jit_slabs_options(of->real ? part_of(j->dtype) : j->dtype, 1),
                     kernel);
    if (k >= 0)
        jit_pass_operand(&l, operand_of(j->call, (uint32_t)k));
    jit_pass_buffer(&l, of->output ? operand_of(j->call, (uint32_t)of->output - 1)->buffer
                                   : j->call->workspace);
    jit_pass_buffer(&l, j->call->workspace);
    jit_pass_block(&l, &x, sizeof x);
    collet_status status = jit_enqueue(j->device, j->queue, &l, groups, j->call->err);
    j->status = j->launched ? jit_after_first(status) : status;
}

void solver_launch(solver_job *j, const char *kernel, int k, uint64_t groups,
                   const solver_matrix *of)
{
    launch(j, kernel, k, groups, of);
    j->launched |= k >= 0;
}

static uint64_t groups_of(const solver_job *j, const solver_matrix *of)
{
    return (uint64_t)(j->count * exchange_of(j, of).groups);
}

void solver_load(solver_job *j, const solver_matrix *what)
{
    if (!(what->flags & EXCHANGE_RAW))
        launch(j, "measure", (int)what->k, (uint64_t)(j->x.parts * j->count), what);
    launch(j, "load", (int)what->k, groups_of(j, what), what);
}

void solver_store(solver_job *j, const solver_matrix *what)
{
    solver_launch(j, what->output ? "finish" : "store", (int)what->k, groups_of(j, what), what);
}

/* ---- Calls of the library -------------------------------------------------------------------- */

/* The queue's handle, created on first use; NULL on failure. */
static cusolverDnHandle_t handle_of(collet_queue *q)
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

typedef struct steps {
    const solver_job *j;
    solver_step *step;
} steps;

static int take_steps(void *context, int *code)
{
    const steps *s = context;
    int64_t count = s->j->batched ? 1 : s->j->count;
    cusolverDnHandle_t handle = handle_of(s->j->queue);
    int status = CUSOLVER_STATUS_SUCCESS;
    if (!handle)
        return CUDA_LIBRARY_NO;
    for (int64_t i = 0; i < count && status == CUSOLVER_STATUS_SUCCESS; i++)
        status = s->step(s->j, handle, i);
    *code = status;
    switch (status) {
    case CUSOLVER_STATUS_SUCCESS:
        return CUDA_LIBRARY_DONE;
    case CUSOLVER_STATUS_ALLOC_FAILED:
    case CUSOLVER_STATUS_INVALID_VALUE:
    case CUSOLVER_STATUS_NOT_SUPPORTED:
    case CUSOLVER_STATUS_NOT_INITIALIZED:
    case CUSOLVER_STATUS_ARCH_MISMATCH:
        return CUDA_LIBRARY_NO;
    default:
        return CUDA_LIBRARY_BROKEN;
    }
}

void solver_call(solver_job *j, const char *label, solver_step *step)
{
    cuda_library_use use = {
        .device = j->device, .queue = j->queue, .label = label, .err = j->call->err};
    steps s = {j, step};
    if (j->status != COLLET_OK)
        return;
    collet_status status = cuda_library_call(&use, take_steps, &s);
    j->status = j->launched ? jit_after_first(status) : status;
}
