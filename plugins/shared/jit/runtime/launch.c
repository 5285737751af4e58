/* SPDX-License-Identifier: Apache-2.0 */
#include "launch.h"

#include <string.h>

void device_launch_begin(device_launch *l, const device_source *source, const char *options,
                         const char *kernel)
{
    l->source = source;
    l->options = options;
    l->kernel = kernel;
    l->alone = 0;
    l->count = 0;
}

static device_argument *next(device_launch *l)
{
    device_argument *a =
        &l->arguments[l->count < DEVICE_ARGUMENTS ? l->count : DEVICE_ARGUMENTS - 1];
    l->count++;
    a->buffer = NULL;
    a->block = NULL;
    a->size = 0;
    return a;
}

void device_pass_value(device_launch *l, const void *value, uint32_t size)
{
    device_argument *a = next(l);
    a->size = size;
    memcpy(a->value, value, size);
}

void device_pass_block(device_launch *l, const void *block, uint32_t size)
{
    device_argument *a = next(l);
    a->size = size;
    a->block = block;
}

void device_pass_buffer(device_launch *l, void *buffer)
{
    next(l)->buffer = buffer;
}

void device_pass_i32(device_launch *l, int32_t value)
{
    device_pass_value(l, &value, sizeof value);
}

void device_pass_i64(device_launch *l, int64_t value)
{
    device_pass_value(l, &value, sizeof value);
}

void device_pass_u64(device_launch *l, uint64_t value)
{
    device_pass_value(l, &value, sizeof value);
}

void device_pass_f32(device_launch *l, float value)
{
    device_pass_value(l, &value, sizeof value);
}

void device_pass_f64(device_launch *l, double value)
{
    device_pass_value(l, &value, sizeof value);
}

void device_pass_operand(device_launch *l, const collet_operand *o)
{
    int present = device_present(o);
    device_pass_buffer(l, present ? o->buffer : NULL);
    device_pass_u64(l, present ? o->byte_offset / device_dtype_size(o->dtype) : 0);
}

/* ---- Operands ------------------------------------------------------------------------------ */

uint64_t device_dtype_size(collet_dtype dtype)
{
#define SIZE(NAME, id, size, text, letter) [COLLET_##NAME] = size,
    static const uint8_t sizes[COLLET_DTYPE_COUNT] = {COLLET_DTYPE_LIST(SIZE)};
#undef SIZE
    return dtype > 0 && dtype < COLLET_DTYPE_COUNT ? sizes[dtype] : 0;
}

int64_t device_count(const collet_operand *o)
{
    int64_t count = 1;
    for (int32_t i = 0; i < o->ndim; i++)
        count *= o->shape[i];
    return count;
}

int device_contiguous(const collet_operand *o)
{
    int64_t step = 1;
    for (int32_t i = o->ndim - 1; i >= 0; i--) {
        if (o->shape[i] != 1 && o->strides[i] != step)
            return 0;
        step *= o->shape[i];
    }
    return 1;
}

/* ---- Shares of groups ---------------------------------------------------------------------- */

/* Stretches of a group where there are many. */
#define STRETCHES 64u

uint64_t device_each(const device_traits *t, uint64_t n, uint64_t stretch)
{
    uint64_t fair = device_ceiling(device_ceiling(n, (uint64_t)t->units * 4), stretch);
    fair = fair ? fair : 1;
    return (fair < STRETCHES ? fair : STRETCHES) * stretch;
}
