/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/md/axes.c, conformance/md/vectors.c */
#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

#include "place.h"
#include "shared/jit/texts.h"

static const jit_source source =
    JIT_SOURCE("md_frames", jit_text_md_common_params, jit_text_md_common, jit_text_md_eigen,
               jit_text_md_frames);

/* ---- Ops on independent frames --------------------------------------------------------------- */

#define MOST_OPERANDS 4

typedef struct frames_op {
    const char *kernel;
    int32_t axes[MOST_OPERANDS]; /* for each operand: the number of axes that belong to a frame */
} frames_op;

static const frames_op ops[] = {
    [COLLET_OP_EULER_ZYZ] = {"euler_zyz", {1, 2}},
    [COLLET_OP_TILT] = {"tilt", {0, 2, 1}},
    [COLLET_OP_ANGULAR_VELOCITY] = {"angular_velocity", {1, 0, 2, 1}},
    [COLLET_OP_DECOMPOSE] = {"decompose", {1, 1, 1, 1}},
};

/* The kernel's arguments are every operand's buffer, then every operand's location, then the number of frames. */
JIT_KERNEL(frames)
{
    const frames_op *op = &ops[call->op];
    uint32_t count = call->n_out + call->n_in;
    int64_t frames = operand_of(call, 0)->shape[0];
    md_place places[MOST_OPERANDS];
    jit_launch l;
    jit_launch_begin(&l, &source, "", op->kernel);
    for (uint32_t i = 0; i < count; i++)
        md_pass(&l, operand_of(call, i));
    for (uint32_t i = 0; i < count; i++) {
        places[i] = md_place_of(operand_of(call, i), op->axes[i]);
        jit_pass_block(&l, &places[i], sizeof places[i]);
    }
    jit_pass_i64(&l, frames);
    return jit_enqueue(device, queue, &l, jit_groups(jit_traits_of(device), (uint64_t)frames),
                       call->err);
}

/* ---- principal_axes -------------------------------------------------------------------------- */

typedef struct axes_call {
    jit_sequence s;
    int64_t frames, bodies, padded;
    uint64_t groups;
    md_place moments, axes, inertia, previous;
} axes_call;

static void launch_eigen(axes_call *a)
{
    jit_launch l;
    jit_launch_begin(&l, &source, "", "eigen");
    for (uint32_t i = 0; i < 3; i++)
        md_pass(&l, operand_of(a->s.call, i));
    jit_pass_block(&l, &a->moments, sizeof a->moments);
    jit_pass_block(&l, &a->axes, sizeof a->axes);
    jit_pass_block(&l, &a->inertia, sizeof a->inertia);
    jit_pass_i64s(&l, a->frames, a->bodies);
    jit_sequence_enqueue(&a->s, &l, a->groups);
}

static void launch_maps(axes_call *a)
{
    jit_launch l;
    jit_launch_begin(&l, &source, "", "maps");
    jit_pass_buffer(&l, a->s.call->workspace);
    md_pass(&l, operand_of(a->s.call, 1));
    md_pass(&l, operand_of(a->s.call, 3));
    jit_pass_block(&l, &a->axes, sizeof a->axes);
    jit_pass_block(&l, &a->previous, sizeof a->previous);
    jit_pass_i64s(&l, a->frames, a->bodies, a->padded);
    jit_sequence_enqueue(&a->s, &l, a->groups);
}

static void launch_starts(axes_call *a)
{
    jit_launch l;
    jit_launch_begin(&l, &source, "", "starts");
    jit_pass_buffer(&l, a->s.call->workspace);
    jit_pass_i64(&l, a->padded);
    jit_pass_u64(&l, a->groups);
    jit_sequence_enqueue(&a->s, &l, 1);
}

static void launch_align(axes_call *a)
{
    jit_launch l;
    jit_launch_begin(&l, &source, "", "align");
    md_pass(&l, operand_of(a->s.call, 1));
    jit_pass_buffer(&l, a->s.call->workspace);
    jit_pass_block(&l, &a->axes, sizeof a->axes);
    jit_pass_i64s(&l, a->frames, a->bodies, a->padded);
    jit_sequence_enqueue(&a->s, &l, a->groups);
}

static uint64_t rows_of(const collet_kernel_call *call)
{
    const collet_operand *inertia = operand_of(call, 2);
    return (uint64_t)(inertia->shape[0] * md_bodies(inertia, 2));
}

JIT_KERNEL(principal_axes)
{
    axes_call a = {.s = jit_sequence_of(device, queue, call),
                   .frames = operand_of(call, 2)->shape[0],
                   .bodies = md_bodies(operand_of(call, 2), 2),
                   .moments = md_place_of(operand_of(call, 0), 1),
                   .axes = md_place_of(operand_of(call, 1), 2),
                   .inertia = md_place_of(operand_of(call, 2), 2),
                   .previous = md_place_of(operand_of(call, 3), 2)};
    if (rows_of(call) == 0)
        return COLLET_OK;
    a.groups = jit_groups(a.s.traits, rows_of(call));
    a.padded = (int64_t)(a.groups * a.s.traits->group);
    launch_eigen(&a);
    launch_maps(&a);
    launch_starts(&a);
    launch_align(&a);
    return a.s.status;
}

/* The workspace has one byte per item of all groups, and one byte per group. */
JIT_ACCEPTS(principal_axes)
{
    const jit_traits *t = jit_traits_of(device);
    uint64_t groups = jit_groups(t, rows_of(call));
    *workspace_bytes = groups * t->group + groups;
    return COLLET_OK;
}
