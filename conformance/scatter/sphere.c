/* SPDX-License-Identifier: Apache-2.0 */
/* scatter: Ewald's sphere, spectra on it, and intensities. */
#include "scatter.h"

#include <math.h>

void scatter_grid(kit_tensor *t, real step)
{
    for (int64_t i = 0; i < t->count; i++)
        kit_set(t, i, ((real)i - (real)(t->count / 2)) * step);
}

void scatter_slices(kit_tensor *slice, kit_tensor *fraction, int64_t count, kit_rng *rng)
{
    for (int64_t i = 0; i < slice->count; i++)
        kit_set(slice, i, (real)(kit_below(rng, count + 1) - 1));
    for (int64_t i = 0; fraction->dtype != COLLET_DTYPE_NONE && i < fraction->count; i++)
        kit_set(fraction, i, kit_below(rng, 4) ? kit_uniform(rng, 0, 1) : 0);
}

/* ---- scatter_ewald --------------------------------------------------------------------------- */

enum { ALONG_Z, OBLIQUE, GAPS, KINDS };
static const char *const kind_names[] = {"along z", "oblique", "with NaN in q"};

/* E, Z, Y, X, F, A, as far as an op has them. */
static const int64_t extents[][6] = {
    {1, 1, 1, 1, 1, 1},  {1, 1, 4, 6, 2, 2},   {2, 2, 3, 5, 1, 3}, {3, 4, 6, 8, 7, 1},
    {1, 8, 2, 3, 3, 4},  {0, 2, 2, 2, 1, 1},   {2, 3, 0, 4, 2, 1}, {1, 5, 7, 2, 4, 2},
    {2, 6, 9, 33, 5, 3}, {1, 3, 17, 64, 0, 2}, {3, 2, 5, 1, 3, 0}, {2, 4, 12, 16, 14, 5},
    {1, 2, 3, 4, 1, 600}};

static kit_case of_extents(const kit_plan *plan, size_t i, int kind)
{
    kit_case c = kit_case_of(plan);
    int64_t e[7] = {extents[i][0],
                    extents[i][1],
                    extents[i][2],
                    extents[i][3],
                    extents[i][4],
                    extents[i][5],
                    extents[i][3] / 2 + (extents[i][3] > 0)};
    kit_bind(&c, "EZYXFAH", e, 0, NULL, 0);
    c.kind = kind;
    c.data = kind_names[kind];
    c.params.scatter = (collet_scatter_params){.struct_size = sizeof c.params.scatter,
                                               .nearest = kind == OBLIQUE && i % 2,
                                               .neighbours = i % 3 == 1,
                                               .material = i % 2,
                                               .offset = i / 2 % 2};
    if (c.row->info.id == COLLET_OP_SCATTER_EWALD)
        c.params.scatter.neighbours = c.params.scatter.material = c.params.scatter.offset = 0;
    return c;
}

/* Each optional operand is absent in some cases. */
static void plan_pixels(kit_plan *plan)
{
    uint32_t op = plan->row->info.id;
    for (size_t i = 0; i < sizeof extents / sizeof *extents; i++) {
        for (int kind = 0; kind < KINDS; kind++) {
            kit_case c = of_extents(plan, i, kind);
            if (op == COLLET_OP_SCATTER_AMPLITUDE && i % 2)
                kit_absent(&c, 4);
            if (op == COLLET_OP_SCATTER_INTENSITY && i % 2) {
                kit_absent(&c, 2);
                if (i % 4 == 1)
                    kit_absent(&c, 4);
            }
            kit_emit(plan, &c);
            if (kind == OBLIQUE && (i == 3 || i == 4)) {
                kit_emit_layouts(plan, &c);
                kit_emit_sharing(plan, &c);
                kit_emit_parts(plan, &c);
            }
        }
    }
}

static void generate_waves(kit_case *c, kit_tensor *k, kit_tensor *qx, kit_tensor *qy,
                           kit_tensor *qz, kit_rng *rng)
{
    for (int64_t i = 0; i < k->count; i++)
        kit_set(k, i, i % 3 == 2 ? kit_uniform(rng, 0.5, 2) : 0);
    for (int64_t i = 0; i < k->count && c->kind == OBLIQUE; i++)
        kit_set(k, i, kit_uniform(rng, i % 3 == 2 ? 0.5 : -0.4, 1));
    scatter_grid(qx, 2 / (real)(qx->count + 1));
    scatter_grid(qy, 1.5L / (real)(qy->count + 1));
    scatter_grid(qz, 3 / (real)(qz->count + 1));
    if (c->kind == GAPS && qx->count && qy->count) {
        kit_set(qx, qx->count - 1, (real)NAN);
        kit_set(qy, qy->count / 2, (real)NAN);
    }
}

static void generate_ewald(kit_case *c, kit_rng *rng)
{
    generate_waves(c, &c->operand[2], &c->operand[3], &c->operand[4], &c->operand[5], rng);
}

/* The position among the slices; *error: what a few roundings of k^2 - q^2 change. */
static real position(const kit_case *c, int64_t e, int64_t y, int64_t x, real *error)
{
    const kit_tensor *qz = kit_in(c, 3);
    real k[3], q[2] = {kit_get(kit_in(c, 1), x), kit_get(kit_in(c, 2), y)};
    for (int a = 0; a < 3; a++)
        k[a] = kit_get(kit_in(c, 0), 3 * e + a);
    real square = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
    real rounding = 16 * 0x1p-53L * (square + q[0] * q[0] + q[1] * q[1]);
    square -= (k[0] + q[0]) * (k[0] + q[0]) + (k[1] + q[1]) * (k[1] + q[1]);
    *error = 0;
    if (isnan(square) || square < -rounding)
        return (real)NAN;
    real root = sqrtl(fmaxl(square, 0));
    if (qz->count == 1) {
        *error = square < rounding ? 1 : 0;
        return 0;
    }
    real first = kit_get(qz, 0),
         step = (kit_get(qz, qz->count - 1) - first) / (real)(qz->count - 1);
    *error =
        (sqrtl(fmaxl(square, 0) + rounding) - root + rounding) / step + (real)qz->count * 0x1p-50L;
    if (square < rounding)
        *error = fmaxl(*error, sqrtl(2 * rounding) / step);
    return (root - k[2] - first) / step;
}

static void judge_ewald(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *slice = &c->operand[0], *fraction = &c->operand[1];
    const kit_limit *limit = kit_limit_find(COLLET_OP_SCATTER_EWALD, COLLET_DTYPE_NONE, "position");
    int64_t Y = slice->shape[1], X = slice->shape[2], Z = kit_in(c, 3)->count;
    for (int64_t i = 0; i < slice->count; i++) {
        real error, at = position(c, i / X / Y, i / X % Y, i % X, &error);
        real found = kit_get(slice, i), part = kit_get(fraction, i);
        real allowed = error + (fraction->dtype == COLLET_F32 ? 0x1p-24L : 0x1p-50L);
        bool in = at >= error && at <= (real)(Z - 1) - error, out = !(at >= -error);
        out = out || at > (real)(Z - 1) + error;
        if (Z == 1)
            in = !isnan(at) && error == 0, out = isnan(at);
        if (found == -1 && part == 0 && !in)
            continue;
        bool fits = found >= 0 && found < (real)Z && part >= 0 && part <= 1 && !out;
        if (c->params.scatter.nearest)
            fits = fits && part == 0;
        real off = fabsl(found + part - at) - (c->params.scatter.nearest ? 0.5L : 0);
        if (!fits || kit_exceeds(v, limit, (double)(fmaxl(off, 0) / allowed))) {
            kit_fail(v, "pixel %lld: expected position %.12Lg, got slice %.0Lf and fraction %.9Lg",
                     (long long)i, at, found, part);
            return;
        }
    }
}

/* ---- Spectra --------------------------------------------------------------------------------- */

/* Element of a spectrum of N elements an axis, of which the last axis may have the first half. */
static number element(const kit_tensor *t, int64_t i, const int64_t n[3], const int64_t k[3])
{
    int64_t at[4] = {i, k[0], k[1], k[2]};
    if (k[2] < t->shape[3])
        return scatter_number(t, scatter_index(t, at));
    for (int a = 0; a < 3; a++)
        at[1 + a] = k[a] ? n[a] - k[a] : 0;
    return conjl(scatter_number(t, scatter_index(t, at)));
}

/* What pixel (z, y, x) shows of spectrum i. */
static number shown(const kit_tensor *t, int64_t i, int64_t X, const int64_t pixel[3],
                    bool neighbours)
{
    const int64_t n[3] = {t->shape[1], t->shape[2], X};
    int64_t k[3], zero = 1;
    for (int a = 0; a < 3; a++) {
        k[a] = n[a] / 2 - pixel[a];
        k[a] += k[a] < 0 ? n[a] : 0;
        zero = zero && k[a] == 0;
    }
    if (!zero || !neighbours)
        return element(t, i, n, k);
    number sum = 0;
    int axes = n[0] > 1 ? 3 : 2;
    for (int a = 3 - axes; a < 3; a++)
        for (int side = 0; side < 2; side++) {
            int64_t next[3] = {0, 0, 0};
            next[a] = side ? n[a] - 1 : n[a] > 1 ? 1 : 0;
            sum += element(t, i, n, next);
        }
    return sum / (2 * axes);
}

static void generate_amplitude(kit_case *c, kit_rng *rng)
{
    kit_tensor none = {.dtype = COLLET_DTYPE_NONE};
    for (uint32_t k = 1; k < 5; k++)
        if (c->operand[k].dtype != COLLET_DTYPE_NONE && k != 3)
            scatter_normal(&c->operand[k], rng);
    scatter_slices(&c->operand[3], &none, c->operand[1].shape[1], rng);
}

static void judge_amplitude(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0], *spectra = kit_in(c, 0), *weights = kit_in(c, 1);
    int64_t Y = out->shape[2], X = out->shape[3], F = spectra->shape[0], Z = spectra->shape[1];
    for (int64_t i = 0; i < out->count; i++) {
        int64_t x = i % X, y = i / X % Y, j = i / X / Y % 6, e = i / X / Y / 6;
        int64_t z = (int64_t)kit_get(kit_in(c, 2), (e * Y + y) * X + x);
        number sum = 0;
        real scale = 0;
        if (kit_in(c, 3)->dtype != COLLET_DTYPE_NONE)
            sum = scatter_number(kit_in(c, 3), i);
        scale = cabsl(sum);
        if (z >= 0 && z + c->params.scatter.offset < Z)
            z += c->params.scatter.offset;
        for (int64_t f = 0; f < F && z >= 0; f++) {
            number a =
                shown(spectra, f, X, (const int64_t[]){z, y, x}, c->params.scatter.neighbours != 0);
            number w = scatter_number(weights, (e * 6 + j) * F + f);
            sum += a * w;
            scale += cabsl(a) * cabsl(w);
        }
        scatter_near(c, v, i, sum, scale);
    }
}

/* ---- Intensities ----------------------------------------------------------------------------- */

real scatter_intensity(const number p[3], const real magnitude[3], const real s[3], const real k[3],
                       real *scale)
{
    real square = k[0] * k[0] + k[1] * k[1] + k[2] * k[2], sum = 0;
    number along = s[0] * p[0] + s[1] * p[1] + s[2] * p[2];
    real most =
        fabsl(s[0]) * magnitude[0] + fabsl(s[1]) * magnitude[1] + fabsl(s[2]) * magnitude[2];
    *scale = 0;
    for (int a = 0; a < 3; a++) {
        number field = square * p[a] - s[a] * along;
        real bound = square * magnitude[a] + fabsl(s[a]) * most;
        sum += creall(field) * creall(field) + cimagl(field) * cimagl(field);
        *scale += bound * bound;
    }
    return sum;
}

static void generate_projection(kit_case *c, kit_rng *rng)
{
    scatter_normal(&c->operand[1], rng);
    scatter_slices(&c->operand[2], &c->operand[3], c->operand[1].shape[1], rng);
    generate_waves(c, &c->operand[4], &c->operand[5], &c->operand[6], &c->operand[7], rng);
}

static void judge_projection(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0], *spectrum = kit_in(c, 0);
    int64_t X = out->shape[1], Z = spectrum->shape[1];
    real k[3];
    for (int a = 0; a < 3; a++)
        k[a] = kit_get(kit_in(c, 3), a);
    for (int64_t i = 0; i < out->count; i++) {
        int64_t z = (int64_t)kit_get(kit_in(c, 1), i);
        real w = kit_get(kit_in(c, 2), i), sum = z < 0 ? (real)NAN : 0, scale = 0;
        for (int64_t n = 0; n < 2 && z >= 0 && z + n < Z; n++) {
            real s[3] = {k[0] + kit_get(kit_in(c, 4), i % X), k[1] + kit_get(kit_in(c, 5), i / X),
                         k[2] + kit_get(kit_in(c, 6), z + n)};
            number p[3];
            real size[3], most;
            for (int a = 0; a < 3; a++) {
                p[a] = shown(spectrum, a, X, (const int64_t[]){z + n, i / X, i % X},
                             c->params.scatter.neighbours != 0);
                size[a] = cabsl(p[a]);
            }
            real part = n ? w : 1 - w;
            if (part != 0) {
                sum += part * scatter_intensity(p, size, s, k, &most);
                scale += part * most;
            }
        }
        kit_near(c, v, 0, i, sum, scale, scatter_limit(c));
    }
}

static void generate_intensity(kit_case *c, kit_rng *rng)
{
    scatter_normal(&c->operand[1], rng);
    if (c->operand[2].dtype != COLLET_DTYPE_NONE)
        scatter_normal(&c->operand[2], rng);
    scatter_slices(&c->operand[3], &c->operand[4], c->operand[8].count, rng);
    generate_waves(c, &c->operand[5], &c->operand[6], &c->operand[7], &c->operand[8], rng);
    for (int64_t i = 0; i < c->operand[9].count; i++)
        kit_set(&c->operand[9], i, kit_uniform(rng, -7, 7));
}

/* The polarisation at an angle, by the matrix of a rotation about k if the sample is turned. */
static void at_angle(const kit_case *c, uint32_t operand, int64_t first, int64_t step, real angle,
                     const real k[3], number p[3], real size[3])
{
    number q[3];
    real sizes = 0, norm = sqrtl(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
    for (int a = 0; a < 3; a++) {
        number along = scatter_number(&c->operand[operand], first + a * step);
        number across = scatter_number(&c->operand[operand], first + (3 + a) * step);
        p[a] = q[a] = cosl(angle) * along + sinl(angle) * across;
        size[a] = cabsl(along) + cabsl(across);
        sizes += size[a];
    }
    if (!c->params.scatter.material)
        return;
    real u[3] = {k[0] / norm, k[1] / norm, k[2] / norm}, turn = -angle;
    for (int a = 0; a < 3; a++) {
        p[a] = 0;
        size[a] = sizes;
        for (int b = 0; b < 3; b++) {
            real sign = a == b ? 0 : (b - a + 3) % 3 == 1 ? -1 : 1;
            real cross = sign == 0 ? 0 : sign * u[3 - a - b];
            real matrix =
                (a == b ? cosl(turn) : 0) + sinl(turn) * cross + (1 - cosl(turn)) * u[a] * u[b];
            p[a] += matrix * q[b];
        }
    }
}

static void judge_intensity(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0];
    int64_t A = out->shape[1], Y = out->shape[2], X = out->shape[3], Z = kit_in(c, 7)->count;
    bool two = kit_in(c, 1)->dtype != COLLET_DTYPE_NONE && kit_in(c, 3)->dtype != COLLET_DTYPE_NONE;
    for (int64_t i = 0; i < out->count; i++) {
        int64_t x = i % X, y = i / X % Y, e = i / X / Y / A, pixel = (e * Y + y) * X + x;
        int64_t z = (int64_t)kit_get(kit_in(c, 2), pixel);
        real angle = kit_get(kit_in(c, 8), i / X / Y % A), k[3];
        real w = two ? kit_get(kit_in(c, 3), pixel) : 0, sum = z < 0 ? (real)NAN : 0, scale = 0;
        if (z + 1 >= Z)
            w = 0;
        for (int a = 0; a < 3; a++)
            k[a] = kit_get(kit_in(c, 4), 3 * e + a);
        for (int64_t n = 0; n < 1 + (w != 0) && z >= 0; n++) {
            real s[3] = {k[0] + kit_get(kit_in(c, 5), x), k[1] + kit_get(kit_in(c, 6), y),
                         k[2] + kit_get(kit_in(c, 7), z + n)};
            number p[3];
            real size[3], most;
            at_angle(c, 1 + (uint32_t)n, e * 6 * Y * X + y * X + x, Y * X, angle, k, p, size);
            sum += (n ? w : 1 - w) * scatter_intensity(p, size, s, k, &most);
            scale += (n ? w : 1 - w) * most;
        }
        kit_near(c, v, 0, i, sum, scale, scatter_limit(c));
    }
}

const kit_op kit_scatter_sphere_ops[] = {
    {COLLET_OP_SCATTER_EWALD, plan_pixels, generate_ewald, judge_ewald},
    {COLLET_OP_SCATTER_AMPLITUDE, plan_pixels, generate_amplitude, judge_amplitude},
    {COLLET_OP_SCATTER_PROJECTION, plan_pixels, generate_projection, judge_projection},
    {COLLET_OP_SCATTER_INTENSITY, plan_pixels, generate_intensity, judge_intensity},
    {0},
};
