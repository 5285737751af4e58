/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_neighbours.c */
#include "neighbours.h"

#include "trajectory/boxes/lattice.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CELLS 1024     /* along an axis, if all cells are in memory */
#define MAX_SPARSE 1048576 /* along an axis, if only cells with points are in memory */
#define MAX_REACH 100000   /* cells around a point, images included */
#define ROUNDING 1e-6      /* relative; above the rounding error of a point's position in cells */
#define FLAT 1e-12         /* a box is flat if squared volume / product of squared lengths is below */
#define REDUCTIONS 1000    /* maximum number of steps to reduce a box; usual boxes need none */

typedef struct offset {
    int32_t by[3];
    int32_t square;
} offset;

/* Points by cell. */
typedef struct sorted {
    int32_t *order; /* indices of the caller's points, sorted by cell */
    size_t n_allocated;
    int32_t *starts; /* for each cell its first element in `order`, and the end */
    size_t n_starts; /* allocated */
} sorted;

/* The sources of one cell that can be within the distance of the target. */
typedef struct range {
    const double *points;
    int64_t count;
    double shift[3]; /* vector from the points to their image near the target */
} range;

struct trajectory_neighbours {
    double vectors[3][3]; /* reduced vectors of the box; unit vectors for axes without a period */
    double inverse[3][3]; /* inverse[k] . r is the coordinate along axis k */
    int periodic[3];
    double low[3], high[3]; /* ends of the cells along each axis; 0 and 1 if it has a period */
    double scale[3];        /* cells per unit of the coordinate */
    int64_t n[3];           /* number of cells along each axis */
    int32_t m[3];           /* this many cells on each side of a cell can be within the distance */
    offset *offsets;
    range *ranges; /* as many as offsets */
    size_t n_offsets;
    sorted sources;
    sorted targets;
    double *points; /* the sources by cell */
    size_t n_points;
    int32_t *cells; /* cell of each point that is not sorted yet; -1: in no cell */
    size_t n_cells;
};

trajectory_neighbours *trajectory_neighbours_create(void)
{
    return calloc(1, sizeof(trajectory_neighbours));
}

static void free_sorted(sorted *s)
{
    free(s->order);
    free(s->starts);
}

void trajectory_neighbours_free(trajectory_neighbours *b)
{
    if (b == NULL)
        return;
    free(b->offsets);
    free(b->ranges);
    free_sorted(&b->sources);
    free_sorted(&b->targets);
    free(b->points);
    free(b->cells);
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

/* Shortens the vectors by integer multiples of each other, so that they span the same lattice. */
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

/* Returns 0 for a flat box. */
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
    trajectory_lattice_complete(b->vectors, b->periodic);
    if (invert(b))
        return COLLET_OK;
    return collet_fail(
        err, COLLET_FORMAT,
        "the periodic box %g %g %g, %g %g %g, %g %g %g is flat or not finite, so that "
        "atoms within a distance cannot be found",
        box[0], box[1], box[2], box[3], box[4], box[5], box[6], box[7], box[8]);
}

/* ---- Cells ------------------------------------------------------------------------------- */

/* Returns floor(x). Without SSE 4.1 floor() itself is a slow function call. */
static double round_down(double x)
{
    double whole;

    if (!(fabs(x) < 1e15))
        return floor(x);
    whole = (double)(int64_t)x;
    return whole > x ? whole - 1 : whole;
}

/* Limits the distance, because along the periods the nearest images of two points are never further apart than half of
 * the sum of the vectors' lengths. */
static double reach_of(const trajectory_neighbours *b, double distance)
{
    double half = 0;

    for (int k = 0; k < 3; k++)
        if (b->periodic[k])
            half += sqrt(dot(b->vectors[k], b->vectors[k])) / 2;
    return half < distance ? half : distance;
}

/* Finds the ends of the cells along axes without a period, so that they contain every point within the distance of a
 * source. */
static void find_ends(trajectory_neighbours *b, double distance, const double *sources, int64_t n)
{
    for (int k = 0; k < 3; k++) {
        double low = DBL_MAX, high = -DBL_MAX;

        for (int64_t i = 0; i < n && !b->periodic[k]; i++) {
            double at = dot(b->inverse[k], sources + 3 * i);

            if (!isfinite(at))
                continue;
            low = fmin(low, at);
            high = fmax(high, at);
        }
        if (low > high) /* the axis has a period, or there are no sources */
            low = high = 0;
        b->low[k] = b->periodic[k] ? 0 : low - distance;
        b->high[k] = b->periodic[k] ? 1 : high + distance;
    }
}

/* Chooses the cells: at least as wide as the distance, and unless `sparse` not many more cells than points. */
static collet_status choose_cells(trajectory_neighbours *b, double distance, int64_t n_points,
                                  int sparse, collet_error *err)
{
    int64_t most = sparse ? MAX_SPARSE : MAX_CELLS;
    double width[3], around = 1;

    for (int k = 0; k < 3; k++) {
        double thickness = 1 / sqrt(dot(b->inverse[k], b->inverse[k])), cells;

        width[k] = b->periodic[k] ? thickness : b->high[k] - b->low[k];
        cells = width[k] / distance * (1 - ROUNDING);
        b->n[k] = cells >= (double)most ? most : cells >= 1 ? (int64_t)cells : 1;
    }
    while (!sparse && b->n[0] * b->n[1] * b->n[2] > n_points / 8 + 64) {
        int widest = b->n[0] >= b->n[1] ? b->n[0] >= b->n[2] ? 0 : 2 : b->n[1] >= b->n[2] ? 1 : 2;

        b->n[widest] = (b->n[widest] + 1) / 2;
    }
    for (int k = 0; k < 3; k++) {
        double reach = b->periodic[k] ? reach_of(b, distance) : distance;
        double cells = width[k] > 0 ? ceil(reach / width[k] * (double)b->n[k] * (1 + ROUNDING)) : 1;

        around *= 2 * cells + 1;
        b->m[k] = cells < 1 ? 1 : cells < MAX_REACH ? (int32_t)cells : MAX_REACH;
        b->scale[k] = width[k] > 0 ? (double)b->n[k] / (b->high[k] - b->low[k]) : 0;
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

/* Lists the cells around a cell, nearest first: a search ends at the first source that is near. */
static int list_offsets(trajectory_neighbours *b)
{
    size_t count = 0,
           n = (size_t)(2 * b->m[0] + 1) * (size_t)(2 * b->m[1] + 1) * (size_t)(2 * b->m[2] + 1);

    free(b->offsets);
    free(b->ranges);
    b->offsets = malloc(n * sizeof *b->offsets);
    b->ranges = malloc(n * sizeof *b->ranges);
    if (b->offsets == NULL || b->ranges == NULL)
        return 0;
    for (int32_t x = -b->m[0]; x <= b->m[0]; x++)
        for (int32_t y = -b->m[1]; y <= b->m[1]; y++)
            for (int32_t z = -b->m[2]; z <= b->m[2]; z++)
                b->offsets[count++] = (offset){{x, y, z}, x * x + y * y + z * z};
    b->n_offsets = count;
    qsort(b->offsets, count, sizeof *b->offsets, compare_offsets);
    return 1;
}

/* Returns the cell that is `by` cells away from cell `at`; -1 if there is none. Sets `shift` to the vector by which its
 * points must be moved. */
static int64_t cell_beside(const trajectory_neighbours *b, const int64_t at[3], const int32_t by[3],
                           double shift[3])
{
    int64_t beside = 0;

    shift[0] = shift[1] = shift[2] = 0;
    for (int k = 0; k < 3; k++) {
        int64_t i = at[k] + by[k], n = b->n[k];

        if (i < 0 || i >= n) {
            int64_t turns = i >= 0 ? i / n : -((n - 1 - i) / n);

            if (!b->periodic[k])
                return -1;
            for (int d = 0; d < 3; d++)
                shift[d] += (double)turns * b->vectors[k][d];
            i -= turns * n;
        }
        beside = beside * n + i;
    }
    return beside;
}

/* Moves a point into the box along its periods and returns its cell. -1: it is out of reach of all
 * sources, or not finite. */
static int64_t find_cell(const trajectory_neighbours *b, double point[3])
{
    const double from[3] = {point[0], point[1], point[2]};
    int64_t cell = 0;

    for (int k = 0; k < 3; k++) {
        double at = dot(b->inverse[k], from), turns = 0;
        int64_t i;

        if (!isfinite(at))
            return -1;
        if (b->periodic[k]) {
            turns = round_down(at);
            at -= turns;
            for (int d = 0; d < 3; d++)
                point[d] -= turns * b->vectors[k][d];
        }
        if (!(at >= b->low[k] && at <= b->high[k]))
            return -1;
        i = (int64_t)((at - b->low[k]) * b->scale[k]);
        cell = cell * b->n[k] + (i < b->n[k] ? i : b->n[k] - 1);
    }
    return isfinite(point[0] + point[1] + point[2]) ? cell : -1;
}

/* ---- Points ------------------------------------------------------------------------------ */

/* Makes room for n elements, at least 1. Their earlier contents are lost. 0 if out of memory. */
static int reserve(void *pointer, size_t *n_allocated, size_t n, size_t size)
{
    void *memory;

    if (n < *n_allocated)
        return 1;
    memcpy(&memory, pointer, sizeof memory);
    free(memory);
    memory = malloc((n + 1) * size);
    memcpy(pointer, &memory, sizeof memory);
    *n_allocated = memory != NULL ? n + 1 : 0;
    return memory != NULL;
}

/* Counts the points of each cell, then sorts them. 0 if out of memory. */
static int sort_points(trajectory_neighbours *b, sorted *s, double *points, int64_t n,
                       size_t n_cells)
{
    int32_t sum = 0;

    if (!reserve(&b->cells, &b->n_cells, (size_t)n, sizeof *b->cells) ||
        !reserve(&s->order, &s->n_allocated, (size_t)n, sizeof *s->order) ||
        !reserve(&s->starts, &s->n_starts, n_cells + 1, sizeof *s->starts))
        return 0;
    memset(s->starts, 0, (n_cells + 1) * sizeof *s->starts);
    for (int64_t i = 0; i < n; i++) {
        b->cells[i] = (int32_t)find_cell(b, points + 3 * i);
        if (b->cells[i] >= 0)
            s->starts[b->cells[i]]++;
    }
    for (size_t c = 0; c <= n_cells; c++) {
        int32_t count = s->starts[c];

        s->starts[c] = sum;
        sum += count;
    }
    for (int64_t i = 0; i < n; i++)
        if (b->cells[i] >= 0)
            s->order[s->starts[b->cells[i]]++] = (int32_t)i;
    /* Each start has moved to the start of the next cell. */
    memmove(s->starts + 1, s->starts, n_cells * sizeof *s->starts);
    s->starts[0] = 0;
    return 1;
}

/* Copies the sources that are in cells, sorted by cell, so that a search reads adjacent memory. */
static int gather_sources(trajectory_neighbours *b, const double *sources, size_t n_cells)
{
    int32_t n = b->sources.starts[n_cells];

    if (!reserve(&b->points, &b->n_points, 3 * (size_t)n, sizeof *b->points))
        return 0;
    for (int32_t i = 0; i < n; i++)
        memcpy(b->points + 3 * i, sources + 3 * (int64_t)b->sources.order[i],
               3 * sizeof *b->points);
    return 1;
}

/* ---- The search -------------------------------------------------------------------------- */

static size_t list_ranges(const trajectory_neighbours *b, int64_t cell)
{
    const int64_t at[3] = {cell / b->n[2] / b->n[1], cell / b->n[2] % b->n[1], cell % b->n[2]};
    size_t n = 0;

    for (size_t o = 0; o < b->n_offsets; o++) {
        range *r = &b->ranges[n];
        int64_t beside = cell_beside(b, at, b->offsets[o].by, r->shift);

        if (beside < 0 || b->sources.starts[beside] == b->sources.starts[beside + 1])
            continue;
        r->points = b->points + 3 * (int64_t)b->sources.starts[beside];
        r->count = b->sources.starts[beside + 1] - b->sources.starts[beside];
        n++;
    }
    return n;
}

static int is_near(const range *ranges, size_t n, const double target[3], double square)
{
    for (size_t k = 0; k < n; k++) {
        const double *r = ranges[k].points, *shift = ranges[k].shift;
        double x = target[0] - shift[0], y = target[1] - shift[1], z = target[2] - shift[2];

        for (int64_t i = 0; i < ranges[k].count; i++, r += 3) {
            double d[3] = {x - r[0], y - r[1], z - r[2]};

            if (dot(d, d) <= square)
                return 1;
        }
    }
    return 0;
}

static collet_status check_count(int64_t n, collet_error *err)
{
    return n <= INT32_MAX ? COLLET_OK
                          : collet_fail(err, COLLET_OVERFLOW,
                                        "more than %d atoms cannot be searched", INT32_MAX);
}

collet_status trajectory_neighbours_find(trajectory_neighbours *b, const double box[9],
                                         double distance, double *sources, int64_t n_sources,
                                         double *targets, int64_t n_targets, uint8_t *near,
                                         collet_error *err)
{
    collet_status status = take_box(b, box, err);
    size_t n_cells;

    memset(near, 0, (size_t)n_targets);
    if (status == COLLET_OK)
        status = check_count(n_sources > n_targets ? n_sources : n_targets, err);
    if (status != COLLET_OK)
        return status;
    find_ends(b, distance, sources, n_sources);
    status = choose_cells(b, distance, n_sources + n_targets, 0, err);
    if (status != COLLET_OK)
        return status;
    n_cells = (size_t)(b->n[0] * b->n[1] * b->n[2]);
    if (!list_offsets(b) || !sort_points(b, &b->sources, sources, n_sources, n_cells) ||
        !gather_sources(b, sources, n_cells) ||
        !sort_points(b, &b->targets, targets, n_targets, n_cells))
        return collet_fail(err, COLLET_NO_MEMORY,
                           "no memory to find which of %lld atoms are near to %lld others",
                           (long long)n_targets, (long long)n_sources);
    for (size_t c = 0; c < n_cells; c++) {
        size_t n_ranges;

        if (b->targets.starts[c] == b->targets.starts[c + 1])
            continue;
        n_ranges = list_ranges(b, (int64_t)c);
        for (int32_t i = b->targets.starts[c]; i < b->targets.starts[c + 1]; i++) {
            int64_t target = b->targets.order[i];

            near[target] =
                (uint8_t)is_near(b->ranges, n_ranges, targets + 3 * target, distance * distance);
        }
    }
    return COLLET_OK;
}

/* ---- Pairs ------------------------------------------------------------------------------- */

/* A point, and its cell. */
typedef struct placed {
    int64_t cell;
    int64_t index;
    double at[3];
} placed;

/* Points that are in cells, by cell; only cells with points take memory. */
typedef struct pair_search {
    const trajectory_neighbours *b;
    placed *points;
    int64_t n;
    double square;
    int64_t left; /* distances that may still be computed */
    trajectory_neighbours_pair *visit;
    void *user;
} pair_search;

static int compare_placed(const void *a, const void *b)
{
    const placed *p = a, *q = b;

    if (p->cell != q->cell)
        return p->cell < q->cell ? -1 : 1;
    return (p->index > q->index) - (p->index < q->index);
}

/* Returns the first point whose cell is not before `cell`. */
static int64_t first_in(const pair_search *s, int64_t cell)
{
    int64_t low = 0, high = s->n;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (s->points[middle].cell < cell)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Visits the pairs of point i with points j, j + 1, ... of point j's cell that come before point i. Points j, j + 1,
 * ... are moved by `shift`. Returns 0 if a visit returns 0. */
static int visit_cell(pair_search *s, int64_t i, int64_t j, const double shift[3])
{
    const placed *p = &s->points[i];
    int64_t cell = j < s->n ? s->points[j].cell : 0;

    for (; j < i && s->points[j].cell == cell; j++) {
        const placed *q = &s->points[j];
        double d[3] = {p->at[0] - shift[0] - q->at[0], p->at[1] - shift[1] - q->at[1],
                       p->at[2] - shift[2] - q->at[2]};

        s->left--;
        if (dot(d, d) <= s->square && !s->visit(s->user, q->index, p->index, d))
            return 0;
    }
    return 1;
}

/* A neighbour of a cell: its first point, and the shift of its points. */
typedef struct beside {
    int64_t first;
    double shift[3];
} beside;

/* Lists the cells with points that are next to a cell and not after it. */
static size_t list_beside(const pair_search *s, int64_t cell, beside *list)
{
    const trajectory_neighbours *b = s->b;
    const int64_t at[3] = {cell / b->n[2] / b->n[1], cell / b->n[2] % b->n[1], cell % b->n[2]};
    size_t n = 0;

    for (size_t o = 0; o < b->n_offsets; o++) {
        int64_t other = cell_beside(b, at, b->offsets[o].by, list[n].shift);
        if (other < 0 || other > cell)
            continue;
        list[n].first = first_in(s, other);
        n += list[n].first < s->n && s->points[list[n].first].cell == other;
    }
    return n;
}

static collet_status visit_all(pair_search *s, beside *list, collet_error *err)
{
    size_t n = 0;

    for (int64_t i = 0; i < s->n; i++) {
        if (i == 0 || s->points[i].cell != s->points[i - 1].cell)
            n = list_beside(s, s->points[i].cell, list);
        for (size_t k = 0; k < n; k++)
            if (!visit_cell(s, i, list[k].first, list[k].shift))
                return collet_fail(err, COLLET_NO_MEMORY, "no memory for the pairs of %lld atoms",
                                   (long long)s->n);
        if (s->left < 0)
            return collet_fail(err, COLLET_FORMAT,
                               "too many of %lld atoms are at the same place to find pairs",
                               (long long)s->n);
    }
    return COLLET_OK;
}

#define DISTANCES_AN_ATOM 1000 /* atoms of a liquid have some hundreds within a few cells */

collet_status trajectory_neighbours_pairs(trajectory_neighbours *b, const double box[9],
                                          double distance, double *points, int64_t n,
                                          trajectory_neighbours_pair *visit, void *user,
                                          collet_error *err)
{
    pair_search s = {.b = b,
                     .square = distance * distance,
                     .left = DISTANCES_AN_ATOM * (n + 1000),
                     .visit = visit,
                     .user = user};
    collet_status status = take_box(b, box, err);

    if (status == COLLET_OK)
        status = check_count(n, err);
    if (status != COLLET_OK)
        return status;
    find_ends(b, distance, points, n);
    status = choose_cells(b, distance, n, 1, err);
    if (status != COLLET_OK)
        return status;
    s.points = malloc((size_t)(n + 1) * sizeof *s.points);
    beside *list = s.points && list_offsets(b) ? malloc((b->n_offsets + 1) * sizeof *list) : NULL;
    if (!list) {
        free(s.points);
        return collet_fail(err, COLLET_NO_MEMORY, "no memory for the pairs of %lld atoms",
                           (long long)n);
    }
    for (int64_t i = 0; i < n; i++) {
        placed *p = &s.points[s.n];

        *p = (placed){.cell = find_cell(b, points + 3 * i), .index = i};
        memcpy(p->at, points + 3 * i, sizeof p->at);
        s.n += p->cell >= 0;
    }
    qsort(s.points, (size_t)s.n, sizeof *s.points, compare_placed);
    status = visit_all(&s, list, err);
    free(list);
    free(s.points);
    return status;
}
