/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ops integers and variate, if all elements share their parameters. The results have the same bits as the results
 * of variate.dev: vectors compute the quantities that decide the value of an element, with a bound of their error. If
 * the error could change the decision, variate.dev draws the element instead.
 * Tests: conformance/random/variates.c, tests/host/test_random.c
 */
#include <string.h>

#include "shared/host/random/variates.h"
#include "kernel_philox.h"

#include "shared/formula/host.h"

#define HAVE_F64 1
#define TABLE static const
#define mul_high_u64(a, b) ((u64)((unsigned __int128)(a) * (b) >> 64))
#include "shared/formula/philox.dev"
#include "shared/formula/variate.dev"

/* Elements that are drawn at a time. Vectors may write up to one group of blocks beyond them. */
#define PIECE 256
#define GROUP (VECTORS * (int)LANES)
#define ROOM (PIECE + GROUP)
#define FEW (GROUP / 2) /* up to this number, elements are drawn singly */

enum { REJECTED, ACCEPTED, UNSURE };

/* The elements of a piece that still have no number: their numbers in the sequence, their places in the piece, the two
 * numbers of the current block, and the results of try_... for these. */
typedef struct lanes {
    u64 element[ROOM];
    f64 u[ROOM], v[ROOM];
    union {
        u64 low[ROOM];
        f64 value[ROOM];
    };
    union {
        u64 high[ROOM];
        i64 state[ROOM];
    };
    i32 place[ROOM];
} lanes;

/* ---- Blocks ---------------------------------------------------------------------------------- */

static void number_elements(lanes *p, u64 first)
{
    for (int i = 0; i < ROOM; i++) {
        p->element[i] = first + (u64)i;
        p->place[i] = i;
    }
}

/* The two 64-bit numbers of a block of each element. */
INLINE void draw_blocks(u64 *low, u64 *high, const u64 *element, int n, u64 seed, u32 block,
                        u32 fourth)
{
    const words zero = {0};
    for (int i = 0; i < n; i += GROUP) {
        philox_blocks b;
        memcpy(b.x[0], element + i, sizeof b.x[0]);
        for (int v = 0; v < VECTORS; v++) {
            b.x[1][v] = b.x[0][v] >> 32;
            b.x[2][v] = zero + block;
            b.x[3][v] = zero + fourth;
        }
        philox_rounds(&b, seed);
        memcpy(low + i, b.low, sizeof b.low);
        if (high)
            memcpy(high + i, b.high, sizeof b.high);
    }
}

/* As next_pair of variate.dev. 52 bits become the mantissa of a number >= 2^52; 2^52 is then subtracted. */
INLINE f64 open_fraction(u64 bits)
{
    return ((of_f64(0x4330000000000000u | bits >> 12) - 0x1p52) + 0.5) * 0x1p-52;
}

static void draw_pairs(lanes *p, int n, u64 seed, u32 block)
{
    draw_blocks(p->low, p->high, p->element, n, seed, block, VARIATE_STREAM);
    for (int i = 0; i < n; i++) {
        p->u[i] = open_fraction(p->low[i]);
        p->v[i] = open_fraction(p->high[i]);
    }
}

/* ---- Trials: one block of each element ------------------------------------------------------- */

typedef void (*trial)(const law *l, lanes *p, int n);

INLINE i64 state_of(int accepted, int rejected)
{
    return accepted ? ACCEPTED : rejected ? REJECTED : UNSURE;
}

/* One trial of draw_gamma of variate.dev. The sum that its last test compares with 0 has an error of a few ulp of the
 * sum's terms. */
static void try_gamma(const law *l, lanes *p, int n)
{
    const f64 ratio = l->x[1], slope = l->x[3], steep = l->x[2], use_v = slope > 0.0 ? 1.0 : 0.0;
    for (int i = 0; i < n; i++) {
        f64 u = use_v > 0.0 ? p->v[i] + slope * (1.0 - 1.86 * p->u[i]) : p->u[i];
        int inside = (u > 0.0) & (u < 1.0);
        f64 w = ratio * (p->v[i] / u), log_w = plain_log(w), t = steep * plain_log(u);
        f64 sum = t + (w - 1.0 - log_w),
            error = 1e-13 * (w + 1.0 + magnitude_f64(log_w) + magnitude_f64(t));
        int quick = (w - 1.0) * (w - 1.0) <= steep * (1.0 - u) * w;
        p->value[i] = w;
        p->state[i] = state_of(inside & (quick | (sum < -error)), (inside == 0) | (sum > error));
    }
}

/* stirling_error of variate.dev for n >= 1. It has no branch, so that loops vectorise, with gathers from the table. */
INLINE f64 stirling_error_of(f64 n)
{
    f64 z = 1.0 / (n * n), small = n <= 15.0 ? 1.0 : 0.0;
    f64 series =
        (1.0 / 12.0 - z * (1.0 / 360.0 - z * (1.0 / 1260.0 - z * (1.0 / 1680.0 - z / 1188.0)))) / n;
    u64 integer = bits_f64(n + 0x1p52); /* the low bits are n, if n is small */
    return small * stirling_errors[(integer - 1) & 15] + (1.0 - small) * series;
}

/* Returns x ln(x / m) + m - x. Adds to *size the magnitudes to which the result's rounding errors are proportional. */
INLINE f64 plain_deviance(f64 x, f64 m, f64 *size)
{
    f64 logarithm = plain_log(x / m);
    *size += (x + m) * (1.0 + magnitude_f64(logarithm));
    return x * logarithm + (m - x);
}

/* One trial of draw_count of variate.dev, for a mean of at least 10. If k or rest is below 1, the probability is not
 * used. */
INLINE void try_count(const law *l, lanes *p, int n, int poisson)
{
    const f64 most = poisson ? 0x1p63 : l->a, mean = poisson ? l->a : l->a * l->b,
              rest_mean = l->a * l->c;
    const f64 whole = poisson ? 0.0 : stirling_error(l->a), x0 = l->x[0], x1 = l->x[1],
              x2 = l->x[2], x3 = l->x[3], x4 = l->x[4];
    INDEPENDENT
    for (int i = 0; i < n; i++) {
        f64 u = p->u[i] - 0.5, v = p->v[i], room = 0.5 - magnitude_f64(u);
        f64 k = floor_f64((2.0 * x1 / room + x0) * u + x2), rest = most - k, size = 1.0;
        int quick = (room >= 0.07) & (v <= x3), inside = (k >= 0.0) & (k <= most);
        int known = (k >= 1.0) & (rest >= 1.0);
        f64 bound = plain_log(v / (x1 / (room * room) + x0)) + x4;
        f64 probability = -stirling_error_of(k) - plain_deviance(k, mean, &size);
        if (poisson)
            probability -= 0.5 * plain_log(TWO_PI * k);
        else
            probability += whole - stirling_error_of(rest) -
                           plain_deviance(rest, rest_mean, &size) -
                           0.5 * plain_log(TWO_PI * k * (rest / most));
        f64 above = bound - probability, error = 1e-14 * (size + magnitude_f64(bound));
        p->value[i] = k;
        p->state[i] = state_of(quick | (inside & known & (above < -error)),
                               (inside == 0) | (known & (above > error)));
    }
}

static void try_poisson(const law *l, lanes *p, int n)
{
    try_count(l, p, n, 1);
}

static void try_binomial(const law *l, lanes *p, int n)
{
    try_count(l, p, n, 0);
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

/* The elements of a piece that are drawn by variate.dev. */
typedef struct others {
    int n;
    i32 place[PIECE];
} others;

/* Repeats a trial, from block `block` on, until each of the n elements has a value or is in the list of elements that
 * variate.dev draws. */
static void repeat(const law *l, trial attempt, lanes *p, u64 seed, u32 block, int n, f64 *out,
                   others *o)
{
    for (int left = n; left > 0; block++) {
        int few = left < FEW || block > 60, kept = 0;
        if (!few) {
            draw_pairs(p, left, seed, block);
            attempt(l, p, left);
        }
        for (int i = 0; i < left; i++) {
            i32 at = p->place[i];
            i64 state = few ? UNSURE : p->state[i];
            out[at] = p->value[i];
            o->place[o->n] = at;
            o->n += state == UNSURE;
            p->element[kept] = p->element[i];
            p->place[kept] = at;
            kept += state == REJECTED;
        }
        left = kept;
    }
}

static void draw_gammas(const law *l, lanes *p, u64 seed, int n, f64 *out, others *o, int logarithm)
{
    f64 power[PIECE];
    int raised = l->a <= 1.0;
    if (raised) {
        draw_pairs(p, n, seed, 0);
        for (int i = 0; i < n; i++)
            power[i] = l->a > 0.0 ? plain_log(p->u[i]) / l->a : -(f64)INFINITY_F32;
    }
    repeat(l, try_gamma, p, seed, (u32)raised, n, out, o);
    for (int i = 0; i < n; i++)
        out[i] *= l->x[0];
    if (logarithm)
        for (int i = 0; i < n; i++)
            out[i] = plain_log(out[i]) + (raised ? power[i] : 0.0);
    else if (raised)
        for (int i = 0; i < n; i++)
            out[i] *= plain_exp(power[i]);
}

/* search_count for all elements: subtracts the probabilities of 0, 1, ... from the uniform number of each element,
 * until the next probability exceeds the remainder. */
static void search_counts(const law *l, lanes *p, u64 seed, int n, f64 *out)
{
    f64 most = l->distribution == VARIATE_BINOMIAL && l->a < 150.0 ? l->a : 150.0,
        probability = l->x[0];
    draw_pairs(p, n, seed, 0);
    for (int i = 0; i < n; i++)
        out[i] = 0.0;
    u64 moved = 1;
    for (f64 k = 0.0; k < most && moved != 0; k += 1.0) {
        moved = 0;
        for (int i = 0; i < n; i++) {
            f64 one = ((out[i] == k) & (p->u[i] > probability)) ? 1.0 : 0.0;
            p->u[i] -= one * probability;
            out[i] += one;
            moved |= bits_f64(one);
        }
        probability *= l->x[1] / (k + 1.0) - l->x[2];
    }
}

static void draw_counts(const law *l, lanes *p, u64 seed, int n, f64 *out, others *o)
{
    if (l->searched)
        search_counts(l, p, seed, n, out);
    else
        repeat(l, l->distribution == VARIATE_POISSON ? try_poisson : try_binomial, p, seed, 0, n,
               out, o);
    if (l->swapped)
        for (int i = 0; i < n; i++)
            out[i] = l->a - out[i];
}

static void draw_geometric(const law *l, lanes *p, u64 seed, int n, f64 *out)
{
    draw_pairs(p, n, seed, 0);
    for (int i = 0; i < n; i++)
        out[i] = floor_f64(plain_log(p->u[i]) / l->x[0]) + 1.0;
}

static void draw_one_by_one(const law *l, u64 seed, u64 first, const others *o, f64 *out)
{
    for (int i = 0; i < o->n; i++) {
        out[o->place[i]] = cpu_variate(l, seed, first + (u64)o->place[i]);
    }
}

static void draw_piece(const law *l, u64 seed, u64 first, int n, f64 *out)
{
    lanes p;
    others o = {0};
    number_elements(&p, first);
    if (l->valid && l->distribution == VARIATE_GEOMETRIC)
        draw_geometric(l, &p, seed, n, out);
    else if (l->valid &&
             (l->distribution == VARIATE_POISSON || l->distribution == VARIATE_BINOMIAL))
        draw_counts(l, &p, seed, n, out, &o);
    else if (l->valid && l->distribution <= VARIATE_LOG_GAMMA && l->x[0] > 0.0)
        draw_gammas(l, &p, seed, n, out, &o, l->distribution == VARIATE_LOG_GAMMA);
    else
        for (; o.n < n; o.n++)
            o.place[o.n] = o.n;
    draw_one_by_one(l, seed, first, &o, out);
}

static void run_variates(double *out, uint64_t seed, uint64_t first, const void *l, int64_t n)
{
    for (int64_t i = 0; i < n; i += PIECE)
        draw_piece(l, seed, first + (u64)i, (int)(n - i < PIECE ? n - i : PIECE), out + i);
}

/* integer_up_to of variate.dev. An element's first block is rejected if the low half of the product of its bits and
 * `count` is below `least`. */
static void run_integers(uint64_t *out, uint64_t seed, uint64_t first, uint64_t low, uint64_t span,
                         int64_t n)
{
    u64 element[ROOM], bits[ROOM], count = span + 1, least = count ? (0 - count) % count : 0;
    for (int64_t i = 0; i < n; i += PIECE) {
        int piece = (int)(n - i < PIECE ? n - i : PIECE);
        for (int k = 0; k < ROOM; k++)
            element[k] = first + (u64)(i + k);
        draw_blocks(bits, NULL, element, piece, seed, 0, INTEGERS_STREAM);
        for (int k = 0; k < piece; k++)
            out[i + k] = low + (count ? mul_high_u64(bits[k], count) : bits[k]);
        for (int k = 0; k < piece; k++)
            if (bits[k] * count < least)
                out[i + k] = low + integer_up_to(span, seed, element[k]);
    }
}

extern const cpu_variate_runs LEVEL_NAME(variates);
const cpu_variate_runs LEVEL_NAME(variates) = {.integers = run_integers, .variates = run_variates};
