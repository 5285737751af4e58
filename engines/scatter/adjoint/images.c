/* SPDX-License-Identifier: Apache-2.0 */
/* The adjoint of scatter_images: from the images of a block of energies to the slices and the
 * optical constants.
 * Tests: tests/engines/scatter/test_scatter_gradients.c */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scatter/adjoint/segment.h"
#include "scatter/geometry.h"
#include "scatter/methods.h"

/* The scratch of a thread. */
typedef struct tile {
    const scatter_adjoint *a;
    int64_t y, x, n;
    double *images;                  /* [K, E, TILE] */
    double *re, *im, *to_re, *to_im; /* [depth, F, TILE] */
    double *to_c;                    /* [materials, 6, TILE] */
    double (*c)[3][2];               /* [E, materials] */
    double (*turn)[3][6];            /* [angles] */
    int64_t low[TILE], row[TILE];    /* lower slice of each pixel; its index in `slices`, -1: none */
    double weight[2][TILE];
    double qz[TILE];     /* q_z of the slice that is handled, or q_z on Ewald's sphere */
    double *shares;      /* on the exact grid, [TILE, depth]: shares of the nodes in a pixel's amplitudes */
    double *at[2], *to[2]; /* on the exact grid, [F, TILE]: amplitudes on Ewald's sphere, and their cotangents */
} tile;

static int64_t images_of(const scatter_adjoint *a)
{
    return a->s->options.material_frame ? a->s->angles : 3;
}

static size_t doubles_of(const scatter_adjoint *a)
{
    const collet_scatter *s = a->s;
    int64_t pixels = s->options.shape[1] * s->options.shape[2];
    int64_t needed = TILE * (images_of(a) * ADJOINT_BLOCK + 4 * s->depth * s->plan.fields +
                             6 * s->options.n_materials + s->depth + 4 * s->plan.fields) +
                     6 * ADJOINT_BLOCK * s->options.n_materials + 18 * s->angles;
    return (size_t)(needed > pixels ? needed : pixels);
}

size_t scatter_adjoint_scratch(const scatter_adjoint *a)
{
    return sizeof(tile) + doubles_of(a) * sizeof(double);
}

/* ---- The data of a tile ---------------------------------------------------------------------- */

/* For each angle a, the matrix that maps p1, p2 to cos a p1 + sin a p2, rotated by -a about k. */
static void fill_turns(tile *t)
{
    const collet_scatter *s = t->a->s;
    const double *k = s->axis[2];
    for (int64_t angle = 0; angle < s->angles; angle++) {
        double c = t->a->turn[angle][0], d = -t->a->turn[angle][1];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                double cross = i == j ? 0.0 : ((j - i + 3) % 3 == 1 ? -1.0 : 1.0) * k[3 - i - j];
                double turned = (i == j ? c : 0.0) + d * cross + (1.0 - c) * k[i] * k[j];
                t->turn[angle][i][j] = turned * c;
                t->turn[angle][i][3 + j] = -turned * d;
            }
    }
}

static void fill_constants(tile *t)
{
    const collet_scatter *s = t->a->s;
    int64_t materials = s->options.n_materials;
    for (int64_t i = 0; i < t->a->count * materials; i++) {
        scatter_constants(&s->options.constants[t->a->first * materials + i], t->c[i]);
        for (int j = 0; j < 6; j++)
            t->c[i][j / 2][j % 2] /= 4 * 3.14159265358979323846;
    }
}

static tile *tile_of(const scatter_adjoint *a, int thread)
{
    const collet_scatter *s = a->s;
    tile *t = a->scratch[thread];
    int64_t spectra = s->depth * s->plan.fields * TILE, materials = s->options.n_materials;
    t->a = a;
    t->images = (double *)(t + 1);
    t->re = t->images + images_of(a) * ADJOINT_BLOCK * TILE;
    t->im = t->re + spectra;
    t->to_re = t->im + spectra;
    t->to_im = t->to_re + spectra;
    t->to_c = t->to_im + spectra;
    t->c = (double(*)[3][2])(t->to_c + 6 * materials * TILE);
    t->turn = (double(*)[3][6])(t->c + ADJOINT_BLOCK * materials);
    t->shares = (double *)(t->turn + s->angles);
    t->at[0] = t->shares + TILE * s->depth;
    t->at[1] = t->at[0] + TILE * s->plan.fields;
    t->to[0] = t->at[1] + TILE * s->plan.fields;
    t->to[1] = t->to[0] + TILE * s->plan.fields;
    fill_constants(t);
    fill_turns(t);
    return t;
}

/* Returns the index of the tile's first pixel in plane i of the arrays [depth, F, Y, X]; i < depth * F. */
static int64_t index_of(const tile *t, int64_t i)
{
    const int64_t *n = t->a->s->options.shape;
    return (i * n[1] + t->y) * n[2] + t->x;
}

static void load(tile *t)
{
    const collet_scatter *s = t->a->s;
    int64_t count = s->depth * s->plan.fields;
    for (int64_t i = 0; i < count; i++) {
        const double *wide = (const double *)t->a->slices + 2 * index_of(t, i);
        const float *narrow = (const float *)t->a->slices + 2 * index_of(t, i);
        double *re = t->re + i * TILE, *im = t->im + i * TILE;
        for (int64_t x = 0; x < t->n && scatter_is_wide(s); x++) {
            re[x] = wide[2 * x];
            im[x] = wide[2 * x + 1];
        }
        for (int64_t x = 0; x < t->n && !scatter_is_wide(s); x++) {
            re[x] = (double)narrow[2 * x];
            im[x] = (double)narrow[2 * x + 1];
        }
    }
    memset(t->to_re, 0, (size_t)(2 * count * TILE) * sizeof *t->to_re);
}

static void store(const tile *t)
{
    const collet_scatter *s = t->a->s;
    for (int64_t i = 0; i < s->depth * s->plan.fields; i++) {
        double *wide = (double *)t->a->slice_cotangents + 2 * index_of(t, i);
        float *narrow = (float *)t->a->slice_cotangents + 2 * index_of(t, i);
        const double *re = t->to_re + i * TILE, *im = t->to_im + i * TILE;
        for (int64_t x = 0; x < t->n && scatter_is_wide(s); x++) {
            wide[2 * x] += re[x];
            wide[2 * x + 1] += im[x];
        }
        for (int64_t x = 0; x < t->n && !scatter_is_wide(s); x++) {
            narrow[2 * x] += (float)re[x];
            narrow[2 * x + 1] += (float)im[x];
        }
    }
}

/* ---- Energies -------------------------------------------------------------------------------- */

/* Finds where each pixel meets Ewald's sphere of energy e, and its amplitudes there. */
static void place_exactly(tile *t, int64_t e)
{
    const collet_scatter *s = t->a->s;
    int64_t fields = s->plan.fields;
    memset(t->at[0], 0, (size_t)(4 * fields * TILE) * sizeof *t->at[0]); /* `at` and `to` */
    for (int64_t i = 0; i < t->n; i++) {
        double q = scatter_place(s, t->a->wave[e], s->q[2][t->x + i], s->q[1][t->y]);
        double *shares = t->shares + i * s->depth;
        t->low[i] = 0;
        t->row[i] = isnan(q) ? -1 : 0;
        t->qz[i] = q;
        t->weight[0][i] = 1.0;
        if (isnan(q))
            continue;
        scatter_exact_shares(s, t->y * s->options.shape[2] + t->x + i, q, shares);
        for (int64_t d = 0; d < s->depth; d++)
            for (int64_t f = 0; f < fields; f++) {
                t->at[0][f * TILE + i] += shares[d] * t->re[(d * fields + f) * TILE + i];
                t->at[1][f * TILE + i] += shares[d] * t->im[(d * fields + f) * TILE + i];
            }
    }
}

/* Adds the cotangents of the amplitudes on Ewald's sphere to the cotangents at the nodes. */
static void spread_exactly(const tile *t)
{
    const collet_scatter *s = t->a->s;
    int64_t fields = s->plan.fields;
    for (int64_t d = 0; d < s->depth; d++)
        for (int64_t f = 0; f < fields; f++)
            for (int64_t i = 0; i < t->n; i++) {
                double share = t->row[i] < 0 ? 0.0 : t->shares[i * s->depth + d];
                t->to_re[(d * fields + f) * TILE + i] += share * t->to[0][f * TILE + i];
                t->to_im[(d * fields + f) * TILE + i] += share * t->to[1][f * TILE + i];
            }
}

/* Finds the two slices of each pixel at energy e, and their weights. */
static void place(tile *t, int64_t e)
{
    const collet_scatter *s = t->a->s;
    const int32_t *range = s->range + t->y * s->options.shape[2] + t->x;
    for (int64_t i = 0; i < t->n; i++) {
        double at = scatter_place(s, t->a->wave[e], s->q[2][t->x + i], s->q[1][t->y]);
        double low = s->options.nearest ? round(at) : floor(at);
        t->row[i] = -1;
        if (isnan(at))
            continue;
        t->low[i] = (int64_t)low;
        t->row[i] = (int64_t)low - range[i];
        t->weight[1][i] = s->options.nearest ? 0.0 : at - low;
        t->weight[0][i] = 1.0 - t->weight[1][i];
    }
}

/* Handles pixels first .. first+n-1, which all use the same two slices: low and low + 1. On the exact grid there are no
 * slices: each pixel has its own amplitudes. */
static void segment(tile *t, int64_t e, int64_t first, int64_t n)
{
    const scatter_adjoint *a = t->a;
    const collet_scatter *s = a->s;
    int64_t E = a->count, fields = s->plan.fields;
    int exact = scatter_is_exact(s);
    for (int64_t which = 0; which < (exact ? 1 : 2); which++) {
        int64_t row = t->row[first] + which, low = t->low[first] + which;
        if (row < 0 || row >= s->depth || low >= s->options.shape[0])
            continue;
        for (int64_t i = first; i < first + n && !exact; i++)
            t->qz[i] = s->q[0][low];
        scatter_segment g = {.n = n,
                             .materials = s->options.n_materials,
                             .angles = s->options.material_frame ? s->angles : 0,
                             .parts = s->parts,
                             .c = (const double(*)[3][2])(t->c + e * s->options.n_materials),
                             .axis = s->axis,
                             .turn = (const double(*)[3][6])t->turn,
                             .qx = s->q[2] + t->x + first,
                             .k = {a->wave[e][0], a->wave[e][1], a->wave[e][2]},
                             .qy = s->q[1][t->y],
                             .qz = t->qz + first,
                             .square = a->wave[e][3],
                             .weight = t->weight[which] + first,
                             .image_step = E * TILE,
                             .re = (exact ? t->at[0] : t->re + row * fields * TILE) + first,
                             .im = (exact ? t->at[1] : t->im + row * fields * TILE) + first,
                             .to_re = (exact ? t->to[0] : t->to_re + row * fields * TILE) + first,
                             .to_im = (exact ? t->to[1] : t->to_im + row * fields * TILE) + first,
                             .to_c = t->to_c + first};
        for (int k = 0; k < 3 && k < images_of(a); k++)
            g.images[k] = t->images + (k * E + e) * TILE + first;
        scatter_segment_run(&g);
    }
}

/* Adds the sums over the pixels to the row's sums. */
static void sum_constants(const tile *t, int64_t e)
{
    int64_t materials = t->a->s->options.n_materials;
    double *sums = &t->a->row_constants[(t->y * ADJOINT_BLOCK + e) * materials][0][0];
    for (int64_t i = 0; i < 6 * materials; i++)
        for (int64_t x = 0; x < t->n; x++)
            sums[i] += t->to_c[i * TILE + x];
}

static void run_tile(tile *t)
{
    const collet_scatter *s = t->a->s;
    scatter_adjoint_average(t->a, t->y, t->x, t->n, t->images);
    load(t);
    for (int64_t e = 0; e < t->a->count; e++) {
        memset(t->to_c, 0, (size_t)(6 * s->options.n_materials * TILE) * sizeof *t->to_c);
        (scatter_is_exact(s) ? place_exactly : place)(t, e);
        for (int64_t i = 0, end; i < t->n; i = end) {
            for (end = i + 1; end < t->n && t->row[end] == t->row[i] && t->row[i] >= 0 &&
                              t->low[end] == t->low[i];
                 end++)
                ;
            if (t->row[i] >= 0)
                segment(t, e, i, end - i);
        }
        if (scatter_is_exact(s))
            spread_exactly(t);
        sum_constants(t, e);
    }
    store(t);
}

static void run_rows(void *argument, int64_t begin, int64_t end, int thread)
{
    const scatter_adjoint *a = argument;
    int64_t X = a->s->options.shape[2];
    tile *t = tile_of(a, thread);
    for (t->y = begin; t->y < end; t->y++)
        for (t->x = 0; t->x < X; t->x += TILE) {
            t->n = X - t->x < TILE ? X - t->x : TILE;
            run_tile(t);
        }
}

void scatter_adjoint_images(scatter_adjoint *a)
{
    int64_t Y = a->s->options.shape[1], materials = a->s->options.n_materials;
    memset(a->row_constants, 0, (size_t)(Y * ADJOINT_BLOCK * materials) * sizeof *a->row_constants);
    scatter_parallel(a->threads, Y, 1, run_rows, a);
    for (int64_t y = 0; y < Y; y++)
        for (int64_t e = 0; e < a->count; e++)
            for (int64_t i = 0; i < 6 * materials; i++)
                (&a->constants[(a->first + e) * materials][0][0])[i] +=
                    (&a->row_constants[(y * ADJOINT_BLOCK + e) * materials][0][0])[i];
}
