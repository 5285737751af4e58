/* SPDX-License-Identifier: Apache-2.0 */
/* Objects: their positions, and the part of a voxel that is in them.
 * Tests: tests/tools/rsoxs/test_rsoxs_make.c */
#include "make.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846
#define TRIALS 10000 /* random positions that are tried for each object */

uint64_t make_hash(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

double make_unit(uint64_t hash)
{
    return (double)(hash >> 11) * 0x1p-53;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void set_axis(double axis[3], double theta, double psi)
{
    axis[0] = cos(psi) * sin(theta);
    axis[1] = sin(psi) * sin(theta);
    axis[2] = cos(theta);
}

static void angles_of(const double d[3], float *theta, float *psi)
{
    *theta = (float)atan2(hypot(d[0], d[1]), d[2]);
    *psi = (float)atan2(d[1], d[0]);
}

static double draw(uint64_t *random)
{
    return make_unit(*random = make_hash(*random));
}

/* ---- Places ---------------------------------------------------------------------------------- */

static double outer_radius(const make_options *o)
{
    return o->radius + (o->kind == MAKE_CORE_SHELL ? o->thickness : 0.0);
}

/* Returns half the extent of an object along axis a; x is axis 0. */
static double extent(const make_options *o, const make_object *object, int a)
{
    double along = object->axis[a];
    return o->kind == MAKE_CYLINDERS
               ? fabs(along) * o->length / 2 + o->radius * sqrt(fmax(0.0, 1 - along * along))
               : outer_radius(o);
}

static double clamp(double x, double most)
{
    return x < -most ? -most : x > most ? most : x;
}

/* Returns the distance between the axes of two cylinders: finds the nearest point on each axis in turn. */
static double axis_distance(const make_options *o, const make_object *a, const make_object *b)
{
    double between[3], s = 0, t = 0, d[3];
    for (int i = 0; i < 3; i++)
        between[i] = b->centre[i] - a->centre[i];
    double ab = dot(a->axis, b->axis), da = dot(a->axis, between), db = dot(b->axis, between);
    double half = o->length / 2, across = 1 - ab * ab;
    s = across > 1e-12 ? clamp((da - ab * db) / across, half) : clamp(da, half);
    t = clamp(ab * s - db, half);
    s = clamp(ab * t + da, half);
    for (int i = 0; i < 3; i++)
        d[i] = between[i] + t * b->axis[i] - s * a->axis[i];
    return sqrt(dot(d, d));
}

static int overlaps(const make_options *o, const make_object *a, const make_object *b)
{
    double d[3];
    for (int i = 0; i < 3; i++)
        d[i] = b->centre[i] - a->centre[i];
    return (o->kind == MAKE_CYLINDERS ? axis_distance(o, a, b) : sqrt(dot(d, d))) <
           2 * outer_radius(o);
}

/* 1 if the object is within the voxels. Sets `low` and `high` to the limits of its centre. */
static int fits(const make_options *o, const make_object *object, double low[3], double high[3])
{
    int inside = 1;
    for (int a = 0; a < 3; a++) {
        int64_t n = o->size[2 - a];
        int flat = a == 2 && n == 1;
        double e = flat ? 0.0 : extent(o, object, a);
        low[a] = flat ? 0.0 : e - o->voxel / 2;
        high[a] = flat ? 0.0 : ((double)n - 0.5) * o->voxel - e;
        inside = inside && low[a] <= high[a];
    }
    return inside;
}

static collet_status too_large(const make_options *o, collet_error *err)
{
    return collet_fail(err, COLLET_INVALID,
                       "the object does not fit into %" PRId64 " x %" PRId64 " x %" PRId64
                       " voxels (Z, Y, X) of %g nm: take a larger --size or --pixel",
                       o->size[0], o->size[1], o->size[2], o->voxel);
}

static collet_status place_middle(make_scene *scene, collet_error *err)
{
    const make_options *o = scene->options;
    make_object *object = scene->objects;
    double low[3], high[3];
    set_axis(object->axis, o->theta * PI / 180, o->psi * PI / 180);
    int inside = fits(o, object, low, high);
    for (int a = 0; a < 3; a++) {
        object->centre[a] = (double)(o->size[2 - a] / 2) * o->voxel;
        inside = inside && object->centre[a] >= low[a] && object->centre[a] <= high[a];
    }
    return inside ? COLLET_OK : too_large(o, err);
}

static collet_status place_random(make_scene *scene, collet_error *err)
{
    const make_options *o = scene->options;
    uint64_t random = make_hash((uint64_t)o->seed);
    for (int64_t i = 0; i < o->count; i++) {
        make_object *object = &scene->objects[i];
        int64_t trial = 0, k = 0;
        do {
            double low[3], high[3];
            if (o->kind == MAKE_CYLINDERS)
                set_axis(object->axis, (90 + o->tilt * (2 * draw(&random) - 1)) * PI / 180,
                         2 * PI * draw(&random));
            else
                set_axis(object->axis, o->theta * PI / 180, o->psi * PI / 180);
            int inside = fits(o, object, low, high);
            if (!inside && o->kind != MAKE_CYLINDERS)
                return too_large(o, err);
            for (int a = 0; a < 3; a++)
                object->centre[a] = low[a] + (high[a] - low[a]) * draw(&random);
            for (k = 0; inside && k < i && !overlaps(o, object, &scene->objects[k]);)
                k++;
            k = inside ? k : -1;
        } while (k < i && ++trial < TRIALS);
        if (k < i)
            return collet_fail(err, COLLET_INVALID,
                               "only %" PRId64 " of %" PRId64
                               " objects fit without overlap: take a smaller --count or a larger --size",
                               i, o->count);
    }
    return COLLET_OK;
}

collet_status make_scene_open(make_scene *scene, const make_options *options, collet_error *err)
{
    *scene = (make_scene){.options = options,
                          .materials = options->kind == MAKE_EULER        ? options->materials
                                       : options->kind == MAKE_CORE_SHELL ? 3
                                                                          : 2};
    if (options->kind == MAKE_EULER)
        return COLLET_OK;
    scene->objects =
        options->count < 1000000 ? calloc((size_t)options->count, sizeof *scene->objects) : NULL;
    if (!scene->objects)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory for %" PRId64 " objects",
                           options->count);
    return options->count == 1 ? place_middle(scene, err) : place_random(scene, err);
}

void make_scene_free(make_scene *scene)
{
    free(scene->objects);
}

int make_is_aligned(const make_scene *scene, int64_t material)
{
    const make_options *o = scene->options;
    return o->alignment > 0 &&
           (o->kind == MAKE_EULER || material == (o->kind == MAKE_CORE_SHELL ? 1 : 0));
}

/* ---- Voxels ---------------------------------------------------------------------------------- */

/* Returns the distance of a point from the surface, negative inside the object. The vector `d` leads from the
 * centre to the point. */
static double distance(const make_options *o, const make_object *object, double radius,
                       const double d[3])
{
    double square = dot(d, d);
    if (o->kind != MAKE_CYLINDERS)
        return sqrt(square) - radius;
    double along = dot(d, object->axis);
    return fmax(sqrt(fmax(0.0, square - along * along)) - radius, fabs(along) - o->length / 2);
}

/* Returns the part of a voxel that is within the radius. */
static double fraction(const make_options *o, const make_object *object, double radius,
                       const double d[3])
{
    int flat = o->size[0] == 1;
    int64_t n = o->samples, layers = flat ? 1 : n, count = 0;
    double reach = o->voxel * sqrt(flat ? 2.0 : 3.0) / 2, off = distance(o, object, radius, d);
    if (fabs(off) >= reach)
        return off < 0 ? 1.0 : 0.0;
    for (int64_t i = 0; i < layers * n * n; i++) {
        double step = o->voxel / (double)n, middle = ((double)n - 1) / 2;
        double at[3] = {d[0] + step * ((double)(i % n) - middle),
                        d[1] + step * ((double)(i / n % n) - middle), d[2]};
        if (!flat)
            at[2] += step * ((double)(i / n / n) - middle);
        count += distance(o, object, radius, at) < 0;
    }
    return (double)count / (double)(layers * n * n);
}

static void add_object(const make_scene *scene, const make_object *object, int64_t z,
                       make_layer *layers)
{
    const make_options *o = scene->options;
    int shell = o->kind == MAKE_CORE_SHELL;
    int64_t low[2], high[2], width = o->size[2];
    double d[3] = {0, 0, (double)z * o->voxel - object->centre[2]};
    if (o->size[0] > 1 && fabs(d[2]) > extent(o, object, 2) + o->voxel)
        return;
    for (int a = 0; a < 2; a++) {
        double e = extent(o, object, a) + o->voxel;
        low[a] = (int64_t)fmax(0.0, floor((object->centre[a] - e) / o->voxel));
        high[a] =
            (int64_t)fmin((double)o->size[2 - a], ceil((object->centre[a] + e) / o->voxel) + 1);
    }
    for (int64_t y = low[1]; y < high[1]; y++)
        for (int64_t x = low[0]; x < high[0]; x++) {
            int64_t i = y * width + x;
            d[0] = (double)x * o->voxel - object->centre[0];
            d[1] = (double)y * o->voxel - object->centre[1];
            double whole = fraction(o, object, outer_radius(o), d);
            double core = shell ? fraction(o, object, o->radius, d) : whole;
            layers[0].volume[i] += (float)core;
            if (shell)
                layers[1].volume[i] += (float)(whole - core);
            if (o->alignment > 0 && whole - (shell ? core : 0) > 0) {
                make_layer *l = &layers[shell];
                l->alignment[i] = (float)o->alignment;
                angles_of(shell ? d : object->axis, &l->theta[i], &l->psi[i]);
            }
        }
}

void make_fill_objects(const make_scene *scene, int64_t z, make_layer *layers)
{
    const make_options *o = scene->options;
    int64_t count = o->size[1] * o->size[2], last = scene->materials - 1;
    for (int64_t m = 0; m <= last; m++)
        for (int64_t i = 0; i < count; i++) {
            layers[m].volume[i] = 0;
            if (make_is_aligned(scene, m))
                layers[m].alignment[i] = layers[m].theta[i] = layers[m].psi[i] = 0;
        }
    for (int64_t k = 0; k < o->count; k++)
        add_object(scene, &scene->objects[k], z, layers);
    for (int64_t i = 0; i < count; i++) {
        float sum = 0;
        for (int64_t m = 0; m < last; m++)
            sum += layers[m].volume[i];
        layers[last].volume[i] = 1 - sum;
    }
}
