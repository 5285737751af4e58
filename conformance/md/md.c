/* SPDX-License-Identifier: Apache-2.0 */
/* md: ops that sum over the atoms of each body in each frame.
 * Tests: tests/conformance/test_broken.c */
#include "md.h"

#include <math.h>
#include <string.h>

const char *const md_kind_names[MD_KINDS] = {
    "",
    "far from the origin",
    "collinear",
    "coincident atoms",
    "some masses zero",
    "all masses zero",
    "NaN in the middle frame",
    "the first atom far from the others in every other frame",
    "some masses zero, and all in frame 1",
    "at the largest coordinates that are allowed, nearly all atoms in the first body",
};

/* ---- Plans --------------------------------------------------------------------------------- */

/* sizes: frames, atoms and bodies; bodies < 0: a case without offsets. */
static kit_case case_of(const kit_plan *plan, const int64_t sizes[3], int kind, bool masses_change,
                        uint32_t absent)
{
    kit_case c = kit_case_of(plan);
    uint32_t n_out = plan->row->info.n_out, last = plan->row->operands - 1;
    int64_t extents[] = {sizes[0], sizes[1], sizes[2], sizes[2] + 1};
    kit_bind(&c, "FNBO", extents, 0, NULL, sizes[2] >= 0);
    kit_shape(&c, n_out + 1, masses_change ? 2 : 1, masses_change ? extents : extents + 1);
    if (sizes[2] < 0 && !strcmp(plan->row->info.operands[last].name, "offsets"))
        kit_absent(&c, last);
    for (uint32_t k = 0; k < plan->row->operands; k++)
        if (absent >> k & 1)
            kit_absent(&c, k);
    c.kind = kind;
    c.data = md_kind_names[kind];
    return c;
}

kit_case md_case(const kit_plan *plan, int64_t frames, int64_t atoms, int kind)
{
    return case_of(plan, (int64_t[]){frames, atoms, -1}, kind, false, 0);
}

/* A case without the operands whose bits are set in `absent`. */
static kit_case case_without(const kit_plan *plan, int64_t frames, int64_t atoms, int kind,
                             uint32_t absent)
{
    return case_of(plan, (int64_t[]){frames, atoms, -1}, kind, false, absent);
}

/* sizes: frames, atoms and bodies (-1: without offsets). Masses are F x N in every second case, with `change` in all
 * cases. */
static void plan_cases(kit_plan *plan, const int64_t (*sizes)[3], size_t count, int change,
                       uint32_t absent)
{
    static const int64_t kinds[][2] = {{3, 64}, {2, 30}};
    int64_t bodies = sizes[0][2] < 0 ? -1 : 9;
    for (size_t i = 0; i < count; i++) {
        kit_case c = case_of(plan, sizes[i], MD_RANDOM, change || i % 2, absent);
        for (uint32_t k = 0; k < plan->row->operands; k++)
            c.layout[k] = i % 3 ? KIT_DENSE : KIT_UNALIGNED;
        kit_emit(plan, &c);
    }
    for (int kind = MD_FAR; kind < MD_KINDS; kind++)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            const int64_t size[] = {kinds[i][0], kinds[i][1], bodies + (bodies > 0 && i)};
            kit_case c = case_of(plan, size, kind, change || kind % 2, absent);
            kit_emit(plan, &c);
        }
    kit_case c = case_of(plan, (int64_t[]){5, 12, bodies < 0 ? -1 : 4}, MD_RANDOM, true, absent);
    kit_emit_layouts(plan, &c);
    kit_emit_parts(plan, &c);
}

/* Cases whose masses change from frame to frame, and cases with bodies: of equal size (N = 3 B) and of different sizes.
 * */
static void plan_forms(kit_plan *plan, uint32_t absent)
{
    static const int64_t plain[][3] = {{1, 1, -1},    {0, 3, -1},    {3, 0, -1},
                                       {5, 2, -1},    {64, 5, -1},   {3, 17, -1},
                                       {2, 1000, -1}, {1, 4099, -1}, {2, 20000, -1}};
    static const int64_t bodies[][3] = {
        {1, 0, 0},   {1, 0, 3},   {2, 5, 0},    {0, 6, 2},    {3, 1, 1},       {2, 7, 3},
        {1, 30, 10}, {5, 60, 20}, {64, 9, 3},   {2, 40, 99},  {1, 3000, 1000}, {2, 3000, 1000},
        {3, 100, 7}, {2, 500, 1}, {2, 999, 40}, {2, 2000, 3}, {1, 20000, 2},   {3, 20000, 5}};
    const uint32_t last = plan->row->operands - 1;
    if (plan->row->info.operands[plan->row->info.n_out + 1].alternatives > 1 &&
        !(absent >> (plan->row->info.n_out + 1) & 1))
        plan_cases(plan, plain, sizeof plain / sizeof *plain, 1, absent);
    if (!strcmp(plan->row->info.operands[last].name, "offsets"))
        plan_cases(plan, bodies, sizeof bodies / sizeof *bodies, 0, absent);
}

void md_plan_atoms_without(kit_plan *plan, uint32_t absent)
{
    static const int64_t sizes[][2] = {
        {0, 0},    {0, 5},    {1, 0}, {5, 0},  {1, 1},    {2, 1},    {1, 2},   {2, 2},
        {5, 2},    {2, 5},    {5, 5}, {1, 5},  {5, 1},    {64, 5},   {5, 64},  {3, 17},
        {1000, 1}, {1, 1000}, {7, 3}, {2, 33}, {1000, 2}, {2, 1000}, {64, 64}, {1, 4099},
    };
    static const int64_t kinds[][2] = {{5, 5}, {3, 1}, {2, 2}, {4, 64}, {1, 1000}};
    static const int64_t strided[][2] = {{5, 7}, {2, 19}, {1, 4}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        kit_case c = case_without(plan, sizes[i][0], sizes[i][1], MD_RANDOM, absent);
        for (uint32_t k = 0; k < plan->row->operands; k++)
            c.layout[k] = i % 2 ? KIT_UNALIGNED : KIT_DENSE;
        kit_emit(plan, &c);
    }
    for (int kind = MD_FAR; kind < MD_KINDS; kind++)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            kit_case c = case_without(plan, kinds[i][0], kinds[i][1], kind, absent);
            kit_emit(plan, &c);
        }
    kit_case lost = case_without(plan, 500, 40, MD_LOST, absent);
    kit_emit(plan, &lost);
    for (size_t i = 0; i < sizeof strided / sizeof *strided; i++) {
        kit_case c = case_without(plan, strided[i][0], strided[i][1], MD_RANDOM, absent);
        kit_emit_layouts(plan, &c);
        kit_emit_parts(plan, &c);
    }
    plan_forms(plan, absent);
}

/* Plans cases in which f32 sums without compensation exceed the limits. Many bodies have few atoms on average, and a device
 * assigns one work-item to each; one body has nearly all atoms. */
static void plan_long_sums(kit_plan *plan)
{
    const uint32_t last = plan->row->operands - 1;
    bool bodies = !strcmp(plan->row->info.operands[last].name, "offsets");
    for (int64_t atoms = 20000; atoms <= 1000000 && plan->row->dtypes[0] == COLLET_F32;
         atoms *= 50) {
        const int64_t sizes[] = {1, atoms, bodies ? 2 * atoms / 5 : -1};
        kit_case c = case_of(plan, sizes, MD_DISTANT, false, 0);
        c.big = atoms > 20000;
        kit_emit(plan, &c);
    }
}

void md_plan_atoms(kit_plan *plan)
{
    md_plan_atoms_without(plan, 0);
    kit_case c = md_case(plan, 5, 3, MD_RANDOM);
    kit_emit_sharing(plan, &c);
    c = md_case(plan, 3, 1, MD_RANDOM);
    kit_emit_sharing(plan, &c);
    c = md_case(plan, 130, 1000, MD_RANDOM);
    c.big = true;
    kit_emit(plan, &c);
    c = md_case(plan, 2, 50000, MD_RANDOM);
    c.big = true;
    kit_emit(plan, &c);
    plan_long_sums(plan);
}

/* ---- Values -------------------------------------------------------------------------------- */

void md_generate_normal(kit_tensor *t, kit_rng *rng)
{
    for (int64_t i = 0; i < t->count && t->dtype != COLLET_DTYPE_NONE; i++)
        kit_set(t, i, kit_normal(rng));
}

/* Multiples of one short vector, exact in f32, so that the atoms stay collinear. */
static void put_on_line(kit_tensor *positions, kit_rng *rng)
{
    static const double direction[] = {0.125, 0.25, -0.25};
    for (int64_t i = 0; i < positions->count; i += 3) {
        double along = (double)(kit_below(rng, 33) - 16);
        for (int64_t k = 0; k < 3; k++)
            kit_set(positions, i + k, direction[k] * along + 0.5);
    }
}

static void generate_masses(const kit_case *c, kit_tensor *masses, kit_rng *rng)
{
    for (int64_t i = 0; i < masses->count && masses->dtype != COLLET_DTYPE_NONE; i++) {
        int64_t atoms = masses->shape[masses->ndim - 1], frame = i / atoms;
        kit_set(masses, i, kit_uniform(rng, 1, 32));
        if (c->kind == MD_MASSLESS || (c->kind == MD_GHOSTS && i % 2) ||
            (c->kind == MD_CHOSEN && (frame == 1 || kit_below(rng, 2))))
            kit_set(masses, i, 0);
        if (c->kind == MD_LOST && i % atoms == 0)
            kit_set(masses, i, 0x1p-10);
    }
}

/* If N = 3 B, each body has three atoms; otherwise bodies have any number of atoms, some are empty, and some atoms are
 * in no body. MD_DISTANT: every body except the first has at most one atom. */
static void generate_offsets(kit_case *c, kit_rng *rng)
{
    kit_tensor *offsets = &c->operand[c->row->operands - 1];
    int64_t atoms = kit_in(c, 0)->shape[1], bodies = offsets->count - 1, at = 0;
    if (!md_offsets(c))
        return;
    for (int64_t b = 0; b <= bodies; b++) {
        int64_t left = atoms - at, most = b < bodies ? 2 * left / (bodies - b + 1) : left;
        at = atoms == 3 * bodies ? 3 * b : at + kit_below(rng, most + 1);
        if (c->kind == MD_DISTANT)
            at = b ? atoms - (bodies - b) / 2 : 0;
        kit_set(offsets, b, (real)at);
    }
}

void md_generate_atoms(kit_case *c, kit_rng *rng)
{
    static const double far[] = {1003.0, -2017.0, 541.0}, distant[] = {10030.0, -9017.0, 12541.0};
    uint32_t n_out = c->row->info.n_out;
    kit_tensor *positions = &c->operand[n_out], *masses = &c->operand[n_out + 1];
    double place[3] = {kit_normal(rng), kit_normal(rng), kit_normal(rng)};
    md_generate_normal(positions, rng);
    for (int64_t i = 0; i < positions->count; i++)
        if (c->kind == MD_FAR)
            kit_set(positions, i, kit_get(positions, i) + (real)far[i % 3]);
        else if (c->kind == MD_DISTANT)
            kit_set(positions, i, 8 * kit_get(positions, i) + (real)distant[i % 3]);
        else if (c->kind == MD_COINCIDENT)
            kit_set(positions, i, place[i % 3]);
    int64_t own = 3 * positions->shape[1];
    for (int64_t i = 0; i < positions->count && c->kind == MD_LOST; i++)
        if (i % own < 3 && i / own % 2 == 0)
            kit_set(positions, i, 8 * kit_get(positions, i) + (real)far[i % 3]);
    if (c->kind == MD_COLLINEAR)
        put_on_line(positions, rng);
    if (c->kind == MD_POISONED && positions->count > 0)
        kit_set(positions, positions->count / 2, (real)NAN);
    generate_masses(c, masses, rng);
    generate_offsets(c, rng);
}

/* Fills the input `centre`, in f64, with positions near the centre of mass. */
static void generate_centre(kit_case *c, kit_rng *rng)
{
    uint32_t n_out = c->row->info.n_out;
    const kit_tensor *positions = &c->operand[n_out];
    kit_tensor *com = &c->operand[n_out + 2];
    md_generate_atoms(c, rng);
    for (int64_t i = 0; i < com->count; i++) {
        int64_t atoms = positions->shape[1], first = i / 3 * atoms * 3 + i % 3;
        real mean = atoms ? kit_get(positions, first) : 0;
        kit_set(com, i, (isfinite(mean) ? mean : 0) + (real)(0.25 * kit_normal(rng)));
    }
}

static void generate_moving(kit_case *c, kit_rng *rng)
{
    md_generate_atoms(c, rng);
    for (uint32_t k = c->row->info.n_out + 2; k < c->row->operands; k++)
        if (&c->operand[k] != md_offsets(c))
            md_generate_normal(&c->operand[k], rng);
}

static void generate_centred(kit_case *c, kit_rng *rng)
{
    generate_centre(c, rng);
    for (uint32_t k = c->row->info.n_out + 3; k < c->row->operands; k++)
        md_generate_normal(&c->operand[k], rng);
}

/* ---- Judges -------------------------------------------------------------------------------- */

/* The sums of a row of the outputs; velocities and forces may be NULL. */
static md_frame sums_of(const kit_case *c, int64_t row, const kit_tensor *velocities,
                        const kit_tensor *forces, const real *about)
{
    md_part part = md_part_of(c, row);
    md_frame m = md_frame_of(&part, kit_in(c, 0), kit_in(c, 1), velocities, forces, about);
    if (c->operand[0].dtype == COLLET_F32)
        md_tighten(&m);
    return m;
}

static void judge_com(const kit_case *c, kit_verdict *v)
{
    for (int64_t f = 0; f < md_rows(c); f++) {
        md_frame m = sums_of(c, f, NULL, NULL, NULL);
        for (int k = 0; k < 3; k++)
            kit_near(c, v, 0, 3 * f + k, m.com[k], m.com_scale[k], md_limit(c, "com"));
    }
}

static void judge_inertia(const kit_case *c, kit_verdict *v)
{
    for (int64_t f = 0; f < md_rows(c); f++) {
        real about[3];
        md_row(kit_in(c, 2), f, about);
        md_frame m = sums_of(c, f, NULL, NULL, about);
        for (int k = 0; k < 9; k++)
            kit_near(c, v, 0, 9 * f + k, m.inertia[k], m.inertia_scale, md_limit(c, "inertia"));
    }
}

static void judge_cross_sum(const kit_case *c, kit_verdict *v)
{
    for (int64_t f = 0; f < md_rows(c); f++) {
        real about[3];
        md_row(kit_in(c, 2), f, about);
        md_frame m = sums_of(c, f, kit_in(c, 3), NULL, about);
        for (int k = 0; k < 3; k++)
            kit_near(c, v, 0, 3 * f + k, m.L[k], m.L_scale, md_limit(c, "sum"));
    }
}

/* Checks the energies in row f of operand k. */
static void judge_energies(const kit_case *c, kit_verdict *v, uint32_t k, int64_t f,
                           const md_frame *m)
{
    const kit_limit *limit = md_limit(c, "energy");
    real scale, rotational = md_rotational(m, (real)limit->limit, &scale);
    real translational = kit_dot(m->momentum, m->momentum) / m->mass / 2;
    kit_near(c, v, k, 3 * f, m->vis_viva / 2, m->vis_viva / 2, limit);
    kit_near(c, v, k, 3 * f + 1, translational, m->momentum_scale * m->momentum_scale / m->mass / 2,
             limit);
    /* The rotational energy of a single atom is 0, up to the rounding error of the other energies. */
    kit_near(c, v, k, 3 * f + 2, rotational, scale + m->vis_viva / 2, limit);
}

static void judge_kinetic(const kit_case *c, kit_verdict *v)
{
    for (int64_t f = 0; f < md_rows(c); f++) {
        md_frame m = sums_of(c, f, kit_in(c, 2), NULL, NULL);
        judge_energies(c, v, 0, f, &m);
    }
}

/* 3/2 sum (l - mean)^2 / (sum l)^2 of the eigenvalues l, computed from the traceless part of the tensor. */
static real asphericity(const real g[9])
{
    real trace = g[0] + g[4] + g[8], sum = 0;
    for (int i = 0; i < 9; i++) {
        real entry = g[i] / trace - (i % 4 == 0 ? 1 / (real)3 : 0);
        sum += entry * entry;
    }
    return 3 * sum / 2;
}

static void judge_gyration(const kit_case *c, kit_verdict *v)
{
    const kit_limit *limit = md_limit(c, "tensor"), *shape = md_limit(c, "asphericity");
    for (int64_t f = 0; f < md_rows(c); f++) {
        md_frame m = sums_of(c, f, NULL, NULL, NULL);
        real g[9], noise = m.noise, radius = sqrtl(m.inertia_scale / m.mass);
        for (int k = 0; k < 9; k++) {
            g[k] = m.tensor[k] / m.mass;
            kit_near(c, v, 1, 9 * f + k, g[k],
                     m.inertia_scale / m.mass + noise * noise / (real)limit->limit, limit);
        }
        kit_near(c, v, 0, f, radius, radius + noise / (real)limit->limit, md_limit(c, "radius"));
        real got = kit_get(&c->operand[2], f);
        if (md_part_of(c, f).atoms == 1) {
            kit_near(c, v, 2, f, (real)NAN, 1, shape);
            continue;
        }
        /* The result is not defined if several atoms are at one point, up to rounding. */
        if (radius <= noise && (isnan(got) || (got >= 0 && got <= 1 + (real)shape->limit)))
            continue;
        kit_near(c, v, 2, f, asphericity(g), 1, shape);
    }
}

/* A frame without mass has no centre of mass: quantities relative to it are NaN, or 0 for an empty
 * sum. */
static bool massless(const kit_case *c, kit_verdict *v, uint32_t k, int64_t first, int count)
{
    for (int i = 0; i < count; i++) {
        real got = kit_get(&c->operand[k], first + i);
        if (!isnan(got) && got != 0) {
            char where[128];
            kit_where(c, k, first + i, where);
            kit_fail(v, "%s: expected NaN or 0 for a frame without mass, got %Lg", where, got);
            return false;
        }
    }
    return true;
}

static bool present(const kit_case *c, uint32_t k)
{
    return c->operand[k].dtype != COLLET_DTYPE_NONE;
}

static void judge_observables(const kit_case *c, kit_verdict *v)
{
    const kit_limit *inertia = md_limit(c, "inertia"), *sum = md_limit(c, "sum");
    for (int64_t f = 0; f < md_rows(c); f++) {
        md_frame m = sums_of(c, f, kit_in(c, 2), kit_in(c, 3), NULL);
        /* The additional error of implementations that read the atoms once: their sums are relative to an atom instead
         * of the centre of mass. */
        real shift = m.noise / (real)sum->limit;
        real L_scale = m.L_scale + m.L_spread + shift * kit_norm(m.momentum);
        real torque_scale = m.torque_scale + m.torque_spread + shift * kit_norm(m.force);
        real inertia_scale =
            m.inertia_scale + m.spread + m.mass * shift * shift * (real)inertia->limit;
        m.L_scale = L_scale;
        for (int k = 0; k < 3; k++)
            kit_near(c, v, 0, 3 * f + k, m.com[k], m.com_scale[k], md_limit(c, "com"));
        if (m.mass == 0) {
            massless(c, v, 1, 9 * f, 9);
            if (present(c, 2))
                massless(c, v, 2, 3 * f, 3);
            if (present(c, 4))
                massless(c, v, 4, 3 * f, 3);
            continue;
        }
        for (int k = 0; k < 9; k++)
            kit_near(c, v, 1, 9 * f + k, m.inertia[k], inertia_scale, inertia);
        for (int k = 0; k < 3 && present(c, 2); k++)
            kit_near(c, v, 2, 3 * f + k, m.L[k], L_scale, sum);
        for (int k = 0; k < 3 && present(c, 3); k++)
            kit_near(c, v, 3, 3 * f + k, m.torque[k], torque_scale, sum);
        if (present(c, 4))
            judge_energies(c, v, 4, f, &m);
    }
}

/* Cases with all operands; without forces; without velocities; without both. */
static void plan_observables(kit_plan *plan)
{
    const uint32_t L = 1u << 2, torque = 1u << 3, energy = 1u << 4, v = 1u << 7, f = 1u << 8;
    md_plan_atoms(plan);
    md_plan_atoms_without(plan, torque | f);
    md_plan_atoms_without(plan, L | energy | v);
    md_plan_atoms_without(plan, L | torque | energy | v | f);
}

const kit_op kit_md_ops[] = {
    {COLLET_OP_COM, md_plan_atoms, generate_moving, judge_com},
    {COLLET_OP_INERTIA, md_plan_atoms, generate_centred, judge_inertia},
    {COLLET_OP_CROSS_SUM, md_plan_atoms, generate_centred, judge_cross_sum},
    {COLLET_OP_KINETIC, md_plan_atoms, generate_moving, judge_kinetic},
    {COLLET_OP_GYRATION, md_plan_atoms, generate_moving, judge_gyration},
    {COLLET_OP_OBSERVABLES, plan_observables, generate_moving, judge_observables},
    {0},
};
