/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/md/md.c */
#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

#include "sums.h"

/* The sums of an op (`what`), and the numbers of its operands; 0: the op has no such operand, because operand 0 is an
 * output. */
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
    /* With an optional input, more is summed. */
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
