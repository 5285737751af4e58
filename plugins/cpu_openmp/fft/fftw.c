/* SPDX-License-Identifier: Apache-2.0 */
#include "fftw.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "shared/host/util/rows.h"
#include "fftw_functions.h"
#include "cpu_openmp/util/loop.h"
#include "cpu_openmp/runtime/team.h"

/* Points below which a second thread costs more than it brings. */
#define THREADS_LEAST 16384

/* Elements that a thread should have to itself when results are scaled. */
#define GRAIN 16384

/* A call as FFTW sees it. */
typedef struct problem {
    const fftw_functions *f;
    int real_in, real_out, inverse;
    int rank, batch_rank;
    fftw_iodim64 dims[3], batch[COLLET_MAX_DIMS];
    char *in, *out;
    int64_t in_size, out_size; /* bytes of an element */
    int64_t points;            /* of all transforms */
    double scale;
    int measured, threads;
} problem;

typedef struct library_plan {
    cached_plan head;
    const fftw_functions *f;
    fftw_plan plan;
} library_plan;

int fftw_usable(const char **reason)
{
    return fftw_functions_open(0, reason) && fftw_functions_open(1, reason);
}

static int is_real(const collet_operand *o)
{
    return o->dtype == COLLET_F32 || o->dtype == COLLET_F64;
}

static int64_t elements(const collet_operand *o)
{
    int64_t count = 1;
    for (int32_t i = 0; i < o->ndim; i++)
        count *= o->shape[i];
    return count;
}

static int is_contiguous(const collet_operand *o)
{
    int64_t step = 1;
    for (int32_t i = o->ndim - 1; i >= 0; i--) {
        if (o->shape[i] != 1 && o->strides[i] != step)
            return 0;
        step *= o->shape[i];
    }
    return 1;
}

int fftw_takes(const collet_kernel_call *call)
{
    const collet_fft_params *params = call->params;
    const collet_operand *out = cpu_operand(call, 0), *in = cpu_operand(call, 1);
    return params->axes == 1 || (is_contiguous(in) && is_contiguous(out));
}

/* FFTW overwrites half spectra of several axes: they are copied first. */
static int needs_copy(const collet_kernel_call *call)
{
    const collet_fft_params *params = call->params;
    return is_real(cpu_operand(call, 0)) && params->axes > 1;
}

uint64_t fftw_workspace(collet_device *device, const collet_kernel_call *call)
{
    const collet_operand *in = cpu_operand(call, 1);
    (void)device;
    return needs_copy(call) ? (uint64_t)elements(in) * cpu_dtype_size(in->dtype) : 0;
}

static void make_problem(problem *p, const collet_operand *out, const collet_operand *in,
                         const collet_fft_params *params)
{
    const char *reason;
    int32_t first = out->ndim - (int32_t)params->axes;
    int wide = in->dtype == COLLET_F64 || in->dtype == COLLET_C128;
    *p = (problem){.f = fftw_functions_open(wide, &reason),
                   .real_in = is_real(in),
                   .real_out = is_real(out),
                   .inverse = params->inverse != 0,
                   .in = cpu_at(in),
                   .out = cpu_at(out),
                   .in_size = (int64_t)cpu_dtype_size(in->dtype),
                   .out_size = (int64_t)cpu_dtype_size(out->dtype),
                   .points = 1,
                   .scale = 1.0};
    for (int32_t i = 0; i < out->ndim; i++) {
        int64_t n = is_real(in) ? in->shape[i] : out->shape[i];
        fftw_iodim64 dim = {n, in->strides[i], out->strides[i]};
        if (i >= first)
            p->dims[p->rank++] = dim;
        else if (n > 1)
            p->batch[p->batch_rank++] = dim;
        p->points *= n;
        if (i >= first && p->inverse)
            p->scale /= (double)n;
    }
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static void destroy(cached_plan *plan)
{
    library_plan *l = (library_plan *)plan;
    fftw_lock_planner();
    l->f->destroy(l->plan);
    fftw_unlock_planner();
    free(l);
}

static fftw_plan plan_for(const problem *p, char *in, char *out)
{
    const unsigned flags = (p->measured ? FFTW_MEASURE : FFTW_ESTIMATE) |
                           (p->real_out && p->rank == 1 ? FFTW_PRESERVE_INPUT : 0);
    const fftw_functions *f = p->f;
    if (p->real_in)
        return f->plan_to_half(p->rank, p->dims, p->batch_rank, p->batch, (double *)(void *)in,
                               (fftw_complex *)(void *)out, flags);
    if (p->real_out)
        return f->plan_from_half(p->rank, p->dims, p->batch_rank, p->batch,
                                 (fftw_complex *)(void *)in, (double *)(void *)out, flags);
    return f->plan(p->rank, p->dims, p->batch_rank, p->batch, (fftw_complex *)(void *)in,
                   (fftw_complex *)(void *)out, p->inverse ? FFTW_BACKWARD : FFTW_FORWARD, flags);
}

/* Bytes that one side of a problem spans, and where in them its first element is. */
static uint64_t span_of(const problem *p, int output, int64_t *first)
{
    int64_t low = 0, high = 0, size = output ? p->out_size : p->in_size;
    for (int k = 0; k < p->rank + p->batch_rank; k++) {
        const fftw_iodim64 *d = k < p->rank ? &p->dims[k] : &p->batch[k - p->rank];
        int64_t reach = (d->n - 1) * (output ? d->os : d->is) * size;
        *(reach < 0 ? &low : &high) += reach;
    }
    *first = -low;
    return (uint64_t)(high - low + size);
}

/* Measuring overwrites the arrays: it is done on others that lie alike. */
static fftw_plan plan_elsewhere(const problem *p)
{
    int64_t first[2];
    uint64_t bytes[2];
    char *memory[2], *at[2];
    fftw_plan plan = NULL;
    for (int k = 0; k < 2; k++) {
        uintptr_t address = (uintptr_t)(k ? p->out : p->in);
        bytes[k] = (span_of(p, k, &first[k]) + 255) / 64 * 64;
        memory[k] = aligned_alloc(64, bytes[k]);
        if (memory[k])
            memset(memory[k], 0, bytes[k]);
        /* the first element as far from a line's begin as it is */
        at[k] = memory[k] + first[k] + (address - (uintptr_t)first[k]) % 64;
    }
    if (memory[0] && memory[1])
        plan = plan_for(p, at[0], p->in == p->out ? at[0] : at[1]);
    free(memory[0]);
    free(memory[1]);
    return plan;
}

static cached_plan *make(const plan_key *key, void *context)
{
    const problem *p = context;
    library_plan *l = calloc(1, sizeof *l);
    int found = 1;
    (void)key;
    if (!l)
        return NULL;
    fftw_lock_planner();
    if (p->f->set_threads) {
        found = p->f->get_threads();
        p->f->set_threads(p->threads);
    }
    l->plan = p->measured ? plan_elsewhere(p) : plan_for(p, p->in, p->out);
    if (p->f->set_threads)
        p->f->set_threads(found);
    fftw_unlock_planner();
    if (!l->plan) {
        free(l);
        return NULL;
    }
    l->f = p->f;
    /* What a plan holds is not told; twiddle factors are most of it. */
    l->head = (cached_plan){destroy, 4096};
    for (int i = 0; i < p->rank; i++)
        l->head.bytes += (uint64_t)(p->dims[i].n * p->out_size);
    return &l->head;
}

static void add_dims(plan_key *key, int count, const fftw_iodim64 *dims)
{
    plan_key_add(key, count);
    for (int i = 0; i < count; i++) {
        plan_key_add(key, dims[i].n);
        plan_key_add(key, dims[i].is);
        plan_key_add(key, dims[i].os);
    }
}

static library_plan *take(collet_device *device, problem *p)
{
    plan_key key = {.words = 0};
    int in = p->f->alignment((double *)(void *)p->in);
    int out = p->f->alignment((double *)(void *)p->out);
    /* -1: not one of our own plans */
    plan_key_add(&key, -1);
    plan_key_add(&key, p->in_size * 64 + p->out_size);
    plan_key_add(&key, p->inverse + 2 * (p->in == p->out) + 4 * p->measured);
    plan_key_add(&key, (int64_t)in * 4096 + out);
    plan_key_add(&key, p->threads);
    add_dims(&key, p->rank, p->dims);
    add_dims(&key, p->batch_rank, p->batch);
    return (library_plan *)plan_cache_take(device->ffts, &key, make, p);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* The library's threads are OpenMP's default number where it asks for none: for the time of the
 * call that is what was granted. */
static void execute(const problem *p, const library_plan *l)
{
    int found = omp_get_max_threads();
    void *in = p->in, *out = p->out;
    if (found != p->threads)
        omp_set_num_threads(p->threads);
    if (p->real_in)
        p->f->execute_to_half(l->plan, in, out);
    else if (p->real_out)
        p->f->execute_from_half(l->plan, in, out);
    else
        p->f->execute(l->plan, in, out);
    if (found != p->threads)
        omp_set_num_threads(found);
}

typedef struct scaling {
    loop l;
    double factor;
    collet_dtype dtype;
} scaling;

static void scale_row(const void *context, char *const *at, const int64_t *step, int64_t n)
{
    const scaling *s = context;
    int parts = s->dtype == COLLET_C64 || s->dtype == COLLET_C128 ? 2 : 1;
    int wide = s->dtype == COLLET_F64 || s->dtype == COLLET_C128;
    for (int64_t i = 0; i < n; i++) {
        void *x = at[0] + i * step[0];
        for (int k = 0; k < parts; k++) {
            if (wide)
                ((double *)x)[k] *= s->factor;
            else
                ((float *)x)[k] *= (float)s->factor;
        }
    }
}

static void scale_part(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const scaling *s = argument;
    (void)thread;
    loop_run(&s->l, begin, end, scale_row, s);
}

static void scale(const collet_device *device, const collet_kernel_call *call, double factor)
{
    scaling s = {.factor = factor, .dtype = cpu_operand(call, 0)->dtype};
    loop_init(&s.l, call, 1, NULL);
    team_run(device->threads, s.l.count, GRAIN, scale_part, &s);
}

/* The input in the workspace, C-contiguous. */
static collet_operand copied(collet_device *device, const collet_kernel_call *call,
                             int64_t strides[COLLET_MAX_DIMS])
{
    collet_operand both[2] = {*cpu_operand(call, 1), *cpu_operand(call, 1)};
    int64_t step = 1;
    for (int32_t i = both[1].ndim - 1; i >= 0; i--) {
        strides[i] = step;
        step *= both[1].shape[i];
    }
    both[0].buffer = call->workspace;
    both[0].byte_offset = 0;
    both[0].strides = strides;
    collet_kernel_call copy = *call;
    copy.operands = both;
    copy.operand_size = sizeof *both;
    (void)openmp_copy(device, NULL, &copy);
    return both[0];
}

collet_status fftw_run(collet_device *device, const collet_kernel_call *call)
{
    const collet_operand *out = cpu_operand(call, 0);
    collet_operand in = *cpu_operand(call, 1);
    int64_t strides[COLLET_MAX_DIMS];
    problem p;
    if (elements(out) == 0)
        return COLLET_OK;
    if (needs_copy(call))
        in = copied(device, call, strides);
    make_problem(&p, out, &in, call->params);
    int32_t wanted = p.points < THREADS_LEAST || !p.f->set_threads ? 1 : device->threads;
    p.measured = device->fft == FFT_BY_FFTW_MEASURED;
    p.threads = team_take(wanted, device->threads);
    library_plan *plan = take(device, &p);
    if (plan)
        execute(&p, plan);
    team_give(p.threads);
    if (!plan)
        return device->host->fail(call->err, COLLET_REFUSED, "FFTW makes no plan for this call");
    plan_cache_give(device->ffts, &plan->head);
    if (p.scale != 1.0)
        scale(device, call, p.scale);
    return COLLET_OK;
}
