/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "remote.h"

static void task_buffer(task *t, int which, collet_buffer *b, uint64_t offset)
{
    buffer_count(b, 1);
    t->buffers[which] = b;
    t->offsets[which] = offset;
}

static const collet_operand *operand(const collet_kernel_call *call, uint32_t i)
{
    const char *first = (const char *)call->operands;
    return (const collet_operand *)(const void *)(first + (size_t)i * call->operand_size);
}

static double load(const task *t, int which, int64_t element)
{
    const unsigned char *p = t->buffers[which]->data + t->offsets[which];
    return t->dtype == COLLET_F32 ? (double)((const float *)(const void *)p)[element]
                                  : ((const double *)(const void *)p)[element];
}

static void store(const task *t, int64_t element, double value)
{
    unsigned char *p = t->buffers[0]->data + t->offsets[0];
    if (t->dtype == COLLET_F32)
        ((float *)(void *)p)[element] = (float)value;
    else
        ((double *)(void *)p)[element] = value;
}

static double half(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                  : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                 : ldexp(fraction, -24);
    return bits >> 15 ? -size : size;
}

static float brain(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

/* Rounded once, to f32. */
static float value_of(const collet_scalar *s)
{
    switch (s->dtype) {
    case COLLET_F16:
        return (float)half(s->value.f16);
    case COLLET_BF16:
        return brain(s->value.bf16);
    case COLLET_F32:
        return s->value.f32;
    case COLLET_F64:
        return (float)s->value.f64;
    case COLLET_BOOL:
        return s->value.b8 != 0;
#define INTEGER(NAME, name)                                                                        \
    case COLLET_##NAME:                                                                            \
        return (float)s->value.name;
        INTEGER(I8, i8)
        INTEGER(U8, u8)
        INTEGER(I16, i16)
        INTEGER(U16, u16)
        INTEGER(I32, i32)
        INTEGER(U32, u32)
        INTEGER(I64, i64)
        INTEGER(U64, u64)
    default:
        abort(); /* no signature of fill has a complex value */
    }
}

static double apply(const task *t, const int64_t at[3])
{
    if (t->op == COLLET_OP_FILL)
        return t->fill;
    double a = load(t, 1, at[1]);
    if (t->op == COLLET_OP_COPY)
        return a;
    if (!t->buffers[2])
        return a;
    double b = load(t, 2, at[2]);
    return t->op == COLLET_OP_MUL ? a * b : a + b;
}

static collet_status kernel_work(collet_device *d, task *t)
{
    int64_t index[COLLET_MAX_DIMS] = {0}, count = 1;
    while (t->call == d->hang)
        pause();
    for (int32_t i = 0; i < t->ndim; i++)
        count *= t->shape[i];
    for (int64_t n = 0; n < count; n++) {
        int64_t at[3] = {0, 0, 0};
        for (int32_t i = 0; i < t->ndim; i++)
            for (int w = 0; w < 3; w++)
                at[w] += index[i] * t->strides[w][i];
        store(t, at[0], apply(t, at));
        for (int32_t i = t->ndim - 1; i >= 0 && ++index[i] == t->shape[i]; i--)
            index[i] = 0;
    }
    return COLLET_OK;
}

static int listed(const char *list, int64_t number)
{
    char *end;
    for (; list && *list; list = *end ? end + 1 : end)
        if (strtoll(list, &end, 10) == number)
            return 1;
    return 0;
}

/* Numbers a task as a kernel call. Settings choose by this number which calls are refused, fail or
 * lose the device. */
static collet_status task_number(collet_device *d, task *t, collet_error *err)
{
    pthread_mutex_lock(&d->lock);
    int64_t number = ++d->calls;
    int lost = d->lost;
    pthread_mutex_unlock(&d->lock);
    if (lost)
        return d->host->fail(err, COLLET_DEVICE_LOST, "the device is lost");
    if (number == d->refuse)
        return d->host->fail(err, COLLET_REFUSED, "remote.refuse is set");
    t->call = number;
    t->ending = number == d->lose         ? COLLET_DEVICE_LOST
                : listed(d->fail, number) ? COLLET_FAILED
                                          : COLLET_OK;
    return d->status;
}

collet_status remote_run(collet_device *d, collet_queue *q, const collet_kernel_call *call)
{
    task *t = task_new(d, kernel_work);
    if (!t)
        return d->host->fail(call->err, COLLET_REFUSED, "no memory for a task");
    collet_status status = task_number(d, t, call->err);
    if (status != COLLET_OK) {
        free(t);
        return status;
    }
    t->op = call->op;
    t->dtype = operand(call, 0)->dtype;
    t->ndim = operand(call, 0)->ndim;
    t->bytes = t->dtype == COLLET_F32 ? sizeof(float) : sizeof(double);
    for (int32_t i = 0; i < t->ndim; i++)
        t->bytes *= (uint64_t)operand(call, 0)->shape[i];
    if (t->op == COLLET_OP_FILL)
        t->fill = value_of(&((const collet_fill_params *)call->params)->value);
    memcpy(t->shape, operand(call, 0)->shape, (size_t)t->ndim * sizeof *t->shape);
    for (uint32_t i = 0; i < call->n_out + call->n_in; i++) {
        const collet_operand *o = operand(call, i);
        if (!o->dtype)
            continue;
        task_buffer(t, (int)i, o->buffer, o->byte_offset);
        memcpy(t->strides[i], o->strides, (size_t)t->ndim * sizeof *o->strides);
    }
    const collet_buffer *workspace = call->workspace;
    if (workspace && workspace->bytes < t->bytes + operand(call, 0)->byte_offset)
        abort(); /* less than remote_accepts requested */
    if (workspace)
        task_buffer(t, 3, call->workspace, 0);
    queue_push_or_run(d, q, t);
    return COLLET_OK;
}

/* remote.plus requests a workspace as large as its output plus the output's offset, so that tests
 * can make it grow. An output 12 bytes from the start of its buffer is refused. */
collet_status remote_accepts(collet_device *d, const collet_kernel_call *call,
                             uint64_t *workspace_bytes)
{
    uint64_t bytes = sizeof(float);
    for (int32_t i = 0; i < operand(call, 0)->ndim; i++)
        bytes *= (uint64_t)operand(call, 0)->shape[i];
    *workspace_bytes = bytes + call->operands[0].byte_offset;
    return call->operands[0].byte_offset != 12
               ? COLLET_OK
               : d->host->fail(call->err, COLLET_REFUSED, "12 bytes from the start");
}

static collet_status write_work(collet_device *d, task *t)
{
    memcpy(t->buffers[0]->data + t->offsets[0], t->source, t->bytes);
    return COLLET_OK;
}

collet_status remote_write(collet_device *d, collet_queue *q, collet_buffer *b, uint64_t offset,
                           const void *source, uint64_t bytes, collet_error *err)
{
    if (d->lost)
        return d->host->fail(err, COLLET_DEVICE_LOST, "the device is lost");
    if (d->control && d->control->refused_writes) {
        d->control->refused_writes--;
        return d->host->fail(err, COLLET_REFUSED, "the test refuses it");
    }
    task *t = task_new(d, write_work);
    if (t)
        t->source = malloc(bytes);
    if (!t || !t->source) {
        free(t);
        return d->host->fail(err, COLLET_REFUSED, "no memory to stage %llu bytes",
                             (unsigned long long)bytes);
    }
    memcpy(t->source, source, bytes);
    t->bytes = bytes;
    task_buffer(t, 0, b, offset);
    queue_push_or_run(d, q, t);
    return COLLET_OK;
}

collet_status remote_read(collet_device *d, collet_queue *q, collet_buffer *b, uint64_t offset,
                          void *target, uint64_t bytes, collet_error *err)
{
    q = q ? q : d->inner;
    collet_status status = remote_queue_wait(d, q, remote_queue_mark(d, q), -1, err);
    if (status == COLLET_OK && d->lost)
        status = d->host->fail(err, COLLET_DEVICE_LOST, "the device is lost");
    if (status == COLLET_OK)
        memcpy(target, b->data + offset, bytes);
    return status;
}

static collet_status copy_work(collet_device *d, task *t)
{
    memcpy(t->buffers[0]->data + t->offsets[0], t->buffers[1]->data + t->offsets[1], t->bytes);
    return COLLET_OK;
}

static collet_status copy(collet_device *d, collet_queue *q, collet_buffer *to, uint64_t to_offset,
                          collet_buffer *from, uint64_t from_offset, uint64_t bytes,
                          collet_error *err)
{
    task *t = task_new(d, copy_work);
    if (!t)
        return d->host->fail(err, COLLET_REFUSED, "no memory for a task");
    t->bytes = bytes;
    task_buffer(t, 0, to, to_offset);
    task_buffer(t, 1, from, from_offset);
    queue_push(q, t);
    return COLLET_OK;
}

/* The copy runs after all earlier commands of `from_queue`; later commands of `from_queue` run
 * after the copy. */
collet_status remote_copy_between(collet_device *d, collet_queue *q, collet_buffer *to,
                                  uint64_t to_offset, const collet_plugin *of, collet_device *from,
                                  collet_queue *from_queue, collet_buffer *source,
                                  uint64_t from_offset, uint64_t bytes, collet_error *err)
{
    if (d->apart || from->lost || strcmp(of->name, "remote"))
        return d->host->fail(err, COLLET_REFUSED,
                             "direct copies between these devices are not supported");
    if (d->lost)
        return d->host->fail(err, COLLET_DEVICE_LOST, "the device is lost");
    collet_status status =
        queue_order(d, q, from_queue, remote_queue_mark(from, from_queue), 0, err);
    if (status != COLLET_OK)
        return COLLET_REFUSED;
    status = copy(d, q, to, to_offset, source, from_offset, bytes, err);
    return status == COLLET_OK ? queue_order(from, from_queue, q, remote_queue_mark(d, q), 1, err)
                               : status;
}
