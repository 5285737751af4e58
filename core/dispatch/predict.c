/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_calibration.c */
#include "predict.h"

#include <math.h>

#include "device/open.h"
#include "device/rows.h"
#include "memory/storage.h"

/* Another device is chosen if its predicted time is at most this share of the first device's time. FASTER_OTHER: the
 * share if the dtype was not measured, so that the times of another dtype of about the same size are used. */
#define FASTER 0.9
#define FASTER_OTHER 0.5

/* ---- The call ---------------------------------------------------------------------------- */

double predict_work(const op *o, const collet_array *const *arrays)
{
    if (o->id == COLLET_OP_MATMUL) {
        const collet_array *a = arrays[o->n_out];
        return (double)arrays[0]->size * (double)(a->ndim ? a->shape[a->ndim - 1] : 1);
    }
    int64_t largest = 0;
    for (uint32_t i = 0; i < o->n_out + o->n_in; i++)
        if (arrays[i] && arrays[i]->size > largest)
            largest = arrays[i]->size;
    return (double)largest;
}

collet_dtype predict_dtype(const op *o, const collet_array *const *arrays)
{
    uint32_t count = o->n_out + o->n_in;
    collet_dtype first = COLLET_DTYPE_NONE;
    for (uint32_t i = o->n_in ? o->n_out : 0; i < count; i++) {
        if (arrays[i] && arrays[i]->dtype != COLLET_BOOL)
            return arrays[i]->dtype;
        if (arrays[i] && !first)
            first = arrays[i]->dtype;
    }
    return first;
}

int predict_worth(const collet_runtime *r, const op *o, const collet_array *const *arrays)
{
    int64_t sizes = 0;
    if (o->id >= OP_BUILTIN_MAX || r->crossovers[o->id].elements == CALIBRATION_NEVER)
        return 0;
    const crossover *c = &r->crossovers[o->id];
    for (uint32_t i = 0; i < o->n_out + o->n_in; i++)
        if (arrays[i])
            sizes |= arrays[i]->size;
    if (!(sizes >> c->elements))
        return 0;
    uint8_t from = c->from[calibration_dtype(predict_dtype(o, arrays))];
    return from != CALIBRATION_NEVER && predict_work(o, arrays) >= (double)(UINT64_C(1) << from);
}

/* ---- Transfers --------------------------------------------------------------------------- */

static int has_own_memory(const calibration *c)
{
    return c->to_host > 0;
}

/* Seconds until bytes that are valid in `spaces` are valid in space `target` of a device. */
static double moving(const device *d, const calibration *c, uint64_t spaces, int32_t target,
                     double bytes)
{
    double seconds = 0;
    if (!spaces || spaces & copies_bit(target))
        return 0;
    if (!(spaces & copies_bit(0))) {
        const device *from = d->owner->runtime->devices[__builtin_ctzll(spaces) - 1];
        const calibration *of = calibration_of(from);
        if (of && has_own_memory(of))
            seconds += of->latency + bytes / of->to_host;
    }
    if (has_own_memory(c))
        seconds += c->latency + bytes / c->to_device;
    return seconds;
}

static int named_before(const collet_array *const *arrays, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (arrays[k] && arrays[k]->storage == arrays[i]->storage)
            return 1;
    return 0;
}

/* libcore moves whole storages: the storage of every input, and the storage of an output that is only a part of its
 * storage. */
static void add_transfers(const device *d, const op *o, const collet_array *const *arrays,
                          predicted *parts)
{
    const calibration *c = calibration_of(d);
    int32_t target = has_own_memory(c) ? (int32_t)d->ordinal + 1 : 0;
    uint32_t count = o->n_out + o->n_in;
    for (uint32_t i = 0; i < count; i++) {
        const collet_array *a = arrays[i];
        if (!a)
            continue;
        if (i < o->n_out && has_own_memory(c))
            parts->results +=
                c->latency + (double)a->size * (double)collet_dtype_size(a->dtype) / c->to_host;
        if ((i >= o->n_out && !named_before(arrays + o->n_out, i - o->n_out)) ||
            (i < o->n_out && !array_is_whole(a)))
            parts->operands +=
                moving(d, c, storage_spaces(a->storage), target, (double)a->storage->bytes);
    }
}

double predict_call(const device *d, const op *o, const collet_array *const *arrays,
                    predicted *parts)
{
    *parts = (predicted){0};
    parts->kernel =
        calibration_seconds(d, o->id, predict_dtype(o, arrays), predict_work(o, arrays));
    if (!isnan(parts->kernel))
        add_transfers(d, o, arrays, parts);
    return parts->kernel + parts->operands + parts->results;
}

/* ---- Choosing ---------------------------------------------------------------------------- */

int32_t predict_first(const op *o, const collet_array *const *arrays, uint64_t sig, uint64_t mask,
                      const selection *s)
{
    collet_dtype dtype = predict_dtype(o, arrays);
    double enough = dtype == COLLET_F32 || dtype == COLLET_F64 ? FASTER : FASTER_OTHER;
    double first = 0, best = INFINITY;
    int32_t chosen = -1;
    for (uint32_t k = 0; k < s->count; k++) {
        device *d = s->devices[k];
        predicted parts;
        double seconds = predict_call(d, o, arrays, &parts);
        /* Opens the device that would be chosen, to find out whether this device has the kernel. */
        if ((isnan(seconds) && chosen >= 0) ||
            (chosen >= 0 && (seconds >= best || seconds >= enough * first)) ||
            device_open(d, NULL) != COLLET_OK || !device_find_row(d, o->id, sig, mask))
            continue;
        if (isnan(seconds))
            return -1;
        first = chosen < 0 ? seconds : first;
        best = seconds;
        chosen = (int32_t)k;
    }
    return chosen;
}
