/* SPDX-License-Identifier: Apache-2.0 */
/* scatter: Ewald's sphere, spectra on it, and intensities.
 * Tests: tests/conformance/defects.sh */
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

/* E, Z (or L, D), Y, X, F, K; each op uses some of them. */
static const int64_t extents[][6] = {
    {1, 1, 1, 1, 1, 1},  {1, 1, 4, 6, 2, 2},   {2, 2, 3, 5, 1, 3}, {3, 4, 6, 8, 7, 1},
    {1, 8, 2, 3, 3, 4},  {0, 2, 2, 2, 1, 1},   {2, 3, 0, 4, 2, 1}, {1, 5, 7, 2, 4, 2},
    {2, 6, 9, 33, 5, 3}, {1, 3, 17, 64, 0, 2}, {3, 2, 5, 1, 3, 0}, {2, 4, 12, 16, 14, 5},
    {1, 2, 3, 4, 1, 600}};

static kit_case of_extents(const kit_plan *plan, size_t i, int kind)
{
    kit_case c = kit_case_of(plan);
    int64_t e[9] = {extents[i][0],
                    extents[i][1],
                    extents[i][2],
                    extents[i][3],
                    extents[i][4],
                    extents[i][5],
                    extents[i][3] / 2 + (extents[i][3] > 0),
                    extents[i][1],
                    i % 5 == 2 ? 1 : extents[i][1]};
    kit_bind(&c, "EZYXFKHLD", e, 0, NULL, 0);
    c.kind = kind;
    c.data = kind_names[kind];
    c.params.scatter = (collet_scatter_params){.struct_size = sizeof c.params.scatter,
                                               .nearest = kind == OBLIQUE && i % 2,
                                               .neighbours = i % 3 == 1,
                                               .layer = i % 4 == 3,
                                               .layers = (uint32_t)extents[i][1] + (i % 4 == 3)};
    return c;
}

/* Each optional operand is absent in some cases. */
static void plan_pixels(kit_plan *plan)
{
    uint32_t op = plan->row->info.id;
    for (size_t i = 0; i < sizeof extents / sizeof *extents; i++) {
        for (int kind = 0; kind < KINDS; kind++) {
            kit_case c = of_extents(plan, i, kind);
            if (op == COLLET_OP_SCATTER_SLICES && i % 2)
                kit_absent(&c, 3);
            if (op == COLLET_OP_SCATTER_IMAGES && extents[i][5] == 3)
                kit_absent(&c, 8);
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

/* The position of a pixel on the Ewald sphere, in slices. Inputs k, qx, qy and qz begin at
 * `first_input`. *error: how far a few roundings of k^2 - q^2 move it. */
static real position(const kit_case *c, uint32_t first_input, int64_t e, int64_t y, int64_t x,
                     real *error)
{
    const kit_tensor *qz = kit_in(c, first_input + 3);
    real k[3],
        q[2] = {kit_get(kit_in(c, first_input + 1), x), kit_get(kit_in(c, first_input + 2), y)};
    for (int a = 0; a < 3; a++)
        k[a] = kit_get(kit_in(c, first_input), 3 * e + a);
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
        real error, at = position(c, 0, i / X / Y, i / X % Y, i % X, &error);
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

/* An element of a spectrum with N elements on each axis. The last axis may have only the first half. */
static number element(const kit_tensor *t, int64_t i, const int64_t n[3], const int64_t k[3])
{
    int64_t at[4] = {i, k[0], k[1], k[2]};
    if (k[2] < t->shape[3])
        return scatter_number(t, scatter_index(t, at));
    for (int a = 0; a < 3; a++)
        at[1 + a] = k[a] ? n[a] - k[a] : 0;
    return conjl(scatter_number(t, scatter_index(t, at)));
}

/* The element of spectrum i at pixel (z, y, x). */
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

/* Some pixels have no slices; the last slice of some is beyond the sample. */
static void generate_range(kit_tensor *range, int64_t slices, kit_rng *rng)
{
    for (int64_t i = 0; i < range->count; i++)
        kit_set(range, i,
                i < range->count / 2 ? (real)(kit_below(rng, slices + 1) - 1)
                                     : (real)kit_below(rng, slices + 2));
}

static void generate_slices(kit_case *c, kit_rng *rng)
{
    scatter_normal(&c->operand[1], rng);
    generate_range(&c->operand[2], c->params.scatter.layers, rng);
    if (c->operand[3].dtype != COLLET_DTYPE_NONE)
        scatter_normal(&c->operand[3], rng);
}

/* exp(-2 pi i a z / n) */
static number phase(int64_t a, int64_t z, int64_t n)
{
    real angle = -2 * acosl(-1) * (real)(a * z % n) / (real)n;
    return kit_cos(angle) + I * kit_sin(angle);
}

/* The contribution of layer l to element (a, b, c) of spectrum f. */
static number of_layer(const kit_case *c, int64_t f, int64_t l, const int64_t k[3])
{
    const kit_tensor *layers = kit_in(c, 0);
    const int64_t n[3] = {layers->shape[1], layers->shape[2], c->operand[0].shape[3]};
    const int64_t at[4] = {f, l, k[1], k[2]};
    if (k[2] < layers->shape[3])
        return scatter_number(layers, scatter_index(layers, at)) *
               phase(k[0], c->params.scatter.layer + l, c->params.scatter.layers);
    const int64_t mirrored[4] = {f, l, k[1] ? n[1] - k[1] : 0, n[2] - k[2]};
    return conjl(scatter_number(layers, scatter_index(layers, mirrored))) *
           phase(k[0], c->params.scatter.layer + l, c->params.scatter.layers);
}

/* The contribution of layer l to the element at a pixel; adds the magnitudes of its terms to *scale. */
static number shown_of_layer(const kit_case *c, int64_t f, int64_t l, const int64_t k[3],
                             real *scale)
{
    const int64_t n[3] = {c->params.scatter.layers, c->operand[0].shape[2], c->operand[0].shape[3]};
    number sum = 0;
    int axes = n[0] > 1 ? 3 : 2;
    if (!c->params.scatter.neighbours || k[0] || k[1] || k[2]) {
        sum = of_layer(c, f, l, k);
        *scale += cabsl(sum);
        return sum;
    }
    for (int a = 3 - axes; a < 3; a++)
        for (int side = 0; side < 2; side++) {
            int64_t next[3] = {0, 0, 0};
            next[a] = side ? n[a] - 1 : n[a] > 1 ? 1 : 0;
            number part = of_layer(c, f, l, next) / (2 * axes);
            sum += part;
            *scale += cabsl(part);
        }
    return sum;
}

static void judge_slices(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0], *range = kit_in(c, 1);
    int64_t F = out->shape[1], Y = out->shape[2], X = out->shape[3], Z = c->params.scatter.layers;
    for (int64_t i = 0; i < out->count; i++) {
        int64_t x = i % X, y = i / X % Y, f = i / X / Y % F, d = i / X / Y / F;
        int64_t z = (int64_t)kit_get(range, y * X + x) + d;
        number sum = kit_in(c, 2)->dtype != COLLET_DTYPE_NONE ? scatter_number(kit_in(c, 2), i) : 0;
        real scale = cabsl(sum);
        int inside = z >= 0 && z < Z && (real)d < kit_get(range, (Y + y) * X + x);
        const int64_t n[3] = {Z, Y, X}, pixel[3] = {z, y, x};
        int64_t k[3];
        for (int a = 0; a < 3 && inside; a++)
            k[a] = (n[a] / 2 - pixel[a] + n[a]) % n[a];
        for (int64_t l = 0; l < kit_in(c, 0)->shape[1] && inside; l++)
            sum += shown_of_layer(c, f, l, k, &scale);
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

/* Most pixels have the slices that they need. */
static void generate_images(kit_case *c, kit_rng *rng)
{
    int64_t pixels = c->operand[2].count / 2, Z = c->operand[7].count;
    scatter_normal(&c->operand[1], rng);
    scatter_normal(&c->operand[3], rng);
    generate_waves(c, &c->operand[4], &c->operand[5], &c->operand[6], &c->operand[7], rng);
    for (int64_t i = 0; i < pixels; i++) {
        bool all = c->operand[1].shape[0] == Z && kit_below(rng, 4);
        kit_set(&c->operand[2], i, all ? 0 : (real)(kit_below(rng, Z + 1) - 1));
        kit_set(&c->operand[2], pixels + i, (real)(all ? Z : kit_below(rng, Z + 2)));
    }
    for (int64_t i = 0; c->operand[8].dtype != COLLET_DTYPE_NONE && i < c->operand[8].count; i++)
        kit_set(&c->operand[8], i, kit_uniform(rng, -7, 7));
}

/* Sums 0 .. 5 of slice z, and in `size` the sums of the magnitudes of their terms. */
static void amplitude_of(const kit_case *c, int64_t e, int64_t d, int64_t pixel, number sum[6],
                         real size[6])
{
    const kit_tensor *slices = kit_in(c, 0);
    int64_t F = slices->shape[1], pixels = slices->shape[2] * slices->shape[3];
    for (int j = 0; j < 6; j++) {
        sum[j] = size[j] = 0;
        for (int64_t f = 0; f < F; f++) {
            number term = scatter_number(slices, (d * F + f) * pixels + pixel) *
                          scatter_number(kit_in(c, 2), (e * 6 + j) * F + f);
            sum[j] += term;
            size[j] += cabsl(term);
        }
    }
}

/* The polarisation at an angle, by the matrix of a rotation about k. */
static void at_angle(const number a[6], const real sizes[6], real angle, const real k[3],
                     number p[3], real size[3])
{
    real all = 0, norm = sqrtl(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]), turn = -angle;
    number q[3];
    for (int i = 0; i < 3; i++) {
        q[i] = kit_cos(angle) * a[i] + kit_sin(angle) * a[3 + i];
        all += sizes[i] + sizes[3 + i];
    }
    for (int i = 0; i < 3; i++) {
        p[i] = 0;
        size[i] = all;
        for (int b = 0; b < 3; b++) {
            real sign = i == b ? 0 : (b - i + 3) % 3 == 1 ? -1 : 1;
            real cross = sign == 0 ? 0 : sign * k[3 - i - b] / norm;
            p[i] += ((i == b ? kit_cos(turn) : 0) + kit_sin(turn) * cross +
                     (1 - kit_cos(turn)) * k[i] * k[b] / norm / norm) *
                    q[b];
        }
    }
}

/* Image j of one slice; *scale: the magnitude of its terms. NaN if the pixel does not have the
 * slice. */
static real image_of(const kit_case *c, int64_t e, int64_t j, int64_t pixel, int64_t z, real *scale)
{
    const kit_tensor *range = kit_in(c, 1);
    int64_t X = c->operand[0].shape[3], d = z - (int64_t)kit_get(range, pixel);
    number a[6], p[3];
    real size[6], k[3], sizes[3], other;
    *scale = 0;
    if (d < 0 || d >= kit_in(c, 0)->shape[0] || (real)d >= kit_get(range, range->count / 2 + pixel))
        return (real)NAN;
    amplitude_of(c, e, d, pixel, a, size);
    for (int i = 0; i < 3; i++)
        k[i] = kit_get(kit_in(c, 3), 3 * e + i);
    real s[3] = {k[0] + kit_get(kit_in(c, 4), pixel % X), k[1] + kit_get(kit_in(c, 5), pixel / X),
                 k[2] + kit_get(kit_in(c, 6), z)};
    if (kit_in(c, 7)->dtype != COLLET_DTYPE_NONE) {
        at_angle(a, size, kit_get(kit_in(c, 7), j), k, p, sizes);
        return scatter_intensity(p, sizes, s, k, scale);
    }
    /* I(0), I(pi / 2), I(pi / 4) */
    real value[3];
    for (int angle = 0; angle < 3; angle++) {
        for (int i = 0; i < 3; i++) {
            p[i] = angle < 2 ? a[3 * angle + i] : (a[i] + a[3 + i]) / sqrtl(2);
            sizes[i] = size[i] + size[3 + i];
        }
        value[angle] = scatter_intensity(p, sizes, s, k, &other);
        *scale += other;
    }
    real mean = (value[0] + value[1]) / 2;
    return j == 0 ? mean : j == 1 ? value[0] - mean : value[2] - mean;
}

/* The result at position `at` between slices; false: the result must be NaN. */
static bool image_at(const kit_case *c, int64_t e, int64_t j, int64_t pixel, real at, real *ideal,
                     real *scale)
{
    int64_t Z = kit_in(c, 6)->count;
    if (!(at >= 0 && at <= (real)(Z - 1)))
        return false;
    real low = c->params.scatter.nearest ? roundl(at) : floorl(at), size;
    real share = c->params.scatter.nearest ? 0 : at - low;
    *ideal = (1 - share) * image_of(c, e, j, pixel, (int64_t)low, scale);
    *scale *= 1 - share;
    if (share != 0) {
        *ideal += share * image_of(c, e, j, pixel, (int64_t)low + 1, &size);
        *scale += share * size;
    }
    return !isnan(*ideal);
}

static void judge_images(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0];
    int64_t K = out->shape[1], X = out->shape[3], pixels = out->shape[2] * X;
    real most = (real)(kit_in(c, 6)->count - 1);
    for (int64_t i = 0; i < out->count; i++) {
        int64_t pixel = i % pixels, j = i / pixels % K, e = i / pixels / K, count = 0;
        real error, at = position(c, 3, e, pixel / X, pixel % X, &error), found = kit_get(out, i);
        /* Rounding may move the position by `error`, to another slice or out of range. */
        real slice = roundl(at), ideal[3], scale = 0, size, best = (real)NAN;
        const real place[] = {fmaxl(at - error, 0), fminl(at + error, most),
                              fabsl(slice - at) <= error ? slice : at};
        for (int a = 0; a < 3 && !isnan(at); a++) {
            if (!image_at(c, e, j, pixel, place[a], &ideal[count], &size))
                continue;
            scale = fmaxl(scale, size);
            if (!(fabsl(ideal[count] - found) >= fabsl(best - found)))
                best = ideal[count];
            count++;
        }
        if (isnan(found) && (count < 3 || at < error || at > most - error))
            continue;
        if (count == 3 && (ideal[0] - found) * (ideal[1] - found) <= 0 &&
            !c->params.scatter.nearest)
            best = found;
        kit_near(c, v, 0, i, best, scale, scatter_limit(c));
    }
}

const kit_op kit_scatter_sphere_ops[] = {
    {COLLET_OP_SCATTER_EWALD, plan_pixels, generate_ewald, judge_ewald},
    {COLLET_OP_SCATTER_SLICES, plan_pixels, generate_slices, judge_slices},
    {COLLET_OP_SCATTER_PROJECTION, plan_pixels, generate_projection, judge_projection},
    {COLLET_OP_SCATTER_IMAGES, plan_pixels, generate_images, judge_images},
    {0},
};
