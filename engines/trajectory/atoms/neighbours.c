/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_neighbours.c */
#include "neighbours.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CELLS 1024   /* along an axis */
#define MAX_REACH 100000 /* cells around a point, images included */
#define ROUNDING 1e-6    /* relative: more than the places of points in cells are wrong */
#define FLAT 1e-12       /* squared volume, relative to the product of squared lengths */
#define REDUCTIONS 1000  /* of a box; a usual one needs none */

typedef struct offset {
    int32_t by[3];
    int32_t square;
} offset;

struct trajectory_neighbours {
    double vectors[3][3]; /* of the box, reduced; unit vectors for axes without a period */
    double inverse[3][3]; /* inverse[k] . r is the coordinate along axis k */
    int periodic[3];
    double low[3];   /* where the cells begin along the axis; 0 for a period */
    double scale[3]; /* cells a unit of the coordinate */
    int64_t n[3];    /* cells */
    int32_t m[3];    /* cells around a cell that the distance reaches */
    offset *offsets;
    size_t n_offsets;
    double *wrapped; /* the sources, moved into the box */
    int64_t *cells;  /* of the sources; -1: not finite */
    double *sorted;  /* the sources by cell */
    size_t n_points; /* allocated */
    int64_t *starts; /* of each cell in `sorted`, and the end */
    uint8_t *close;  /* of each cell: 1 if a source is in reach */
    size_t n_starts; /* allocated */
};

trajectory_neighbours *trajectory_neighbours_create(void)
{
    return calloc(1, sizeof(trajectory_neighbours));
}

static void free_arrays(trajectory_neighbours *b)
{
    free(b->offsets);
    free(b->wrapped);
    free(b->cells);
    free(b->sorted);
    free(b->starts);
    free(b->close);
}

void trajectory_neighbours_free(trajectory_neighbours *b)
{
    if (b == NULL)
        return;
    free_arrays(b);
    free(b);
}

/* ---- The box ----------------------------------------------------------------------------- */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double c[3])
{
    for (int i = 0; i < 3; i++)
        c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static void normalise(double v[3])
{
    double length = sqrt(dot(v, v));

    for (int i = 0; i < 3; i++)
        v[i] /= length;
}

/* Shortens the vectors by multiples of each other. The lattice remains, and so do its points: the
 * multiples are integers. */
static void reduce(trajectory_neighbours *b)
{
    int changed = 1;

    for (int round = 0; changed && round < REDUCTIONS; round++) {
        changed = 0;
        for (int i = 0; i < 9; i++) {
            double *v = b->vectors[i / 3], *by = b->vectors[i % 3], times;

            if (i / 3 == i % 3 || !b->periodic[i / 3] || !b->periodic[i % 3])
                continue;
            times = nearbyint(dot(v, by) / dot(by, by));
            if (times == 0 || !isfinite(times))
                continue;
            for (int k = 0; k < 3; k++)
                v[k] -= times * by[k];
            changed = 1;
        }
    }
}

/* Sets the vectors of axes without a period: orthogonal to the others, of length 1. */
static void complete(trajectory_neighbours *b)
{
    int n = b->periodic[0] + b->periodic[1] + b->periodic[2];

    if (n == 0)
        for (int i = 0; i < 3; i++)
            b->vectors[i][i] = 1;
    for (int i = 0; i < 3 && n == 1; i++) {
        double *v = b->vectors[i], *next = b->vectors[(i + 1) % 3], any[3] = {0};

        if (!b->periodic[i])
            continue;
        any[fabs(v[0]) < fabs(v[1]) ? 0 : 1] = 1;
        cross(v, any, next);
        normalise(next);
        cross(v, next, b->vectors[(i + 2) % 3]);
        normalise(b->vectors[(i + 2) % 3]);
        return;
    }
    for (int i = 0; i < 3 && n == 2; i++)
        if (!b->periodic[i]) {
            cross(b->vectors[(i + 1) % 3], b->vectors[(i + 2) % 3], b->vectors[i]);
            normalise(b->vectors[i]);
        }
}

/* 0 for a flat box. */
static int invert(trajectory_neighbours *b)
{
    double c[3], determinant, squares = 1;

    for (int i = 0; i < 3; i++)
        squares *= dot(b->vectors[i], b->vectors[i]);
    cross(b->vectors[1], b->vectors[2], c);
    determinant = dot(b->vectors[0], c);
    for (int i = 0; i < 3; i++) {
        cross(b->vectors[(i + 1) % 3], b->vectors[(i + 2) % 3], c);
        for (int k = 0; k < 3; k++)
            b->inverse[i][k] = c[k] / determinant;
    }
    return determinant * determinant > FLAT * squares && isfinite(1 / determinant);
}

static collet_status take_box(trajectory_neighbours *b, const double box[9], collet_error *err)
{
    memcpy(b->vectors, box, sizeof b->vectors);
    for (int i = 0; i < 3; i++)
        b->periodic[i] = dot(b->vectors[i], b->vectors[i]) != 0;
    reduce(b);
    complete(b);
    if (invert(b))
        return COLLET_OK;
    return collet_fail(
        err, COLLET_FORMAT,
        "the periodic box %g %g %g, %g %g %g, %g %g %g is flat or not finite, so that "
        "atoms within a distance cannot be found",
        box[0], box[1], box[2], box[3], box[4], box[5], box[6], box[7], box[8]);
}

/* ---- Cells ------------------------------------------------------------------------------- */

/* Moves a point into the box along its periods. 0 if it is not finite. */
static int wrap(const trajectory_neighbours *b, const double from[3], double to[3], double at[3])
{
    memcpy(to, from, 3 * sizeof *to);
    for (int k = 0; k < 3; k++) {
        double turns = 0;

        at[k] = dot(b->inverse[k], from);
        if (!isfinite(at[k]))
            return 0;
        if (b->periodic[k])
            turns = floor(at[k]);
        at[k] -= turns;
        for (int i = 0; i < 3; i++)
            to[i] -= turns * b->vectors[k][i];
    }
    return isfinite(to[0] + to[1] + to[2]);
}

/* Distances of two images along the periods are at most half of the sum of the vectors' lengths. */
static double reach_of(const trajectory_neighbours *b, double distance)
{
    double half = 0;

    for (int k = 0; k < 3; k++)
        if (b->periodic[k])
            half += sqrt(dot(b->vectors[k], b->vectors[k])) / 2;
    return half < distance ? half : distance;
}

/* Chooses the cells: at least as wide as the distance, and not many more than points. `high`: the
 * ends of the sources along axes without a period. */
static collet_status choose_cells(trajectory_neighbours *b, double distance, const double high[3],
                                  int64_t n_sources, collet_error *err)
{
    double width[3], reach[3], around = 1;

    for (int k = 0; k < 3; k++) {
        double thickness = 1 / sqrt(dot(b->inverse[k], b->inverse[k]));
        double cells;

        width[k] = b->periodic[k] ? thickness : fmax(high[k] - b->low[k], distance);
        reach[k] = b->periodic[k] ? reach_of(b, distance) : distance;
        cells = width[k] / distance * (1 - ROUNDING);
        b->n[k] = cells >= MAX_CELLS ? MAX_CELLS : cells >= 1 ? (int64_t)cells : 1;
    }
    while (b->n[0] * b->n[1] * b->n[2] > 2 * n_sources + 64) {
        int widest = b->n[0] >= b->n[1] ? b->n[0] >= b->n[2] ? 0 : 2 : b->n[1] >= b->n[2] ? 1 : 2;

        b->n[widest] = (b->n[widest] + 1) / 2;
    }
    for (int k = 0; k < 3; k++) {
        double cells =
            width[k] > 0 ? ceil(reach[k] / width[k] * (double)b->n[k] * (1 + ROUNDING)) : 1;

        around *= 2 * cells + 1;
        b->m[k] = cells < 1 ? 1 : cells < MAX_REACH ? (int32_t)cells : MAX_REACH;
        b->scale[k] = (double)b->n[k] / (b->periodic[k] ? 1 : width[k] > 0 ? width[k] : 1);
    }
    if (around <= MAX_REACH)
        return COLLET_OK;
    return collet_fail(
        err, COLLET_FORMAT,
        "the periodic box is too thin to find the atoms within %g nm: one of its sides "
        "is thousands of times longer than another",
        distance);
}

static int compare_offsets(const void *a, const void *b)
{
    const offset *p = a, *q = b;

    return (p->square > q->square) - (p->square < q->square);
}

/* The nearest cells first, because one near source suffices. */
static int list_offsets(trajectory_neighbours *b)
{
    size_t count = 0,
           n = (size_t)(2 * b->m[0] + 1) * (size_t)(2 * b->m[1] + 1) * (size_t)(2 * b->m[2] + 1);
    offset *grown = realloc(b->offsets, n * sizeof *grown);

    if (grown == NULL)
        return 0;
    b->offsets = grown;
    for (int32_t x = -b->m[0]; x <= b->m[0]; x++)
        for (int32_t y = -b->m[1]; y <= b->m[1]; y++)
            for (int32_t z = -b->m[2]; z <= b->m[2]; z++)
                grown[count++] = (offset){{x, y, z}, x * x + y * y + z * z};
    b->n_offsets = count;
    qsort(grown, count, sizeof *grown, compare_offsets);
    return 1;
}

/* The cell that `by` cells away from `at`: its index, or -1 where there is none. shift: how far its
 * points are to be moved. */
static int64_t cell_at(const trajectory_neighbours *b, const int64_t at[3], const int32_t by[3],
                       double shift[3])
{
    int64_t cell = 0;

    memset(shift, 0, 3 * sizeof *shift);
    for (int k = 0; k < 3; k++) {
        int64_t i = at[k] + by[k], turns = 0;

        if (i < 0 || i >= b->n[k]) {
            if (!b->periodic[k])
                return -1;
            turns = i >= 0 ? i / b->n[k] : -((b->n[k] - 1 - i) / b->n[k]);
            for (int d = 0; d < 3; d++)
                shift[d] += (double)turns * b->vectors[k][d];
        }
        cell = cell * b->n[k] + i - turns * b->n[k];
    }
    return cell;
}

/* The cell of coordinates; along an axis without a period it may be outside, by at most m + 1. */
static void place(const trajectory_neighbours *b, const double coordinates[3], int64_t at[3])
{
    for (int k = 0; k < 3; k++) {
        double cell = floor((coordinates[k] - b->low[k]) * b->scale[k]);
        double low = b->periodic[k] ? 0 : -(double)b->m[k] - 1;
        double high = (double)b->n[k] - 1 - low;

        if (b->periodic[k])
            high = (double)b->n[k] - 1;
        at[k] = (int64_t)(cell < low ? low : cell > high ? high : cell);
    }
}

/* ---- Sources ----------------------------------------------------------------------------- */

static int reserve(trajectory_neighbours *b, size_t n_points, size_t n_cells)
{
    if (n_points > b->n_points) {
        free(b->wrapped);
        free(b->sorted);
        free(b->cells);
        b->wrapped = malloc(n_points * 3 * sizeof *b->wrapped);
        b->sorted = malloc(n_points * 3 * sizeof *b->sorted);
        b->cells = malloc(n_points * sizeof *b->cells);
        b->n_points = n_points;
    }
    if (n_cells + 1 > b->n_starts) {
        free(b->starts);
        free(b->close);
        b->starts = malloc((n_cells + 1) * sizeof *b->starts);
        b->close = malloc(n_cells + 1);
        b->n_starts = n_cells + 1;
    }
    if (b->wrapped && b->sorted && b->cells && b->starts && b->close)
        return 1;
    b->n_points = b->n_starts = 0;
    return 0;
}

/* Finds where cells begin and end along axes without a period. */
static void find_ends(trajectory_neighbours *b, const double *sources, int64_t n, double high[3])
{
    for (int k = 0; k < 3; k++) {
        b->low[k] = b->periodic[k] ? 0 : DBL_MAX;
        high[k] = -DBL_MAX;
        for (int64_t i = 0; i < n && !b->periodic[k]; i++) {
            double at = dot(b->inverse[k], sources + 3 * i);

            if (!isfinite(at))
                continue;
            b->low[k] = fmin(b->low[k], at);
            high[k] = fmax(high[k], at);
        }
        if (b->low[k] > high[k])
            b->low[k] = high[k] = 0;
    }
}

/* Counts the points of each cell, then sorts them. */
static void sort_sources(trajectory_neighbours *b, const double *sources, int64_t n, size_t n_cells)
{
    static const int32_t here[3] = {0, 0, 0};
    double at[3], shift[3];
    int64_t place_of[3], sum = 0;

    memset(b->starts, 0, (n_cells + 1) * sizeof *b->starts);
    for (int64_t i = 0; i < n; i++) {
        b->cells[i] = -1;
        if (!wrap(b, sources + 3 * i, b->wrapped + 3 * i, at))
            continue;
        place(b, at, place_of);
        for (int k = 0; k < 3; k++) /* the last source of an open axis is at the end of its cell */
            if (place_of[k] >= b->n[k])
                place_of[k] = b->n[k] - 1;
        b->cells[i] = cell_at(b, place_of, here, shift);
        b->starts[b->cells[i]]++;
    }
    for (size_t c = 0; c <= n_cells; c++) {
        int64_t count = b->starts[c];

        b->starts[c] = sum;
        sum += count;
    }
    for (int64_t i = 0; i < n; i++)
        if (b->cells[i] >= 0)
            memcpy(b->sorted + 3 * b->starts[b->cells[i]]++, b->wrapped + 3 * i,
                   3 * sizeof(double));
    /* Each start has moved to the next one. */
    memmove(b->starts + 1, b->starts, n_cells * sizeof *b->starts);
    b->starts[0] = 0;
}

static void mark_close(trajectory_neighbours *b, size_t n_cells)
{
    memset(b->close, 0, n_cells);
    for (int64_t c = 0; c < (int64_t)n_cells; c++) {
        int64_t at[3] = {c / b->n[2] / b->n[1], c / b->n[2] % b->n[1], c % b->n[2]};
        double shift[3];

        if (b->starts[c] == b->starts[c + 1])
            continue;
        for (size_t o = 0; o < b->n_offsets; o++) {
            int64_t other = cell_at(b, at, b->offsets[o].by, shift);

            if (other >= 0)
                b->close[other] = 1;
        }
    }
}

/* ---- Targets ----------------------------------------------------------------------------- */

static int is_near(const trajectory_neighbours *b, const double point[3], const int64_t at[3],
                   double square)
{
    for (size_t o = 0; o < b->n_offsets; o++) {
        double shift[3];
        int64_t cell = cell_at(b, at, b->offsets[o].by, shift);

        if (cell < 0)
            continue;
        for (int64_t i = b->starts[cell]; i < b->starts[cell + 1]; i++) {
            const double *r = b->sorted + 3 * i;
            double d[3] = {point[0] - r[0] - shift[0], point[1] - r[1] - shift[1],
                           point[2] - r[2] - shift[2]};

            if (dot(d, d) <= square)
                return 1;
        }
    }
    return 0;
}

static int search(const trajectory_neighbours *b, const double *target, double square)
{
    static const int32_t here[3] = {0, 0, 0};
    double point[3], coordinates[3], shift[3];
    int64_t at[3], cell;

    if (!wrap(b, target, point, coordinates))
        return 0;
    place(b, coordinates, at);
    cell = cell_at(b, at, here, shift);
    return (cell < 0 || b->close[cell]) && is_near(b, point, at, square);
}

collet_status trajectory_neighbours_find(trajectory_neighbours *b, const double box[9],
                                         double distance, const double *sources, int64_t n_sources,
                                         const double *targets, int64_t n_targets, uint8_t *near,
                                         collet_error *err)
{
    double high[3];
    size_t n_cells;
    collet_status status = take_box(b, box, err);

    if (status != COLLET_OK)
        return status;
    find_ends(b, sources, n_sources, high);
    status = choose_cells(b, distance, high, n_sources, err);
    if (status != COLLET_OK)
        return status;
    n_cells = (size_t)(b->n[0] * b->n[1] * b->n[2]);
    if (!list_offsets(b) || !reserve(b, (size_t)n_sources + 1, n_cells))
        return collet_fail(err, COLLET_NO_MEMORY,
                           "no memory to find the atoms within a distance of %lld others",
                           (long long)n_sources);
    sort_sources(b, sources, n_sources, n_cells);
    mark_close(b, n_cells);
    for (int64_t i = 0; i < n_targets; i++)
        near[i] = (uint8_t)search(b, targets + 3 * i, distance * distance);
    return COLLET_OK;
}
