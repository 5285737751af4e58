/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/array/array.c */
#include "loop.h"

#include "shared/host/util/rows.h"

static void swap_axes(loop *l, int32_t i, int32_t j)
{
    int64_t extent = l->shape[i];
    l->shape[i] = l->shape[j];
    l->shape[j] = extent;
    for (int32_t k = 0; k < l->views; k++) {
        int64_t step = l->step[k][i];
        l->step[k][i] = l->step[k][j];
        l->step[k][j] = step;
    }
}

/* Makes the output's steps positive; drops axes of one element. */
static void straighten(loop *l)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < l->ndim; i++) {
        if (l->shape[i] == 1)
            continue;
        int backwards = l->step[0][i] < 0;
        l->shape[kept] = l->shape[i];
        for (int32_t k = 0; k < l->views; k++) {
            if (backwards)
                l->at[k] += (l->shape[i] - 1) * l->step[k][i];
            l->step[k][kept] = backwards ? -l->step[k][i] : l->step[k][i];
        }
        kept++;
    }
    l->ndim = kept;
}

static void sort(loop *l)
{
    for (int32_t i = 1; i < l->ndim; i++) {
        for (int32_t j = i; j > 0 && l->step[0][j] > l->step[0][j - 1]; j--)
            swap_axes(l, j, j - 1);
    }
}

static int mergeable(const loop *l, int32_t outer, int32_t inner)
{
    for (int32_t k = 0; k < l->views; k++) {
        if (l->step[k][outer] != l->shape[inner] * l->step[k][inner])
            return 0;
    }
    return 1;
}

static void merge(loop *l)
{
    int32_t last = 0;
    for (int32_t i = 1; i < l->ndim; i++) {
        if (mergeable(l, last, i)) {
            l->shape[last] *= l->shape[i];
        } else {
            last++;
            l->shape[last] = l->shape[i];
        }
        for (int32_t k = 0; k < l->views; k++)
            l->step[k][last] = l->step[k][i];
    }
    l->ndim = last + 1;
}

void loop_init(loop *l, const collet_kernel_call *call, int32_t views, const int32_t *perm)
{
    const collet_operand *out = operand_of(call, 0);
    l->views = views;
    l->ndim = out->ndim;
    l->count = 1;
    for (int32_t i = 0; i < out->ndim; i++) {
        l->shape[i] = out->shape[i];
        l->count *= out->shape[i];
    }
    for (int32_t k = 0; k < views; k++) {
        const collet_operand *o = operand_of(call, (uint32_t)k);
        l->at[k] = cpu_at(o);
        for (int32_t i = 0; i < out->ndim; i++)
            l->step[k][i] = cpu_step(o, k > 0 && perm ? perm[i] : i);
    }
    if (l->count == 0)
        return;
    if (l->ndim > 1) {
        straighten(l);
        sort(l);
        if (l->ndim > 1)
            merge(l);
    }
    if (l->ndim == 0) {
        l->ndim = 1;
        l->shape[0] = 1;
        for (int32_t k = 0; k < views; k++)
            l->step[k][0] = 0;
    }
}

void loop_run(const loop *l, int64_t begin, int64_t end, loop_row row, const void *context)
{
    int32_t inner = l->ndim - 1;
    int64_t length = l->shape[inner], index[COLLET_MAX_DIMS], step[LOOP_VIEWS];
    char *start[LOOP_VIEWS];
    int64_t rest = begin / length, offset = begin % length;
    for (int32_t k = 0; k < l->views; k++) {
        start[k] = l->at[k];
        step[k] = l->step[k][inner];
    }
    for (int32_t i = inner - 1; i >= 0; i--) {
        index[i] = rest % l->shape[i];
        rest /= l->shape[i];
        for (int32_t k = 0; k < l->views; k++)
            start[k] += index[i] * l->step[k][i];
    }
    while (begin < end) {
        int64_t n = length - offset < end - begin ? length - offset : end - begin;
        char *at[LOOP_VIEWS];
#pragma GCC unroll 1 /* unrolled for all views, these loops cost more than a short row */
        for (int32_t k = 0; k < l->views; k++)
            at[k] = start[k] + offset * step[k];
        row(context, at, step, n);
        begin += n;
        offset = 0;
        for (int32_t i = inner - 1; i >= 0 && begin < end; i--) {
            int carry = ++index[i] == l->shape[i];
#pragma GCC unroll 1
            for (int32_t k = 0; k < l->views; k++)
                start[k] += carry ? (1 - l->shape[i]) * l->step[k][i] : l->step[k][i];
            if (!carry)
                break;
            index[i] = 0;
        }
    }
}
