/* SPDX-License-Identifier: Apache-2.0 */
/* The adjoint of the last steps: detector, rotation, mean over the angles.
 * Tests: tests/engines/scatter/test_scatter_gradients.c */
#include <math.h>
#include <string.h>

#include "scatter/adjoint/adjoint.h"
#include "scatter/attenuation.h"
#include "scatter/geometry.h"

#define ON_PIXEL 1e-9 /* coordinates this close to a pixel count as on it, as in scatter_average */

double scatter_place(const collet_scatter *s, const double wave[4], double qx, double qy)
{
    int64_t count = s->options.shape[0];
    if (scatter_is_exact(s))
        return scatter_qz(&s->options, wave, wave[3], qx, qy);
    double x = wave[0] + qx, y = wave[1] + qy, square = wave[3] - x * x - y * y;
    if (!(square >= 0.0))
        return NAN;
    if (count == 1)
        return 0.0;
    double first = s->q[0][0], last = s->q[0][count - 1];
    double at = (sqrt(square) - wave[2] - first) / ((last - first) / (double)(count - 1));
    return at >= 0.0 && at <= (double)(count - 1) ? at : NAN;
}

/* ---- Where there are numbers ----------------------------------------------------------------- */

static void find_valid(void *argument, int64_t begin, int64_t end, int thread)
{
    scatter_adjoint *a = argument;
    const collet_scatter *s = a->s;
    int64_t X = s->options.shape[2];
    (void)thread;
    for (int64_t i = begin * X; i < end * X; i++) {
        uint32_t bits = 0;
        for (int64_t e = 0; e < a->count; e++)
            if (!isnan(scatter_place(s, a->wave[e], s->q[2][i % X], s->q[1][i / X])))
                bits |= UINT32_C(1) << e;
        a->valid[i] = bits;
    }
}

/* One axis of a bilinear interpolation: sets *low to the lower pixel and *high to the weight of the next pixel.
 * 0: the position is outside. */
static int between(double at, int64_t n, int64_t *low, double *high)
{
    double pixel = nearbyint(at);
    if (fabs(at - pixel) < ON_PIXEL)
        at = pixel;
    if (!(at >= 0.0 && at <= (double)(n - 1)))
        return 0;
    *low = (int64_t)floor(at);
    *high = at - floor(at);
    return 1;
}

/* The index of the pixel of q = 0; -1: the grid is not exact, so this pixel is like other pixels. */
static int64_t zero_of(const collet_scatter *s)
{
    const int64_t *n = s->options.shape;
    return scatter_is_exact(s) && n[1] * n[2] > 1 ? n[1] / 2 * n[2] + n[2] / 2 : -1;
}

/* Returns a bit for each energy at which an image has a value at `pixel` for interpolation. For the pixel of q = 0
 * this is the mean of its neighbours, so all of them must have a value. */
static uint32_t valid_at(const scatter_adjoint *a, int64_t pixel)
{
    uint32_t bits = UINT32_MAX;
    int64_t pixels[4];
    if (pixel != zero_of(a->s))
        return a->valid[pixel];
    for (int i = scatter_beside_zero(a->s, pixels) - 1; i >= 0; i--)
        bits &= a->valid[pixels[i]];
    return bits;
}

/* Returns a bit for each energy at which the image of an angle, rotated back, is not NaN at pixel y, x. */
static uint32_t reached_by(const scatter_adjoint *a, int64_t angle, int64_t y, int64_t x)
{
    const int64_t *n = a->s->options.shape;
    double c = a->turn[angle][0], t = a->turn[angle][1], r = scatter_aspect(a->s);
    double cx = scatter_middle(a->s, n[2]), cy = scatter_middle(a->s, n[1]);
    double dx = (double)x - cx, dy = (double)y - cy, across, down;
    int64_t column, row;
    if (y * n[2] + x == zero_of(a->s))
        return a->valid[y * n[2] + x];
    if (!between(cx + c * dx - t * r * dy, n[2], &column, &across) ||
        !between(cy + t / r * dx + c * dy, n[1], &row, &down))
        return 0;
    uint32_t bits = UINT32_MAX;
    for (int i = 0; i < 4; i++)
        if ((i % 2 ? across : 1.0 - across) * (i / 2 ? down : 1.0 - down) != 0.0)
            bits &= valid_at(a, (row + i / 2) * n[2] + column + i % 2);
    return bits;
}

/* Sets `mean` of each pixel and energy to the weight of one angle's image in the averaged pattern: 1 / number
 * of angles, or with `mask` 1 / number of angles that have a value there. 0 if the average is NaN, or if no
 * angle has a value. */
static void find_shares(void *argument, int64_t begin, int64_t end, int thread)
{
    scatter_adjoint *a = argument;
    const collet_scatter *s = a->s;
    int64_t X = s->options.shape[2], pixels = s->options.shape[1] * X;
    (void)thread;
    for (int64_t i = begin * X; i < end * X; i++) {
        int64_t number[ADJOINT_BLOCK] = {0};
        uint32_t all = UINT32_MAX;
        for (int64_t angle = 0; angle < s->angles; angle++) {
            uint32_t bits = reached_by(a, angle, i / X, i % X);
            all &= bits;
            if (!a->reached)
                continue;
            a->reached[angle * pixels + i] = bits;
            for (int64_t e = 0; e < a->count; e++)
                number[e] += bits >> e & 1;
        }
        for (int64_t e = 0; e < a->count; e++) {
            int64_t of = a->reached ? number[e] : all >> e & 1 ? s->angles : 0;
            a->mean[i * a->count + e] = of ? 1.0 / (double)of : 0.0;
        }
    }
}

/* ---- The detector ---------------------------------------------------------------------------- */

typedef struct taps {
    int count;
    int64_t at[16];
    double share[16];
} taps;

/* On the exact grid, the mean of the neighbours of the pixel of q = 0 is read instead of this pixel. */
static void replace_zero(const collet_scatter *s, taps *t)
{
    int64_t pixels[4];
    taps given = *t;
    int count = scatter_beside_zero(s, pixels);
    t->count = 0;
    for (int k = 0; k < given.count; k++) {
        int fill = given.at[k] == zero_of(s);
        for (int i = 0; i < (fill ? count : 1) && given.share[k] != 0.0; i++) {
            t->at[t->count] = fill ? pixels[i] : given.at[k];
            t->share[t->count++] = given.share[k] / (fill ? count : 1);
        }
    }
}

/* Sets *t to the pixels that scatter_warp reads for pixel i, and their weights. 0: scatter_warp reads no pixel. */
static int taps_of(const collet_scatter *s, int64_t i, taps *t)
{
    const int64_t *n = s->options.shape + 1;
    const double(*m)[2] = s->warp;
    double r = scatter_aspect(s), det = m[0][0] * m[1][1] - m[0][1] * m[1][0];
    double cx = scatter_middle(s, n[1]), cy = scatter_middle(s, n[0]);
    double dx = (double)(i % n[1]) - cx, dy = (double)(i / n[1]) - cy;
    double x = (double)(i % n[1]), y = (double)(i / n[1]);
    if (scatter_is_exact(s) && (!s->warps || i == zero_of(s))) {
        *t = (taps){.count = 1, .at = {i}, .share = {1.0}};
        return 1;
    }
    if (s->warps) {
        x = cx + (m[1][1] * dx - m[0][1] * r * dy) / det;
        y = cy + (m[0][0] * dy - m[1][0] / r * dx) / det;
    }
    if (!(x > -ON_PIXEL && y > -ON_PIXEL && x < (double)(n[1] - 1) + ON_PIXEL &&
          y < (double)(n[0] - 1) + ON_PIXEL))
        return 0;
    y = fabs(y - round(y)) < ON_PIXEL ? round(y) : y;
    x = fabs(x - round(x)) < ON_PIXEL ? round(x) : x;
    int64_t row = (int64_t)y, column = (int64_t)x;
    int64_t below = row + 1 < n[0] ? n[1] : 0, right = column + 1 < n[1] ? 1 : 0;
    double down = y - (double)row, across = x - (double)column;
    for (int k = 0; k < 4; k++) {
        t->at[k] = row * n[1] + column + k / 2 * below + k % 2 * right;
        t->share[k] = (k / 2 ? down : 1.0 - down) * (k % 2 ? across : 1.0 - across);
    }
    t->count = 4;
    if (scatter_is_exact(s))
        replace_zero(s, t);
    return 1;
}

/* Multiplies `mean` of each energy begin .. end - 1 by the cotangents of its pattern. Pixels that are NaN are
 * ignored. */
static void take_energies(void *argument, int64_t begin, int64_t end, int thread)
{
    scatter_adjoint *a = argument;
    const collet_scatter *s = a->s;
    int64_t pixels = s->options.shape[1] * s->options.shape[2];
    double *sum = a->scratch[thread];
    for (int64_t e = begin; e < end; e++) {
        double transmission = scatter_transmission(s, a->first + e);
        int64_t first = (a->first + e) * pixels;
        memset(sum, 0, (size_t)pixels * sizeof *sum);
        for (int64_t i = 0; i < pixels; i++) {
            double c = scatter_is_wide(s) ? ((const double *)a->cotangents)[first + i]
                                          : (double)((const float *)a->cotangents)[first + i];
            taps t;
            int counts = taps_of(s, i, &t);
            if (s->options.omit_zero && i == s->options.shape[1] / 2 * s->options.shape[2] + s->options.shape[2] / 2)
                counts = 0;
            for (int k = 0; counts && k < t.count && !s->options.mask; k++)
                counts = a->mean[t.at[k] * a->count + e] != 0.0;
            for (int k = 0; counts && k < t.count; k++)
                if (t.share[k] != 0.0)
                    sum[t.at[k]] += t.share[k] * c;
        }
        for (int64_t i = 0; i < pixels; i++)
            a->mean[i * a->count + e] *= transmission * sum[i];
    }
}

void scatter_adjoint_patterns(scatter_adjoint *a)
{
    int64_t rows = a->s->options.shape[1];
    scatter_parallel(a->threads, rows, 4, find_valid, a);
    scatter_parallel(a->threads, rows, 4, find_shares, a);
    scatter_parallel(a->threads, a->count, 1, take_energies, a);
}

/* ---- The rotation ---------------------------------------------------------------------------- */

/* Adds weight times the cotangents of pixel p, for the energies whose bits are set. */
static void add_pixel(const scatter_adjoint *a, int64_t p, double weight, uint32_t bits,
                      double *restrict sum)
{
    const double *restrict from = a->mean + p * a->count;
    uint32_t all = UINT32_MAX >> (ADJOINT_BLOCK - a->count);
    if ((bits & all) == all)
        for (int64_t e = 0; e < a->count; e++)
            sum[e] += weight * from[e];
    else
        for (int64_t e = 0; e < a->count; e++)
            if (bits >> e & 1)
                sum[e] += weight * from[e];
}

/* Adds `factor` times the cotangents of pixel y, x of an angle's image to `sum`. Pixel p of the average is interpolated
 * from the image at M p: a pixel of the image at the distance dx, dy has the weight (1 - |dx|) (1 - |dy|). */
static void add_turned(const scatter_adjoint *a, int64_t angle, int64_t y, int64_t x, double factor,
                       double *sum)
{
    const int64_t *n = a->s->options.shape;
    double c = a->turn[angle][0], t = a->turn[angle][1], r = scatter_aspect(a->s);
    double cx = scatter_middle(a->s, n[2]), cy = scatter_middle(a->s, n[1]);
    double dx = (double)x - cx, dy = (double)y - cy;
    double px = cx + c * dx + t * r * dy, py = cy - t / r * dx + c * dy;
    double wide = fabs(c) + fabs(t) * r, high = fabs(c) + fabs(t) / r;
    int64_t left = (int64_t)ceil(px - wide), right = (int64_t)floor(px + wide);
    int64_t top = (int64_t)ceil(py - high), bottom = (int64_t)floor(py + high);
    left = left < 0 ? 0 : left;
    top = top < 0 ? 0 : top;
    right = right < n[2] ? right : n[2] - 1;
    bottom = bottom < n[1] ? bottom : n[1] - 1;
    int64_t zero = zero_of(a->s);
    for (int64_t row = top; row <= bottom; row++)
        for (int64_t column = left; column <= right; column++) {
            double u = (double)column - px, v = (double)row - py;
            double away = fabs(c * u - t * r * v), off = fabs(t / r * u + c * v);
            if (away >= 1.0 - ON_PIXEL || off >= 1.0 - ON_PIXEL)
                continue;
            int64_t p = row * n[2] + column;
            if (p == zero) /* the pixel reads only itself */
                continue;
            uint32_t bits = a->reached ? a->reached[angle * n[1] * n[2] + p] : UINT32_MAX;
            away = away < ON_PIXEL ? 0.0 : away;
            off = off < ON_PIXEL ? 0.0 : off;
            add_pixel(a, p, factor * (1.0 - away) * (1.0 - off), bits, sum);
        }
}

/* Sets `sum` to the cotangents of pixel y, x of an angle's image. */
static void turn_pixel(const scatter_adjoint *a, int64_t angle, int64_t y, int64_t x, double *sum)
{
    int64_t X = a->s->options.shape[2], at = y * X + x, zero = zero_of(a->s), pixels[4];
    memset(sum, 0, (size_t)a->count * sizeof *sum);
    if (at == zero) {
        add_pixel(a, at, 1.0, UINT32_MAX, sum);
        return;
    }
    add_turned(a, angle, y, x, 1.0, sum);
    int count = zero >= 0 ? scatter_beside_zero(a->s, pixels) : 0;
    for (int i = 0; i < count; i++)
        if (pixels[i] == at)
            add_turned(a, angle, zero / X, zero % X, 1.0 / count, sum);
}

void scatter_adjoint_average(const scatter_adjoint *a, int64_t y, int64_t x, int64_t n,
                             double *images)
{
    int64_t E = a->count, X = a->s->options.shape[2];
    int three = !a->s->options.material_frame;
    for (int64_t i = 0; i < n; i++) {
        double sum[ADJOINT_BLOCK], parts[3][ADJOINT_BLOCK] = {{0.0}};
        int counts = a->valid[y * X + x + i] != 0;
        for (int64_t angle = 0; angle < a->s->angles; angle++) {
            if (counts)
                turn_pixel(a, angle, y, x + i, sum);
            else
                memset(sum, 0, sizeof sum);
            if (!three) {
                for (int64_t e = 0; e < E; e++)
                    images[(angle * E + e) * ADJOINT_TILE + i] = sum[e];
                continue;
            }
            double c = a->turn[angle][0], t = a->turn[angle][1];
            double cosine = c * c - t * t, sine = 2 * c * t;
            for (int64_t e = 0; e < E; e++) {
                parts[0][e] += sum[e];
                parts[1][e] += cosine * sum[e];
                parts[2][e] += sine * sum[e];
            }
        }
        for (int64_t k = 0; k < 3 && three; k++)
            for (int64_t e = 0; e < E; e++)
                images[(k * E + e) * ADJOINT_TILE + i] = parts[k][e];
    }
}
