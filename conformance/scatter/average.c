/* SPDX-License-Identifier: Apache-2.0 */
/* scatter: the mean of images that are rotated back.
 * Tests: tests/conformance/defects.sh */
#include "scatter.h"

#include <math.h>

enum { ANY_ANGLES, QUARTERS, HOLES, CIRCLE, DISK, KINDS };
static const char *const kind_names[] = {"any angles", "quarter turns", "NaN in the images",
                                         "a whole circle", "a whole circle, NaN outside"};

/* E, K, Y, X, A */
static const int64_t extents[][5] = {
    {1, 1, 1, 1, 1}, {1, 3, 4, 4, 4},    {2, 1, 3, 5, 2},    {3, 2, 8, 8, 5},   {1, 3, 9, 16, 7},
    {0, 1, 2, 2, 1}, {2, 3, 6, 6, 0},    {1, 4, 6, 6, 4},    {5, 3, 12, 11, 9}, {17, 3, 9, 9, 6},
    {1, 0, 3, 3, 2}, {40, 3, 17, 17, 8}, {3, 4, 24, 24, 12}, {2, 3, 33, 40, 8}, {1, 2, 3, 4, 600}};
enum { MOST_ANGLES = 600 };

typedef struct turn {
    real cosine, sine;
} turn;

static void plan_average(kit_plan *plan)
{
    for (size_t i = 0; i < sizeof extents / sizeof *extents; i++)
        for (int kind = 0; kind < KINDS; kind++)
            for (uint32_t mask = 0; mask < 2; mask++) {
                kit_case c = kit_case_of(plan);
                kit_bind(&c, "EKYXA", extents[i], 0, NULL, 0);
                c.kind = kind;
                c.data = kind_names[kind];
                c.params.average = (collet_scatter_average_params){
                    .struct_size = sizeof c.params.average, .mask = mask, .centre = kind != HOLES && i % 2};
                kit_emit(plan, &c);
                if (kind == ANY_ANGLES || kind == DISK) {
                    c.params.average.aspect = i % 2 ? 0.7 : 1.4; /* not representable in f32 */
                    kit_emit(plan, &c);
                    c.params.average.aspect = 0;
                }
                if (kind == HOLES && mask && (i == 3 || i == 8)) {
                    kit_emit_layouts(plan, &c);
                    kit_emit_sharing(plan, &c);
                    kit_emit_parts(plan, &c);
                }
                c.layout[1] = KIT_TRANSPOSED;
                kit_emit(plan, &c);
            }
}

static void generate_average(kit_case *c, kit_rng *rng)
{
    kit_tensor *images = &c->operand[1], *angles = &c->operand[2], *weights = &c->operand[3];
    scatter_normal(images, rng);
    for (int64_t i = 0; i < images->count && c->kind == HOLES; i++)
        if (kit_below(rng, 40) == 0)
            kit_set(images, i, (real)NAN);
    for (int64_t i = 0; i < images->count && c->kind == DISK; i++) {
        real dx = (real)(i % images->shape[3]) - (real)images->shape[3] / 2;
        real dy = (real)(i / images->shape[3] % images->shape[2]) - (real)images->shape[2] / 2;
        if (dx * dx + dy * dy > (real)(images->shape[2] * images->shape[2]) / 8)
            kit_set(images, i, (real)NAN);
    }
    for (int64_t i = 0; i < angles->count; i++)
        kit_set(angles, i,
                c->kind >= CIRCLE ? (real)(double)(2 * acosl(-1) * (real)i / (real)angles->count)
                : c->kind == QUARTERS ? (real)(double)(acosl(-1) * (real)i / 2)
                                      : kit_uniform(rng, -4, 4));
    scatter_normal(weights, rng);
    for (int64_t i = 0; i < weights->count; i++)
        if (kit_below(rng, 3) == 0)
            kit_set(weights, i, 0);
    for (int64_t i = 0; i < weights->count && c->kind >= CIRCLE; i++) {
        int64_t k = i % weights->shape[1];
        real twice = 2 * kit_get(angles, i / weights->shape[1]);
        kit_set(weights, i,
                k == 0 ? 1 : (real)(double)(k == 1 ? kit_cos(twice) : kit_sin(k * twice)));
    }
}

/* A pixel of the image at angle a, a weighted sum; adds the magnitudes of its terms to *scale. */
static real tap(const kit_case *c, int64_t a, int64_t e, int64_t y, int64_t x, real *scale)
{
    const kit_tensor *images = kit_in(c, 0);
    real sum = 0;
    for (int64_t k = 0; k < images->shape[1]; k++) {
        real w = kit_get(kit_in(c, 2), a * images->shape[1] + k);
        if (w == 0)
            continue;
        real image = kit_get(images, scatter_index(images, (const int64_t[]){e, k, y, x}));
        sum += w * image;
        *scale += isnan(image) ? 0 : fabsl(w * image);
    }
    return sum;
}

/* Rounds `at` to a pixel that is very close; true if `at` is within the axis. */
static bool inside(real *at, int64_t n)
{
    if (!(*at > -1 && *at < (real)n))
        return false;
    real nearest = (real)(int64_t)(*at + (*at < 0 ? -0.5L : 0.5L));
    if (fabsl(*at - nearest) < 1e-9L)
        *at = nearest;
    return *at >= 0 && *at <= (real)(n - 1);
}

/* Pixel (y, x) of image e, rotated by angle number a; `by` has the angle's sine and cosine. */
static real of_angle(const kit_case *c, int64_t a, turn by, int64_t e, int64_t y, int64_t x,
                     real *scale)
{
    const kit_tensor *images = kit_in(c, 0);
    int64_t Y = images->shape[2], X = images->shape[3];
    bool whole = c->params.average.centre != 0;
    real cx = whole ? (real)(X / 2) : (real)X / 2, cy = whole ? (real)(Y / 2) : (real)Y / 2;
    real dx = (real)x - cx, dy = (real)y - cy;
    real aspect = c->params.average.aspect == 0 ? 1 : (real)c->params.average.aspect, sum = 0;
    real u = cx + by.cosine * dx - by.sine * dy * aspect;
    real t = cy + by.sine * dx / aspect + by.cosine * dy;
    if (!inside(&u, X) || !inside(&t, Y))
        return (real)NAN;
    for (int64_t i = (int64_t)t; (real)i < t + 1; i++)
        for (int64_t j = (int64_t)u; (real)j < u + 1; j++)
            sum += (1 - fabsl(t - (real)i)) * (1 - fabsl(u - (real)j)) * tap(c, a, e, i, j, scale);
    return sum;
}

static void judge_average(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0];
    int64_t Y = out->shape[1], X = out->shape[2], A = kit_in(c, 1)->count;
    static _Thread_local turn turns[MOST_ANGLES]; /* once, not for every pixel */
    for (int64_t a = 0; a < A; a++)
        turns[a] = (turn){kit_cos(kit_get(kit_in(c, 1), a)), kit_sin(kit_get(kit_in(c, 1), a))};
    for (int64_t i = 0; i < out->count; i++) {
        real sum = 0, scale = 0;
        int64_t count = 0;
        for (int64_t a = 0; a < A; a++) {
            real value = of_angle(c, a, turns[a], i / X / Y, i / X % Y, i % X, &scale);
            if (c->params.average.mask && isnan(value))
                continue;
            sum += value;
            count++;
        }
        if (count)
            sum /= (real)count, scale /= (real)count;
        else if (!c->params.average.mask)
            sum = (real)NAN;
        kit_near(c, v, 0, i, sum, scale, scatter_limit(c));
    }
}

const kit_op kit_scatter_average_ops[] = {
    {COLLET_OP_SCATTER_AVERAGE, plan_average, generate_average, judge_average},
    {0},
};
