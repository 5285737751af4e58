/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cuda/test_cuda_launch.c, tests/opencl/test_opencl_many_sizes.c */
#include "launch.h"

#include <string.h>

void jit_launch_begin(jit_launch *l, const jit_source *source, const char *options,
                      const char *kernel)
{
    l->source = source;
    l->options = options;
    l->kernel = kernel;
    l->made_of = NULL;
    l->count = 0;
}

static jit_argument *next(jit_launch *l)
{
    jit_argument *a = &l->arguments[l->count < JIT_ARGUMENTS ? l->count : JIT_ARGUMENTS - 1];
    l->count++;
    a->buffer = NULL;
    a->block = NULL;
    a->size = 0;
    return a;
}

void jit_pass_value(jit_launch *l, const void *value, uint32_t size)
{
    jit_argument *a = next(l);
    a->size = size;
    memcpy(a->value, value, size);
}

void jit_pass_block(jit_launch *l, const void *block, uint32_t size)
{
    jit_argument *a = next(l);
    a->size = size;
    a->block = block;
}

void jit_pass_buffer(jit_launch *l, void *buffer)
{
    next(l)->buffer = buffer;
}

void jit_pass_i32(jit_launch *l, int32_t value)
{
    jit_pass_value(l, &value, sizeof value);
}

void jit_pass_i64(jit_launch *l, int64_t value)
{
    jit_pass_value(l, &value, sizeof value);
}

void jit_pass_i64_list(jit_launch *l, const int64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        jit_pass_i64(l, values[i]);
}

void jit_pass_u64(jit_launch *l, uint64_t value)
{
    jit_pass_value(l, &value, sizeof value);
}

void jit_pass_f32(jit_launch *l, float value)
{
    jit_pass_value(l, &value, sizeof value);
}

void jit_pass_f64(jit_launch *l, double value)
{
    jit_pass_value(l, &value, sizeof value);
}

void jit_pass_operand(jit_launch *l, const collet_operand *o)
{
    int present = operand_present(o);
    jit_pass_buffer(l, present ? o->buffer : NULL);
    jit_pass_u64(l, present ? o->byte_offset / cpu_dtype_size(o->dtype) : 0);
}

void jit_pass_operands(jit_launch *l, const collet_kernel_call *call, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        jit_pass_operand(l, operand_of(call, i));
}

collet_status jit_enqueue(collet_device *d, collet_queue *q, const jit_launch *l, uint64_t groups,
                          collet_error *err)
{
    if (l->count > JIT_ARGUMENTS)
        return jit_host(d)->fail(err, COLLET_REFUSED, "%s has %u arguments, %d are allowed",
                                 l->kernel, l->count, JIT_ARGUMENTS);
    if (!groups)
        return COLLET_OK;
    collet_status status = jit_check(d, err);
    return status == COLLET_OK ? jit_driver_of(d)->launch(d, q, l, groups, err) : status;
}

jit_sequence jit_sequence_of(collet_device *device, collet_queue *queue,
                             const collet_kernel_call *call)
{
    return (jit_sequence){device, queue, call, jit_traits_of(device), COLLET_OK, 0};
}

void jit_sequence_enqueue(jit_sequence *s, const jit_launch *l, uint64_t groups)
{
    if (s->status != COLLET_OK)
        return;
    s->status = jit_enqueue(s->device, s->queue, l, groups, s->call->err);
    if (s->launched)
        s->status = jit_after_first(s->status);
    s->launched |= groups != 0;
}

int jit_contiguous(const collet_operand *o)
{
    int64_t step = 1;
    for (int32_t i = o->ndim - 1; i >= 0; i--) {
        if (o->shape[i] != 1 && o->strides[i] != step)
            return 0;
        step *= o->shape[i];
    }
    return 1;
}
