/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cuda/test_cuda_fft.c */
#include <stdlib.h>
#include <string.h>

#include "shared/host/util/plan_cache.h"
#include "shared/jit/fft/fft.h"
#include "cuda/runtime/backend.h"
#include "cuda/texts.h"
#include "shared/jit/runtime/view.h"
#include "cuda/runtime/library_call.h"
#include "cuda/runtime/ways.h"

#include "cufft_params.h"

static const char *const texts[] = {cuda_text_fft_cufft_params, cuda_text_fft_cufft, NULL};
static const jit_source source = {.name = "cufft", .texts = texts};

#define AXES_MAX 3
#define PLANS 64
/* Limit on the sum of the work areas of the cached plans, as cuFFT reports them. The plans'
 * tables, which are smaller, are not counted. */
#define PLANS_BYTES ((uint64_t)1 << 30)
/* Alignment of arrays in the workspace. */
#define ALIGNMENT 512u

/* ---- Transforms as cuFFT describes them ------------------------------------------------------ */

/* Element (i0, i1, i2) of transform b is ((i0 embed[1] + i1) embed[2] + i2) step + b distance. */
typedef struct layout {
    long long embed[AXES_MAX], step, distance;
} layout;

typedef struct transform {
    int rank, to_real, from_real, wide, inverse;
    long long n[AXES_MAX], count;
    layout in, out;
    CUdeviceptr from, to;
    uint64_t spectrum; /* bytes at the front of the workspace for a half spectrum; 0: none */
    double scale;
    cuda_choice choice;
} transform;

/* Merges the axes of the batch into one. Returns 0 if that is impossible, or if transforms overlap (stride 0). */
static int set_distance(layout *l, const collet_operand *o, int32_t axes)
{
    int64_t common = 0;
    l->distance = 0;
    for (int32_t axis = axes - 1; axis >= 0; axis--) {
        if (o->shape[axis] == 1)
            continue;
        if (o->strides[axis] <= 0 || (common && o->strides[axis] != common))
            return 0;
        if (!common)
            l->distance = o->strides[axis];
        common = o->strides[axis] * o->shape[axis];
    }
    return 1;
}

static int lay_out(layout *l, const collet_operand *o, int rank)
{
    const int64_t *extent = o->shape + o->ndim - rank, *stride = o->strides + o->ndim - rank;
    long long unit = extent[rank - 1] == 1 ? 1 : stride[rank - 1];
    if (unit <= 0 || !set_distance(l, o, o->ndim - rank))
        return 0;
    l->step = unit;
    for (int k = rank - 1; k > 0; k--) {
        l->embed[k] = extent[k];
        if (extent[k - 1] != 1) {
            if (stride[k - 1] <= 0 || stride[k - 1] % unit)
                return 0;
            l->embed[k] = stride[k - 1] / unit;
        }
        if (l->embed[k] < extent[k])
            return 0;
        unit *= l->embed[k];
    }
    l->embed[0] = extent[0];
    l->distance = l->distance ? l->distance : unit * extent[0];
    return 1;
}

static void lay_out_dense(layout *l, const collet_operand *o, int rank)
{
    l->step = l->distance = 1;
    for (int k = 0; k < rank; k++) {
        l->embed[k] = o->shape[o->ndim - rank + k];
        l->distance *= l->embed[k];
    }
}

static CUdeviceptr address_of(const collet_operand *o)
{
    return cuda_address(o->buffer) + o->byte_offset;
}

/* For lengths with prime factors above this, cuFFT uses an algorithm that loses up to two digits in transforms of real
 * numbers: on an H200 with CUDA 13.0 the error is 2.5 eps (1 + log2 N) at N = 4099. */
#define LARGEST_FACTOR 127

static int has_large_factor(long long n)
{
    for (long long p = 2; p <= LARGEST_FACTOR; p++)
        while (n % p == 0)
            n /= p;
    return n > 1;
}

/* Returns 1 if cuFFT supports the call. cuFFT reads real numbers in pairs, so they must be aligned as complex numbers.
 */
static int describe(transform *t, const collet_kernel_call *call)
{
    const collet_fft_params *params = call->params;
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    int rank = (int)params->last_axes;
    *t = (transform){.rank = rank,
                     .to_real = !cpu_dtype_is_complex(out->dtype),
                     .from_real = !cpu_dtype_is_complex(in->dtype),
                     .wide = out->dtype == COLLET_C128 || out->dtype == COLLET_F64,
                     .inverse = params->inverse != 0,
                     .count = 1,
                     .scale = 1.0,
                     .choice = {.side = 1.0, .usual = WAY_LIBRARY}};
    const collet_operand *real = t->from_real ? in : out;
    CUdeviceptr pair = t->wide ? 16 : 8;
    if (operand_count(out) == 0 || operand_count(in) == 0)
        return 0;
    if ((t->to_real || t->from_real) && has_large_factor(real->shape[real->ndim - 1]))
        return 0;
    for (int32_t i = 0; i < out->ndim - rank; i++)
        t->count *= out->shape[i];
    for (int k = 0; k < rank; k++) {
        t->n[k] = real->shape[real->ndim - rank + k];
        t->scale /= t->inverse ? (double)t->n[k] : 1.0;
        t->choice.side *= (double)t->n[k];
    }
    t->choice.key = WAY_OP(WAY_FFT, ways_type(real->dtype), t->count > 1);
    t->from = address_of(in);
    t->to = address_of(out);
    if (t->to_real) {
        t->spectrum = jit_ceiling((uint64_t)operand_count(in) * pair, ALIGNMENT) * ALIGNMENT;
        lay_out_dense(&t->in, in, rank);
    } else if (!lay_out(&t->in, in, rank)) {
        return 0;
    }
    return lay_out(&t->out, out, rank) && t->from % pair == 0 && t->to % pair == 0;
}

/* ---- Plans ----------------------------------------------------------------------------------- */

/* A plan, shared by all queues: stream and work area are set before each use, under `lock`. */
typedef struct fft_plan {
    cached_plan head;
    collet_device *device;
    pthread_mutex_t lock;
    int usable; /* 0: cuFFT does not support this plan; the cache keeps this result too */
    cufftHandle handle;
    size_t work;
} fft_plan;

static void add_layout(plan_key *key, const layout *l, int rank)
{
    for (int k = 0; k < rank; k++)
        plan_key_add(key, l->embed[k]);
    plan_key_add(key, l->step);
    plan_key_add(key, l->distance);
}

static plan_key key_of(const transform *t)
{
    plan_key key = {.words = 0};
    plan_key_add(&key, t->rank);
    plan_key_add(&key, t->to_real + 2 * t->from_real + 4 * t->wide);
    for (int k = 0; k < t->rank; k++)
        plan_key_add(&key, t->n[k]);
    plan_key_add(&key, t->count);
    add_layout(&key, &t->in, t->rank);
    add_layout(&key, &t->out, t->rank);
    return key;
}

/* Drains all queues first, because pending commands may still use the plan's tables. */
static void destroy_plan(cached_plan *plan)
{
    fft_plan *p = (fft_plan *)plan;
    collet_device *d = p->device;
    if (p->usable) {
        jit_queues_visit(d, cuda_queues.drain);
        if (cuda_enter(d) == CUDA_SUCCESS) {
            d->fourier.Destroy(p->handle);
            cuda_leave(d);
        }
    }
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static cufftResult fill_plan(const cuda_fourier *f, fft_plan *p, const transform *given)
{
    transform t = *given;
    cudaDataType complex = t.wide ? CUDA_C_64F : CUDA_C_32F;
    cudaDataType real = t.wide ? CUDA_R_64F : CUDA_R_32F;
    cufftResult result = f->Create(&p->handle);
    if (result != CUFFT_SUCCESS)
        return result;
    result = f->SetAutoAllocation(p->handle, 0);
    if (result == CUFFT_SUCCESS)
        result =
            f->XtMakePlanMany(p->handle, t.rank, t.n, t.in.embed, t.in.step, t.in.distance,
                              t.from_real ? real : complex, t.out.embed, t.out.step, t.out.distance,
                              t.to_real ? real : complex, t.count, &p->work, complex);
    if (result != CUFFT_SUCCESS)
        f->Destroy(p->handle);
    return result;
}

typedef struct plan_request {
    collet_device *device;
    const transform *transform;
} plan_request;

static cached_plan *make_plan(const plan_key *key, void *context)
{
    const plan_request *w = context;
    collet_device *d = w->device;
    fft_plan *p = calloc(1, sizeof *p);
    (void)key;
    if (!p || cuda_enter(d) != CUDA_SUCCESS) {
        free(p);
        return NULL;
    }
    cufftResult result = fill_plan(&d->fourier, p, w->transform);
    cuda_leave(d);
    if ((result != CUFFT_SUCCESS && result != CUFFT_INVALID_SIZE && result != CUFFT_INVALID_VALUE &&
         result != CUFFT_NOT_SUPPORTED) ||
        pthread_mutex_init(&p->lock, NULL)) {
        if (result == CUFFT_SUCCESS)
            d->fourier.Destroy(p->handle);
        free(p);
        return NULL;
    }
    p->head = (cached_plan){destroy_plan, p->work};
    p->device = d;
    p->usable = result == CUFFT_SUCCESS;
    return &p->head;
}

/* The device's cache of plans, created on first use. */
static plan_cache *plans_of(collet_device *d)
{
    pthread_mutex_lock(&d->fourier.library.lock);
    if (!d->fourier.plans)
        d->fourier.plans = plan_cache_create(PLANS, PLANS_BYTES);
    plan_cache *plans = d->fourier.plans;
    pthread_mutex_unlock(&d->fourier.library.lock);
    return plans;
}

/* A transform's plan, to be released by plan_cache_give. NULL if cuFFT does not support the
 * transform, or if the plan cannot be created. */
static fft_plan *take_plan(collet_device *d, const transform *t)
{
    plan_request w = {d, t};
    plan_key key = key_of(t);
    plan_cache *plans = plans_of(d);
    fft_plan *p = plans ? (fft_plan *)plan_cache_take(plans, &key, make_plan, &w) : NULL;
    if (!p || p->usable)
        return p;
    plan_cache_give(plans, &p->head);
    return NULL;
}

/* ---- Launches before and after --------------------------------------------------------------- */

/* Merges axes that are contiguous. */
static void add_axis(lattice *v, int64_t extent, int64_t stride)
{
    v->count *= extent;
    if (extent == 1)
        return;
    int64_t last = v->axes - 1;
    if (v->axes && v->stride[last] == extent * stride) {
        v->extent[last] *= extent;
        v->stride[last] = stride;
        return;
    }
    v->extent[v->axes] = extent;
    v->stride[v->axes++] = stride;
}

static const char *options_of(const transform *t)
{
    return t->wide ? "-DREAL=f64" : "-DREAL=f32";
}

static collet_status scale(collet_device *d, collet_queue *q, const collet_kernel_call *call,
                           const transform *t)
{
    const collet_operand *out = operand_of(call, 0);
    int64_t parts = t->to_real ? 1 : 2, size = t->wide ? 8 : 4;
    lattice v = {.count = 1};
    jit_launch l;
    for (int32_t i = 0; i < out->ndim; i++)
        add_axis(&v, out->shape[i], out->strides[i] * parts);
    add_axis(&v, parts, 1);
    v.axes += v.axes == 0;
    jit_launch_begin(&l, &source, options_of(t), "scale");
    jit_pass_buffer(&l, out->buffer);
    jit_pass_i64(&l, (int64_t)out->byte_offset / size);
    if (t->wide)
        jit_pass_f64(&l, t->scale);
    else
        jit_pass_f32(&l, (float)t->scale);
    jit_pass_block(&l, &v, sizeof v);
    return jit_enqueue(d, q, &l, jit_groups(jit_traits_of(d), (uint64_t)v.count), call->err);
}

static collet_status make_hermitian(collet_device *d, collet_queue *q,
                                    const collet_kernel_call *call, const transform *t)
{
    const collet_operand *in = operand_of(call, 1);
    spectrum v = {.count = operand_count(in),
                  .n = t->n[t->rank - 1],
                  .axes = in->ndim,
                  .batch = in->ndim - t->rank};
    jit_launch l;
    memcpy(v.extent, in->shape, (size_t)in->ndim * sizeof *v.extent);
    memcpy(v.stride, in->strides, (size_t)in->ndim * sizeof *v.stride);
    jit_launch_begin(&l, &source, options_of(t), "make_hermitian");
    jit_pass_buffer(&l, call->workspace);
    jit_pass_operand(&l, in);
    jit_pass_block(&l, &v, sizeof v);
    return jit_enqueue(d, q, &l, jit_groups(jit_traits_of(d), (uint64_t)v.count), call->err);
}

/* ---- The call -------------------------------------------------------------------------------- */

typedef struct execution {
    const cuda_fourier *fourier;
    fft_plan *plan;
    CUstream stream;
    CUdeviceptr from, to, work;
    int direction;
} execution;

/* Holds `lock` from setting the plan's stream and work area until the transform is enqueued. */
static int execute(void *context, int *code)
{
    const execution *e = context;
    cufftHandle handle = e->plan->handle;
    pthread_mutex_lock(&e->plan->lock);
    cufftResult result = e->fourier->SetStream(handle, e->stream);
    if (result == CUFFT_SUCCESS && e->plan->work)
        result = e->fourier->SetWorkArea(handle, (void *)(uintptr_t)e->work);
    int reported = result == CUFFT_SUCCESS;
    if (reported)
        result = e->fourier->XtExec(handle, (void *)(uintptr_t)e->from, (void *)(uintptr_t)e->to,
                                    e->direction);
    pthread_mutex_unlock(&e->plan->lock);
    *code = (int)result;
    return result == CUFFT_SUCCESS ? CUDA_LIBRARY_DONE
           : reported && result != CUFFT_INVALID_VALUE && result != CUFFT_NOT_SUPPORTED
               ? CUDA_LIBRARY_BROKEN
               : CUDA_LIBRARY_NO;
}

static collet_status run_plan(collet_device *d, collet_queue *q, const collet_kernel_call *call,
                              const transform *t, fft_plan *p)
{
    CUdeviceptr scratch = cuda_address(call->workspace);
    execution e = {.fourier = &d->fourier,
                   .plan = p,
                   .stream = q->handle,
                   .from = t->to_real ? scratch : t->from,
                   .to = t->to,
                   .work = scratch + t->spectrum,
                   .direction = t->inverse ? CUFFT_INVERSE : CUFFT_FORWARD};
    cuda_library_use use = {.device = d, .queue = q, .label = "cufftXtExec", .err = call->err};
    collet_status status = COLLET_OK;
    if (t->to_real)
        status = make_hermitian(d, q, call, t);
    if (status == COLLET_OK)
        status = cuda_library_call(&use, execute, &e);
    if (status == COLLET_OK && t->scale != 1.0)
        status = jit_after_first(scale(d, q, call, t));
    return status;
}

static int is_ready(collet_device *d, const collet_kernel_call *call, transform *t)
{
    return describe(t, call) && cuda_library_chosen(d, &t->choice) &&
           cuda_library_ready(d->base.host, d->cu.version, &cuda_fourier_facts,
                              &d->fourier.library);
}

/* Uses cuFFT if it is installed, is chosen (ways.h) and supports the operands' layout; else calls jit_fft. */
jit_run cuda_fft;
jit_accepts cuda_fft_accepts;

collet_status cuda_fft_accepts(collet_device *d, const collet_kernel_call *call,
                               uint64_t *workspace_bytes)
{
    transform t;
    collet_status status = jit_fft_accepts(d, call, workspace_bytes);
    fft_plan *p = status == COLLET_OK && is_ready(d, call, &t) ? take_plan(d, &t) : NULL;
    if (!p)
        return status;
    /* Creating the plan may fail when the call runs, so the workspace must suffice for jit_fft too. */
    if (t.spectrum + p->work > *workspace_bytes)
        *workspace_bytes = t.spectrum + p->work;
    plan_cache_give(d->fourier.plans, &p->head);
    return COLLET_OK;
}

collet_status cuda_fft(collet_device *d, collet_queue *q, const collet_kernel_call *call)
{
    transform t;
    collet_status status = COLLET_REFUSED;
    uint64_t own = 0;
    fft_plan *p = !atomic_load(&d->base.lost) && is_ready(d, call, &t) ? take_plan(d, &t) : NULL;
    if (p) {
        if (call->workspace_bytes >= t.spectrum + p->work)
            status = run_plan(d, q, call, &t, p);
        plan_cache_give(d->fourier.plans, &p->head);
    }
    if (status != COLLET_REFUSED)
        return status;
    status = jit_fft_accepts(d, call, &own);
    if (status != COLLET_OK || own > call->workspace_bytes)
        return COLLET_REFUSED;
    return jit_fft(d, q, call);
}

void cuda_explain_fft(collet_device *d, const collet_kernel_call *call, text *out)
{
    transform t;
    int possible = describe(&t, call);
    fft_plan *p = possible && is_ready(d, call, &t) ? take_plan(d, &t) : NULL;
    if (p)
        plan_cache_give(d->fourier.plans, &p->head);
    cuda_explain_choice(out, d, &cuda_fourier_facts, &d->fourier.library, &t.choice, possible,
                        p != NULL);
}
