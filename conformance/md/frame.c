/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle of one body in one frame: sums over its atoms in long double, by definition.
 * Tests: tests/conformance/test_broken.c */
#include "frame.h"

#include <math.h>
#include <string.h>

void md_row(const kit_tensor *t, int64_t i, real out[3])
{
    for (int64_t k = 0; k < 3; k++)
        out[k] = kit_get(t, 3 * i + k);
}

static bool given(const kit_tensor *t)
{
    return t && t->dtype != COLLET_DTYPE_NONE;
}

const kit_tensor *md_offsets(const kit_case *c)
{
    uint32_t last = c->row->operands - 1;
    bool has = !strcmp(c->row->info.operands[last].name, "offsets");
    return has && given(&c->operand[last]) ? &c->operand[last] : NULL;
}

int64_t md_rows(const kit_case *c)
{
    const kit_tensor *offsets = md_offsets(c);
    return kit_in(c, 0)->shape[0] * (offsets ? offsets->count - 1 : 1);
}

md_part md_part_of(const kit_case *c, int64_t row)
{
    const kit_tensor *offsets = md_offsets(c);
    int64_t bodies = offsets ? offsets->count - 1 : 1, body = row % bodies;
    md_part part = {.row = row, .frame = row / bodies, .atoms = kit_in(c, 0)->shape[1]};
    if (offsets) {
        part.first = (int64_t)kit_get(offsets, body);
        part.atoms = (int64_t)kit_get(offsets, body + 1) - part.first;
    }
    return part;
}

real md_mass(const kit_tensor *masses, const md_part *part, int64_t atom)
{
    if (!given(masses))
        return 1;
    return kit_get(masses, masses->ndim > 1 ? part->frame * masses->shape[1] + atom : atom);
}

/* The com relative to the first atom: exact for one atom or coincident atoms. */
static void centre(md_frame *m, const md_part *part, const kit_tensor *positions,
                   const kit_tensor *masses, const real origin[3])
{
    real moment[3] = {0}, magnitude[3] = {0};
    for (int64_t i = part->first; i < part->first + part->atoms; i++) {
        real r[3], mass = md_mass(masses, part, i);
        md_row(positions, part->frame * positions->shape[1] + i, r);
        m->mass += mass;
        for (int k = 0; k < 3; k++) {
            moment[k] += mass * (r[k] - origin[k]);
            magnitude[k] += fabsl(mass * r[k]);
        }
    }
    for (int k = 0; k < 3; k++) {
        m->com[k] = origin[k] + moment[k] / m->mass;
        m->com_scale[k] = magnitude[k] / fabsl(m->mass);
    }
    const real away[] = {m->com[0] - origin[0], m->com[1] - origin[1], m->com[2] - origin[2]};
    m->away = kit_norm(away);
    m->noise = 8 * MD_UNIT * kit_norm(m->com);
}

/* Adds weight (d x v) and its scale. */
static void add_cross(real weight, const real d[3], const real from_first[3], const real v[3],
                      real sum[3], real *scale, real *spread)
{
    real product[3];
    kit_cross(d, v, product);
    for (int k = 0; k < 3; k++)
        sum[k] += weight * product[k];
    *scale += fabsl(weight) * kit_norm(d) * kit_norm(v);
    *spread += fabsl(weight) * kit_norm(from_first) * kit_norm(v);
}

static void add_atom(md_frame *m, real mass, const real r[3], const real first[3])
{
    real d[3], from_first[3];
    for (int k = 0; k < 3; k++) {
        d[k] = r[k] - m->about[k];
        from_first[k] = r[k] - first[k];
    }
    real square = kit_dot(d, d);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            m->tensor[3 * i + j] += mass * d[i] * d[j];
            /* d.d - d[i] d[i] without d[i], so that a NaN there does not reach this entry. */
            m->inertia[3 * i + j] +=
                i == j ? mass * (d[(i + 1) % 3] * d[(i + 1) % 3] + d[(i + 2) % 3] * d[(i + 2) % 3])
                       : -mass * d[i] * d[j];
        }
    m->inertia_scale += fabsl(mass) * square;
    m->spread += fabsl(mass) * kit_dot(from_first, from_first);
}

md_frame md_frame_of(const md_part *part, const kit_tensor *positions, const kit_tensor *masses,
                     const kit_tensor *velocities, const kit_tensor *forces, const real *about)
{
    md_frame m = {0};
    int64_t first = part->frame * positions->shape[1];
    real origin[3] = {0};
    if (part->atoms > 0)
        md_row(positions, first + part->first, origin);
    centre(&m, part, positions, masses, origin);
    for (int k = 0; k < 3; k++)
        m.about[k] = about ? about[k] : m.com[k];
    for (int64_t i = part->first; i < part->first + part->atoms; i++) {
        real r[3], d[3], from_first[3], v[3], mass = md_mass(masses, part, i);
        md_row(positions, first + i, r);
        for (int k = 0; k < 3; k++) {
            d[k] = r[k] - m.about[k];
            from_first[k] = r[k] - origin[k];
        }
        add_atom(&m, mass, r, origin);
        if (given(velocities)) {
            md_row(velocities, first + i, v);
            m.vis_viva += mass * kit_dot(v, v);
            for (int k = 0; k < 3; k++)
                m.momentum[k] += mass * v[k];
            m.momentum_scale += fabsl(mass) * kit_norm(v);
            add_cross(mass, d, from_first, v, m.L, &m.L_scale, &m.L_spread);
        }
        if (given(forces)) {
            md_row(forces, first + i, v);
            for (int k = 0; k < 3; k++)
                m.force[k] += v[k];
            m.force_scale += kit_norm(v);
            add_cross(1, d, from_first, v, m.torque, &m.torque_scale, &m.torque_spread);
        }
    }
    return m;
}

void md_tighten(md_frame *m)
{
    real radius = sqrtl(m->inertia_scale / m->mass);
    for (int k = 0; k < 3; k++)
        m->com_scale[k] = fabsl(m->com[k]) + radius;
    m->L_scale += 2 * radius * m->momentum_scale;
    m->torque_scale += 2 * radius * m->force_scale;
    m->spread = m->L_spread = m->torque_spread = 0;
    m->noise = 0x1p6L * (m->noise + 8 * MD_UNIT * m->away);
}

real md_rotational(const md_frame *m, real unit, real *scale)
{
    real omega[3], smallest, trace = m->inertia[0] + m->inertia[4] + m->inertia[8];
    *scale = 0;
    if (!isfinite(trace) || !isfinite(kit_dot(m->L, m->L)) || m->mass == 0)
        return (real)NAN;
    (void)kit_solve(m->inertia, m->L, omega, &smallest);
    /* First order: d(1/2 L.I^-1 L) = omega.dL - 1/2 omega.dI omega. */
    real speed = kit_norm(omega), shift = m->noise / unit;
    *scale = speed * (m->L_scale + shift * kit_norm(m->momentum)) +
             speed * speed * (m->inertia_scale + m->spread) / 2;
    return kit_dot(omega, m->L) / 2;
}
