/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/md/vectors.c */
#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

#include "place.h"
#include "shared/jit/texts.h"
#include "shared/jit/runtime/view.h"

static const jit_source source =
    JIT_SOURCE("md_vectors", jit_text_md_common_params, jit_text_md_common, jit_text_md_vectors);

static const char *options_of(const collet_operand *from)
{
    return from->dtype == COLLET_F32 ? "-DFROM=f32" : "-DFROM=f64";
}

/* Vectors of at least this length get a whole group. */
#define LONG 512

JIT_KERNEL(magnitude)
{
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    int64_t length = in->shape[in->ndim - 1];
    jit_view view;
    jit_launch l;
    /* The view has the axes of the output, not the last axis of the input. */
    uint64_t groups = jit_view_of(&view, jit_traits_of(device), call, 2);
    if (length >= LONG)
        groups = (uint64_t)operand_count(out);
    jit_launch_begin(&l, &source, options_of(in), length >= LONG ? "long_norms" : "norms");
    jit_pass_operand(&l, out);
    jit_pass_operand(&l, in);
    jit_pass_view(&l, &view, 3);
    jit_pass_i64(&l, length);
    jit_pass_i64(&l, in->strides[in->ndim - 1]);
    return jit_enqueue(device, queue, &l, groups, call->err);
}

/* ---- time_derivative ------------------------------------------------------------------------- */

static void launch_differences(jit_sequence *s, uint64_t groups)
{
    const collet_kernel_call *call = s->call;
    const collet_operand *out = operand_of(call, 0), *x = operand_of(call, 2);
    const collet_operand *t = operand_of(call, 3);
    md_place at_out = md_place_of(out, 1), at = md_place_of(x, 1), times = md_place_of(t, 0);
    jit_launch l;
    jit_launch_begin(&l, &source, options_of(x), "differences");
    md_pass(&l, out);
    jit_pass_buffer(&l, call->workspace);
    md_pass(&l, x);
    md_pass(&l, t);
    jit_pass_block(&l, &at_out, sizeof at_out);
    jit_pass_block(&l, &at, sizeof at);
    jit_pass_block(&l, &times, sizeof times);
    jit_pass_i64s(&l, out->shape[0], md_bodies(out, 1));
    jit_sequence_enqueue(s, &l, groups);
}

static uint64_t rows_of(const collet_operand *out)
{
    return (uint64_t)(out->shape[0] * md_bodies(out, 1));
}

JIT_KERNEL(time_derivative)
{
    const collet_operand *out = operand_of(call, 0), *info = operand_of(call, 1);
    jit_sequence s = jit_sequence_of(device, queue, call);
    uint64_t groups = jit_groups(s.traits, rows_of(out));
    jit_launch l;
    launch_differences(&s, groups);
    jit_launch_begin(&l, &source, options_of(operand_of(call, 2)), "first_equal");
    jit_pass_operand(&l, info);
    jit_pass_buffer(&l, call->workspace);
    jit_pass_u64(&l, groups);
    jit_sequence_enqueue(&s, &l, 1);
    return s.status;
}

/* The workspace has one u32 per group of rows. */
JIT_ACCEPTS(time_derivative)
{
    uint64_t rows = rows_of(operand_of(call, 0));
    *workspace_bytes = (jit_groups(jit_traits_of(device), rows) + 1) * sizeof(uint32_t);
    return COLLET_OK;
}
