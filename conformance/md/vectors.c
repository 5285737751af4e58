/* SPDX-License-Identifier: Apache-2.0 */
/* md: components and norms of vectors, derivatives in time, and the fit of a frame to a
 * reference.
 * Tests: tests/conformance/test_broken.c */
#include "md.h"

#include <math.h>

/* ---- decompose ----------------------------------------------------------------------------- */

enum { ANY, ZERO_AXES, LONG_AXES, SHORT_AXES, PARALLEL };
static const char *const part_kinds[] = {"", "some axes zero", "long axes", "short axes",
                                         "vectors along the axes"};

static void plan_decompose(kit_plan *plan)
{
    static const int64_t counts[] = {0, 1, 2, 3, 5, 9, 64, 1000};
    for (int kind = ANY; kind <= PARALLEL; kind++)
        for (int alternative = 0; alternative < 2; alternative++)
            for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
                kit_case c = kit_case_of(plan);
                kit_bind(&c, "F", &counts[i], 0, NULL, alternative);
                c.kind = kind;
                c.data = part_kinds[kind];
                kit_emit(plan, &c);
                if (counts[i] == 5 && kind == ANY)
                    kit_emit_layouts(plan, &c);
                if (counts[i] == 9 && kind == ANY) {
                    kit_emit_sharing(plan, &c);
                    kit_emit_parts(plan, &c);
                }
            }
}

static void generate_decompose(kit_case *c, kit_rng *rng)
{
    kit_tensor *vectors = &c->operand[2], *axes = &c->operand[3];
    double size = c->kind == LONG_AXES ? 1e300 : c->kind == SHORT_AXES ? 1e-310 : 1;
    md_generate_normal(vectors, rng);
    for (int64_t i = 0; i < axes->count; i++)
        kit_set(axes, i, size * kit_normal(rng));
    for (int64_t i = 0; i < axes->count && c->kind == ZERO_AXES; i++)
        if (i / 3 % 2 == 0)
            kit_set(axes, i, 0);
    for (int64_t i = 0; i < vectors->count && c->kind == PARALLEL; i++)
        kit_set(vectors, i, 2 * kit_get(axes, i % axes->count));
}

static void judge_decompose(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *axes = kit_in(c, 1);
    for (int64_t f = 0; f < c->operand[0].shape[0]; f++) {
        real x[3], a[3], along = 0;
        md_row(kit_in(c, 0), f, x);
        md_row(axes, axes->ndim == 1 ? 0 : f, a);
        real length = kit_norm(a);
        for (int k = 0; k < 3; k++)
            a[k] = length > 0 ? a[k] / length : 0;
        along = kit_dot(x, a);
        for (int k = 0; k < 3; k++) {
            kit_near(c, v, 0, 3 * f + k, along * a[k], kit_norm(x), md_limit(c, "value"));
            kit_near(c, v, 1, 3 * f + k, x[k] - along * a[k], kit_norm(x), md_limit(c, "value"));
        }
    }
}

/* ---- magnitude ----------------------------------------------------------------------------- */

enum { MODEST, HUGE, TINY, DENORMAL, SPECIAL };
static const char *const size_kinds[] = {"", "whose squares overflow", "whose squares underflow",
                                         "denormal", "special values"};

static kit_case vectors_of(const kit_plan *plan, int32_t dot_axes, const int64_t *dots, int64_t k,
                           int kind)
{
    kit_case c = kit_case_of(plan);
    kit_bind(&c, "K", &k, dot_axes, dots, 0);
    c.kind = kind;
    c.data = size_kinds[kind];
    return c;
}

static void plan_magnitude(kit_plan *plan)
{
    static const int64_t lengths[] = {0, 1, 2, 3, 4, 7, 17, 64};
    static const int64_t counts[] = {0, 1, 2, 5, 33, 1000}, plane[] = {3, 4}, cube[] = {2, 3, 4};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (int kind = MODEST; kind <= SPECIAL; kind++) {
            for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
                kit_case c = vectors_of(plan, 1, &counts[i], lengths[l], kind);
                kit_emit(plan, &c);
            }
            kit_case c = vectors_of(plan, 0, NULL, lengths[l], kind);
            kit_emit(plan, &c);
        }
    kit_case c = vectors_of(plan, 1, &counts[3], 3, MODEST);
    kit_emit_layouts(plan, &c);
    kit_emit_parts(plan, &c);
    kit_emit_sharing(plan, &c);
    c = vectors_of(plan, 2, plane, 5, MODEST);
    kit_emit_layouts(plan, &c);
    kit_emit_parts(plan, &c);
    c = vectors_of(plan, 3, cube, 3, MODEST);
    kit_emit_layouts(plan, &c);
    for (int kind = MODEST; kind <= SPECIAL; kind++) {
        c = vectors_of(plan, 1, &counts[3], 700, kind);
        kit_emit(plan, &c);
        c.layout[0] = c.layout[1] = KIT_MIXED;
        kit_emit(plan, &c);
    }
    c = vectors_of(plan, 1, &(int64_t){200000}, 3, MODEST);
    c.big = true;
    kit_emit(plan, &c);
}

static void generate_magnitude(kit_case *c, kit_rng *rng)
{
    static const int exponents[2][4] = {{0, 120, -140, -147}, {0, 1010, -1000, -1070}};
    kit_tensor *t = &c->operand[1];
    md_generate_normal(t, rng);
    for (int64_t i = 0; i < t->count; i++) {
        int exponent = c->kind == SPECIAL ? 0 : exponents[t->dtype == COLLET_F64][c->kind];
        kit_set(t, i, ldexpl(kit_get(t, i), exponent));
        if (c->kind == SPECIAL && kit_below(rng, 6) == 0)
            kit_set(t, i, kit_next(rng) & 1 ? -(real)INFINITY : -(real)0.0);
        if (c->kind == SPECIAL && kit_below(rng, 4 * t->shape[t->ndim - 1]) == 0)
            kit_set(t, i, (real)NAN);
    }
}

static void judge_magnitude(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *in = kit_in(c, 0);
    int64_t length = in->shape[in->ndim - 1];
    for (int64_t i = 0; i < c->operand[0].count; i++) {
        /* Squares of doubles do not overflow in long double. */
        real sum = 0;
        for (int64_t k = 0; k < length; k++)
            sum += kit_get(in, i * length + k) * kit_get(in, i * length + k);
        kit_within_ulp(c, v, 0, i, sqrtl(sum), md_limit(c, "value"));
    }
}

/* ---- time_derivative ----------------------------------------------------------------------- */

enum { EVEN, UNEVEN, STOPPED, STOPPED_LATE };
static const char *const time_kinds[] = {"even steps", "uneven steps", "equal times",
                                         "equal times near the end"};

static void plan_time_derivative(kit_plan *plan)
{
    /* Frames and bodies; 0 bodies: no axis of bodies. */
    static const int64_t counts[][2] = {{0, 0}, {1, 0}, {2, 0},  {3, 0},    {4, 0},
                                        {5, 0}, {9, 0}, {64, 0}, {1000, 0}, {1, 3},
                                        {2, 1}, {5, 4}, {9, 2},  {3, 500}};
    for (int kind = EVEN; kind <= STOPPED_LATE; kind++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            kit_case c = kit_case_of(plan);
            kit_bind(&c, "FB", counts[i], 0, NULL, counts[i][1] > 0);
            c.kind = kind;
            c.data = time_kinds[kind];
            kit_emit(plan, &c);
            if (counts[i][0] == 5)
                kit_emit_layouts(plan, &c);
            if (counts[i][0] == 9)
                kit_emit_sharing(plan, &c);
        }
}

static void generate_time_derivative(kit_case *c, kit_rng *rng)
{
    kit_tensor *x = &c->operand[2], *t = &c->operand[3];
    md_generate_normal(x, rng);
    double now = 100;
    int64_t stop = t->count > 1 ? 1 + kit_below(rng, t->count - 1) : 0;
    if (c->kind == STOPPED_LATE)
        stop = t->count - 1;
    for (int64_t i = 0; i < t->count; i++) {
        kit_set(t, i, now);
        now += c->kind == UNEVEN ? kit_uniform(rng, 0.01, 2) : 0.5;
        /* Makes two times equal: a central difference, or a one-sided difference at an end, subtracts them. */
        if (c->kind >= STOPPED && (i == stop - 1 || i == stop))
            now -= 0.5;
    }
}

static void judge_time_derivative(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *x = kit_in(c, 0), *t = kit_in(c, 1);
    int64_t frames = t->count, first_equal = 0, a_frame = frames ? x->count / frames : 0;
    for (int64_t f = 0; f < frames; f++) {
        int64_t before = f > 0 ? f - 1 : 0, behind = f + 1 < frames ? f + 1 : f;
        real step = kit_get(t, behind) - kit_get(t, before);
        if (frames > 1 && step == 0 && first_equal == 0)
            first_equal = f + 1;
        for (int64_t k = 0; k < a_frame; k++) {
            real a = kit_get(x, a_frame * before + k), b = kit_get(x, a_frame * behind + k);
            real ideal = frames == 1 ? 0 : step == 0 ? (real)NAN : (b - a) / step;
            kit_near(c, v, 0, a_frame * f + k, ideal, (fabsl(a) + fabsl(b)) / fabsl(step),
                     md_limit(c, "value"));
        }
    }
    kit_near(c, v, 1, 0, (real)first_equal, 1, md_limit(c, "info"));
}

/* ---- rmsd ---------------------------------------------------------------------------------- */

enum { OTHER_MOLECULE = MD_KINDS, MIRRORED, SAME_MOLECULE };

static void plan_rmsd(kit_plan *plan)
{
    static const int64_t atoms[] = {1, 2, 3, 5, 64};
    md_plan_atoms(plan);
    md_plan_atoms_without(plan, 1u << 3);
    for (int kind = OTHER_MOLECULE; kind <= SAME_MOLECULE; kind++)
        for (size_t i = 0; i < sizeof atoms / sizeof *atoms; i++) {
            kit_case c = md_case(plan, 4, atoms[i], MD_RANDOM);
            c.kind = kind;
            c.data = kind == OTHER_MOLECULE ? "unlike the reference"
                     : kind == MIRRORED     ? "mirror images of the reference"
                                            : "the reference, rotated and moved";
            kit_emit(plan, &c);
        }
}

/* The reference rotated, moved and slightly perturbed. */
static void generate_rmsd(kit_case *c, kit_rng *rng)
{
    kit_tensor *positions = &c->operand[2], *reference = &c->operand[4];
    int64_t atoms = positions->shape[1];
    double shake = c->kind >= MIRRORED ? 0 : 0.05;
    md_generate_atoms(c, rng);
    for (int64_t i = 0; i < reference->count; i++) {
        bool alike = c->kind != MD_RANDOM && c->kind != MD_GHOSTS && positions->count > 0;
        real value = alike ? kit_get(positions, i) : kit_normal(rng);
        kit_set(reference, i, isfinite(value) ? value : 0);
    }
    if (c->kind != MD_RANDOM && c->kind != MD_GHOSTS && c->kind < MIRRORED)
        return;
    for (int64_t f = 0; f < positions->shape[0]; f++) {
        double r[9], move[3] = {kit_normal(rng), kit_normal(rng), kit_normal(rng)};
        kit_rotation(rng, r);
        for (int64_t i = 0; i < atoms; i++)
            for (int64_t k = 0; k < 3; k++) {
                real value = (real)move[k];
                for (int64_t j = 0; j < 3; j++) {
                    real entry = (real)r[3 * k + j] * kit_get(reference, 3 * i + j);
                    value += c->kind == MIRRORED && j == 0 ? -entry : entry;
                }
                kit_set(positions, (f * atoms + i) * 3 + k,
                        value + (real)(shake * kit_normal(rng)));
            }
    }
}

/* A body and its part of the reference relative to their centres. */
typedef struct fit {
    const kit_case *c;
    md_part part;
    real mass, com[3], reference_com[3], size; /* sum w (x.x + y.y) */
    real covariance[9];                        /* sum w x_i y_j */
} fit;

static real weight_of(const fit *p, int64_t i)
{
    return md_mass(kit_in(p->c, 1), &p->part, p->part.first + i);
}

static void pair_of(const fit *p, int64_t i, real x[3], real y[3])
{
    const kit_tensor *positions = kit_in(p->c, 0);
    md_row(positions, p->part.frame * positions->shape[1] + p->part.first + i, x);
    md_row(kit_in(p->c, 2), p->part.first + i, y);
    for (int k = 0; k < 3; k++) {
        x[k] -= p->com[k];
        y[k] -= p->reference_com[k];
    }
}

static fit fit_of(const kit_case *c, int64_t row)
{
    fit p = {.c = c, .part = md_part_of(c, row)};
    real x[3], y[3], sums[2][3] = {{0}};
    for (int64_t i = 0; i < p.part.atoms; i++) {
        pair_of(&p, i, x, y);
        p.mass += weight_of(&p, i);
        for (int k = 0; k < 3; k++) {
            sums[0][k] += weight_of(&p, i) * x[k];
            sums[1][k] += weight_of(&p, i) * y[k];
        }
    }
    for (int k = 0; k < 3; k++) {
        p.com[k] = sums[0][k] / p.mass;
        p.reference_com[k] = sums[1][k] / p.mass;
    }
    for (int64_t i = 0; i < p.part.atoms; i++) {
        real w = weight_of(&p, i);
        pair_of(&p, i, x, y);
        p.size += w * (kit_dot(x, x) + kit_dot(y, y));
        for (int k = 0; k < 9; k++)
            p.covariance[k] += w * x[k / 3] * y[k % 3];
    }
    return p;
}

/* sum w |R x - y|^2. */
static real residual(const fit *p, const real rotation[9])
{
    real sum = 0;
    for (int64_t i = 0; i < p->part.atoms; i++) {
        real x[3], y[3], rotated[3];
        pair_of(p, i, x, y);
        kit_apply(rotation, x, rotated);
        for (int k = 0; k < 3; k++)
            rotated[k] -= y[k];
        sum += weight_of(p, i) * kit_dot(rotated, rotated);
    }
    return sum;
}

/* The best rotation as a unit quaternion (B. K. P. Horn, J. Opt. Soc. Am. A 4, 629, 1987). */
static void best_rotation(const real s[9], real r[9])
{
    real n[16] = {s[0] + s[4] + s[8], s[5] - s[7],        s[6] - s[2],        s[1] - s[3],
                  s[5] - s[7],        s[0] - s[4] - s[8], s[1] + s[3],        s[2] + s[6],
                  s[6] - s[2],        s[1] + s[3],        s[4] - s[0] - s[8], s[5] + s[7],
                  s[1] - s[3],        s[2] + s[6],        s[5] + s[7],        s[8] - s[0] - s[4]};
    real values[4], vectors[16];
    kit_eigen(4, n, values, vectors);
    real w = vectors[3], x = vectors[7], y = vectors[11], z = vectors[15];
    real rotation[9] = {w * w + x * x - y * y - z * z, 2 * (x * y - w * z),
                        2 * (x * z + w * y),           2 * (x * y + w * z),
                        w * w - x * x + y * y - z * z, 2 * (y * z - w * x),
                        2 * (x * z - w * y),           2 * (y * z + w * x),
                        w * w - x * x - y * y + z * z};
    for (int i = 0; i < 9; i++)
        r[i] = rotation[i];
}

static void judge_fit(const kit_case *c, kit_verdict *v, const fit *p)
{
    real best[9], got[9], rmsd = kit_get(&c->operand[0], p->part.row);
    for (int64_t i = 0; i < 9; i++)
        got[i] = kit_get(&c->operand[1], 9 * p->part.row + i);
    if (kit_exceeds(v, md_limit(c, "rotation"),
                    (double)fmaxl(kit_unorthogonal(got), fabsl(kit_determinant(got) - 1))))
        kit_fail(v,
                 "row %lld: the matrix is not a proper rotation: off by %Lg from orthogonal, "
                 "determinant %Lg",
                 (long long)p->part.row, kit_unorthogonal(got), kit_determinant(got));
    best_rotation(p->covariance, best);
    real minimum = residual(p, best), left = residual(p, got);
    /* Rounding error of centres in f64. */
    real noise = 8 * MD_UNIT * (kit_norm(p->com) + kit_norm(p->reference_com));
    real scale = p->size + p->mass * noise * noise / (real)md_limit(c, "optimality")->limit;
    if (kit_exceeds(v, md_limit(c, "optimality"),
                    scale > 0 ? (double)((left - minimum) / scale) : 0))
        kit_fail(v, "row %lld: the rotation leaves sum w |R x - y|^2 = %Lg, the best one %Lg",
                 (long long)p->part.row, left, minimum);
    real error = fabsl(rmsd * rmsd * p->mass - minimum);
    bool wrong = kit_exceeds(v, md_limit(c, "value"), error > 0 ? (double)(error / scale) : 0);
    if (wrong || rmsd < 0)
        kit_fail(v, "row %lld: rmsd is %.17Lg, expected %.17Lg", (long long)p->part.row, rmsd,
                 sqrtl(minimum / p->mass));
    for (int64_t k = 0; k < 9 && p->part.atoms == 1; k++) /* all rotations are the best */
        kit_near(c, v, 1, 9 * p->part.row + k, k % 4 == 0, 1, md_limit(c, "rotation"));
}

static void judge_rmsd(const kit_case *c, kit_verdict *v)
{
    for (int64_t f = 0; f < md_rows(c); f++) {
        fit p = fit_of(c, f);
        if (p.mass == 0 || !isfinite(p.size))
            kit_near(c, v, 0, f, (real)NAN, 1, md_limit(c, "value"));
        else
            judge_fit(c, v, &p);
        for (int64_t k = 0; k < 9 && p.mass == 0; k++)
            kit_near(c, v, 1, 9 * f + k, (real)NAN, 1, md_limit(c, "rotation"));
    }
}

const kit_op kit_md_vector_ops[] = {
    {COLLET_OP_DECOMPOSE, plan_decompose, generate_decompose, judge_decompose},
    {COLLET_OP_MAGNITUDE, plan_magnitude, generate_magnitude, judge_magnitude},
    {COLLET_OP_TIME_DERIVATIVE, plan_time_derivative, generate_time_derivative,
     judge_time_derivative},
    {COLLET_OP_RMSD, plan_rmsd, generate_rmsd, judge_rmsd},
    {0},
};
