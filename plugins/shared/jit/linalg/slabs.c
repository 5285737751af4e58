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

jit_slabs jit_slabs_begin(collet_device *device, collet_queue *queue,
                          const collet_kernel_call *call, const jit_source *source, uint32_t input)
{
    const collet_operand *a = operand_of(call, input);
    jit_slabs d = {.s = jit_sequence_of(device, queue, call),
                   .source = source,
                   .options = a->dtype == COLLET_F32 ? "-DTYPE=f32" : "-DTYPE=f64",
                   .m = operand_extent(a, 1),
                   .n = operand_extent(a, 0),
                   .pitch = SLAB_HEAD};
    d.count = jit_batch_begin(&d.batch, a, a->ndim - 2);
    return d;
}

void jit_slabs_operands(jit_slabs *d, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        jit_batch_operand(&d->batch, k, operand_of(d->s.call, k));
}

uint64_t jit_slabs_bytes(const jit_slabs *d)
{
    uint64_t size = d->s.traits->has_f64 ? sizeof(double) : sizeof(float), bytes;
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
    jit_launch_begin(l, source, "", kernel);
    jit_slabs_pass(d, l);
}

void jit_slabs_each(jit_slabs *d, jit_launch *l)
{
    jit_pass_block(l, &d->batch, sizeof d->batch);
    jit_sequence_enqueue(&d->s, l, (uint64_t)d->count);
}
