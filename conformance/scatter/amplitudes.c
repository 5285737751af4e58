/* SPDX-License-Identifier: Apache-2.0 */
/* scatter: amplitudes at each pixel's own q_z, and intensities from them. Interpolation is checked by Lagrange's
 * products.
 * Tests: tests/conformance/defects.sh */
#include "scatter.h"

#include <math.h>

enum { CHEBYSHEV, UNEQUAL, GAPS, KINDS };
static const char *const kind_names[] = {"at Chebyshev's nodes", "at unequal nodes",
                                         "with NaN in the interval and in q"};

/* E, D, Y, X, F, K, L */
static const int64_t extents[][7] = {
    {1, 1, 1, 1, 1, 1, 1}, {1, 1, 4, 6, 2, 2, 3},  {2, 2, 3, 5, 1, 3, 2},  {3, 4, 6, 8, 7, 1, 5},
    {1, 8, 2, 3, 3, 4, 1}, {0, 2, 2, 2, 1, 1, 2},  {2, 3, 0, 4, 2, 1, 1},  {1, 5, 7, 2, 4, 2, 6},
    {2, 6, 9, 33, 9, 3, 4}, {1, 3, 17, 64, 0, 2, 2}, {3, 2, 5, 1, 3, 0, 7}, {19, 4, 5, 6, 14, 3, 3},
    {1, 0, 3, 4, 1, 3, 1}, {1, 2, 3, 0, 1, 3, 2}};

static kit_case of_extents(const kit_plan *plan, size_t i, int kind)
{
    kit_case c = kit_case_of(plan);
    const int64_t *n = extents[i];
    int64_t half = n[3] / 2 + (n[3] > 0), e[8] = {n[0], n[1], n[2], n[3], n[4], n[5], n[6], half};
    if (i % 3 == 2) /* spectra of complex planes */
        e[7] = n[3];
    kit_bind(&c, "EDYXFKLH", e, 0, NULL, 0);
    c.kind = kind;
    c.data = kind_names[kind];
    c.params.scatter = (collet_scatter_params){.struct_size = sizeof c.params.scatter,
                                               .layer = i % 4 == 3 ? 2 : 0,
                                               .layers = i % 2 ? (uint32_t)n[6] + 2 : 0,
                                               .thickness = 1.25,
                                               .limit = kind == UNEQUAL ? 0.4 : 0};
    return c;
}

static void plan_pixels(kit_plan *plan)
{
    uint32_t op = plan->row->info.id;
    for (size_t i = 0; i < sizeof extents / sizeof *extents; i++)
        for (int kind = 0; kind < KINDS; kind++) {
            kit_case c = of_extents(plan, i, kind);
            if (op == COLLET_OP_SCATTER_AMPLITUDES && i % 2)
                kit_absent(&c, 4);
            if (op == COLLET_OP_SCATTER_INTENSITIES && extents[i][5] == 3)
                kit_absent(&c, 8);
            kit_emit(plan, &c);
            if (kind == CHEBYSHEV && (i == 3 || i == 4)) {
                kit_emit_layouts(plan, &c);
                kit_emit_sharing(plan, &c);
                kit_emit_parts(plan, &c);
            }
        }
}

/* Nodes from -1 to 1, and the reciprocals of the products of their distances as barycentric weights. */
static void generate_nodes(const kit_case *c, kit_tensor *nodes)
{
    int64_t n = nodes->shape[1];
    for (int64_t d = 0; d < n; d++) {
        real at = ((real)d + 0.5L) / (real)n;
        kit_set(nodes, d, c->kind == UNEQUAL ? 2 * at * at - 1 : kit_cos(acosl(-1) * at));
    }
    for (int64_t d = 0; d < n; d++) {
        real product = 1;
        for (int64_t i = 0; i < n; i++)
            if (i != d)
                product *= 2 * (kit_get(nodes, d) - kit_get(nodes, i));
        kit_set(nodes, n + d, 1 / product);
    }
}

static void generate_amplitudes(kit_case *c, kit_rng *rng)
{
    kit_tensor *interval = &c->operand[3];
    scatter_normal(&c->operand[1], rng);
    generate_nodes(c, &c->operand[2]);
    for (int64_t i = 0; i < interval->count; i++)
        kit_set(interval, i, i < interval->count / 2 ? kit_uniform(rng, -2, 2) : kit_uniform(rng, 0, 1));
    if (c->kind == GAPS)
        for (int64_t i = 0; i < interval->count / 2; i += 3)
            kit_set(interval, i, (real)NAN);
    if (c->operand[4].dtype != COLLET_DTYPE_NONE)
        scatter_normal(&c->operand[4], rng);
}

/* The element of layer l of field f at pixel (y, x). */
static number shown(const kit_case *c, int64_t f, int64_t l, int64_t y, int64_t x)
{
    const kit_tensor *planes = kit_in(c, 0);
    int64_t Y = planes->shape[2], X = c->operand[0].shape[3];
    int64_t row = Y / 2 - y + (y > Y / 2 ? Y : 0), column = X / 2 - x + (x > X / 2 ? X : 0);
    int64_t at[4] = {f, l, row, column};
    if (column < planes->shape[3])
        return scatter_number(planes, scatter_index(planes, at));
    at[2] = row ? Y - row : 0;
    at[3] = X - column;
    return conjl(scatter_number(planes, scatter_index(planes, at)));
}

static void judge_amplitudes(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0], *nodes = kit_in(c, 1), *interval = kit_in(c, 2);
    const collet_scatter_params *p = &c->params.scatter;
    int64_t F = out->shape[1], Y = out->shape[2], X = out->shape[3], L = kit_in(c, 0)->shape[1];
    real middle = ((p->layers ? (real)p->layers : (real)(p->layer + L)) - 1) / 2;
    for (int64_t i = 0; i < out->count; i++) {
        int64_t x = i % X, y = i / X % Y, f = i / X / Y % F, d = i / X / Y / F;
        real q = kit_get(interval, y * X + x) +
                 kit_get(interval, (Y + y) * X + x) * kit_get(nodes, d);
        number sum = kit_in(c, 3)->dtype != COLLET_DTYPE_NONE ? scatter_number(kit_in(c, 3), i) : 0;
        real scale = cabsl(sum);
        for (int64_t l = 0; l < L && !isnan(q); l++) {
            real angle = q * (real)p->thickness * ((real)(p->layer + l) - middle);
            number term = shown(c, f, l, y, x) * (kit_cos(angle) + I * kit_sin(angle));
            sum += term;
            scale += cabsl(term);
        }
        scatter_near(c, v, i, sum, scale);
    }
}

/* ---- Intensities ----------------------------------------------------------------------------- */

static real square_of(const kit_case *c, int64_t e, int64_t y, int64_t x, real s[3])
{
    const kit_tensor *k = kit_in(c, 4);
    real square = 0;
    for (int a = 0; a < 3; a++)
        square += kit_get(k, 3 * e + a) * kit_get(k, 3 * e + a);
    s[0] = kit_get(k, 3 * e) + kit_get(kit_in(c, 5), x);
    s[1] = kit_get(k, 3 * e + 1) + kit_get(kit_in(c, 6), y);
    return square - s[0] * s[0] - s[1] * s[1];
}

/* The interval of a pixel contains the places of all energies, but a few places may be just beyond its ends. */
static void generate_intervals(kit_case *c, kit_rng *rng)
{
    kit_tensor *interval = &c->operand[3];
    int64_t E = c->operand[0].shape[0], pixels = interval->count / 2, X = c->operand[0].shape[3];
    for (int64_t i = 0; i < pixels; i++) {
        real low = 1, high = -1, s[3];
        for (int64_t e = 0; e < E; e++) {
            real square = square_of(c, e, i / X, i % X, s);
            real q = sqrtl(fmaxl(square, 0)) - kit_get(kit_in(c, 4), 3 * e + 2);
            if (square > 0) {
                low = fminl(low, q);
                high = fmaxl(high, q);
            }
        }
        if (!(low < high))
            low = high = fminl(low, 0.5L);
        kit_set(interval, i, (low + high) / 2);
        kit_set(interval, pixels + i,
                high - low > 0.01L ? (high - low) / 2 * kit_uniform(rng, 0.9, 1.2) : (real)kit_below(rng, 2) / 8);
        if (c->kind == GAPS && kit_below(rng, 4) == 0)
            kit_set(interval, i, (real)NAN);
    }
}

static void generate_intensities(kit_case *c, kit_rng *rng)
{
    kit_tensor *k = &c->operand[5], *qx = &c->operand[6], *qy = &c->operand[7];
    scatter_normal(&c->operand[1], rng);
    generate_nodes(c, &c->operand[2]);
    scatter_normal(&c->operand[4], rng);
    for (int64_t i = 0; i < k->count; i++)
        kit_set(k, i, i % 3 == 2 ? kit_uniform(rng, 0.8, 1.2) : kit_uniform(rng, -0.2, 0.2));
    scatter_grid(qx, 2 / (real)(qx->count + 1));
    scatter_grid(qy, 1.5L / (real)(qy->count + 1));
    if (c->kind == GAPS && qx->count && qy->count) {
        kit_set(qx, qx->count - 1, (real)NAN);
        kit_set(qy, qy->count / 2, (real)NAN);
    }
    generate_intervals(c, rng);
    for (int64_t i = 0; c->operand[8].dtype != COLLET_DTYPE_NONE && i < c->operand[8].count; i++)
        kit_set(&c->operand[8], i, kit_uniform(rng, -7, 7));
}

/* The six sums at place t, and the sums of the magnitudes of their terms. */
static void sums_at(const kit_case *c, int64_t e, int64_t pixel, real t, number sum[6], real size[6])
{
    const kit_tensor *amplitudes = kit_in(c, 0), *nodes = kit_in(c, 1);
    int64_t D = nodes->shape[1], F = amplitudes->shape[1];
    int64_t pixels = amplitudes->shape[2] * amplitudes->shape[3];
    for (int j = 0; j < 6; j++)
        sum[j] = size[j] = 0;
    for (int64_t d = 0; d < D; d++) {
        real share = 1;
        for (int64_t i = 0; i < D; i++)
            if (i != d)
                share *= (t - kit_get(nodes, i)) / (kit_get(nodes, d) - kit_get(nodes, i));
        for (int64_t f = 0; f < F; f++)
            for (int j = 0; j < 6; j++) {
                number term = share * scatter_number(amplitudes, (d * F + f) * pixels + pixel) *
                              scatter_number(kit_in(c, 3), (e * 6 + j) * F + f);
                sum[j] += term;
                size[j] += cabsl(term);
            }
    }
}

/* Where the outgoing wave vector s meets the sphere, and the six sums there. */
typedef struct place {
    bool exists;
    real s[3], k[3];
    number sum[6];
    real size[6];
} place;

static place place_at(const kit_case *c, int64_t e, int64_t pixel, real root)
{
    const kit_tensor *interval = kit_in(c, 2);
    int64_t X = c->operand[0].shape[3];
    real middle = kit_get(interval, pixel), half = kit_get(interval, interval->count / 2 + pixel);
    real limit = (real)c->params.scatter.limit;
    place p;
    (void)square_of(c, e, pixel / X, pixel % X, p.s);
    p.s[2] = root;
    for (int i = 0; i < 3; i++)
        p.k[i] = kit_get(kit_in(c, 4), 3 * e + i);
    p.exists = !isnan(middle) && kit_in(c, 1)->shape[1] > 0 &&
               !(limit > 0 && fabsl(root - p.k[2]) > limit);
    if (p.exists)
        sums_at(c, e, pixel, half == 0 ? 0 : (root - p.k[2] - middle) / half, p.sum, p.size);
    return p;
}

/* Image j at a place; *scale: the magnitude of its terms. */
static real image_at(const kit_case *c, int64_t j, const place *at, real *scale)
{
    const kit_tensor *angles = kit_in(c, 7);
    const real *k = at->k, *size = at->size;
    const number *a = at->sum;
    number p[3];
    real sizes[3], all = 0, other;
    for (int i = 0; i < 6; i++)
        all += size[i];
    if (angles->dtype != COLLET_DTYPE_NONE) {
        real norm = sqrtl(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]), turn = -kit_get(angles, j);
        number q[3], along = 0;
        for (int i = 0; i < 3; i++) {
            q[i] = kit_cos(turn) * a[i] - kit_sin(turn) * a[3 + i];
            along += q[i] * k[i] / norm;
        }
        for (int i = 0; i < 3; i++) { /* Rodrigues' rotation by `turn` about k */
            int b = (i + 1) % 3, d = (i + 2) % 3;
            p[i] = kit_cos(turn) * q[i] + kit_sin(turn) * (k[b] * q[d] - k[d] * q[b]) / norm +
                   (1 - kit_cos(turn)) * along * k[i] / norm;
            sizes[i] = all;
        }
        return scatter_intensity(p, sizes, at->s, k, scale);
    }
    real value[3]; /* at the angles 0, 90, 45 degrees */
    *scale = 0;
    for (int angle = 0; angle < 3; angle++) {
        for (int i = 0; i < 3; i++) {
            p[i] = angle < 2 ? a[3 * angle + i] : (a[i] + a[3 + i]) / sqrtl(2);
            sizes[i] = size[i] + size[3 + i];
        }
        value[angle] = scatter_intensity(p, sizes, at->s, k, &other);
        *scale += other;
    }
    real mean = (value[0] + value[1]) / 2;
    return j == 0 ? mean : j == 1 ? value[0] - mean : value[2] - mean;
}

/* Checks the images of a pixel. Rounding may move the place by `error`, even out of the interval. */
static void judge_pixel(const kit_case *c, kit_verdict *v, int64_t e, int64_t pixel)
{
    const kit_tensor *out = &c->operand[0];
    int64_t K = out->shape[1], X = out->shape[3], pixels = out->shape[2] * X, count = 0;
    real s[3], square = square_of(c, e, pixel / X, pixel % X, s);
    real rounding = 64 * 0x1p-53L * (1 + s[0] * s[0] + s[1] * s[1]), root = sqrtl(fmaxl(square, 0));
    real error = sqrtl(fmaxl(square, 0) + rounding) - root + rounding;
    const real roots[] = {fmaxl(root - error, 0), root, root + error};
    place places[3];
    for (int a = 0; a < 3 && !isnan(square) && square >= -rounding; a++) {
        places[count] = place_at(c, e, pixel, roots[a]);
        count += places[count].exists;
    }
    for (int64_t j = 0; j < K; j++) {
        int64_t i = (e * K + j) * pixels + pixel;
        real found = kit_get(out, i), ideal[3], size, scale = 0, best = (real)NAN;
        for (int64_t a = 0; a < count; a++) {
            ideal[a] = image_at(c, j, &places[a], &size);
            scale = fmaxl(scale, size);
            if (!(fabsl(ideal[a] - found) >= fabsl(best - found)))
                best = ideal[a];
        }
        if (isnan(found) && (count < 3 || square < rounding))
            continue;
        if (count == 3 && (ideal[0] - found) * (ideal[2] - found) <= 0)
            best = found;
        kit_near(c, v, 0, i, best, scale, scatter_limit(c));
    }
}

static void judge_intensities(const kit_case *c, kit_verdict *v)
{
    int64_t pixels = c->operand[0].shape[2] * c->operand[0].shape[3];
    for (int64_t i = 0; i < c->operand[0].shape[0] * pixels; i++)
        judge_pixel(c, v, i / pixels, i % pixels);
}

const kit_op kit_scatter_amplitudes_ops[] = {
    {COLLET_OP_SCATTER_AMPLITUDES, plan_pixels, generate_amplitudes, judge_amplitudes},
    {COLLET_OP_SCATTER_INTENSITIES, plan_pixels, generate_intensities, judge_intensities},
    {0},
};
