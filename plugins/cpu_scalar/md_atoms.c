/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/md/md.c */
#include "device.h"

#include <math.h>

#include "shared/host/md/formulas.h"
#include "shared/host/md/operands.h"
#include "shared/host/md/vector3.h"
#include "shared/host/util/sum.h"

/* Atoms converted to double at a time: few enough for the stack. */
#define CHUNK 256

/* Iteration over the atoms of one body, in chunks. */
typedef struct atoms {
    const collet_operand *positions; /* F,N,3 or N,3 */
    const collet_operand *weights;   /* N or F,N; NULL or absent: all 1 */
    const collet_operand *vectors;   /* F,N,3 or N,3; NULL: none */
    const md_body *body;
    int64_t first, count; /* the atoms of the chunk that is loaded */
    double w[CHUNK];
    double r[CHUNK][3];
    double v[CHUNK][3];
} atoms;

static void load_vectors(double (*out)[3], const collet_operand *o, const atoms *a)
{
    int32_t n_axis = o->ndim - 2;
    const char *at = md_block(o, a->body->frame, 2) + a->first * cpu_step(o, n_axis);
    for (int i = 0; i < 3; i++) {
        cpu_convert((char *)&out[0][i], COLLET_F64, sizeof out[0], at + i * cpu_step(o, n_axis + 1),
                    o->dtype, cpu_step(o, n_axis), a->count);
    }
}

static void begin(atoms *a, const collet_operand *positions, const collet_operand *weights,
                  const collet_operand *vectors, const md_body *body)
{
    a->positions = positions;
    a->weights = weights;
    a->vectors = vectors;
    a->body = body;
    a->first = body->first;
    a->count = 0;
}

/* Loads the next chunk; 0 at the end. */
static int next(atoms *a)
{
    a->first += a->count;
    int64_t left = a->body->first + a->body->atoms - a->first;
    a->count = left < CHUNK ? left : CHUNK;
    if (a->count <= 0)
        return 0;
    load_vectors(a->r, a->positions, a);
    if (a->vectors)
        load_vectors(a->v, a->vectors, a);
    if (a->weights && operand_present(a->weights)) {
        const collet_operand *o = a->weights;
        int64_t step = cpu_step(o, o->ndim - 1);
        cpu_convert((char *)a->w, COLLET_F64, sizeof a->w[0],
                    md_block(o, a->body->frame, 1) + a->first * step, o->dtype, step, a->count);
    } else {
        for (int64_t i = 0; i < a->count; i++)
            a->w[i] = 1.0;
    }
    return 1;
}

static void totals(const cpu_sum *sums, int n, double *out)
{
    for (int i = 0; i < n; i++)
        out[i] = cpu_total(&sums[i]);
}

/* s = sum w (r - origin) over the atoms of a body; returns sum w. */
static double sum_first_moments(const collet_operand *positions, const collet_operand *weights,
                                const md_body *body, const double origin[3], double s[3])
{
    atoms a;
    cpu_sum sums[3] = {0}, weight = {0};
    for (begin(&a, positions, weights, NULL, body); next(&a);) {
        for (int64_t n = 0; n < a.count; n++) {
            cpu_add(&weight, a.w[n]);
            for (int i = 0; i < 3; i++)
                cpu_add(&sums[i], a.w[n] * (a.r[n][i] - origin[i]));
        }
    }
    totals(sums, 3, s);
    return cpu_total(&weight);
}

/* Sets com to the centre of mass; returns the total mass. */
static double sum_com(const collet_operand *positions, const collet_operand *weights,
                      const md_body *body, double com[3])
{
    double zero[3] = {0.0, 0.0, 0.0}, rest[3];
    double mass = sum_first_moments(positions, weights, body, zero, com);
    for (int i = 0; i < 3; i++)
        com[i] = mass == 0.0 ? (double)NAN : com[i] / mass;
    if (!isfinite(com[0]) || !isfinite(com[1]) || !isfinite(com[2]))
        return mass;
    /* Adds the rounding errors of the products m r. Without them, the centre of mass of a single atom could differ from
     * its position. */
    (void)sum_first_moments(positions, weights, body, com, rest);
    for (int i = 0; i < 3; i++)
        com[i] += rest[i] / mass;
    return mass;
}

/* sum w d d^T, d = r - com: its six distinct elements xx, yy, zz, xy, xz, yz. */
static void sum_second_moments(const collet_operand *positions, const collet_operand *weights,
                               const md_body *body, const double com[3], double s[6])
{
    atoms a;
    cpu_sum sums[6] = {0};
    for (begin(&a, positions, weights, NULL, body); next(&a);) {
        for (int64_t n = 0; n < a.count; n++) {
            double x = a.r[n][0] - com[0], y = a.r[n][1] - com[1], z = a.r[n][2] - com[2];
            cpu_add(&sums[0], a.w[n] * x * x);
            cpu_add(&sums[1], a.w[n] * y * y);
            cpu_add(&sums[2], a.w[n] * z * z);
            cpu_add(&sums[3], a.w[n] * x * y);
            cpu_add(&sums[4], a.w[n] * x * z);
            cpu_add(&sums[5], a.w[n] * y * z);
        }
    }
    totals(sums, 6, s);
}

static void sum_inertia(const collet_operand *positions, const collet_operand *weights,
                        const md_body *body, const double com[3], double inertia[9])
{
    double s[6];
    sum_second_moments(positions, weights, body, com, s);
    cpu_inertia(s, inertia);
}

/* out = sum w (r - com) x v. */
static void sum_cross(const collet_operand *positions, const collet_operand *weights,
                      const collet_operand *vectors, const md_body *body, const double com[3],
                      double out[3])
{
    atoms a;
    cpu_sum sums[3] = {0};
    for (begin(&a, positions, weights, vectors, body); next(&a);) {
        for (int64_t n = 0; n < a.count; n++) {
            double d[3], product[3];
            for (int i = 0; i < 3; i++)
                d[i] = a.r[n][i] - com[i];
            cpu_cross3(d, a.v[n], product);
            for (int i = 0; i < 3; i++)
                cpu_add(&sums[i], a.w[n] * product[i]);
        }
    }
    totals(sums, 3, out);
}

/* The three energies, from the mass, the inertia tensor and the angular momentum L about the centre of mass. */
static void sum_kinetic(const collet_operand *masses, const collet_operand *velocities,
                        const md_body *body, double mass, const double inertia[9],
                        const double L[3], double energies[3])
{
    atoms a;
    cpu_sum sums[4] = {0};
    double momentum[4];
    for (begin(&a, velocities, masses, NULL, body); next(&a);) {
        for (int64_t n = 0; n < a.count; n++) {
            const double *v = a.r[n];
            for (int i = 0; i < 3; i++)
                cpu_add(&sums[i], a.w[n] * v[i]);
            cpu_add(&sums[3], a.w[n] * cpu_dot3(v, v));
        }
    }
    totals(sums, 4, momentum);
    cpu_kinetic(momentum[3], mass, momentum, inertia, L, energies);
}

/* Computes the bodies of a call in turn. */
typedef struct bodies {
    const collet_operand *offsets; /* NULL or absent: all atoms are one body */
    int64_t atoms, a_frame, rows, row;
    md_body at;
} bodies;

static bodies bodies_of(const collet_kernel_call *call, const collet_operand *offsets)
{
    const collet_operand *positions = operand_of(call, call->n_out);
    int64_t a_frame = md_bodies_of(offsets);
    return (bodies){.offsets = offsets,
                    .atoms = positions->shape[1],
                    .a_frame = a_frame,
                    .rows = positions->shape[0] * a_frame};
}

/* NULL after the last. */
static const md_body *next_body(bodies *b)
{
    if (b->row == b->rows)
        return NULL;
    b->at = md_body_of(b->offsets, b->a_frame, b->row++, b->atoms);
    return &b->at;
}

KERNEL(com)
{
    bodies b = bodies_of(call, NULL);
    for (const md_body *body; (body = next_body(&b));) {
        double com[3];
        (void)sum_com(operand_of(call, 1), operand_of(call, 2), body, com);
        md_store3(operand_of(call, 0), body->row, com);
    }
    return COLLET_OK;
}

KERNEL(inertia)
{
    bodies b = bodies_of(call, NULL);
    for (const md_body *body; (body = next_body(&b));) {
        double com[3], inertia[9];
        md_load3(operand_of(call, 3), body->row, com);
        sum_inertia(operand_of(call, 1), operand_of(call, 2), body, com, inertia);
        md_store9(operand_of(call, 0), body->row, inertia);
    }
    return COLLET_OK;
}

KERNEL(cross_sum)
{
    bodies b = bodies_of(call, NULL);
    for (const md_body *body; (body = next_body(&b));) {
        double com[3], sum[3];
        md_load3(operand_of(call, 3), body->row, com);
        sum_cross(operand_of(call, 1), operand_of(call, 2), operand_of(call, 4), body, com, sum);
        md_store3(operand_of(call, 0), body->row, sum);
    }
    return COLLET_OK;
}

KERNEL(kinetic)
{
    const collet_operand *positions = operand_of(call, 1);
    const collet_operand *masses = operand_of(call, 2), *velocities = operand_of(call, 3);
    bodies b = bodies_of(call, NULL);
    for (const md_body *body; (body = next_body(&b));) {
        double com[3], inertia[9], L[3], energies[3];
        double mass = sum_com(positions, masses, body, com);
        sum_inertia(positions, masses, body, com, inertia);
        sum_cross(positions, masses, velocities, body, com, L);
        sum_kinetic(masses, velocities, body, mass, inertia, L, energies);
        md_store3(operand_of(call, 0), body->row, energies);
    }
    return COLLET_OK;
}

KERNEL(gyration)
{
    const collet_operand *positions = operand_of(call, 3), *masses = operand_of(call, 4);
    bodies b = bodies_of(call, operand_of(call, 5));
    for (const md_body *body; (body = next_body(&b));) {
        double com[3], s[6];
        double mass = sum_com(positions, masses, body, com);
        sum_second_moments(positions, masses, body, com, s);
        for (int i = 0; i < 6; i++)
            s[i] = mass == 0.0 ? (double)NAN : s[i] / mass;
        const double tensor[9] = {s[0], s[3], s[4], s[3], s[1], s[5], s[4], s[5], s[2]};
        md_store1(operand_of(call, 0), body->row, sqrt(s[0] + s[1] + s[2]));
        md_store9(operand_of(call, 1), body->row, tensor);
        md_store1(operand_of(call, 2), body->row, cpu_asphericity(tensor));
    }
    return COLLET_OK;
}

KERNEL(observables)
{
    const collet_operand *positions = operand_of(call, 5), *masses = operand_of(call, 6);
    const collet_operand *velocities = operand_of(call, 7), *forces = operand_of(call, 8);
    bodies b = bodies_of(call, operand_of(call, 9));
    for (const md_body *body; (body = next_body(&b));) {
        double com[3], inertia[9], L[3], torque[3], energies[3];
        double mass = sum_com(positions, masses, body, com);
        sum_inertia(positions, masses, body, com, inertia);
        md_store3(operand_of(call, 0), body->row, com);
        md_store9(operand_of(call, 1), body->row, inertia);
        if (operand_present(velocities)) {
            sum_cross(positions, masses, velocities, body, com, L);
            sum_kinetic(masses, velocities, body, mass, inertia, L, energies);
            md_store3(operand_of(call, 2), body->row, L);
            md_store3(operand_of(call, 4), body->row, energies);
        }
        if (operand_present(forces)) {
            sum_cross(positions, NULL, forces, body, com, torque);
            md_store3(operand_of(call, 3), body->row, torque);
        }
    }
    return COLLET_OK;
}

/* cov[i][j] = sum w x_i y_j of the centred points x = r - com and y = v - com_v. */
static void sum_covariance(atoms *a, const double com[3], const double com_v[3], double cov[9])
{
    cpu_sum sums[9] = {0};
    while (next(a)) {
        for (int64_t n = 0; n < a->count; n++) {
            for (int i = 0; i < 9; i++) {
                double x = a->r[n][i / 3] - com[i / 3], y = a->v[n][i % 3] - com_v[i % 3];
                cpu_add(&sums[i], a->w[n] * x * y);
            }
        }
    }
    totals(sums, 9, cov);
}

/* sum w |R (r - com) - (v - com_v)|^2. Computed from the differences themselves: the usual formula with the
 * largest eigenvalue loses half the digits if the two shapes are nearly equal. */
static double sum_residual(atoms *a, const double com[3], const double com_v[3], const double R[9])
{
    cpu_sum sum = {0};
    while (next(a)) {
        for (int64_t n = 0; n < a->count; n++) {
            double x[3], rest[3];
            for (int i = 0; i < 3; i++)
                x[i] = a->r[n][i] - com[i];
            for (int i = 0; i < 3; i++)
                rest[i] = cpu_dot3(R + 3 * i, x) - (a->v[n][i] - com_v[i]);
            cpu_add(&sum, a->w[n] * cpu_dot3(rest, rest));
        }
    }
    return cpu_total(&sum);
}

KERNEL(rmsd)
{
    const collet_operand *positions = operand_of(call, 2), *weights = operand_of(call, 3);
    const collet_operand *reference = operand_of(call, 4);
    bodies b = bodies_of(call, operand_of(call, 5));
    for (const md_body *body; (body = next_body(&b));) {
        atoms a;
        double com[3], com_reference[3], covariance[9], rotation[9];
        double weight = sum_com(reference, weights, body, com_reference);
        (void)sum_com(positions, weights, body, com);
        begin(&a, positions, weights, reference, body);
        sum_covariance(&a, com, com_reference, covariance);
        for (int i = 0; i < 9 && weight == 0.0; i++)
            covariance[i] = NAN;
        cpu_superpose(covariance, rotation);
        begin(&a, positions, weights, reference, body);
        double residual = sum_residual(&a, com, com_reference, rotation);
        md_store1(operand_of(call, 0), body->row, sqrt(residual / weight));
        md_store9(operand_of(call, 1), body->row, rotation);
    }
    return COLLET_OK;
}
