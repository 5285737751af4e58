/* SPDX-License-Identifier: Apache-2.0 */
/* md: ops on matrices, vectors and times of frames, and ops that fit frames.
 * Tests: tests/conformance/test_broken.c */
#include "md.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void matrix_at(const kit_tensor *t, int64_t f, real m[9])
{
    for (int64_t i = 0; i < 9; i++)
        m[i] = kit_get(t, 9 * f + i);
}

/* Emits a case for each number of frames; for some also layouts, sharing and parts. */
static void plan_frames(kit_plan *plan, int kind, const char *data, int alternative,
                        uint32_t absent)
{
    static const int64_t counts[] = {0, 1, 2, 3, 5, 8, 17, 64, 1000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        kit_case c = kit_case_of(plan);
        kit_bind(&c, "F", &counts[i], 0, NULL, alternative);
        c.kind = kind;
        c.data = data;
        for (uint32_t k = 0; k < plan->row->operands; k++) {
            c.layout[k] = i % 2 ? KIT_UNALIGNED : KIT_DENSE;
            if (absent >> k & 1)
                kit_absent(&c, k);
        }
        kit_emit(plan, &c);
        if (counts[i] == 5 && kind == 0)
            kit_emit_layouts(plan, &c);
        if (counts[i] == 3 || counts[i] == 8)
            kit_emit_sharing(plan, &c);
        if (counts[i] == 17)
            kit_emit_parts(plan, &c);
    }
}

/* ---- principal_axes ------------------------------------------------------------------------ */

enum { SMOOTH, UNRELATED, TWO_EQUAL, ALL_EQUAL, ZERO, CLOSE, HUGE, TINY, POISONED, AXIS_KINDS };
static const char *const axis_kinds[AXIS_KINDS] = {
    "slowly rotating",
    "unrelated frames",
    "two equal moments",
    "three equal moments",
    "zero",
    "two moments 1e-9 apart",
    "times 1e100",
    "times 1e-100",
    "NaN in the middle frame",
};

static void plan_principal_axes(kit_plan *plan)
{
    static const int64_t bodies[][2] = {{0, 2}, {1, 3}, {3, 1}, {5, 4}, {17, 3}, {2, 70}, {300, 2}};
    for (int kind = SMOOTH; kind < AXIS_KINDS; kind++) {
        plan_frames(plan, kind, axis_kinds[kind], 0, 0);
        plan_frames(plan, kind, axis_kinds[kind], 0, 1u << 3);
        for (size_t i = 0; i < 2 * (sizeof bodies / sizeof *bodies); i++) {
            kit_case c = kit_case_of(plan);
            kit_bind(&c, "FB", bodies[i / 2], 0, NULL, 1);
            c.kind = kind;
            c.data = axis_kinds[kind];
            if (i % 2)
                kit_absent(&c, 3);
            kit_emit(plan, &c);
            if (bodies[i / 2][0] == 5 && kind == SMOOTH)
                kit_emit_layouts(plan, &c);
        }
    }
}

/* t[f] = rotation diag(moments) rotation^T, exactly symmetric. */
static void put_matrix(kit_tensor *t, int64_t f, const double rotation[9], const double moments[3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++) {
            real entry = 0;
            for (int k = 0; k < 3; k++)
                entry += (real)rotation[3 * i + k] * rotation[3 * j + k] * moments[k];
            kit_set(t, 9 * f + 3 * i + j, entry);
            kit_set(t, 9 * f + 3 * j + i, entry);
        }
}

static void moments_of(int kind, double moments[3])
{
    static const double table[AXIS_KINDS][3] = {
        [SMOOTH] = {1, 2.5, 4},
        [UNRELATED] = {1, 2, 7},
        [TWO_EQUAL] = {1, 3, 3},
        [ALL_EQUAL] = {2, 2, 2},
        [ZERO] = {0, 0, 0},
        [CLOSE] = {1, 1 + 1e-9, 2},
        [HUGE] = {1e100, 2e100, 5e100},
        [TINY] = {1e-100, 2e-100, 5e-100},
        [POISONED] = {1, 2, 4},
    };
    memcpy(moments, table[kind], 3 * sizeof *moments);
}

/* product = a b */
static void multiply(const double a[9], const double b[9], double product[9])
{
    for (int i = 0; i < 9; i++)
        product[i] = a[i / 3 * 3] * b[i % 3] + a[i / 3 * 3 + 1] * b[3 + i % 3] +
                     a[i / 3 * 3 + 2] * b[6 + i % 3];
}

/* The number of bodies in a frame of a principal_axes case. */
static int64_t bodies_of(const kit_case *c)
{
    return c->operand[0].ndim == 3 ? c->operand[0].shape[1] : 1;
}

/* Body `body` in all frames, and in `previous`. */
static void generate_turning(kit_case *c, kit_rng *rng, int64_t body)
{
    kit_tensor *inertia = &c->operand[2], *previous = &c->operand[3];
    double start[9], moments[3], axis[3] = {0.3, -0.8, 0.5}, step[9], rotation[9];
    int64_t frames = inertia->shape[0], bodies = bodies_of(c);
    kit_rotation(rng, start);
    moments_of(c->kind, moments);
    for (int64_t f = 0; f < frames; f++) {
        kit_rotation_about(axis, 0.07 * (double)f, step);
        multiply(step, start, rotation);
        if (c->kind == UNRELATED)
            kit_rotation(rng, rotation);
        put_matrix(inertia, f * bodies + body, rotation, moments);
    }
    if (c->kind == POISONED && frames > 0 && body == 0)
        kit_set(inertia, frames / 2 * bodies * 9 + 4, (real)NAN);
    /* The previous frame slightly rotated, with two columns negated. */
    kit_rotation_about(axis, -0.07, step);
    multiply(step, start, rotation);
    for (int i = 0; i < 9 && previous->dtype != COLLET_DTYPE_NONE; i++)
        kit_set(previous, 9 * body + i, i % 3 == 1 ? rotation[i] : -rotation[i]);
}

static void generate_principal_axes(kit_case *c, kit_rng *rng)
{
    for (int64_t body = 0; body < bodies_of(c); body++)
        generate_turning(c, rng, body);
}

static void column(const real m[9], int k, real out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = m[3 * i + k];
}

/* The largest component of the first two columns must be positive, except in ties. */
static void judge_first_signs(const kit_case *c, kit_verdict *v, const real axes[9])
{
    for (int k = 0; k < 2; k++) {
        real a[3], largest = 0, second = 0;
        column(axes, k, a);
        for (int i = 0; i < 3; i++) {
            if (fabsl(a[i]) > fabsl(largest)) {
                second = largest;
                largest = a[i];
            } else if (fabsl(a[i]) > fabsl(second)) {
                second = a[i];
            }
        }
        bool wrong = largest < 0 && fabsl(second) < fabsl(largest) - 1e-6L;
        if (kit_exceeds(v, md_limit(c, "signs"), wrong))
            kit_fail(v,
                     "the largest component of column %d of the first frame's axes is %Lg, "
                     "not positive",
                     k, largest);
    }
}

/* Axes must not flip between close frames. */
static void judge_continuity(const kit_case *c, kit_verdict *v, int64_t f, const real before[9],
                             const real axes[9])
{
    real cosine[3];
    for (int k = 0; k < 3; k++) {
        real a[3], b[3];
        column(before, k, a);
        column(axes, k, b);
        cosine[k] = kit_dot(a, b);
        if (!(fabsl(cosine[k]) > 0.9L))
            return;
    }
    for (int k = 0; k < 3; k++)
        if (kit_exceeds(v, md_limit(c, "signs"), cosine[k] < 0))
            kit_fail(v,
                     "column %d of the axes of row %lld flipped: its dot product with the "
                     "previous frame is %Lg",
                     k, (long long)f, cosine[k]);
}

static void judge_axes(const kit_case *c, kit_verdict *v, int64_t f, const real a[9],
                       const real axes[9])
{
    real norm = 0, worst = 0, moments[3];
    md_row(&c->operand[0], f, moments);
    for (int i = 0; i < 9; i++)
        norm += a[i] * a[i];
    norm = sqrtl(norm);
    for (int k = 0; k < 3; k++) {
        real direction[3], image[3];
        column(axes, k, direction);
        kit_apply(a, direction, image);
        for (int i = 0; i < 3; i++)
            image[i] -= moments[k] * direction[i];
        worst = kit_norm(image) > worst || isnan(image[0]) ? kit_norm(image) : worst;
    }
    if (kit_exceeds(v, md_limit(c, "residual"), norm == 0 ? (double)worst : (double)(worst / norm)))
        kit_fail(v, "row %lld: ||A v - l v|| is %Lg for a matrix of norm %Lg", (long long)f, worst,
                 norm);
    if (kit_exceeds(v, md_limit(c, "orthogonality"), (double)kit_unorthogonal(axes)))
        kit_fail(v, "row %lld: the axes are not orthonormal, off by %Lg", (long long)f,
                 kit_unorthogonal(axes));
    if (kit_exceeds(v, md_limit(c, "orthogonality"), (double)fabsl(kit_determinant(axes) - 1)))
        kit_fail(v, "row %lld: the determinant of the axes is %Lg, not 1", (long long)f,
                 kit_determinant(axes));
    bool ascending = moments[0] <= moments[1] && moments[1] <= moments[2];
    if (kit_exceeds(v, md_limit(c, "order"), !ascending))
        kit_fail(v, "row %lld: the moments %Lg, %Lg, %Lg are not ascending", (long long)f,
                 moments[0], moments[1], moments[2]);
}

static void judge_turning(const kit_case *c, kit_verdict *v, int64_t body)
{
    const kit_tensor *previous = kit_in(c, 1);
    bool known = previous->dtype != COLLET_DTYPE_NONE;
    int64_t bodies = bodies_of(c);
    real before[9];
    if (known)
        matrix_at(previous, body, before);
    for (int64_t f = 0; f < c->operand[0].shape[0]; f++) {
        real a[9], axes[9], trace = 0;
        int64_t row = f * bodies + body;
        matrix_at(kit_in(c, 0), row, a);
        matrix_at(&c->operand[1], row, axes);
        for (int i = 0; i < 9; i++)
            trace += a[i];
        if (!isfinite(trace)) {
            for (int64_t k = 0; k < 12; k++)
                kit_near(c, v, k >= 3, k < 3 ? 3 * row + k : 9 * row + k - 3, (real)NAN, 1,
                         md_limit(c, "residual"));
            known = false;
            continue;
        }
        judge_axes(c, v, row, a, axes);
        for (int64_t k = 0; k < 9 && c->kind == ZERO; k++)
            kit_near(c, v, 1, 9 * row + k, k % 4 ? 0 : axes[k] < 0 ? -1 : 1, 1,
                     md_limit(c, "orthogonality"));
        if (known)
            judge_continuity(c, v, row, before, axes);
        else
            judge_first_signs(c, v, axes);
        memcpy(before, axes, sizeof before);
        known = true;
    }
}

static void judge_principal_axes(const kit_case *c, kit_verdict *v)
{
    for (int64_t body = 0; body < bodies_of(c); body++)
        judge_turning(c, v, body);
}

/* ---- euler_zyz, tilt ----------------------------------------------------------------------- */

enum { ANY, GIMBAL, ALMOST_GIMBAL, ROUNDED };
static const char *const euler_kinds[] = {"", "theta = 0 or pi", "theta almost 0",
                                          "cosine rounded beyond 1"};

static void plan_euler(kit_plan *plan)
{
    for (int kind = ANY; kind <= ROUNDED; kind++)
        plan_frames(plan, kind, euler_kinds[kind], 0, 0);
}

static void generate_rotations(kit_case *c, kit_rng *rng)
{
    static const double up[3] = {0, 0, 1}, across[3] = {1, 1, 0};
    kit_tensor *t = &c->operand[1];
    for (int64_t f = 0; f < t->count / 9; f++) {
        double r[9], s[9];
        kit_rotation(rng, r);
        if (c->kind != ANY)
            kit_rotation_about(up, kit_uniform(rng, -3, 3), r);
        if (c->kind == ALMOST_GIMBAL) {
            kit_rotation_about(across, 1e-6, s);
            for (int i = 0; i < 9; i++)
                kit_set(t, 9 * f + i,
                        r[i / 3 * 3] * s[i % 3] + r[i / 3 * 3 + 1] * s[3 + i % 3] +
                            r[i / 3 * 3 + 2] * s[6 + i % 3]);
            continue;
        }
        /* A rotation by pi about x: theta is pi. */
        for (int i = 0; i < 9 && c->kind == GIMBAL && f % 2; i++)
            if (i % 3 > 0)
                r[i] = -r[i];
        for (int i = 0; i < 9; i++)
            kit_set(t, 9 * f + i, r[i] == 0 ? 0 : r[i]);
        if (c->kind == ROUNDED)
            kit_set(t, 9 * f + 8, 1 + 2 * MD_UNIT);
    }
}

/* If theta is 0 or pi, only phi + psi or phi - psi is defined, so the rotation is compared; psi is 0. */
static void judge_rebuilt(const kit_case *c, kit_verdict *v, int64_t f, const real r[9])
{
    real angle[3], worst = 0;
    md_row(&c->operand[0], f, angle);
    real ca = kit_cos(angle[0]), sa = kit_sin(angle[0]);
    real cb = kit_cos(angle[1]), sb = kit_sin(angle[1]);
    real cc = kit_cos(angle[2]), sc = kit_sin(angle[2]);
    real built[9] = {ca * cb * cc - sa * sc,
                     -ca * cb * sc - sa * cc,
                     ca * sb,
                     sa * cb * cc + ca * sc,
                     -sa * cb * sc + ca * cc,
                     sa * sb,
                     -sb * cc,
                     sb * sc,
                     cb};
    for (int i = 0; i < 9; i++)
        worst = fabsl(built[i] - r[i]) <= worst ? worst : fabsl(built[i] - r[i]);
    if (kit_exceeds(v, md_limit(c, "rotation"), (double)worst))
        kit_fail(v, "frame %lld: the rotation of the angles %Lg, %Lg, %Lg is off by %Lg",
                 (long long)f, angle[0], angle[1], angle[2], worst);
    kit_near(c, v, 0, 3 * f + 2, 0, 1, md_limit(c, "rotation"));
}

static void judge_euler(const kit_case *c, kit_verdict *v)
{
    const kit_limit *limit = md_limit(c, "value");
    for (int64_t f = 0; f < c->operand[0].shape[0]; f++) {
        real r[9];
        matrix_at(kit_in(c, 0), f, r);
        kit_within_ulp(c, v, 0, 3 * f + 1, kit_acos(fmaxl(-1, fminl(1, r[8]))), limit);
        if (r[2] * r[2] + r[5] * r[5] == 0 || r[6] * r[6] + r[7] * r[7] == 0) {
            judge_rebuilt(c, v, f, r);
            continue;
        }
        kit_within_ulp(c, v, 0, 3 * f, kit_atan2(r[5], r[2]), limit);
        kit_within_ulp(c, v, 0, 3 * f + 2, kit_atan2(r[7], -r[6]), limit);
    }
}

enum { SOME_AXIS, ALONG, ACROSS, LONG_AXIS, SHORT_AXIS, NO_AXIS };
static const char *const tilt_kinds[] = {"", "almost parallel", "almost perpendicular",
                                         "a long axis", "a short axis", "a zero axis"};

static void plan_tilt(kit_plan *plan)
{
    for (int kind = SOME_AXIS; kind <= NO_AXIS; kind++)
        plan_frames(plan, kind, tilt_kinds[kind], 0, 0);
}

static void generate_tilt(kit_case *c, kit_rng *rng)
{
    kit_tensor *axes = &c->operand[1], *axis = &c->operand[2];
    static const double sizes[] = {1, 1, 1, 1e300, 1e-300, 0};
    double size = sizes[c->kind], first[9];
    kit_rotation(rng, first);
    for (int64_t f = 0; f < axes->count / 9; f++) {
        double r[9];
        kit_rotation(rng, r);
        if (f == 0 || c->kind == ALONG || c->kind == ACROSS)
            memcpy(r, first, sizeof r);
        for (int i = 0; i < 9; i++)
            kit_set(axes, 9 * f + i, r[i]);
    }
    for (int i = 0; i < 3; i++) {
        double entry = kit_normal(rng);
        if (c->kind == ALONG)
            entry = 3 * first[3 * i] + 1e-9 * entry;
        else if (c->kind == ACROSS)
            entry = 3 * first[3 * i + 1] + 1e-9 * entry;
        kit_set(axis, i, entry * size);
    }
}

static void judge_tilt(const kit_case *c, kit_verdict *v)
{
    real axis[3], pi = 4 * atanl(1);
    md_row(kit_in(c, 1), 0, axis);
    for (int64_t f = 0; f < c->operand[0].count; f++) {
        real r[9], a[3], b[3], normal[3];
        matrix_at(kit_in(c, 0), f, r);
        column(r, 0, a);
        for (int i = 0; i < 3; i++)
            b[i] = axis[i] / kit_norm(axis);
        kit_cross(a, b, normal);
        real angle = kit_atan2(fabsl(kit_dot(a, b)), kit_norm(normal)) * 180 / pi;
        kit_near(c, v, 0, f, angle, 90, md_limit(c, "value"));
    }
}

/* ---- angular_velocity ---------------------------------------------------------------------- */

enum { REGULAR, ONE_ZERO, TWO_ZERO, ALL_ZERO, STEEP, DISTANT_SCALE, NOT_FINITE };
static const char *const spin_kinds[] = {
    "", "one moment zero", "two moments zero", "inertia zero", "moments 1e6 apart", "times 1e80",
    "not finite in two of three frames"};

static void plan_angular_velocity(kit_plan *plan)
{
    for (int kind = REGULAR; kind <= NOT_FINITE; kind++)
        plan_frames(plan, kind, spin_kinds[kind], 0, 0);
}

static void generate_angular_velocity(kit_case *c, kit_rng *rng)
{
    static const double moments[][3] = {
        [REGULAR] = {1, 2, 4},  [ONE_ZERO] = {0, 2, 2.5}, [TWO_ZERO] = {0, 0, 3},
        [ALL_ZERO] = {0, 0, 0}, [STEEP] = {1e-6, 0.5, 1}, [DISTANT_SCALE] = {1e80, 2e80, 4e80},
        [NOT_FINITE] = {1, 2, 4}};
    kit_tensor *inertia = &c->operand[2], *L = &c->operand[3];
    for (int64_t f = 0; f < inertia->count / 9; f++) {
        double r[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0};
        if (f % 3)
            kit_rotation(rng, r);
        put_matrix(inertia, f, r, moments[c->kind]);
    }
    md_generate_normal(L, rng);
    for (int64_t f = 0; f < inertia->count / 9 && c->kind == NOT_FINITE; f++)
        if (f % 3 < 2)
            kit_set(f % 3 ? L : inertia, f % 3 ? 3 * f + 1 : 9 * f + 4, f % 3 ? INFINITY : NAN);
}

static void judge_angular_velocity(const kit_case *c, kit_verdict *v)
{
    for (int64_t f = 0; f < c->operand[1].count; f++) {
        real m[9], L[3], ideal[3], got[3], image[3], smallest, size = 0;
        matrix_at(kit_in(c, 0), f, m);
        md_row(kit_in(c, 1), f, L);
        md_row(&c->operand[0], f, got);
        for (int i = 0; i < 9; i++)
            size += m[i] * m[i];
        if (!isfinite(size + kit_norm(L))) {
            for (int k = 0; k < 3; k++)
                kit_near(c, v, 0, 3 * f + k, (real)NAN, 1, md_limit(c, "residual"));
            kit_near(c, v, 1, f, 0, 1, md_limit(c, "info"));
            continue;
        }
        int zeros = kit_solve(m, L, ideal, &smallest);
        kit_near(c, v, 1, f, zeros > 0, 1, md_limit(c, "info"));
        if (zeros > 0) {
            for (int k = 0; k < 3; k++)
                kit_near(c, v, 0, 3 * f + k, ideal[k], smallest > 0 ? kit_norm(L) / smallest : 0,
                         md_limit(c, "minimum norm"));
            continue;
        }
        kit_apply(m, got, image);
        for (int k = 0; k < 3; k++)
            image[k] -= L[k];
        real error = kit_norm(image) / (sqrtl(size) * kit_norm(got) + kit_norm(L));
        if (kit_exceeds(v, md_limit(c, "residual"), (double)error))
            kit_fail(v, "frame %lld: |I omega - L| is %Lg of |I| |omega| + |L|", (long long)f,
                     error);
    }
}

const kit_op kit_md_axes_ops[] = {
    {COLLET_OP_PRINCIPAL_AXES, plan_principal_axes, generate_principal_axes, judge_principal_axes},
    {COLLET_OP_EULER_ZYZ, plan_euler, generate_rotations, judge_euler},
    {COLLET_OP_TILT, plan_tilt, generate_tilt, judge_tilt},
    {COLLET_OP_ANGULAR_VELOCITY, plan_angular_velocity, generate_angular_velocity,
     judge_angular_velocity},
    {0},
};
