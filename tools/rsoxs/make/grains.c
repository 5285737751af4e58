/* SPDX-License-Identifier: Apache-2.0 */
/* The morphology "euler": grains are the Voronoi cells of random points, with one point in each box of a periodic grid.
 * Tests: tests/tools/rsoxs/test_rsoxs_make.c */
#include "make.h"

#include <math.h>

#define PI 3.14159265358979323846
#define MAIN 0.8 /* fraction of a grain's main material */

typedef struct grain {
    double at[3]; /* z, y, x; voxels */
    uint64_t random;
} grain;

typedef struct boxes {
    int64_t count[3]; /* along z, y, x */
    double edge[3];   /* voxels */
} boxes;

/* Returns the grain of a box. For a box beyond the border it is the grain of the opposite side. */
static grain find(const boxes *b, uint64_t seed, const int64_t box[3])
{
    grain g = {.random = make_hash(seed)};
    for (int a = 0; a < 3; a++)
        g.random = make_hash(g.random ^ (uint64_t)((box[a] + b->count[a]) % b->count[a]));
    for (int a = 0; a < 3; a++)
        g.at[a] =
            ((double)box[a] + make_unit(make_hash(g.random + (uint64_t)a))) * b->edge[a] - 0.5;
    return g;
}

static uint64_t nearest(const grain near[27], int64_t z, int64_t y, int64_t x)
{
    double best = HUGE_VAL;
    uint64_t random = 0;
    for (int i = 0; i < 27; i++) {
        double dz = (double)z - near[i].at[0], dy = (double)y - near[i].at[1];
        double dx = (double)x - near[i].at[2], d = dz * dz + dy * dy + dx * dx;
        if (d < best) {
            best = d;
            random = near[i].random;
        }
    }
    return random;
}

/* Fills a voxel. In each grain, each material has its own direction. */
static void fill_voxel(const make_scene *scene, uint64_t random, make_layer *layers, int64_t i)
{
    const make_options *o = scene->options;
    int64_t most = (int64_t)(random % (uint64_t)scene->materials), last = scene->materials - 1;
    float sum = 0;
    for (int64_t m = 0; m <= last; m++) {
        uint64_t own = make_hash(random + 7 * (uint64_t)(m + 1));
        float volume = (float)(m == most ? MAIN : (1 - MAIN) / (double)last);
        layers[m].volume[i] = m == last ? 1 - sum : volume;
        sum += volume;
        if (!make_is_aligned(scene, m))
            continue;
        layers[m].alignment[i] = (float)o->alignment;
        layers[m].theta[i] = (float)acos(2 * make_unit(own) - 1);
        layers[m].psi[i] = (float)(2 * PI * make_unit(make_hash(own)));
    }
}

static void copy_voxel(const make_scene *scene, make_layer *layers, int64_t from, int64_t to)
{
    for (int64_t m = 0; m < scene->materials; m++) {
        make_layer *l = &layers[m];
        l->volume[to] = l->volume[from];
        if (!make_is_aligned(scene, m))
            continue;
        l->alignment[to] = l->alignment[from];
        l->theta[to] = l->theta[from];
        l->psi[to] = l->psi[from];
    }
}

/* Fills the voxels of a layer whose centres are in a box. */
static void fill_box(const make_scene *scene, const boxes *b, const grain near[27], int64_t z,
                     int64_t row, int64_t column, make_layer *layers)
{
    int64_t bottom = (int64_t)ceil((double)(row + 1) * b->edge[1] - 0.5);
    int64_t right = (int64_t)ceil((double)(column + 1) * b->edge[2] - 0.5);
    int64_t left = (int64_t)ceil((double)column * b->edge[2] - 0.5);
    for (int64_t y = (int64_t)ceil((double)row * b->edge[1] - 0.5); y < bottom; y++) {
        uint64_t last = 0;
        for (int64_t x = left; x < right; x++) {
            int64_t i = y * scene->options->size[2] + x;
            uint64_t random = nearest(near, z, y, x);
            if (x > left && random == last)
                copy_voxel(scene, layers, i - 1, i);
            else
                fill_voxel(scene, random, layers, i);
            last = random;
        }
    }
}

void make_fill_grains(const make_scene *scene, int64_t z, make_layer *layers)
{
    const make_options *o = scene->options;
    boxes b;
    for (int a = 0; a < 3; a++) {
        double count = floor((double)o->size[a] * o->voxel / o->grain + 0.5);
        b.count[a] = (int64_t)fmin(fmax(count, 1.0), (double)o->size[a]);
        b.edge[a] = (double)o->size[a] / (double)b.count[a];
    }
    int64_t plane = (int64_t)(((double)z + 0.5) / b.edge[0]);
    for (int64_t row = 0; row < b.count[1]; row++)
        for (int64_t column = 0; column < b.count[2]; column++) {
            grain near[27];
            for (int k = 0; k < 27; k++)
                near[k] = find(
                    &b, (uint64_t)o->seed,
                    (const int64_t[]){plane + k / 9 - 1, row + k / 3 % 3 - 1, column + k % 3 - 1});
            fill_box(scene, &b, near, z, row, column, layers);
        }
}
