/* SPDX-License-Identifier: Apache-2.0 */
#include "slabs.h"

int64_t device_slabs_plus(int64_t sum, int64_t a, int64_t b)
{
    int64_t product;
    if (sum < 0 || __builtin_mul_overflow(a, b, &product) ||
        __builtin_add_overflow(sum, product, &sum))
        return -1;
    return sum;
}

device_slabs device_slabs_begin(collet_device *device, collet_queue *queue,
                                const collet_kernel_call *call, const device_source *source,
                                uint32_t input)
{
    const collet_operand *a = device_operand(call, input);
    device_slabs d = {.device = device,
                      .queue = queue,
                      .call = call,
                      .traits = device_traits_of(device),
                      .source = source,
                      .options = a->dtype == COLLET_F32 ? "-DTYPE=f32" : "-DTYPE=f64",
                      .m = device_extent(a, 1),
                      .n = device_extent(a, 0),
                      .pitch = DEVICE_SLABS_HEAD};
    d.count = device_batch_begin(&d.batch, a, a->ndim - 2);
    return d;
}

void device_slabs_operands(device_slabs *d, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        device_batch_operand(&d->batch, k, device_operand(d->call, k));
}

uint64_t device_slabs_bytes(const device_slabs *d)
{
    uint64_t size = d->traits->has_f64 ? sizeof(double) : sizeof(float), bytes;
    if (d->pitch < 0 || __builtin_mul_overflow((uint64_t)d->pitch, (uint64_t)d->count, &bytes) ||
        __builtin_mul_overflow(bytes, size, &bytes))
        return UINT64_MAX;
    return bytes;
}

void device_slabs_launch(const device_slabs *d, device_launch *l, const char *kernel)
{
    device_launch_begin(l, d->source, d->options, kernel);
}

void device_slabs_pass(const device_slabs *d, device_launch *l)
{
    device_pass_buffer(l, d->call->workspace);
    device_pass_i64(l, d->pitch);
}

void device_slabs_inside(const device_slabs *d, device_launch *l, const device_source *source,
                         const char *kernel)
{
    device_launch_begin(l, source, "", kernel);
    device_slabs_pass(d, l);
}

collet_status device_slabs_enqueue(device_slabs *d, const device_launch *l, uint64_t groups)
{
    collet_status status = device_enqueue(d->device, d->queue, l, groups, d->call->err);
    status = d->launched ? device_after_first(status) : status;
    d->launched = 1;
    return status;
}
