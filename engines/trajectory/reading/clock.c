/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_clock.c */
#include "clock.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define STEPS_32 0x1p32
#define ITERATIONS 200
#define CHANCE 0.05 /* accepted probability that a decimal interval is a coincidence */

typedef struct range {
    double low, high;
} range;

/* The frames, as points (x, low..high). */
typedef struct points {
    const trajectory_tick *ticks;
    int64_t n;
    int by;          /* TRAJECTORY_CLOCK_ */
    int64_t origin;  /* the step or frame at which x is 0 */
    double least;    /* the rounding error of f64 for the largest time */
} points;

static int64_t position(const points *p, int64_t i)
{
    return (p->by == TRAJECTORY_CLOCK_STEPS ? p->ticks[i].step : p->ticks[i].frame) - p->origin;
}

static double width(const points *p, int64_t i)
{
    return fmax(p->ticks[i].rounding, p->least);
}

/* Returns the range of the intercepts of the lines of slope `slope` that pass through all points; low > high if there
 * is no such line. Stores in `at` the indices of the two points that limit the range. */
static range intercepts(const points *p, double slope, int64_t at[2])
{
    range r = {-(double)INFINITY, (double)INFINITY};

    for (int64_t i = 0; i < p->n; i++) {
        double middle = p->ticks[i].time - (double)position(p, i) * slope, w = width(p, i);
        if (middle - w > r.low) {
            r.low = middle - w;
            at[0] = i;
        }
        if (middle + w < r.high) {
            r.high = middle + w;
            at[1] = i;
        }
    }
    return r;
}

/* The slope of the line through the lower end of one point and the upper end of another. */
static double slope_through(const points *p, int64_t low, int64_t high)
{
    return (p->ticks[low].time - width(p, low) - p->ticks[high].time - width(p, high)) /
           (double)(position(p, low) - position(p, high));
}

/* Changes *slope, up (direction 1) or down (-1), to the first slope at which a line fits. Uses Newton's method for the
 * root of low - high of `intercepts`, which is a convex function of the slope, so the method does not step beyond the
 * root. 0: there is no such slope. */
static int bound(const points *p, double *slope, int direction)
{
    for (int k = 0; k < ITERATIONS; k++) {
        int64_t at[2] = {0, 0};
        range r = intercepts(p, *slope, at);
        if (!(r.low - r.high > p->least))
            return r.low <= r.high + p->least;
        int64_t distance = position(p, at[0]) - position(p, at[1]);
        if (direction > 0 ? distance <= 0 : distance >= 0)
            return 0;
        double next = slope_through(p, at[0], at[1]);
        if (direction > 0 ? !(next > *slope) : !(next < *slope))
            return 0;
        *slope = next;
    }
    return 0;
}

/* The slopes of all lines that fit. */
static int fit_slopes(const points *p, range *slopes)
{
    int64_t first = 0, last = 0;

    for (int64_t i = 1; i < p->n; i++) {
        if (position(p, i) < position(p, first))
            first = i;
        if (position(p, i) > position(p, last))
            last = i;
    }
    double x = (double)(position(p, last) - position(p, first));
    if (!(x > 0))
        return 0;
    double rise = p->ticks[last].time - p->ticks[first].time, w = width(p, first) + width(p, last);
    *slopes = (range){(rise - w) / x, (rise + w) / x};
    return bound(p, &slopes->low, 1) && bound(p, &slopes->high, -1) &&
           slopes->low <= slopes->high;
}

/* The slopes of all lines through the point x = 0, time = 0 that fit. */
static int fit_through_origin(const points *p, range *slopes)
{
    int moved = 0;

    *slopes = (range){0, (double)INFINITY};
    for (int64_t i = 0; i < p->n; i++) {
        double x = (double)position(p, i), t = p->ticks[i].time, w = width(p, i);
        if (x < 0 || (x == 0 && fabs(t) > w))
            return 0;
        if (x == 0)
            continue;
        moved = 1;
        slopes->low = fmax(slopes->low, (t - w) / x);
        slopes->high = fmin(slopes->high, (t + w) / x);
    }
    return moved && slopes->low <= slopes->high;
}

/* ---- Decimal numbers --------------------------------------------------------------------- */

typedef struct decimal {
    double number, scale; /* the value is number / scale */
    double chance;        /* about the probability that such a range contains a number as short as this */
} decimal;

/* The number with the fewest decimal digits in a range. */
static decimal shortest(range r)
{
    const double middle = r.low / 2 + r.high / 2, largest = fmax(fabs(r.low), fabs(r.high));
    decimal d = {middle, 1, INFINITY};

    if (r.low <= 0 && r.high >= 0)
        return (decimal){0, 1, 0};
    for (int power = (int)floor(log10(largest)); power >= -18; power--) {
        double unit = pow(10, abs(power)), scale = power >= 0 ? 1 : unit;
        double digits = nearbyint(power >= 0 ? middle / unit : middle * unit);
        double number = power >= 0 ? digits * unit : digits;
        if (fabs(digits) > 0x1p53)
            return d;
        if (number / scale >= r.low && number / scale <= r.high)
            return (decimal){number, scale, fabs(digits) * (r.high - r.low) / largest};
    }
    return d;
}

/* ---- Clocks ------------------------------------------------------------------------------ */

/* 1 if the clock gives every stored time. */
static int holds(const points *p, const trajectory_clock *clock)
{
    for (int64_t i = 0; i < p->n; i++) {
        const trajectory_tick *t = &p->ticks[i];
        double time = trajectory_clock_time(clock, t->frame, t->step, t->time);
        if (!(fabs(time - t->time) <= width(p, i) * (1 + 1e-6) + p->least))
            return 0;
    }
    return 1;
}

/* If no slope is a short decimal number, `decimal_only` decides: the function returns 0, or takes the middle. */
static int set_interval(trajectory_clock *clock, range slopes, int decimal_only)
{
    decimal d = shortest(slopes);

    if (d.chance > CHANCE) {
        if (decimal_only)
            return 0;
        d = (decimal){slopes.low / 2 + slopes.high / 2, 1, 1};
    }
    clock->interval = d.number;
    clock->scale = d.scale;
    return d.number > 0;
}

/* Fits time = step interval: programs write such times if they count steps and time from the start of the simulation.
 * The interval must be a short decimal number, because at large steps a meaningless ratio time / step may fit. */
static int through_origin(points *p, trajectory_clock *clock)
{
    range slopes;

    p->origin = 0;
    return p->n > 1 && fit_through_origin(p, &slopes) && set_interval(clock, slopes, 1) &&
           holds(p, clock);
}

static int anywhere(points *p, trajectory_clock *clock, int decimal_only)
{
    int64_t at[2];
    range slopes;

    p->origin = clock->origin =
        p->by == TRAJECTORY_CLOCK_STEPS ? p->ticks[0].step : p->ticks[0].frame;
    if (p->n < 3 || !fit_slopes(p, &slopes) || !set_interval(clock, slopes, decimal_only))
        return 0;
    decimal d = shortest(intercepts(p, clock->interval / clock->scale, at));
    clock->origin_ps = d.number / d.scale;
    return holds(p, clock);
}

trajectory_clock trajectory_clock_fit(const trajectory_tick *ticks, int64_t n)
{
    points p = {.ticks = ticks, .n = n};
    double largest = 0;
    int has_steps = 1;

    if (n < 2)
        return (trajectory_clock){0};
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(ticks[i].time) || !(ticks[i].rounding > 0))
            return (trajectory_clock){0};
        largest = fmax(largest, fabs(ticks[i].time));
        has_steps = has_steps && ticks[i].step >= 0;
    }
    p.least = 4 * DBL_EPSILON * largest;
    for (int decimal_only = 1; decimal_only >= 0; decimal_only--)
        for (int by = has_steps ? TRAJECTORY_CLOCK_STEPS : TRAJECTORY_CLOCK_FRAMES;
             by <= TRAJECTORY_CLOCK_FRAMES; by++) {
            trajectory_clock clock = {.by = p.by = by}, line = clock;
            if (decimal_only && by == TRAJECTORY_CLOCK_STEPS && through_origin(&p, &clock))
                return clock;
            if (anywhere(&p, &line, decimal_only))
                return line;
        }
    return (trajectory_clock){0};
}

double trajectory_clock_time(const trajectory_clock *clock, int64_t frame, int64_t step,
                             double stored)
{
    double n;

    if (clock->by == TRAJECTORY_CLOCK_STORED)
        return stored;
    if (clock->by == TRAJECTORY_CLOCK_FRAMES)
        return clock->origin_ps + (double)(frame - clock->origin) * clock->interval / clock->scale;
    n = (double)(step - clock->origin);
    double lap = STEPS_32 * clock->interval / clock->scale;
    n += STEPS_32 *
         nearbyint((stored - clock->origin_ps - n * clock->interval / clock->scale) / lap);
    return clock->origin_ps + n * clock->interval / clock->scale;
}

int64_t trajectory_clock_step(int64_t step, int64_t before)
{
    const int64_t lap = (int64_t)1 << 32;

    if (before < 0 || step < 0 || step > UINT32_MAX)
        return step;
    return step + lap * ((before - step + lap / 2) / lap);
}
