/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/md/md.c, tests/cpu_openmp/test_kernels_openmp.c */
#include "cpu_openmp/runtime/device.h"

#include "shared/host/md/formulas.h"
#include "shared/host/md/operands.h"
#include "kernel_atoms.h"
#include "pass.h"

/* ---- Energies -------------------------------------------------------------------------------- */

/* Computes L.I^-1 L by elimination, in a hundredth of the time of an eigenproblem. Returns 0 and sets
 * nothing if the tensor is singular or nearly singular: elimination would lose digits. */
static int solve_well_conditioned(const double inertia[9], const double L[3], double *product)
{
    double largest = inertia[0] > inertia[4] ? inertia[0] : inertia[4];
    double limit = FRAME_WELL_CONDITIONED * (largest > inertia[8] ? largest : inertia[8]);
    double d0 = inertia[0], r0 = 1.0 / d0, m1 = inertia[1] * r0, m2 = inertia[2] * r0;
    double d1 = inertia[4] - m1 * inertia[1], r1 = 1.0 / d1;
    double e = inertia[5] - m2 * inertia[1], m3 = e * r1;
    double d2 = inertia[8] - m2 * inertia[2] - m3 * e;
    double y1 = L[1] - m1 * L[0], y2 = L[2] - m2 * L[0] - m3 * y1;
    if (!(d0 > limit && d1 > limit && d2 > limit))
        return 0;
    *product = L[0] * (L[0] * r0) + y1 * (y1 * r1) + y2 * (y2 / d2);
    return isfinite(*product);
}

static void energies_of(const body_sums *s, const double inertia[9], double energies[3])
{
    const double *p = s->momentum;
    double twice;
    if (s->energies[2] >= 0.0) {
        for (int i = 0; i < 3; i++)
            energies[i] = s->energies[i];
        return;
    }
    if (s->mass == 0.0 || !solve_well_conditioned(inertia, s->angular, &twice)) {
        cpu_kinetic(s->vis_viva, s->mass, p, inertia, s->angular, energies);
        return;
    }
    energies[0] = 0.5 * s->vis_viva;
    energies[1] = 0.5 * ((p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) / s->mass);
    energies[2] = 0.5 * twice;
}

/* Stores the result of a body in an output that may be absent. */
static inline __attribute__((always_inline)) void store1(const collet_operand *o,
                                                         const md_body *body, double x)
{
    if (operand_present(o))
        md_put1(o, md_distance_of(o, body, 0), x);
}

static inline __attribute__((always_inline)) void store3(const collet_operand *o,
                                                         const md_body *body, const double x[3])
{
    if (operand_present(o))
        md_put3(o, md_distance_of(o, body, 1), x);
}

static inline __attribute__((always_inline)) void store9(const collet_operand *o,
                                                         const md_body *body, const double x[9])
{
    if (operand_present(o))
        md_put9(o, md_distance_of(o, body, 2), x);
}

/* ---- Kernels: results from the sums of a body ----------------------------------------------- */

static void finish_com(const atoms_job *job, const md_body *body, const body_sums *s)
{
    store3(operand_of(job->call, 0), body, s->com);
}

static void finish_inertia(const atoms_job *job, const md_body *body, const body_sums *s)
{
    double inertia[9];
    cpu_inertia(s->second, inertia);
    store9(operand_of(job->call, 0), body, inertia);
}

static void finish_cross_sum(const atoms_job *job, const md_body *body, const body_sums *s)
{
    store3(operand_of(job->call, 0), body, s->angular);
}

static void finish_kinetic(const atoms_job *job, const md_body *body, const body_sums *s)
{
    double inertia[9], energies[3];
    cpu_inertia(s->second, inertia);
    energies_of(s, inertia, energies);
    store3(operand_of(job->call, 0), body, energies);
}

static void finish_gyration(const atoms_job *job, const md_body *body, const body_sums *s)
{
    double t[6];
    for (int i = 0; i < 6; i++)
        t[i] = s->mass == 0.0 ? (double)NAN : s->second[i] / s->mass;
    const double tensor[9] = {t[0], t[3], t[4], t[3], t[1], t[5], t[4], t[5], t[2]};
    store1(operand_of(job->call, 0), body, sqrt(t[0] + t[1] + t[2]));
    store9(operand_of(job->call, 1), body, tensor);
    store1(operand_of(job->call, 2), body, cpu_asphericity(tensor));
}

static void finish_observables(const atoms_job *job, const md_body *body, const body_sums *s)
{
    const collet_kernel_call *call = job->call;
    double inertia[9], energies[3];
    cpu_inertia(s->second, inertia);
    store3(operand_of(call, 0), body, s->com);
    store9(operand_of(call, 1), body, inertia);
    if (job->velocities) {
        energies_of(s, inertia, energies);
        store3(operand_of(call, 2), body, s->angular);
        store3(operand_of(call, 4), body, energies);
    }
    if (job->forces)
        store3(operand_of(call, 3), body, s->torque);
}

/* Indices of the operands after positions and masses: 1 is the first such operand, 0 means none. */
static const struct atoms_op {
    int pass;
    uint32_t origins, velocities, forces, offsets;
    void (*finish)(const atoms_job *job, const md_body *body, const body_sums *sums);
} ops[] = {
    /* com needs the second moments to see whether the first atom is too far away to be the origin (FRAME_FAR). */
    [COLLET_OP_COM] = {FRAME_SECOND, 0, 0, 0, 0, finish_com},
    [COLLET_OP_INERTIA] = {FRAME_SECOND, 1, 0, 0, 0, finish_inertia},
    [COLLET_OP_CROSS_SUM] = {FRAME_ANGULAR, 1, 2, 0, 0, finish_cross_sum},
    [COLLET_OP_KINETIC] = {FRAME_VELOCITIES, 0, 1, 0, 0, finish_kinetic},
    [COLLET_OP_GYRATION] = {FRAME_SECOND, 0, 0, 0, 1, finish_gyration},
    [COLLET_OP_OBSERVABLES] = {FRAME_SECOND, 0, 1, 2, 3, finish_observables},
};

/* NULL: absent. */
static const collet_operand *further(const collet_kernel_call *call, uint32_t which)
{
    const collet_operand *o = operand_of(call, call->n_out + 1 + which);
    return which && operand_present(o) ? o : NULL;
}

KERNEL(atoms)
{
    const struct atoms_op *op = &ops[call->op];
    atoms_job job = {.pass = op->pass,
                     .positions = operand_of(call, call->n_out),
                     .masses = operand_of(call, call->n_out + 1),
                     .offsets = further(call, op->offsets),
                     .origins = further(call, op->origins),
                     .velocities = further(call, op->velocities),
                     .forces = further(call, op->forces),
                     .finish = op->finish};
    if (job.forces)
        job.pass = job.velocities ? FRAME_ALL : FRAME_FORCES;
    else if (job.velocities && call->op == COLLET_OP_OBSERVABLES)
        job.pass = FRAME_VELOCITIES;
    return atoms_run(device, call, &job);
}

ACCEPTS(atoms)
{
    *workspace_bytes = atoms_workspace(device, operand_of(call, call->n_out),
                                       further(call, ops[call->op].offsets));
    return COLLET_OK;
}
