/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/md/vectors.c, conformance/md/md.c */
#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

#include "place.h"
#include "shared/jit/texts.h"
#include "shared/jit/runtime/view.h"
#include "sums.h"

/* What an op sums (`what`), and the indices of its inputs among the operands; 0: the op has no such input (operand 0 is
 * an output). */
typedef struct atoms_op {
    uint32_t what;
    int32_t moves;
    uint32_t positions, masses, velocities, forces, origins, offsets;
    uint32_t results[MD_RESULTS]; /* number of an operand + 1; 0: none */
} atoms_op;

static const atoms_op ops[] = {
    [COLLET_OP_COM] = {MD_MOMENTS, 1, 1, 2, 0, 0, 0, 0, {[MD_COM] = 1}},
    [COLLET_OP_INERTIA] = {MD_MOMENTS, 0, 1, 2, 0, 0, 3, 0, {[MD_INERTIA] = 1}},
    [COLLET_OP_CROSS_SUM] = {MD_ANGULAR, 0, 1, 2, 4, 0, 3, 0, {[MD_L] = 1}},
    [COLLET_OP_KINETIC] =
        {MD_MOMENTS | MD_ANGULAR | MD_LINEAR, 1, 1, 2, 3, 0, 0, 0, {[MD_ENERGIES] = 1}},
    [COLLET_OP_GYRATION] =
        {MD_MOMENTS, 1, 3, 4, 0, 0, 0, 5, {[MD_RADIUS] = 1, [MD_TENSOR] = 2, [MD_ASPHERICITY] = 3}},
    [COLLET_OP_OBSERVABLES] =
        {MD_MOMENTS,
         1,
         5,
         6,
         7,
         8,
         0,
         9,
         {[MD_COM] = 1, [MD_INERTIA] = 2, [MD_L] = 3, [MD_TORQUE] = 4, [MD_ENERGIES] = 5}},
};

static const collet_operand *find(const collet_kernel_call *call, uint32_t i)
{
    const collet_operand *o = i ? operand_of(call, i) : NULL;
    return o && operand_present(o) ? o : NULL;
}

JIT_KERNEL(atoms)
{
    const atoms_op *op = &ops[call->op];
    md_sums s = {.what = op->what,
                 .moves = op->moves,
                 .positions = find(call, op->positions),
                 .masses = find(call, op->masses),
                 .velocities = find(call, op->velocities),
                 .forces = find(call, op->forces),
                 .origins = find(call, op->origins),
                 .offsets = find(call, op->offsets)};
    for (int i = 0; i < MD_RESULTS; i++)
        s.results[i] = op->results[i] ? operand_of(call, op->results[i] - 1) : NULL;
    /* If an optional input is present, more quantities are summed. */
    if (call->op == COLLET_OP_OBSERVABLES) {
        s.what |= s.velocities ? MD_ANGULAR | MD_LINEAR : 0;
        s.what |= s.forces ? MD_FORCES : 0;
        s.results[MD_L] = s.velocities ? s.results[MD_L] : NULL;
        s.results[MD_ENERGIES] = s.velocities ? s.results[MD_ENERGIES] : NULL;
        s.results[MD_TORQUE] = s.forces ? s.results[MD_TORQUE] : NULL;
    }
    jit_sequence q = jit_sequence_of(device, queue, call);
    md_sums_run(&q, &s, 0);
    return q.status;
}

JIT_ACCEPTS(atoms)
{
    const collet_operand *positions = operand_of(call, ops[call->op].positions);
    md_geometry g = md_geometry_of(jit_traits_of(device), positions->shape[0], positions->shape[1],
                                   find(call, ops[call->op].offsets));
    if (g.rows > INT32_MAX - 1)
        return jit_host(device)->fail(call->err, COLLET_REFUSED,
                                      "more than %d bodies in all frames of one call",
                                      INT32_MAX - 1);
    *workspace_bytes = sizeof(double) * md_sums_workspace(&g);
    return COLLET_OK;
}

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
