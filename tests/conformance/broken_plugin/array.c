/* SPDX-License-Identifier: Apache-2.0 */
/* Defects of array kernels. Each kernel is correct except for the defect in its name. */
#include "broken.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

static size_t size_of(collet_dtype dtype)
{
    static const size_t sizes[COLLET_DTYPE_COUNT] = {
#define SIZE(name, id, size, text, letter, ...) [id] = size,
        COLLET_DTYPE_LIST(SIZE)
#undef SIZE
    };
    return sizes[dtype];
}

static unsigned char *first_of(const collet_operand *o)
{
    return (unsigned char *)o->buffer + o->byte_offset;
}

int64_t broken_count(const collet_operand *o)
{
    int64_t count = 1;
    for (int32_t i = 0; i < o->ndim; i++)
        count *= o->shape[i];
    return count;
}

void *broken_element(const collet_operand *o, int64_t i)
{
    int64_t at = 0;
    for (int32_t a = o->ndim - 1; a >= 0; a--) {
        at += i % o->shape[a] * o->strides[a];
        i /= o->shape[a];
    }
    return first_of(o) + at * (int64_t)size_of(o->dtype);
}

double broken_get(const collet_operand *o, int64_t i)
{
    float narrow;
    double wide;
    if (o->dtype == COLLET_F64) {
        memcpy(&wide, broken_element(o, i), sizeof wide);
        return wide;
    }
    memcpy(&narrow, broken_element(o, i), sizeof narrow);
    return narrow;
}

void broken_set(const collet_operand *o, int64_t i, double value)
{
    float narrow = (float)value;
    if (o->dtype == COLLET_F64)
        memcpy(broken_element(o, i), &value, sizeof value);
    else
        memcpy(broken_element(o, i), &narrow, sizeof narrow);
}

/* ---- Arithmetic -------------------------------------------------------------------------- */

static double compute(uint32_t op, double a, double b)
{
    switch (op) {
    case COLLET_OP_ADD:
        return a + b;
    case COLLET_OP_SUB:
        return a - b;
    case COLLET_OP_MUL:
        return a * b;
    case COLLET_OP_DIV:
        return a / b;
    case COLLET_OP_EXP:
        return exp(a);
    case COLLET_OP_LOG:
        return log(a);
    default:
        return sqrt(a);
    }
}

static void elementwise(const collet_kernel_call *call)
{
    const collet_operand *o = call->operands;
    int64_t count = broken_count(&o[0]);
    for (int64_t i = 0; i < count; i++)
        broken_set(
            &o[0], i,
            compute(call->op, broken_get(&o[1], i), call->n_in > 1 ? broken_get(&o[2], i) : 0));
}

BROKEN_KERNEL(nothing)
{
    (void)device, (void)queue;
    elementwise(call);
    return COLLET_OK;
}

BROKEN_KERNEL(reads_an_undeclared_key)
{
    const collet_host *host = (const collet_host *)(const void *)device; /* device_open */
    (void)queue;
    (void)host->config(host, "broken.undeclared");
    elementwise(call);
    return COLLET_OK;
}

BROKEN_KERNEL(wrong_at_one_size)
{
    (void)device, (void)queue;
    elementwise(call);
    if (broken_count(&call->operands[0]) == 33)
        broken_set(&call->operands[0], 32, 0);
    return COLLET_OK;
}

BROKEN_KERNEL(writes_behind_its_end)
{
    const collet_operand *out = &call->operands[0];
    (void)device, (void)queue;
    elementwise(call);
    if (out->ndim == 1 && out->strides[0] == 1)
        memset(first_of(out) + out->shape[0] * 4, 0, 4);
    return COLLET_OK;
}

BROKEN_KERNEL(flushes_denormals_for_all)
{
    (void)device, (void)queue;
    elementwise(call);
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040);
#elif defined(__aarch64__)
    uint64_t word;
    __asm__ volatile("mrs %0, fpcr" : "=r"(word));
    __asm__ volatile("msr fpcr, %0" : : "r"(word | (uint64_t)1 << 24));
#endif
    return COLLET_OK;
}

BROKEN_KERNEL(ignores_the_sign_of_strides)
{
    const collet_operand *o = call->operands;
    int64_t count = broken_count(&o[0]);
    (void)device, (void)queue;
    for (int64_t i = 0; i < count; i++) {
        double x[2];
        for (int k = 0; k < 2; k++) {
            int negative = o[k + 1].ndim == 1 && o[k + 1].strides[0] < 0;
            x[k] = broken_get(&o[k + 1], negative ? count - 1 - i : i);
        }
        broken_set(&o[0], i, x[0] / x[1]);
    }
    return COLLET_OK;
}

BROKEN_KERNEL(two_ulp_off)
{
    const collet_operand *out = &call->operands[0];
    int64_t count = broken_count(out);
    (void)device, (void)queue;
    elementwise(call);
    for (int64_t i = 0; i < count; i++) {
        float x = (float)broken_get(out, i);
        if (x > 1.0f && isfinite(x))
            broken_set(out, i, nextafterf(nextafterf(x, 0), 0));
    }
    return COLLET_OK;
}

BROKEN_KERNEL(logarithm_of_denormals)
{
    const collet_operand *o = call->operands;
    int64_t count = broken_count(&o[0]);
    (void)device, (void)queue;
    for (int64_t i = 0; i < count; i++) {
        double x = broken_get(&o[1], i);
        broken_set(&o[0], i, x > 0 && x < 0x1p-126 ? -INFINITY : log(x));
    }
    return COLLET_OK;
}

BROKEN_KERNEL(changes_the_umask)
{
    const collet_operand *o = call->operands;
    int64_t count = broken_count(&o[0]);
    (void)device, (void)queue;
    umask(0);
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, broken_element(&o[1], i), sizeof bits);
        bits ^= 0x80000000u;
        memcpy(broken_element(&o[0], i), &bits, sizeof bits);
    }
    return COLLET_OK;
}

BROKEN_KERNEL(loses_the_sign_of_zero)
{
    const collet_operand *o = call->operands;
    int64_t count = broken_count(&o[0]);
    (void)device, (void)queue;
    for (int64_t i = 0; i < count; i++)
        broken_set(&o[0], i, sqrt(broken_get(&o[1], i)) + 0.0);
    return COLLET_OK;
}

BROKEN_KERNEL(fails_at_one_size)
{
    (void)device, (void)queue;
    elementwise(call);
    return broken_count(&call->operands[0]) == 1000 ? COLLET_FAILED : COLLET_OK;
}

BROKEN_KERNEL(refuses_all)
{
    (void)device, (void)queue, (void)call;
    return COLLET_REFUSED;
}

BROKEN_KERNEL(refuses_too_late)
{
    (void)device, (void)queue;
    elementwise(call);
    return broken_count(&call->operands[0]) == 17 ? COLLET_REFUSED : COLLET_OK;
}

/* ---- Moves ------------------------------------------------------------------------------- */

static void move(const collet_kernel_call *call, int64_t count)
{
    const collet_operand *o = call->operands;
    for (int64_t i = 0; i < count; i++)
        memcpy(broken_element(&o[0], i), broken_element(&o[1], i), size_of(o[0].dtype));
}

BROKEN_KERNEL(moves)
{
    (void)device, (void)queue;
    move(call, broken_count(&call->operands[0]));
    return COLLET_OK;
}

BROKEN_KERNEL(truncates)
{
    const collet_operand *o = call->operands;
    int64_t count = broken_count(&o[0]);
    (void)device, (void)queue;
    for (int64_t i = 0; i < count; i++) {
        double x = broken_get(&o[1], i);
        float y = (float)x;
        if (fabs((double)y) > fabs(x))
            y = nextafterf(y, 0);
        broken_set(&o[0], i, (double)y);
    }
    return COLLET_OK;
}

BROKEN_KERNEL(wraps_integers)
{
    const collet_operand *o = call->operands;
    int64_t count = broken_count(&o[0]), wide;
    (void)device, (void)queue;
    for (int64_t i = 0; i < count; i++) {
        memcpy(&wide, broken_element(&o[1], i), sizeof wide);
        *(uint8_t *)broken_element(&o[0], i) = (uint8_t)wide;
    }
    return COLLET_OK;
}

BROKEN_KERNEL(assumes_alignment)
{
    collet_operand out = call->operands[0], in = call->operands[1];
    int64_t count = broken_count(&out);
    (void)device, (void)queue;
    in.buffer = (void *)((uintptr_t)first_of(&in) & ~(uintptr_t)7);
    in.byte_offset = 0;
    for (int64_t i = 0; i < count; i++)
        memcpy(broken_element(&out, i), broken_element(&in, i), 4);
    return COLLET_OK;
}

BROKEN_KERNEL(ignores_the_offset)
{
    collet_operand operands[2] = {call->operands[0], call->operands[1]};
    collet_kernel_call moved = *call;
    (void)device, (void)queue;
    /* Only where the access stays within the buffer. */
    if (operands[1].ndim == 1 && operands[1].strides[0] > 0)
        operands[1].byte_offset = 0;
    moved.operands = operands;
    move(&moved, broken_count(&operands[0]));
    return COLLET_OK;
}

BROKEN_KERNEL(clears_first)
{
    const collet_operand *out = &call->operands[0];
    int64_t count = broken_count(out);
    (void)device, (void)queue;
    for (int64_t i = 0; i < count; i++)
        memset(broken_element(out, i), 0, size_of(out->dtype));
    move(call, count);
    return COLLET_OK;
}

/* Supports only f32 and f64 values and refuses others, which is allowed. */
static collet_status fill(const collet_kernel_call *call)
{
    const collet_operand *out = &call->operands[0];
    const collet_fill_params *params = call->params;
    collet_dtype given = params->value.dtype;
    int64_t count = broken_count(out);
    if (given != COLLET_F32 && given != COLLET_F64)
        return COLLET_REFUSED;
    for (int64_t i = 0; i < count; i++)
        broken_set(out, i,
                   given == COLLET_F64 ? params->value.value.f64 : (double)params->value.value.f32);
    return COLLET_OK;
}

BROKEN_KERNEL(fills_gaps)
{
    const collet_operand *out = &call->operands[0];
    collet_status status = fill(call);
    (void)device, (void)queue;
    if (status != COLLET_OK)
        return status;
    int64_t last = out->ndim - 1, step = last >= 0 ? out->strides[last] : 1;
    for (int64_t i = 0; step > 1 && i + 1 < out->shape[last]; i++)
        memcpy(first_of(out) + (step * i + 1) * 4, first_of(out), 4);
    return COLLET_OK;
}

static void *wait_forever(void *argument)
{
    for (;;)
        pause();
    return argument;
}

BROKEN_KERNEL(leaks_threads)
{
    pthread_t thread;
    pthread_attr_t attributes;
    (void)device, (void)queue;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 18);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)pthread_create(&thread, &attributes, wait_forever, NULL);
    pthread_attr_destroy(&attributes);
    return fill(call);
}

/* Correct, or with the inverse permutation. */
static void transpose(const collet_kernel_call *call, int inverse)
{
    const collet_transpose_params *params = call->params;
    collet_operand out = call->operands[0], in = call->operands[1];
    int64_t shape[COLLET_MAX_DIMS], strides[COLLET_MAX_DIMS], count = broken_count(&out);
    for (uint32_t i = 0; i < params->ndim; i++) {
        int32_t to = inverse ? params->perm[i] : (int32_t)i;
        int32_t from = inverse ? (int32_t)i : params->perm[i];
        shape[i] = out.shape[i];
        strides[to] = in.strides[from];
    }
    in.shape = shape;
    in.strides = strides;
    for (int64_t i = 0; i < count; i++)
        memcpy(broken_element(&out, i), broken_element(&in, i), size_of(out.dtype));
}

BROKEN_KERNEL(inverts_the_permutation)
{
    const collet_operand *in = &call->operands[1];
    (void)device, (void)queue;
    /* Only cubes: with other extents the wrong axes would leave the buffer. */
    int cube = in->ndim == 3 && in->shape[0] == in->shape[1] && in->shape[1] == in->shape[2];
    transpose(call, cube);
    return COLLET_OK;
}

BROKEN_KERNEL(aborts)
{
    (void)device, (void)queue;
    if (broken_count(&call->operands[0]) == 64 * 64)
        abort();
    transpose(call, 0);
    return COLLET_OK;
}

BROKEN_KERNEL(exits)
{
    (void)device, (void)queue;
    if (broken_count(&call->operands[0]) == 64 * 64)
        _exit(0);
    transpose(call, 0);
    return COLLET_OK;
}

BROKEN_KERNEL(hangs)
{
    int many = broken_count(&call->operands[0]) == 64 * 64;
    const char *path = many ? getenv("HANGS_HERE") : NULL;
    FILE *file = path ? fopen(path, "w") : NULL; /* signals that it hangs */
    (void)device, (void)queue;
    if (file)
        fclose(file);
    while (many)
        pause();
    transpose(call, 0);
    return COLLET_OK;
}

/* ---- Products ----------------------------------------------------------------------------- */

static void matmul(const collet_kernel_call *call, int add, int rows)
{
    const collet_operand *c = &call->operands[0], *a = &call->operands[1], *b = &call->operands[2];
    int64_t m = c->shape[c->ndim - 2], n = c->shape[c->ndim - 1], inner = a->shape[a->ndim - 1];
    int64_t count = broken_count(c);
    for (int64_t at = 0; at < count; at++) {
        int64_t i = at / n % m, j = at % n, batch = at / n / m;
        double total = add ? broken_get(c, at) : 0;
        for (int64_t k = 0; k < inner; k++) {
            int64_t element = rows ? j * inner + k : k * n + j;
            total += broken_get(a, (batch * m + i) * inner + k) *
                     broken_get(b, batch * inner * n + element);
        }
        broken_set(c, at, total);
    }
}

BROKEN_KERNEL(adds_to_the_output)
{
    (void)device, (void)queue;
    matmul(call, 1, 0);
    return COLLET_OK;
}

BROKEN_KERNEL(assumes_rows)
{
    const collet_operand *b = &call->operands[2];
    (void)device, (void)queue;
    matmul(call, 0, b->ndim == 2 && b->strides[0] == 1 && b->shape[1] > 1);
    return COLLET_OK;
}
