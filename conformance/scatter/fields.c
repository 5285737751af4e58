/* SPDX-License-Identifier: Apache-2.0 */
/* scatter: fields of voxels and their polarisation.
 * Tests: tests/conformance/defects.sh */
#include "scatter.h"

#include <math.h>

void scatter_near(const kit_case *c, kit_verdict *v, int64_t i, number ideal, real scale)
{
    kit_near(c, v, 0, 2 * i, creall(ideal), scale, scatter_limit(c));
    kit_near(c, v, 0, 2 * i + 1, cimagl(ideal), scale, scatter_limit(c));
}

const kit_limit *scatter_limit(const kit_case *c)
{
    return kit_limit_find(c->row->info.id, kit_part(c->operand[0].dtype), "value");
}

void scatter_normal(kit_tensor *t, kit_rng *rng)
{
    for (int64_t i = 0; i < kit_parts(t); i++)
        kit_set(t, i, kit_normal(rng));
}

enum { ORDINARY, ALIGNED, A_NAN, UNALIGNED, KINDS };
static const char *const kind_names[] = {"", "aligned wholly", "a NaN",
                                         "angles of unaligned voxels NaN"};

/* M, Z, Y, X; only scatter_polarisation uses M. */
static const int64_t extents[][4] = {{1, 1, 1, 1}, {2, 1, 3, 5}, {3, 2, 3, 4},  {1, 0, 2, 3},
                                     {2, 3, 1, 7}, {0, 2, 2, 2}, {2, 4, 9, 17}, {1, 2, 5, 64},
                                     {1, 3, 2, 0}, {4, 1, 8, 9}, {2, 3, 31, 33}};

static void plan_fields(kit_plan *plan)
{
    for (size_t i = 0; i < sizeof extents / sizeof *extents; i++) {
        for (int kind = 0; kind < KINDS; kind++) {
            kit_case c = kit_case_of(plan);
            if (kind == UNALIGNED && c.row->info.id != COLLET_OP_SCATTER_EULER)
                continue;
            kit_bind(&c, "MZYX", extents[i], 0, NULL, 0);
            c.kind = kind;
            c.data = kind_names[kind];
            kit_emit(plan, &c);
            if (kind == ORDINARY && (i == 2 || i == 6)) {
                kit_emit_layouts(plan, &c);
                kit_emit_sharing(plan, &c);
                kit_emit_parts(plan, &c);
            }
            if (c.row->info.id != COLLET_OP_SCATTER_POLARISATION)
                continue;
            kit_absent(&c, 4);
            kit_emit(plan, &c);
        }
    }
    kit_case c = kit_case_of(plan);
    kit_bind(&c, "MZYX", (const int64_t[]){2, 5, 63, 129}, 0, NULL, 0);
    c.big = true;
    kit_emit(plan, &c);
}

static void generate_fields(kit_case *c, kit_rng *rng)
{
    uint32_t inputs = c->row->info.n_in;
    for (uint32_t k = 1; k <= inputs; k++)
        if (c->operand[k].dtype != COLLET_DTYPE_NONE)
            scatter_normal(&c->operand[k], rng);
    if (c->row->info.id == COLLET_OP_SCATTER_EULER)
        for (uint32_t k = 1; k <= 2; k++)
            for (int64_t i = 0; i < c->operand[k].count; i++)
                kit_set(&c->operand[k], i,
                        k == 2 && c->kind == ALIGNED ? 1 : kit_uniform(rng, 0, 1));
    for (int64_t i = 0; c->kind == UNALIGNED && i < c->operand[1].count; i++) {
        if (kit_below(rng, 2))
            continue;
        kit_set(&c->operand[1 + kit_below(rng, 2)], i, 0);
        kit_set(&c->operand[3], i, kit_below(rng, 2) ? (real)NAN : (real)INFINITY);
        kit_set(&c->operand[4], i, (real)NAN);
    }
    kit_tensor *last = &c->operand[c->row->info.id == COLLET_OP_SCATTER_POLARISATION ? 1 : inputs];
    if (c->kind == A_NAN && last->count)
        kit_set(last, kit_below(rng, last->count), (real)NAN);
}

/* The seven fields of a voxel. */
static void judge_voxel(const kit_case *c, kit_verdict *v, int64_t i, int64_t voxels,
                        real unaligned, real aligned, const real product[5], real scale)
{
    const real ideal[7] = {unaligned,  aligned,    product[0], product[1],
                           product[2], product[3], product[4]};
    for (int f = 0; f < 7; f++)
        kit_near(c, v, 0, f * voxels + i, ideal[f], scale, scatter_limit(c));
}

static void judge_euler(const kit_case *c, kit_verdict *v)
{
    int64_t voxels = kit_in(c, 0)->count;
    for (int64_t i = 0; i < voxels; i++) {
        real volume = kit_get(kit_in(c, 0), i), phi = volume * kit_get(kit_in(c, 1), i);
        real theta = kit_get(kit_in(c, 2), i), psi = kit_get(kit_in(c, 3), i);
        real x = kit_sin(theta) * kit_cos(psi), y = kit_sin(theta) * kit_sin(psi);
        real z = kit_cos(theta);
        if (phi == 0)
            x = y = z = 0;
        const real product[5] = {phi * x * x, phi * x * y, phi * x * z, phi * y * y, phi * y * z};
        judge_voxel(c, v, i, voxels, volume - phi, phi, product, fabsl(volume) + fabsl(phi));
    }
}

static void judge_vector(const kit_case *c, kit_verdict *v)
{
    int64_t voxels = kit_in(c, 1)->count;
    for (int64_t i = 0; i < voxels; i++) {
        real x = kit_get(kit_in(c, 0), 3 * i), y = kit_get(kit_in(c, 0), 3 * i + 1);
        real z = kit_get(kit_in(c, 0), 3 * i + 2), phi = x * x + y * y + z * z;
        const real product[5] = {x * x, x * y, x * z, y * y, y * z};
        judge_voxel(c, v, i, voxels, kit_get(kit_in(c, 1), i), phi, product,
                    isnan(phi) ? phi : phi + fabsl(kit_get(kit_in(c, 1), i)));
    }
}

/* Adds the tensor of material m at voxel i times e to p, and the magnitudes of the terms to *scale.
 * */
static void add_material(const kit_case *c, int64_t m, int64_t i, int64_t voxels, const real e[3],
                         number p[3], real *scale)
{
    const kit_tensor *fields = kit_in(c, 0), *constants = kit_in(c, 1);
    real f[7];
    for (int k = 0; k < 7; k++)
        f[k] = kit_get(fields, (m * 7 + k) * voxels + i);
    const real s[3][3] = {{f[2], f[3], f[4]}, {f[3], f[5], f[6]}, {f[4], f[6], f[1] - f[2] - f[5]}};
    number n[3];
    for (int k = 0; k < 3; k++)
        n[k] = scatter_number(constants, 3 * m + k);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            number element = (a == b ? f[0] * n[0] + f[1] * n[1] : 0) + s[a][b] * n[2];
            p[a] += element * e[b];
            *scale += fabsl(e[b]) *
                      ((fabsl(f[0]) * cabsl(n[0]) + fabsl(f[1]) * cabsl(n[1])) +
                       (fabsl(f[1]) + fabsl(f[2]) + fabsl(f[5]) + fabsl(s[a][b])) * cabsl(n[2]));
        }
}

static void judge_polarisation(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *frame = kit_in(c, 3);
    int64_t voxels = c->operand[0].count / 3;
    real e[3];
    for (int a = 0; a < 3; a++)
        e[a] = kit_get(kit_in(c, 2), a);
    for (int64_t i = 0; i < voxels; i++) {
        number p[3] = {0};
        real scale = 0;
        for (int64_t m = 0; m < kit_in(c, 0)->shape[0]; m++)
            add_material(c, m, i, voxels, e, p, &scale);
        for (int a = 0; a < 3; a++) {
            number q = p[a];
            real of_row = 1;
            if (frame->dtype != COLLET_DTYPE_NONE) {
                q = of_row = 0;
                for (int b = 0; b < 3; b++) {
                    q += kit_get(frame, 3 * a + b) * p[b];
                    of_row += fabsl(kit_get(frame, 3 * a + b));
                }
            }
            scatter_near(c, v, a * voxels + i, q / (4 * acosl(-1)), of_row * scale / 12);
        }
    }
}

const kit_op kit_scatter_field_ops[] = {
    {COLLET_OP_SCATTER_EULER, plan_fields, generate_fields, judge_euler},
    {COLLET_OP_SCATTER_VECTOR, plan_fields, generate_fields, judge_vector},
    {COLLET_OP_SCATTER_POLARISATION, plan_fields, generate_fields, judge_polarisation},
    {0},
};
