/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu_openmp/runtime/device.h"

#include "shared/host/md/formulas.h"
#include "shared/host/md/operands.h"
#include "kernel_frame.h"
#include "pass.h"

/*
 * A frame's sums moved from the origin of the pass to its centre of mass. Without mass there is
 * none: sums over atoms are then NaN, sums over no atoms 0.
 */
typedef struct central {
    double com[3];
    double second[6];
    double angular[3];
    double torque[3];
} central;

static void subtract_cross(const double a[3], const double b[3], double from[3])
{
    from[0] -= a[1] * b[2] - a[2] * b[1];
    from[1] -= a[2] * b[0] - a[0] * b[2];
    from[2] -= a[0] * b[1] - a[1] * b[0];
}

static void centre(const atoms_job *job, const double origin[3], const frame_sums *s, central *c)
{
    double shift[3];
    int without_mass = job->mass == 0.0;
    for (int i = 0; i < 3; i++) {
        shift[i] = without_mass ? (double)NAN : s->first[i] * job->per_mass;
        c->com[i] = origin[i] + shift[i];
        /* About a centre at infinity all is NaN; infinities could cancel to a finite number. */
        shift[i] = isfinite(shift[i]) ? shift[i] : (double)NAN;
        if (without_mass && job->atoms == 0)
            shift[i] = 0.0;
        c->second[i] = s->second[i] - s->first[i] * shift[i];
        c->angular[i] = s->angular[i];
        c->torque[i] = s->torque[i];
    }
    c->second[3] = s->second[3] - s->first[0] * shift[1];
    c->second[4] = s->second[4] - s->first[0] * shift[2];
    c->second[5] = s->second[5] - s->first[1] * shift[2];
    subtract_cross(shift, s->momentum, c->angular);
    subtract_cross(shift, s->force, c->torque);
}

static void inertia_of(const double s[6], double inertia[9])
{
    inertia[0] = s[1] + s[2];
    inertia[4] = s[0] + s[2];
    inertia[8] = s[0] + s[1];
    inertia[1] = inertia[3] = 0.0 - s[3];
    inertia[2] = inertia[6] = 0.0 - s[4];
    inertia[5] = inertia[7] = 0.0 - s[5];
}

/* ---- Energies -------------------------------------------------------------------------------- */

/* With a pivot below this share of the largest moment, eigenvectors are used. */
#define WELL_CONDITIONED 1e-2

/*
 * L.I^-1 L by elimination, in a hundredth of the time of an eigenproblem. Returns 0, with nothing
 * set, for a tensor that is singular or near it, where elimination would lose digits.
 */
static int solve_well_conditioned(const double inertia[9], const double L[3], double *product)
{
    double largest = inertia[0] > inertia[4] ? inertia[0] : inertia[4];
    double limit = WELL_CONDITIONED * (largest > inertia[8] ? largest : inertia[8]);
    double d0 = inertia[0], m1 = inertia[1] / d0, m2 = inertia[2] / d0;
    double d1 = inertia[4] - m1 * inertia[1];
    double e = inertia[5] - m2 * inertia[1], m3 = e / d1;
    double d2 = inertia[8] - m2 * inertia[2] - m3 * e;
    double y1 = L[1] - m1 * L[0], y2 = L[2] - m2 * L[0] - m3 * y1;
    if (!(d0 > limit && d1 > limit && d2 > limit))
        return 0;
    *product = L[0] * (L[0] / d0) + y1 * (y1 / d1) + y2 * (y2 / d2);
    return isfinite(*product);
}

static void energies_of(const atoms_job *job, const frame_sums *s, const central *c,
                        const double inertia[9], double energies[3])
{
    const double *p = s->momentum;
    double twice;
    if (job->mass == 0.0 || !solve_well_conditioned(inertia, c->angular, &twice)) {
        cpu_kinetic(s->vis_viva, job->mass, p, inertia, c->angular, energies);
        return;
    }
    energies[0] = 0.5 * s->vis_viva;
    energies[1] = 0.5 * ((p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) * job->per_mass);
    energies[2] = 0.5 * twice;
}

/* ---- Kernels: results from the sums of a frame -------------------------------------------------
 */

static void finish_com(const atoms_job *job, int64_t f, const double origin[3], const frame_sums *s)
{
    central c;
    centre(job, origin, s, &c);
    md_store3(cpu_operand(job->call, 0), f, c.com);
}

KERNEL(com)
{
    /* The second moments show whether the first atom is a suitable origin. */
    atoms_job job = {.pass = FRAME_SECOND,
                     .positions = cpu_operand(call, 1),
                     .masses = cpu_operand(call, 2),
                     .moves_to_centre = 1,
                     .finish = finish_com};
    return atoms_run(device, call, &job);
}

static void finish_inertia(const atoms_job *job, int64_t f, const double origin[3],
                           const frame_sums *s)
{
    double inertia[9];
    (void)origin;
    inertia_of(s->second, inertia);
    md_store9(cpu_operand(job->call, 0), f, inertia);
}

KERNEL(inertia)
{
    atoms_job job = {.pass = FRAME_SECOND,
                     .positions = cpu_operand(call, 1),
                     .masses = cpu_operand(call, 2),
                     .origins = cpu_operand(call, 3),
                     .finish = finish_inertia};
    return atoms_run(device, call, &job);
}

static void finish_cross_sum(const atoms_job *job, int64_t f, const double origin[3],
                             const frame_sums *s)
{
    (void)origin;
    md_store3(cpu_operand(job->call, 0), f, s->angular);
}

KERNEL(cross_sum)
{
    atoms_job job = {.pass = FRAME_ANGULAR,
                     .positions = cpu_operand(call, 1),
                     .masses = cpu_operand(call, 2),
                     .origins = cpu_operand(call, 3),
                     .velocities = cpu_operand(call, 4),
                     .finish = finish_cross_sum};
    return atoms_run(device, call, &job);
}

static void finish_kinetic(const atoms_job *job, int64_t f, const double origin[3],
                           const frame_sums *s)
{
    central c;
    double inertia[9], energies[3];
    centre(job, origin, s, &c);
    inertia_of(c.second, inertia);
    energies_of(job, s, &c, inertia, energies);
    md_store3(cpu_operand(job->call, 0), f, energies);
}

KERNEL(kinetic)
{
    atoms_job job = {.pass = FRAME_VELOCITIES,
                     .positions = cpu_operand(call, 1),
                     .masses = cpu_operand(call, 2),
                     .velocities = cpu_operand(call, 3),
                     .moves_to_centre = 1,
                     .finish = finish_kinetic};
    return atoms_run(device, call, &job);
}

static void finish_gyration(const atoms_job *job, int64_t f, const double origin[3],
                            const frame_sums *s)
{
    central c;
    centre(job, origin, s, &c);
    double t[6];
    for (int i = 0; i < 6; i++)
        t[i] = job->mass == 0.0 ? (double)NAN : c.second[i] / job->mass;
    const double tensor[9] = {t[0], t[3], t[4], t[3], t[1], t[5], t[4], t[5], t[2]};
    md_store1(cpu_operand(job->call, 0), f, sqrt(t[0] + t[1] + t[2]));
    md_store9(cpu_operand(job->call, 1), f, tensor);
    md_store1(cpu_operand(job->call, 2), f, cpu_asphericity(tensor));
}

KERNEL(gyration)
{
    atoms_job job = {.pass = FRAME_SECOND,
                     .positions = cpu_operand(call, 3),
                     .masses = cpu_operand(call, 4),
                     .moves_to_centre = 1,
                     .finish = finish_gyration};
    return atoms_run(device, call, &job);
}

static void finish_observables(const atoms_job *job, int64_t f, const double origin[3],
                               const frame_sums *s)
{
    const collet_kernel_call *call = job->call;
    central c;
    double inertia[9], energies[3];
    centre(job, origin, s, &c);
    inertia_of(c.second, inertia);
    md_store3(cpu_operand(call, 0), f, c.com);
    md_store9(cpu_operand(call, 1), f, inertia);
    if (job->velocities) {
        energies_of(job, s, &c, inertia, energies);
        md_store3(cpu_operand(call, 2), f, c.angular);
        md_store3(cpu_operand(call, 4), f, energies);
    }
    if (job->forces)
        md_store3(cpu_operand(call, 3), f, c.torque);
}

KERNEL(observables)
{
    const collet_operand *velocities = cpu_operand(call, 7), *forces = cpu_operand(call, 8);
    atoms_job job = {.positions = cpu_operand(call, 5),
                     .masses = cpu_operand(call, 6),
                     .velocities = cpu_present(velocities) ? velocities : NULL,
                     .forces = cpu_present(forces) ? forces : NULL,
                     .moves_to_centre = 1,
                     .finish = finish_observables};
    job.pass = job.velocities && job.forces ? FRAME_ALL
               : job.velocities             ? FRAME_VELOCITIES
               : job.forces                 ? FRAME_FORCES
                                            : FRAME_SECOND;
    return atoms_run(device, call, &job);
}

WORKSPACE(atoms)
{
    return atoms_workspace(device, call);
}
