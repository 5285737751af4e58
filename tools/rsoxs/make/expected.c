/* SPDX-License-Identifier: Apache-2.0 */
/* The expected patterns, by formulas.
 * Tests: tests/tools/rsoxs/test_rsoxs_make.c */
#include "make.h"

#include "common/interrupt.h"
#include "common/json_add.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846
#define HC 1239.84197 /* eV nm */
#define BINS 18
#define LOW 0.06 /* of 1 / voxel */
#define HIGH 1.0

/* ---- Polarisation ---------------------------------------------------------------------------- */

/* The tensor (n^2 - 1) / (4 pi), summed over voxels: xx, xy, xz, yy, yz, zz. */
typedef struct tensor {
    double complex at[6];
} tensor;

static tensor susceptibility(const make_sums *s, const collet_scatter_constants *c)
{
    double complex n = 1 - c->delta_parallel + I * c->beta_parallel;
    double complex m = 1 - c->delta_perpendicular + I * c->beta_perpendicular;
    double complex mean = (n + 2 * m) / 3;
    double complex all = s->aligned * (m * m - 1) + (s->volume - s->aligned) * (mean * mean - 1);
    tensor t;
    for (int i = 0; i < 6; i++)
        t.at[i] =
            ((i == 0 || i == 3 || i == 5 ? all : 0) + (n * n - m * m) * s->order[i]) / (4 * PI);
    return t;
}

static void add(tensor *to, double complex factor, const tensor *t)
{
    for (int i = 0; i < 6; i++)
        to->at[i] += factor * t->at[i];
}

/* Computes the means of cos^2, sin^2 and 2 sin cos over the same angles of polarisation as in a simulation. */
static void average_angles(const make_options *o, double means[3])
{
    double first = o->angles[0], step = o->angles[1];
    int64_t angles = step > 0 ? (int64_t)round((o->angles[2] - first) / step) + 1 : 1;
    means[0] = means[1] = means[2] = 0;
    for (int64_t n = 0; n < angles; n++) {
        double phi = (first + (double)n * step) * PI / 180, c = cos(phi), s = sin(phi);
        means[0] += c * c / (double)angles;
        means[1] += s * s / (double)angles;
        means[2] += 2 * s * c / (double)angles;
    }
}

/* Returns the mean of |k^2 p - s (s.p)|^2 over the angles of polarisation, where p = t e. */
static double intensity(const double means[3], const tensor *t, double k, const double s[3])
{
    const double complex columns[2][3] = {{t->at[0], t->at[1], t->at[2]},
                                          {t->at[1], t->at[3], t->at[4]}};
    double complex a[2][3];
    double sum = 0;
    for (int e = 0; e < 2; e++) {
        const double complex *p = columns[e];
        double complex along = s[0] * p[0] + s[1] * p[1] + s[2] * p[2];
        for (int i = 0; i < 3; i++)
            a[e][i] = k * k * p[i] - s[i] * along;
    }
    for (int i = 0; i < 3; i++)
        sum += creal(means[0] * a[0][i] * conj(a[0][i]) + means[1] * a[1][i] * conj(a[1][i]) +
                     means[2] * a[0][i] * conj(a[1][i]));
    return sum;
}

/* ---- Form factors ---------------------------------------------------------------------------- */

static double disk_factor(double x)
{
    return x > 1e-6 ? 2 * j1(x) / x : 1;
}

/* Returns the volume of an object, in voxels, times its form factor. */
static double form(const make_options *o, const make_object *object, double radius,
                   const double q[3])
{
    double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2], a = o->voxel;
    if (o->size[0] == 1)
        return PI * radius * radius / a / a * disk_factor(hypot(q[0], q[1]) * radius);
    if (o->kind == MAKE_CYLINDERS) {
        double along = q[0] * object->axis[0] + q[1] * object->axis[1] + q[2] * object->axis[2];
        double half = along * o->length / 2, ends = fabs(half) > 1e-6 ? sin(half) / half : 1;
        return PI * radius * radius * o->length / (a * a * a) * ends *
               disk_factor(sqrt(fmax(0.0, square - along * along)) * radius);
    }
    double x = sqrt(square) * radius;
    double f = x > 1e-4 ? 3 * (sin(x) - x * cos(x)) / (x * x * x) : 1;
    return 4.0 / 3 * PI * radius * radius * radius / (a * a * a) * f;
}

/* Returns the tensor of a voxel of a material in the object, minus the tensor of the next material. */
static tensor contrast(const make_scene *scene, const make_object *object, int64_t material,
                       double energy)
{
    make_sums s = {.volume = 1}, next = {.volume = 1};
    const collet_scatter_constants c[2] = {make_constants(scene, material, energy),
                                           make_constants(scene, material + 1, energy)};
    if (make_is_aligned(scene, material))
        make_add_order(&s, scene->options->alignment, acos(object->axis[2]),
                       atan2(object->axis[1], object->axis[0]));
    tensor t = susceptibility(&s, &c[0]), around = susceptibility(&next, &c[1]);
    add(&t, -1, &around);
    return t;
}

typedef struct pattern {
    const make_scene *scene;
    tensor *tensors;    /* the tensors of the parts of each object */
    double k, means[3]; /* means over the angles of polarisation */
    int64_t parts;
} pattern;

static double pixel(const pattern *p, double qx, double qy)
{
    const make_options *o = p->scene->options;
    const double s[3] = {qx, qy, sqrt(p->k * p->k - qx * qx - qy * qy)};
    const double q[3] = {qx, qy, o->size[0] == 1 ? 0 : s[2] - p->k};
    tensor sum = {{0}};
    for (int64_t i = 0; i < o->count; i++) {
        const make_object *object = &p->scene->objects[i];
        const double *r = object->centre;
        double complex phase = cexp(I * (q[0] * r[0] + q[1] * r[1] + q[2] * r[2]));
        for (int64_t j = 0; j < p->parts; j++)
            add(&sum, phase * form(o, object, o->radius + (j ? o->thickness : 0.0), q),
                &p->tensors[i * p->parts + j]);
    }
    return intensity(p->means, &sum, p->k, s);
}

/* Computes means over rings of pixels of the detector. */
static void integrate(const pattern *p, double rings[BINS])
{
    const make_options *o = p->scene->options;
    int64_t y = o->size[1], x = o->size[2], count[BINS] = {0};
    double unit = 2 * PI / o->voxel;
    for (int b = 0; b < BINS; b++)
        rings[b] = 0;
    for (int64_t i = 0; i < y * x && !tool_interrupt_signal(); i++) {
        double qy = (double)(i / x - y / 2) * unit / (double)y;
        double qx = (double)(i % x - x / 2) * unit / (double)x, q = hypot(qx, qy);
        int b = (int)floor((q * o->voxel - LOW) / (HIGH - LOW) * BINS);
        if (b < 0 || b >= BINS || !(q < p->k))
            continue;
        rings[b] += pixel(p, qx, qy);
        count[b]++;
    }
    for (int b = 0; b < BINS; b++)
        rings[b] /= (double)count[b]; /* NaN: no pixel */
}

/* ---- File ------------------------------------------------------------------------------------ */

/* Returns the intensity in the middle of the detector, q = 0, computed from the sums over the voxels. */
static double at_zero(const make_scene *scene, const make_sums *sums, double energy)
{
    double k = 2 * PI * energy / HC, means[3];
    tensor all = {{0}};
    for (int64_t m = 0; m < scene->materials; m++) {
        collet_scatter_constants c = make_constants(scene, m, energy);
        tensor t = susceptibility(&sums[m], &c);
        add(&all, 1, &t);
    }
    average_angles(scene->options, means);
    return intensity(means, &all, k, (const double[]){0, 0, k});
}

static int add_rings(cJSON *object, const make_scene *scene, double energy)
{
    const make_options *o = scene->options;
    pattern p = {.scene = scene, .k = 2 * PI * energy / HC, .parts = scene->materials - 1};
    double rings[BINS];
    p.tensors = malloc((size_t)(o->count * p.parts) * sizeof *p.tensors);
    if (!p.tensors)
        return 0;
    average_angles(o, p.means);
    for (int64_t i = 0; i < o->count * p.parts; i++)
        p.tensors[i] = contrast(scene, &scene->objects[i / p.parts], i % p.parts, energy);
    integrate(&p, rings);
    free(p.tensors);
    return json_add_item(object, "intensity", cJSON_CreateDoubleArray(rings, BINS));
}

static int add_energies(cJSON *root, const make_scene *scene, const make_sums *sums, int formula)
{
    const make_options *o = scene->options;
    cJSON *list = cJSON_AddArrayToObject(root, "energies");
    for (int64_t i = 0; i < o->n_energies && list && !tool_interrupt_signal(); i++) {
        cJSON *object = json_append_object(list);
        if (!object || !json_add_number(object, "energy", o->energies[i]) ||
            !json_add_number(object, "zero", at_zero(scene, sums, o->energies[i])) ||
            (formula && !add_rings(object, scene, o->energies[i])))
            return 0;
    }
    return list != NULL;
}

static int add_materials(cJSON *root, const make_scene *scene, const make_sums *sums)
{
    cJSON *list = cJSON_AddArrayToObject(root, "materials");
    for (int64_t m = 0; m < scene->materials && list; m++) {
        cJSON *object = json_append_object(list);
        if (!object || !json_add_number(object, "volume", sums[m].volume) ||
            !json_add_number(object, "aligned", sums[m].aligned) ||
            !json_add_item(object, "order", cJSON_CreateDoubleArray(sums[m].order, 6)))
            return 0;
    }
    return list != NULL;
}

static cJSON *describe(const make_scene *scene, const make_sums *sums)
{
    const make_options *o = scene->options;
    int formula = scene->objects && !(o->kind == MAKE_CORE_SHELL && o->alignment > 0);
    cJSON *root = cJSON_CreateObject();
    double edges[BINS + 1];
    for (int b = 0; b <= BINS; b++)
        edges[b] = (LOW + (HIGH - LOW) * b / BINS) / o->voxel;
    if (root && json_add_text(root, "q_grid", "exact") && json_add_text(root, "dc", "keep") &&
        (!formula || json_add_item(root, "q", cJSON_CreateDoubleArray(edges, BINS + 1))) &&
        add_energies(root, scene, sums, formula) && add_materials(root, scene, sums))
        return root;
    cJSON_Delete(root);
    return NULL;
}

collet_status make_add_expected(make_set *set, const make_scene *scene, const char *path,
                                const make_sums *sums, collet_error *err)
{
    cJSON *root = describe(scene, sums);
    char *text = root ? cJSON_Print(root) : NULL;
    collet_status status = text ? make_add_text(set, path, text, err)
                                : collet_fail(err, COLLET_NO_MEMORY, "no memory to write %s", path);
    cJSON_free(text);
    cJSON_Delete(root);
    return tool_interrupt_signal() ? collet_fail(err, COLLET_CANCELLED, "stopped") : status;
}
