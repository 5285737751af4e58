/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_recording.c */
#include "steps.h"

#include <inttypes.h>

static int32_t as_axis(int64_t number)
{
    return number < INT32_MIN || number > INT32_MAX ? INT32_MAX : (int32_t)number;
}

static collet_status wrong_count(collet_context *cx, const recorded_step *s, const char *name,
                                 int32_t expected)
{
    return context_fail(cx, COLLET_INVALID,
                        "recording: the view %s needs %" PRId32 " numbers, and there are %" PRId32,
                        name, expected, s->count);
}

collet_status steps_view(collet_context *cx, const recorded_step *s, const collet_array *from,
                         collet_array **out)
{
    const int64_t *n = s->extra;
    int32_t perm[COLLET_MAX_DIMS];
    switch (s->view) {
    case COLLET_VIEW_PERMUTE:
        if (s->count != from->ndim)
            return wrong_count(cx, s, "PERMUTE", from->ndim);
        for (int32_t i = 0; i < s->count; i++)
            perm[i] = as_axis(n[i]);
        return collet_array_permute(cx, from, out, perm);
    case COLLET_VIEW_RESHAPE:
        return collet_array_reshape(cx, from, out, s->count, n);
    case COLLET_VIEW_BROADCAST:
        return collet_array_broadcast(cx, from, out, s->count, n);
    case COLLET_VIEW_SLICE:
        return s->count == 4 ? collet_array_slice(cx, from, out, as_axis(n[0]), n[1], n[2], n[3])
                             : wrong_count(cx, s, "SLICE", 4);
    case COLLET_VIEW_SELECT:
        return s->count == 2 ? collet_array_select(cx, from, out, as_axis(n[0]), n[1])
                             : wrong_count(cx, s, "SELECT", 2);
    default:
        return context_fail(cx, COLLET_INVALID,
                            "recording: view is %" PRIu32 "; it must be from 1 (permute) to 5 (select)",
                            s->view);
    }
}
