/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stand-in for cuFFT that computes on the host; see control.h. Multi-axis complex-to-real
 * transforms always overwrite their input, and every transform overwrites its whole work area:
 * cuFFT may do both. Counts uses of destroyed plans and streams.
 */
#include "control.h"
#include "cuda/providers/abi/cufft.h"
#include "numbers.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLANS 256
#define AXES 3

CUFFT_FUNCTIONS(ABI_PROTOTYPE)
extern fake_cuda_control fake_cuda;
extern fake_cufft_control fake_cufft;
fake_cufft_control fake_cufft;

typedef struct side {
    long long embed[AXES], extent[AXES], step, distance;
    cudaDataType type;
} side;

static struct plan {
    int alive, made, rank, own_work;
    long long n[AXES], batch;
    side in, out;
    size_t work;
    cudaStream_t stream;
    char *area;
} plans[PLANS];

static struct plan *plan_of(cufftHandle handle)
{
    int i = handle - 1;
    if (i >= 0 && i < PLANS && plans[i].alive)
        return &plans[i];
    fake_cufft.wrong++;
    return NULL;
}

__attribute__((destructor)) static void report(void)
{
    fake_cuda.report("cufft", fake_cufft.executed, fake_cufft.wrong + fake_cufft.plans);
}

cufftResult cufftGetProperty(int type, int *value);
cufftResult cufftGetProperty(int type, int *value)
{
    *value = type == 0 ? 11 : 4;
    return CUFFT_SUCCESS;
}

cufftResult cufftCreate(cufftHandle *handle)
{
    if (!fake_cuda.current())
        return CUFFT_SETUP_FAILED;
    if (fake_cufft.create_fails)
        return (cufftResult)fake_cufft.create_fails;
    for (int i = 0; i < PLANS; i++)
        if (!plans[i].alive) {
            plans[i] = (struct plan){.alive = 1, .own_work = 1};
            *handle = i + 1;
            fake_cufft.plans++;
            return CUFFT_SUCCESS;
        }
    return CUFFT_ALLOC_FAILED;
}

cufftResult cufftDestroy(cufftHandle handle)
{
    struct plan *p = plan_of(handle);
    if (!p)
        return CUFFT_INVALID_PLAN;
    p->alive = 0;
    fake_cufft.plans--;
    return CUFFT_SUCCESS;
}

cufftResult cufftSetAutoAllocation(cufftHandle handle, int automatic)
{
    struct plan *p = plan_of(handle);
    if (!p || p->made)
        return CUFFT_INVALID_PLAN;
    p->own_work = automatic;
    return CUFFT_SUCCESS;
}

cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream)
{
    struct plan *p = plan_of(handle);
    if (!p)
        return CUFFT_INVALID_PLAN;
    p->stream = stream;
    return CUFFT_SUCCESS;
}

cufftResult cufftSetWorkArea(cufftHandle handle, void *area)
{
    struct plan *p = plan_of(handle);
    if (!p || !p->made)
        return CUFFT_INVALID_PLAN;
    p->area = area;
    return CUFFT_SUCCESS;
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static int fits(const side *s, int rank, long long batch)
{
    for (int k = 1; k < rank; k++)
        if (s->embed[k] < s->extent[k])
            return 0;
    return s->step > 0 && (batch == 1 || s->distance > 0);
}

static void fill_side(side *s, const struct plan *p, const long long *embed, long long step,
                      long long distance, cudaDataType type)
{
    memcpy(s->embed, embed, (size_t)p->rank * sizeof *embed);
    memcpy(s->extent, p->n, sizeof s->extent);
    s->step = step;
    s->distance = distance;
    s->type = type;
}

static int is_real(cudaDataType type)
{
    return type == CUDA_R_32F || type == CUDA_R_64F;
}

static int is_wide(cudaDataType type)
{
    return type == CUDA_R_64F || type == CUDA_C_64F;
}

cufftResult cufftXtMakePlanMany(cufftHandle handle, int rank, long long *n, long long *inembed,
                                long long istride, long long idist, cudaDataType inputtype,
                                long long *onembed, long long ostride, long long odist,
                                cudaDataType outputtype, long long batch, size_t *workSize,
                                cudaDataType executiontype)
{
    struct plan *p = plan_of(handle);
    if (!p || p->made)
        return CUFFT_INVALID_PLAN;
    if (fake_cufft.plan_fails)
        return (cufftResult)fake_cufft.plan_fails;
    if (rank < 1 || rank > AXES || batch < 1 || !inembed || !onembed ||
        (is_real(inputtype) && is_real(outputtype)) ||
        executiontype != (is_wide(inputtype) ? CUDA_C_64F : CUDA_C_32F) ||
        is_wide(inputtype) != is_wide(outputtype))
        return CUFFT_INVALID_VALUE;
    p->rank = rank;
    p->batch = batch;
    size_t count = (size_t)batch;
    for (int k = 0; k < rank; k++) {
        if (n[k] < 1)
            return CUFFT_INVALID_SIZE;
        p->n[k] = n[k];
        count *= (size_t)n[k];
    }
    fill_side(&p->in, p, inembed, istride, idist, inputtype);
    fill_side(&p->out, p, onembed, ostride, odist, outputtype);
    side *half = is_real(outputtype) ? &p->in : is_real(inputtype) ? &p->out : NULL;
    if (half)
        half->extent[rank - 1] = n[rank - 1] / 2 + 1;
    if (!fits(&p->in, rank, batch) || !fits(&p->out, rank, batch))
        return CUFFT_INVALID_VALUE;
    p->made = 1;
    /* 0 for some lengths, as in cuFFT. */
    p->work = n[rank - 1] == 16 ? 0 : count * 8 + 24;
    *workSize = p->work;
    fake_cufft.made++;
    return CUFFT_SUCCESS;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static long long place(const side *s, int rank, long long transform, const long long *at)
{
    long long where = at[0];
    for (int k = 1; k < rank; k++)
        where = where * s->embed[k] + at[k];
    return where * s->step + transform * s->distance;
}

static size_t size_of(cudaDataType type)
{
    return (is_wide(type) ? 8u : 4u) * (is_real(type) ? 1u : 2u);
}

/* Mixed-radix transform of n numbers of x, `step` apart, to out. */
static void line(const number *x, long long step, long long n, number *out, const number *roots,
                 long long stride, number *scratch)
{
    long long factor = 2;
    while (factor * factor <= n && n % factor)
        factor++;
    factor = n % factor ? n : factor;
    if (n == 1) {
        out[0] = x[0];
        return;
    }
    long long part = n / factor;
    for (long long k = 0; k < factor; k++)
        line(x + k * step, step * factor, part, out + k * part, roots, stride * factor, scratch);
    for (long long j = 0; j < part; j++) {
        for (long long k = 0; k < factor; k++) {
            long double complex sum = 0;
            for (long long l = 0; l < factor; l++)
                sum += (long double complex)out[l * part + j] *
                       roots[(l * (j + k * part)) % n * stride];
            scratch[k] = (number)sum;
        }
        for (long long k = 0; k < factor; k++)
            out[k * part + j] = scratch[k];
    }
}

/* Transforms axis `axis` of a dense array with these extents. */
static int along(number *x, const long long *extent, int rank, int axis, int direction)
{
    long long n = extent[axis], after = 1, lines = 1;
    for (int k = 0; k < rank; k++)
        lines *= k == axis ? 1 : extent[k];
    for (int k = axis + 1; k < rank; k++)
        after *= extent[k];
    number *scratch = malloc((size_t)n * 3 * sizeof *scratch), *roots = scratch + n,
           *out = scratch + 2 * n;
    if (!scratch)
        return 0;
    for (long long k = 0; k < n; k++) {
        long double angle = 6.283185307179586476925286766559L * (long double)k / (long double)n;
        roots[k] = __builtin_complex((double)cosl(angle), (double)sinl(angle) * direction);
    }
    for (long long i = 0; i < lines; i++) {
        number *first = x + i / after * after * n + i % after;
        line(first, after, n, out, roots, 1, scratch);
        for (long long k = 0; k < n; k++)
            first[k * after] = out[k];
    }
    free(scratch);
    return 1;
}

static int next(long long *at, const long long *extent, int rank)
{
    for (int k = rank - 1; k >= 0; k--) {
        if (++at[k] < extent[k])
            return 1;
        at[k] = 0;
    }
    return 0;
}

/* Completes a half spectrum. Imaginary parts that the spectrum of a real array cannot have change the
 * result; in cuFFT the result is then undefined. */
static number mirrored(const void *data, const struct plan *p, long long transform,
                       const long long *at)
{
    long long other[AXES] = {0};
    int last = p->rank - 1;
    if (at[last] <= p->n[last] / 2)
        return load(data, place(&p->in, p->rank, transform, at), p->in.type);
    for (int k = 0; k < p->rank; k++)
        other[k] = at[k] ? p->n[k] - at[k] : 0;
    return conj(load(data, place(&p->in, p->rank, transform, other), p->in.type));
}

static int compute(const struct plan *p, void *from, void *to, long long transform, int direction)
{
    long long at[AXES] = {0}, count = 1, i = 0;
    for (int k = 0; k < p->rank; k++)
        count *= p->n[k];
    number *x = malloc((size_t)count * sizeof *x);
    if (!x)
        return 0;
    do
        x[i++] = is_real(p->out.type)
                     ? mirrored(from, p, transform, at)
                     : load(from, place(&p->in, p->rank, transform, at), p->in.type);
    while (next(at, p->n, p->rank));
    for (int k = 0; k < p->rank; k++)
        if (!along(x, p->n, p->rank, k, direction)) {
            free(x);
            return 0;
        }
    do {
        long long dense = at[0];
        for (int k = 1; k < p->rank; k++)
            dense = dense * p->n[k] + at[k];
        number v = x[dense];
        /* An imaginary part beyond rounding errors spoils the result, so that tests notice it. */
        if (is_real(p->out.type))
            v = creal(v) + (fabs(cimag(v)) > 1e-5 * cabs(v) ? cimag(v) : 0.0);
        store(to, place(&p->out, p->rank, transform, at), p->out.type, v);
    } while (next(at, p->out.extent, p->rank));
    free(x);
    return 1;
}

/* ---- Execution ------------------------------------------------------------------------------- */

static size_t bytes_of(const side *s, int rank, long long batch)
{
    long long last[AXES] = {0};
    for (int k = 0; k < rank; k++)
        last[k] = s->extent[k] - 1;
    return (size_t)(place(s, rank, batch - 1, last) + 1) * size_of(s->type);
}

static int is_aligned(const void *data, cudaDataType type)
{
    return (uintptr_t)data % (is_wide(type) ? 16 : 8) == 0;
}

static int overlap(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

static int is_valid(const struct plan *p, char *from, char *to)
{
    size_t read = bytes_of(&p->in, p->rank, p->batch);
    size_t written = bytes_of(&p->out, p->rank, p->batch);
    int in_place = from == to && p->in.type == p->out.type &&
                   memcmp(p->in.embed + 1, p->out.embed + 1, sizeof p->in.embed - 8) == 0 &&
                   p->in.step == p->out.step && p->in.distance == p->out.distance;
    int ok = p->made && !p->own_work && fake_cuda.is_stream(p->stream) &&
             is_aligned(from, p->in.type) && is_aligned(to, p->out.type) &&
             fake_cuda.holds(from, read) && fake_cuda.holds(to, written) &&
             (in_place || !overlap(from, read, to, written));
    if (ok && p->work)
        ok = p->area && (uintptr_t)p->area % 16 == 0 && fake_cuda.holds(p->area, p->work) &&
             !overlap(p->area, p->work, from, read) && !overlap(p->area, p->work, to, written);
    return ok;
}

cufftResult cufftXtExec(cufftHandle handle, void *input, void *output, int direction)
{
    struct plan *p = plan_of(handle);
    if (!p)
        return CUFFT_INVALID_PLAN;
    if (fake_cufft.exec_fails)
        return (cufftResult)fake_cufft.exec_fails;
    if (!is_valid(p, input, output) || (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE)) {
        fake_cufft.wrong++;
        return CUFFT_INVALID_VALUE;
    }
    direction = is_real(p->in.type) ? -1 : is_real(p->out.type) ? 1 : direction;
    fake_cuda.catch_up(p->stream);
    if (p->work)
        memset(p->area, 0xaa, p->work);
    for (long long b = 0; b < p->batch; b++)
        if (!compute(p, input, output, b, direction))
            return CUFFT_EXEC_FAILED;
    if (is_real(p->out.type) && p->rank > 1)
        memset(input, 0xaa, bytes_of(&p->in, p->rank, p->batch));
    fake_cufft.executed++;
    p->stream = NULL;
    p->area = NULL;
    return CUFFT_SUCCESS;
}
