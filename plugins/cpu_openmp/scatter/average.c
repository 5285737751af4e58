/* SPDX-License-Identifier: Apache-2.0 */
/* scatter_average for calls in which the energies of a pixel are adjacent. A pixel's places in the images are
 * found once for all energies.
 * Tests: conformance/scatter/average.c */
#include "cpu_openmp/runtime/device.h"

#include <math.h>

#include "cpu_openmp/runtime/team.h"
#include "shared/host/util/counts.h"
#include "shared/host/scatter/between.h"
#include "shared/host/scatter/numbers.h"
#include "shared/host/scatter/scatter.h"
#include "kernel_scatter.h"

#define KINDS 8    /* the most images per angle that have a weight other than 0 */
#define GRAIN 16   /* pixels per thread, at least */
#define STEP 32    /* the number of energies of a pixel that are computed at a time: whole vectors */
#define SAME 1e-13 /* weights, cosines and sines whose difference is smaller count as equal */
#define MOST_ANGLES ((int64_t)1 << 40)

/* One angle. */
typedef struct turn {
    double c, s;
    int64_t kinds;
    int64_t offset[KINDS]; /* bytes to the image */
    double weight[KINDS];
} turn;

/* The data of one thread. */
typedef struct places {
    scatter_angle *angles;
    scatter_tap *taps;
} places;

typedef struct job {
    const collet_kernel_call *call;
    const scatter_kernels *kernels;
    int64_t n_angles;
    turn *turns;
    double *weights; /* KINDS of each angle */
    double *reach;   /* for each energy: the largest distance from the centre at which a sample exists */
    double aspect;
    double centre[2];   /* row and column about which images turn */
    int64_t quarter;    /* number of angles in a quarter circle; 0: quarter turns do not permute the angles */
    int64_t kept;       /* number of images whose weights keep their signs in a quarter turn */
    double sign[KINDS]; /* for each image: 1, or -1 if a quarter turn changes the sign of its weights */
    char *folded;       /* if quarter > 0: folded images [pixel][image][energy] */
    int32_t *order;     /* the pixels, sorted by their distance from the centre: see order_pixels */
    char *memory;       /* the threads' memory */
    int64_t bytes;
} job;

static int64_t angles_of(const collet_kernel_call *call)
{
    return operand_of(call, 2)->shape[0];
}

/* Bytes of the tap lists of four pixels that quarter turns exchange; the lists of one pixel need less. */
static int64_t orbit_bytes(const collet_kernel_call *call)
{
    return angles_of(call) * (int64_t)(sizeof(scatter_angle) + 4 * KINDS * sizeof(scatter_tap));
}

static int64_t thread_bytes(const collet_kernel_call *call)
{
    return 2 * orbit_bytes(call);
}

/* The distance from the centre, in units of the longer side of a pixel. A rotation does not change it. */
static double distance(const job *j, double dx, double dy)
{
    dy *= j->aspect;
    return sqrt(dx * dx + dy * dy) / fmax(j->aspect, 1.0);
}

/* The distance of pixel i of `out` from the centre, rounded down. */
static int64_t radius(const job *j, const collet_operand *out, int64_t i)
{
    return (int64_t)distance(j, (double)(i % out->shape[2]) - j->centre[1],
                             (double)(i / out->shape[2]) - j->centre[0]);
}

static int64_t rings_of(const collet_operand *out)
{
    return out->shape[1] + out->shape[2] + 1;
}

/* Sorts the pixels by rings around the centre. All angles of a pixel read one ring of the images, so pixels of the same
 * ring find it in the caches. */
static void order_pixels(const job *j, const collet_operand *out)
{
    int64_t pixels = out->shape[1] * out->shape[2], rings = rings_of(out);
    int32_t *first = j->order + pixels;
    for (int64_t r = 0; r <= rings; r++)
        first[r] = 0;
    for (int64_t i = 0; i < pixels; i++)
        first[radius(j, out, i) + 1]++;
    for (int64_t r = 0; r < rings; r++)
        first[r + 1] += first[r];
    for (int64_t i = 0; i < pixels; i++)
        j->order[first[radius(j, out, i)]++] = (int32_t)i;
}

/* Whether an image of energy e is not NaN at a pixel. */
static int has_number(const collet_operand *images, int64_t pixel, int64_t e)
{
    int64_t y = pixel / images->shape[3], x = pixel % images->shape[3];
    const char *at = cpu_at(images) + e * cpu_step(images, 0) + y * cpu_step(images, 2) +
                     x * cpu_step(images, 3);
    for (int64_t k = 0; k < images->shape[1]; k++)
        if (!isnan(real_at(at + k * cpu_step(images, 1), is_wide(images))))
            return 1;
    return 0;
}

/* Finds the reach of each energy. It is a little larger than the distance of the outermost pixel that is not NaN.
 * Samples more than a pixel beyond this pixel are NaN, except samples without weights. */
static void find_reach(const job *j)
{
    const collet_operand *out = operand_of(j->call, 0), *images = operand_of(j->call, 1);
    int64_t pixels = out->shape[1] * out->shape[2], energies = out->shape[0], left = energies;
    int weightless = 0;
    for (int64_t a = 0; a < j->n_angles; a++)
        weightless |= j->turns[a].kinds == 0;
    for (int64_t e = 0; e < energies; e++)
        j->reach[e] = weightless ? INFINITY : -1.0;
    for (int64_t i = pixels - 1; i >= 0 && left && !weightless; i--)
        for (int64_t e = 0; e < energies; e++)
            if (j->reach[e] < 0.0 && has_number(images, j->order[i], e)) {
                j->reach[e] =
                    i == pixels - 1 ? INFINITY : (double)radius(j, out, j->order[i]) + 3.0;
                left--;
            }
}

/* Returns 0 if an angle has more than KINDS weights that are not 0. */
static int find_turns(const job *j)
{
    const collet_operand *images = operand_of(j->call, 1), *angles = operand_of(j->call, 2);
    const collet_operand *weights = operand_of(j->call, 3);
    for (int64_t a = 0; a < j->n_angles; a++) {
        turn *t = &j->turns[a];
        double angle = real_at(cpu_at(angles) + a * cpu_step(angles, 0), 1);
        *t = (turn){.c = cos(angle), .s = sin(angle)};
        for (int64_t k = 0; k < images->shape[1]; k++) {
            double w =
                real_at(cpu_at(weights) + a * cpu_step(weights, 0) + k * cpu_step(weights, 1), 1);
            if (w == 0.0)
                continue;
            if (t->kinds == KINDS)
                return 0;
            t->offset[t->kinds] = k * cpu_step(images, 1);
            t->weight[t->kinds++] = w;
        }
    }
    return 1;
}

/* Stores the taps of an angle and returns their number, or -1 if the sample is outside the images. */
static int64_t find_taps(const job *j, const turn *t, double dx, double dy, scatter_tap *taps)
{
    const collet_operand *images = operand_of(j->call, 1);
    int64_t Y = images->shape[2], X = images->shape[3], count = 0;
    between across = between_pixels(j->centre[1] + t->c * dx - t->s * j->aspect * dy, X);
    between down = between_pixels(j->centre[0] + t->s / j->aspect * dx + t->c * dy, Y);
    if (across.low < 0 || down.low < 0)
        return -1;
    int64_t y_step = cpu_step(images, 2), x_step = cpu_step(images, 3);
    const char *first = cpu_at(images) + down.low * y_step + across.low * x_step;
    for (int i = 0; i < 4; i++) {
        double w =
            (i % 2 ? across.high : 1.0 - across.high) * (i / 2 ? down.high : 1.0 - down.high);
        const char *at = first + (i / 2) * y_step + (i % 2) * x_step;
        for (int64_t k = 0; k < t->kinds && w != 0.0; k++)
            taps[count++] = (scatter_tap){at + t->offset[k], w * t->weight[k]};
    }
    return count;
}

/* ---- Pixels ---------------------------------------------------------------------------------- */

/* Sets energies begin .. begin+n-1 of a pixel to `value`. */
static void set_energies(const job *j, char *to, int64_t begin, int64_t n, double value)
{
    const collet_operand *out = operand_of(j->call, 0);
    for (int64_t e = begin; e < begin + n; e++)
        set_real(to + e * cpu_step(out, 0), is_wide(out), value);
}

static char *pixel_at(const job *j, int64_t y, int64_t x)
{
    const collet_operand *out = operand_of(j->call, 0);
    return cpu_at(out) + y * cpu_step(out, 1) + x * cpu_step(out, 2);
}

/* Computes energies begin .. begin+n-1 of pixel y, x, angle by angle. */
static void run_pixel(const job *j, scatter_angle *angles, int64_t y, int64_t x, int64_t begin,
                      int64_t n)
{
    const collet_scatter_average_params *params = j->call->params;
    const collet_operand *out = operand_of(j->call, 0);
    scatter_tap *taps = (scatter_tap *)(void *)(angles + j->n_angles);
    double dx = (double)x - j->centre[1], dy = (double)y - j->centre[0];
    int64_t outside = 0;
    for (int64_t a = 0; a < j->n_angles; a++) {
        scatter_tap *of = taps + a * 4 * KINDS;
        angles[a] = (scatter_angle){of, find_taps(j, &j->turns[a], dx, dy, of)};
        outside |= angles[a].count < 0;
    }
    if (outside && !params->mask)
        set_energies(j, pixel_at(j, y, x), begin, n, NAN);
    else
        j->kernels->mean[is_wide(out)](angles, j->n_angles, params->mask != 0, begin, n,
                                       pixel_at(j, y, x) + begin * cpu_step(out, 0),
                                       cpu_step(out, 0));
}

/* Like run_pixel, but does not compute energies whose images are all NaN at this distance from
 * the centre: their result is NaN, or 0 with a mask. */
static void run_some(const job *j, scatter_angle *angles, int64_t y, int64_t x, int64_t begin,
                     int64_t n)
{
    const collet_scatter_average_params *params = j->call->params;
    double far = distance(j, (double)x - j->centre[1], (double)y - j->centre[0]);
    for (int64_t e = begin, end; e < begin + n; e = end) {
        int beyond = far > j->reach[e];
        for (end = e + 1; end < begin + n && (far > j->reach[end]) == beyond;)
            end++;
        if (beyond)
            set_energies(j, pixel_at(j, y, x), e, end - e, params->mask ? 0.0 : NAN);
        else
            run_pixel(j, angles, y, x, e, end - e);
    }
}

/* ---- Four pixels ----------------------------------------------------------------------------- */

/* The images can be folded if quarter turns permute the angles, and each image's weights keep or change their signs.
 * First, the four pixels that quarter turns exchange are added, with these signs. Then two sums of samples
 * suffice for the four pixels of the result: two pixels are the sum of the two sums, and the other two pixels are
 * their difference.
 */

/* Pixels of the folded quarter begin at this row and column, on the centre or next to it. */
static int64_t first_folded(int64_t n)
{
    return (n + 1) / 2;
}

/* Rows and columns of a folded image. */
static int64_t folded_side(int64_t n)
{
    return n - first_folded(n);
}

/* For each group of four pixels that quarter turns exchange, the folded images store the pixel right of the centre
 * and not above it. */
static int is_folded(int64_t n, int64_t row, int64_t column)
{
    int64_t dx = 2 * column - n, dy = 2 * row - n;
    return (dx > 0 && dy >= 0) || (dx == 0 && dy == 0);
}

static void turn_pixel(int64_t n, int64_t *row, int64_t *column)
{
    int64_t turned = n - *row;
    *row = *column;
    *column = turned;
}

/* The address of the energies of image k at a pixel of the folded images. */
static char *folded_at(const job *j, int64_t row, int64_t column, int64_t k)
{
    const collet_operand *images = operand_of(j->call, 1);
    int64_t n = images->shape[2], size = is_wide(images) ? 8 : 4;
    int64_t pixel = (row - first_folded(n)) * folded_side(n) + column - first_folded(n);
    return j->folded + (pixel * images->shape[1] + k) * images->shape[0] * size;
}

static TEAM_BODY(fold_rows)
{
    const job *j = argument;
    const collet_operand *images = operand_of(j->call, 1);
    int64_t n = images->shape[2], first = first_folded(n);
    for (int64_t i = begin * (n - first); i < end * (n - first); i++) {
        int64_t row = first + i / (n - first), column = first + i % (n - first);
        const char *at[4];
        if (!is_folded(n, row, column))
            continue;
        for (int64_t k = 0; k < images->shape[1]; k++) {
            int64_t y = row, x = column;
            for (int which = 0; which < 4; which++) {
                at[which] = cpu_at(images) + k * cpu_step(images, 1) + y * cpu_step(images, 2) +
                            x * cpu_step(images, 3);
                turn_pixel(n, &y, &x);
            }
            j->kernels->fold[is_wide(images)](at, j->sign[k], images->shape[0],
                                              folded_at(j, row, column, k));
        }
    }
}

/* Adds the taps at x, y of the folded images to two lists: images whose weights keep their signs, and images whose
 * weights change their signs. Returns 0 if a pixel is outside the images. */
static int find_folded(const job *j, const double *weights, double x, double y,
                       scatter_tap *taps[2], int64_t counts[2])
{
    const collet_operand *images = operand_of(j->call, 1);
    int64_t n = images->shape[2];
    between across = between_pixels(x, n), down = between_pixels(y, n);
    for (int i = 0; i < 4 && across.low >= 0 && down.low >= 0; i++) {
        int64_t column = across.low + i % 2, row = down.low + i / 2;
        double w =
            (i % 2 ? across.high : 1.0 - across.high) * (i / 2 ? down.high : 1.0 - down.high);
        int turns = 0;
        if (w == 0.0)
            continue;
        if (column < 1 || row < 1)
            return 0;
        for (; !is_folded(n, row, column); turns++)
            turn_pixel(n, &row, &column);
        for (int64_t k = 0; k < images->shape[1]; k++) {
            int changes = j->sign[k] < 0;
            taps[changes][counts[changes]++] =
                (scatter_tap){folded_at(j, row, column, k),
                              turns % 2 ? w * weights[k] * j->sign[k] : w * weights[k]};
        }
    }
    return across.low >= 0 && down.low >= 0;
}

/* Makes the tap lists of all angles of the first quarter circle, for an offset from the centre. Returns 0 if a pixel is
 * outside the images. */
static int find_orbits(const job *j, double dx, double dy, scatter_angle *angles)
{
    int64_t n = operand_of(j->call, 1)->shape[2], quarter = j->quarter;
    scatter_tap *taps = (scatter_tap *)(void *)(angles + 2 * quarter);
    for (int64_t a = 0; a < quarter; a++) {
        const turn *t = &j->turns[a];
        scatter_tap *lists[2] = {taps, taps + 4 * j->kept};
        int64_t counts[2] = {0, 0};
        if (!find_folded(j, j->weights + a * KINDS, (double)n / 2 + t->c * dx - t->s * dy,
                         (double)n / 2 + t->s * dx + t->c * dy, lists, counts))
            return 0;
        for (int i = 0; i < 2; i++)
            angles[i * quarter + a] = (scatter_angle){lists[i], counts[i]};
        taps += 4 * KINDS;
    }
    return 1;
}

/* Computes energies begin .. begin+n-1 of pixel y, x and of the three pixels to which quarter
 * turns move it. If a sample of an energy is NaN, only sets `single` for this energy. run_some
 * then computes the energy, so that the result does not depend on the other energies. */
static void run_orbit(const job *j, scatter_angle *angles, int64_t y, int64_t x, int64_t begin,
                      int64_t n, int *single)
{
    const collet_operand *out = operand_of(j->call, 0);
    int wide = is_wide(out);
    int64_t size = wide ? 8 : 4, N = out->shape[1];
    double sums[2][STEP];
    for (int i = 0; i < 2; i++)
        j->kernels->mean[wide](angles + i * j->quarter, j->quarter, 0, begin, n, (char *)sums[i],
                               size);
    for (int64_t e = 0; e < n; e++)
        single[e] = isnan(real_at((char *)sums[0] + e * size, wide) +
                          real_at((char *)sums[1] + e * size, wide));
    for (int which = 0; which < 4; which++) {
        char *to = pixel_at(j, y, x) + begin * cpu_step(out, 0);
        for (int64_t e = 0; e < n; e++) {
            if (single[e])
                continue;
            double kept = real_at((char *)sums[0] + e * size, wide);
            double changed = real_at((char *)sums[1] + e * size, wide);
            set_real(to + e * cpu_step(out, 0), wide,
                     (which % 2 ? kept - changed : kept + changed) / 4);
        }
        turn_pixel(N, &y, &x);
    }
}

/* Computes all energies of pixel y, x and of the three pixels to which quarter turns move it. */
static void run_four(const job *j, char *memory, int64_t y, int64_t x)
{
    const collet_operand *out = operand_of(j->call, 0);
    int64_t N = out->shape[1], row = y, column = x;
    double dx = (double)x - (double)N / 2, dy = (double)y - (double)N / 2;
    scatter_angle *orbits = (scatter_angle *)(void *)memory;
    scatter_angle *angles = (scatter_angle *)(void *)(memory + orbit_bytes(j->call));
    int inside = find_orbits(j, dx, dy, orbits);
    for (int64_t begin = 0; begin < out->shape[0]; begin += STEP) {
        int64_t n = min_i64(out->shape[0] - begin, STEP), within = 0;
        int single[STEP];
        for (int64_t e = 0; e < n; e++) {
            single[e] = 1;
            within += distance(j, dx, dy) <= j->reach[begin + e];
        }
        if (inside && within)
            run_orbit(j, orbits, y, x, begin, n, single);
        for (int which = 0; which < 4; which++) {
            for (int64_t e = 0, end; e < n; e = end) {
                for (end = e + 1; end < n && single[end] == single[e];)
                    end++;
                if (single[e])
                    run_some(j, angles, row, column, begin + e, end - e);
            }
            turn_pixel(N, &row, &column);
        }
    }
}

/* Finds whether quarter turns permute the angles, and how they change the signs of the weights. */
static void find_quarter(job *j)
{
    const collet_operand *images = operand_of(j->call, 1), *weights = operand_of(j->call, 3);
    int64_t A = j->n_angles, K = images->shape[1];
    int halved = j->centre[0] == (double)images->shape[2] / 2; /* turn_pixel turns about n / 2 */
    if (A % 4 || K > KINDS || images->shape[2] != images->shape[3] || j->aspect != 1.0 ||
        !halved)
        return;
    for (int64_t a = 0; a < A; a++) {
        for (int64_t k = 0; k < K; k++)
            j->weights[a * KINDS + k] =
                real_at(cpu_at(weights) + a * cpu_step(weights, 0) + k * cpu_step(weights, 1), 1);
    }
    for (int64_t a = 0; a < A; a++) {
        const turn *t = &j->turns[a], *u = &j->turns[(a + A / 4) % A];
        if (fabs(u->c + t->s) > SAME || fabs(u->s - t->c) > SAME)
            return;
    }
    for (int64_t k = 0; k < K; k++) {
        double most = 0.0, kept = 0.0, changed = 0.0;
        for (int64_t a = 0; a < A; a++) {
            double w = j->weights[a * KINDS + k], v = j->weights[(a + A / 4) % A * KINDS + k];
            most = fmax(most, fabs(w));
            kept = fmax(kept, fabs(v - w));
            changed = fmax(changed, fabs(v + w));
        }
        j->sign[k] = kept <= changed ? 1.0 : -1.0;
        j->kept += kept <= changed;
        if (!(fmin(kept, changed) <= SAME * most))
            return;
    }
    j->quarter = A / 4;
}

static TEAM_BODY(run_rows)
{
    const job *j = argument;
    const collet_operand *out = operand_of(j->call, 0);
    char *memory = j->memory + thread * j->bytes;
    scatter_angle *angles = (scatter_angle *)(void *)(memory + orbit_bytes(j->call));
    for (int64_t i = begin; i < end; i++) {
        int64_t at = j->order[i], y = at / out->shape[2], x = at % out->shape[2];
        int single = !j->quarter || y == 0 || x == 0 || (2 * y == out->shape[1] && y == x);
        if (!single && is_folded(out->shape[1], y, x))
            run_four(j, memory, y, x);
        for (int64_t e = 0; single && e < out->shape[0]; e += STEP)
            run_some(j, angles, y, x, e, min_i64(out->shape[0] - e, STEP));
    }
}

static TEAM_BODY(run_general)
{
    const job *j = argument;
    cpu_scatter_average(j->call, begin, end);
}

static uint64_t order_bytes(const collet_operand *out)
{
    uint64_t count = (uint64_t)(out->shape[1] * out->shape[2] + rings_of(out) + 1);
    return (count + 15) / 16 * 16 * sizeof(int32_t);
}

/* Uses folded images if the shapes allow them. */
static uint64_t folded_bytes(const collet_kernel_call *call)
{
    const collet_operand *images = operand_of(call, 1);
    int64_t side = folded_side(images->shape[2]);
    if (angles_of(call) % 4 || images->shape[1] > KINDS || images->shape[2] != images->shape[3])
        return 0;
    return (uint64_t)(side * side * images->shape[1] * images->shape[0]) *
           (is_wide(images) ? 8 : 4);
}

static int64_t even_energies(const collet_kernel_call *call)
{
    return (operand_of(call, 0)->shape[0] + 1) / 2 * 2;
}

ACCEPTS(scatter_average)
{
    if (angles_of(call) > MOST_ANGLES)
        return device->base.host->fail(
            call->err, COLLET_REFUSED,
            "there are %lld angles, but the lists of more than %lld "
            "do not fit into memory",
            (long long)angles_of(call), (long long)MOST_ANGLES);
    *workspace_bytes = (uint64_t)(device->threads * thread_bytes(call)) +
                       (uint64_t)angles_of(call) * (sizeof(turn) + KINDS * sizeof(double)) +
                       (uint64_t)even_energies(call) * sizeof(double) +
                       order_bytes(operand_of(call, 0)) + folded_bytes(call) + 16;
    return COLLET_OK;
}

KERNEL(scatter_average)
{
    const collet_operand *out = operand_of(call, 0), *images = operand_of(call, 1);
    job j = {.call = call,
             .kernels = device->level->scatter,
             .n_angles = angles_of(call),
             .aspect = scatter_aspect(call),
             .centre = {scatter_centre(call, out->shape[1]), scatter_centre(call, out->shape[2])},
             .turns = call->workspace,
             .bytes = thread_bytes(call)};
    j.weights = (double *)(void *)(j.turns + j.n_angles);
    j.reach = j.weights + j.n_angles * KINDS;
    j.order = (int32_t *)(void *)(j.reach + even_energies(call));
    j.folded = (char *)j.order + order_bytes(out);
    j.memory = j.folded + folded_bytes(call) / 16 * 16 + 16;
    int adjacent = images->shape[0] == 1 || cpu_step(images, 0) == (is_wide(images) ? 8 : 4);
    int small = out->shape[1] * out->shape[2] < INT32_MAX;
    if (adjacent && small && j.n_angles > 0 && j.aspect > 0.0 && isfinite(j.aspect) &&
        find_turns(&j)) {
        order_pixels(&j, out);
        find_reach(&j);
        find_quarter(&j);
        if (j.quarter)
            team_run(device->threads, folded_side(out->shape[1]), 1, fold_rows, &j);
        team_run(device->threads, out->shape[1] * out->shape[2], GRAIN, run_rows, &j);
    } else {
        team_run(device->threads, out->shape[0] * out->shape[1], 1, run_general, &j);
    }
    return COLLET_OK;
}
