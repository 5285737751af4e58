/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/linalg/factors.c, conformance/linalg/spectra.c */
#include "slabs.h"

int64_t jit_slabs_plus(int64_t sum, int64_t a, int64_t b)
{
    int64_t product;
    if (sum < 0 || __builtin_mul_overflow(a, b, &product) ||
        __builtin_add_overflow(sum, product, &sum))
        return -1;
    return sum;
}

#define OF_C64 "-DCOMPLEX=c64 -DPART=f32"
#define OF_C128 "-DCOMPLEX=c128 -DPART=f64"

static const char *inside_of(int complex, int has_f64)
{
    return !complex ? "" : has_f64 ? OF_C128 : OF_C64;
}

const char *jit_slabs_options(collet_dtype dtype, int has_f64)
{
    switch (dtype) {
    case COLLET_F32:
        return "-DTYPE=f32";
    case COLLET_C64:
        return has_f64 ? OF_C128 " -DTYPE=c64" : OF_C64 " -DTYPE=c64";
    case COLLET_C128:
        return OF_C128 " -DTYPE=c128";
    default:
        return "-DTYPE=f64";
    }
}

jit_slabs jit_slabs_begin(collet_device *device, collet_queue *queue,
                          const collet_kernel_call *call, const jit_source *source, uint32_t input)
{
    const collet_operand *a = operand_of(call, input);
    int has_f64 = jit_traits_of(device)->has_f64 != 0, complex = part_of(a->dtype) != a->dtype;
    jit_slabs d = {.s = jit_sequence_of(device, queue, call),
                   .source = source,
                   .options = jit_slabs_options(a->dtype, has_f64),
                   .inside = inside_of(complex, has_f64),
                   .complex = complex,
                   .m = operand_extent(a, 1),
                   .n = operand_extent(a, 0),
                   .pitch = SLAB_HEAD};
    d.count = jit_batch_begin(&d.batch, a, a->ndim - 2);
    return d;
}

void jit_slabs_widen(jit_slabs *d, collet_dtype dtype)
{
    int has_f64 = d->s.traits->has_f64 != 0;
    if (d->complex)
        return;
    d->complex = 1;
    d->inside = inside_of(1, has_f64);
    d->options = dtype == COLLET_F64 ? OF_C128 " -DTYPE=f64 -DWIDENED=c128"
                 : has_f64           ? OF_C128 " -DTYPE=f32 -DWIDENED=c64"
                                     : OF_C64 " -DTYPE=f32 -DWIDENED=c64";
}

void jit_slabs_operands(jit_slabs *d, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        jit_batch_operand(&d->batch, k, operand_of(d->s.call, k));
}

uint64_t jit_slabs_bytes(const jit_slabs *d)
{
    uint64_t size = d->s.traits->has_f64 ? sizeof(double) : sizeof(float), bytes;
    size *= d->complex ? 2 : 1;
    if (d->pitch < 0 || __builtin_mul_overflow((uint64_t)d->pitch, (uint64_t)d->count, &bytes) ||
        __builtin_mul_overflow(bytes, size, &bytes))
        return UINT64_MAX;
    return bytes;
}

void jit_slabs_launch(const jit_slabs *d, jit_launch *l, const char *kernel)
{
    jit_launch_begin(l, d->source, d->options, kernel);
}

void jit_slabs_pass(const jit_slabs *d, jit_launch *l)
{
    jit_pass_buffer(l, d->s.call->workspace);
    jit_pass_i64(l, d->pitch);
}

void jit_slabs_inside(const jit_slabs *d, jit_launch *l, const jit_source *source,
                      const char *kernel)
{
    jit_launch_begin(l, source, d->inside, kernel);
    jit_slabs_pass(d, l);
}

void jit_slabs_each(jit_slabs *d, jit_launch *l)
{
    jit_pass_block(l, &d->batch, sizeof d->batch);
    jit_sequence_enqueue(&d->s, l, (uint64_t)d->count);
}
